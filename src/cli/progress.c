/* How far long work has come, on a terminal's line of its own; and the end that Ctrl-C asks for. */
#include "cli.h"

#include <signal.h>
#include <unistd.h>

static const double interval = 0.25;  /* seconds */

static volatile sig_atomic_t interrupted;  /* what a signal can tell is a global */

static void on_interrupt(int signal_number)
{
  (void)signal_number;
  interrupted = 1;
}

static double seconds_since(const struct timespec *t)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)(now.tv_sec - t->tv_sec) + 1e-9 * (double)(now.tv_nsec - t->tv_nsec);
}

void pf_interrupt_on(int signal_number)
{
  const struct sigaction action = {.sa_handler = on_interrupt};
  sigaction(signal_number, &action, NULL);
}

void pf_progress_start(pf_progress *p)
{
  pf_interrupt_on(SIGINT);
  p->on = isatty(STDERR_FILENO);
  clock_gettime(CLOCK_MONOTONIC, &p->start);
}

bool pf_progress_due(pf_progress *p)
{
  if (!p->on || seconds_since(&p->shown) < interval)
    return false;
  clock_gettime(CLOCK_MONOTONIC, &p->shown);
  pf_progress_clear(p);
  return true;
}

double pf_progress_seconds(const pf_progress *p)
{
  return seconds_since(&p->start);
}

void pf_progress_clear(const pf_progress *p)
{
  if (p->on)
    fputs("\r\033[K", stderr);
}

bool pf_interrupted(void)
{
  return interrupted;
}
