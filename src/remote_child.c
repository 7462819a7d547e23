/* Starting and ending the process of a remote engine.  It gets a process group of its own, so that
   Ctrl-C reaches it by way of us, and default signals; it ends when its input does, or when we do. */
#include "remote_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE = 2000 };  /* milliseconds */

/* In the child. */
static void settle_in(int fd, int said, bool is_command)
{
  static const int handled[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM, SIGINT,
                                SIGTERM, SIGUSR1, SIGUSR2, SIGXFSZ, SIGPIPE};
  sigset_t none;
  for (size_t i = 0; i < sizeof handled / sizeof *handled; i++)
    signal(handled[i], SIG_DFL);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(said, STDERR_FILENO);
  dup2(is_command ? fd : said, STDOUT_FILENO);
  if (is_command)
    dup2(fd, STDIN_FILENO);
}

/* The child is ours alone: nothing of this process's buffers or handlers must run in it again. */
_Noreturn static void be_child(const pf_remote_how *how, int fd, int said)
{
  settle_in(fd, said, how->command);
  if (!how->command)
    _exit(how->serve(how->user, fd));
  execl("/bin/sh", "sh", "-c", how->command, (char *)NULL);
  _exit(127);
}

pf_status pf_child_start(pf_child *c, const pf_remote_how *how, pf_error *e)
{
  int ends[2] = {-1, -1};
  *c = (pf_child){.fd = -1, .said = -1, .owner = getpid()};
  const int said = memfd_create("said", MFD_CLOEXEC);
  if (said < 0 || fcntl(said, F_SETFL, O_APPEND) ||
      socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
    const int why = errno;
    if (said >= 0)
      close(said);
    return pf_fail(e, PF_IO_ERROR, 0, "no process can be started: %s", strerror(why));
  }
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  c->pid = fork();
  if (c->pid == 0) {
    close(ends[0]);
    be_child(how, ends[1], said);
  }
  close(ends[1]);
  c->fd = ends[0];
  c->said = said;
  if (c->pid > 0)
    return PF_OK;
  c->pid = 0;
  return pf_fail(e, PF_IO_ERROR, 0, "no process can be started: %s", strerror(errno));
}

void pf_child_listen(const pf_child *c)
{
  struct stat s;
  /* what cannot be emptied is longer, no worse */
  if (c->said >= 0 && !fstat(c->said, &s) && s.st_size && ftruncate(c->said, 0))
    return;
}

void pf_child_said(const pf_child *c, char to[PF_CHILD_SAID])
{
  struct stat s;
  to[0] = 0;
  if (c->said < 0 || fstat(c->said, &s))
    return;
  const off_t from = s.st_size > PF_CHILD_SAID - 1 ? s.st_size - (PF_CHILD_SAID - 1) : 0;
  const ssize_t n = pread(c->said, to, PF_CHILD_SAID - 1, from);
  to[n > 0 ? n : 0] = 0;
}

/* Has it ended within so many milliseconds? */
static bool ended(pid_t pid, int *status, int milliseconds)
{
  for (int waited = 0;; waited++) {
    const pid_t p = waitpid(pid, status, WNOHANG);
    if (p == pid || (p < 0 && errno != EINTR))
      return true;
    if (waited >= milliseconds)
      return false;
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
}

static void tell(int status, bool killed, char text[80])
{
  if (killed)
    snprintf(text, 80, "it was ended");
  else if (WIFSIGNALED(status))
    snprintf(text, 80, "it died of signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
  else
    snprintf(text, 80, "it ended with status %d", WEXITSTATUS(status));
}

void pf_child_end(pf_child *c, bool at_once, char text[80])
{
  int status = 0;
  text[0] = 0;
  /* other children may hold copies of our end, which closing alone would leave open */
  if (c->fd >= 0 && c->owner == getpid())
    shutdown(c->fd, SHUT_RDWR);
  if (c->fd >= 0)
    close(c->fd);
  if (c->pid && c->owner == getpid()) {
    const bool killed = at_once || !ended(c->pid, &status, PATIENCE);
    if (killed) {
      kill(-c->pid, SIGKILL);
      kill(c->pid, SIGKILL);
      waitpid(c->pid, &status, 0);
    }
    tell(status, killed, text);
  }
  if (c->said >= 0)
    close(c->said);
  *c = (pf_child){.fd = -1, .said = -1};
}
