/* Children that take items from a shared counter until there are none. */
#include "triage_pool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WAIT = 20 /* milliseconds */ };
#define NO_ITEM SIZE_MAX

/* Shared with the children. */
typedef struct pf_pool_share {
  atomic_size_t next;
  size_t item[PF_POOL_MOST_JOBS];  /* in the hands of each */
  int code[];                      /* one an item */
} pf_pool_share;

typedef struct pf_pool_state {
  const pf_pool *pool;
  pf_pool_share *share;
  size_t share_size;       /* bytes */
  pid_t parent, child[PF_POOL_MOST_JOBS];
  int from, to;            /* a pipe: what children write to standard error */
  int running, result;
  bool stopped;            /* no new children */
} pf_pool_state;

void *pf_pool_memory(size_t bytes)
{
  void *all = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
  return all == MAP_FAILED ? NULL : all;
}

void pf_pool_memory_free(void *memory, size_t bytes)
{
  if (memory)
    munmap(memory, bytes);
}

/* --- a child ------------------------------------------------------------------------------- */

/* The parent passes lines on, between its own. */
static void divert_messages(const pf_pool_state *r)
{
  dup2(r->to, STDERR_FILENO);
  setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
}

/* Engines run in children of this one: what they write outside their outputs must hit nothing of
   ours, and what dies of it elsewhere must die of it here. */
static void hide_from_engines(const pf_pool_state *r)
{
  madvise(r->share, r->share_size, MADV_DONTFORK);
  if (r->pool->shared)
    madvise(r->pool->shared, r->pool->shared_size, MADV_DONTFORK);
}

/* The first child has told what there is to tell of the engines. */
static int open_quietly(pf_settings *s)
{
  const int null = open("/dev/null", O_WRONLY | O_CLOEXEC), was = dup(STDERR_FILENO);
  dup2(null, STDERR_FILENO);
  const int code = pf_settings_open(s);
  dup2(was, STDERR_FILENO);
  close(null);
  close(was);
  return code ? pf_cli_fail(code, "the engines cannot be opened again") : code;
}

static void work(const pf_pool_state *r, int number, pf_settings *s)
{
  const pf_pool *p = r->pool;
  size_t i;
  while (!pf_interrupted() && (i = atomic_fetch_add(&r->share->next, 1)) < p->count) {
    r->share->item[number] = i;
    r->share->code[i] = p->work(p->user, s, i);
    r->share->item[number] = NO_ITEM;
  }
}

_Noreturn static void serve(const pf_pool_state *r, int number)
{
  pf_settings s = *r->pool->settings;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != r->parent)  /* it went before that was asked for */
    _exit(PF_EXIT_MACHINERY);
  divert_messages(r);
  hide_from_engines(r);
  const int code = r->pool->notices ? pf_settings_open(&s) : open_quietly(&s);
  if (!code)
    work(r, number, &s);
  pf_settings_close(&s);
  fflush(stdout);
  _exit(code);
}

/* --- the parent ---------------------------------------------------------------------------- */

static void start_children(pf_pool_state *r)
{
  for (int i = 0; i < r->pool->jobs && !r->stopped; i++) {
    if (r->child[i] || atomic_load(&r->share->next) >= r->pool->count)
      continue;
    r->share->item[i] = NO_ITEM;
    fflush(NULL);
    const pid_t pid = fork();
    if (!pid)
      serve(r, i);
    if (pid < 0) {
      r->stopped = true;
      r->result = pf_cli_fail(PF_EXIT_MACHINERY, "no new process: %s", strerror(errno));
      return;
    }
    r->child[i] = pid;
    r->running++;
  }
}

static void pass_messages(const pf_pool_state *r, int milliseconds)
{
  char text[4096];
  struct pollfd ready = {.fd = r->from, .events = POLLIN};
  while (poll(&ready, 1, milliseconds) > 0) {
    const ssize_t size = read(r->from, text, sizeof text);
    if (size <= 0)
      return;
    pf_progress_clear(r->pool->progress);
    fwrite(text, 1, (size_t)size, stderr);
    milliseconds = 0;
  }
}

static void note_death(pf_pool_state *r, size_t item, int status)
{
  const pf_pool *p = r->pool;
  pf_progress_clear(p->progress);
  r->share->code[item] = pf_cli_fail(PF_EXIT_MACHINERY, "%s: precfuzz itself died of it: %s",
                              p->name(p->user, item),
                              WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "it ended early");
}

static void reap(pf_pool_state *r)
{
  for (int i = 0; i < r->pool->jobs; i++) {
    int status;
    if (!r->child[i] || waitpid(r->child[i], &status, WNOHANG) != r->child[i])
      continue;
    r->child[i] = 0;
    r->running--;
    pass_messages(r, 0);
    const size_t item = r->share->item[i];
    if (item != NO_ITEM) {
      note_death(r, item, status);
    } else if (status) {  /* before its first item */
      r->stopped = true;
      r->result = WIFEXITED(status) ? WEXITSTATUS(status) : PF_EXIT_MACHINERY;
    }
  }
}

static bool is_over(const pf_pool_state *r)
{
  const pf_pool *p = r->pool;
  return pf_interrupted() || (p->until > 0 && pf_progress_seconds(p->progress) >= p->until);
}

/* As Ctrl-C does at a terminal: they end what they are at. */
static void stop_children(pf_pool_state *r)
{
  r->stopped = true;
  for (int i = 0; i < r->pool->jobs; i++)
    if (r->child[i])
      kill(r->child[i], SIGTERM);
}

static void show_progress(const pf_pool_state *r)
{
  const pf_pool *p = r->pool;
  size_t begun = atomic_load(&r->share->next), in_hand = 0;
  if (!p->doing || !pf_progress_due(p->progress))
    return;
  begun = begun < p->count ? begun : p->count;
  for (int i = 0; i < p->jobs; i++)
    in_hand += r->child[i] && r->share->item[i] != NO_ITEM;
  fprintf(stderr, "%zu of %zu %s, %zu in hand, %.0f s", begun > in_hand ? begun - in_hand : 0,
          p->count, p->doing, in_hand, pf_progress_seconds(p->progress));
}

static void manage(pf_pool_state *r)
{
  bool over = false;
  start_children(r);
  while (r->running) {
    pass_messages(r, WAIT);
    if (!over && is_over(r)) {
      over = true;
      stop_children(r);
    }
    reap(r);
    start_children(r);
    if (r->running)
      show_progress(r);
  }
  pass_messages(r, 0);
  pf_progress_clear(r->pool->progress);
}

int pf_pool_run(const pf_pool *pool, int *code)
{
  pf_pool_state r = {.pool = pool, .parent = getpid()};
  int ends[2];
  r.share_size = sizeof *r.share + pool->count * sizeof r.share->code[0];
  r.share = pf_pool_memory(r.share_size);
  if (!r.share)
    return pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
  if (pipe2(ends, O_CLOEXEC))
    return pf_cli_fail(PF_EXIT_MACHINERY, "no pipe: %s", strerror(errno));
  r.from = ends[0];
  r.to = ends[1];
  for (size_t i = 0; i < pool->count; i++)
    r.share->code[i] = PF_POOL_LEFT;
  manage(&r);
  memcpy(code, r.share->code, pool->count * sizeof *code);
  pf_pool_memory_free(r.share, r.share_size);
  close(r.from);
  close(r.to);
  return r.result;
}
