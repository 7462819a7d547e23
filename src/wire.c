/* Frames: two 32-bit lengths, little-endian, a JSON object, bytes. */
#include "wire.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HEADER = 8, LONGEST_HEAD = 1 << 20 };
#define LONGEST_DATA ((size_t)1 << 30)

static int64_t now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Waits until the descriptor is ready; end < 0: for ever. */
static pf_wire wait_for(int fd, short events, int64_t end)
{
  for (;;) {
    const int64_t left = end < 0 ? -1 : end - now();
    if (end >= 0 && left <= 0)
      return PF_WIRE_LATE;
    struct pollfd p = {.fd = fd, .events = events};
    const int ready = poll(&p, 1, (int)left);
    if (ready > 0)
      return PF_WIRE_OK;
    if (ready < 0 && errno != EINTR)
      return PF_WIRE_CLOSED;
  }
}

/* A socket must not raise SIGPIPE in somebody else's process. */
static ssize_t put(int fd, const void *from, size_t size)
{
  const ssize_t n = send(fd, from, size, MSG_NOSIGNAL);
  return n < 0 && errno == ENOTSOCK ? write(fd, from, size) : n;
}

static pf_wire put_all(int fd, const void *from, size_t size, int64_t end)
{
  for (const uint8_t *at = from; size;) {
    const ssize_t n = put(fd, at, size);
    if (n >= 0) {
      at += n;
      size -= (size_t)n;
    } else if (errno == EAGAIN) {
      const pf_wire w = wait_for(fd, POLLOUT, end);
      if (w)
        return w;
    } else if (errno != EINTR) {
      return PF_WIRE_CLOSED;
    }
  }
  return PF_WIRE_OK;
}

static pf_wire get_all(int fd, void *to, size_t size, int64_t end)
{
  for (uint8_t *at = to; size;) {
    const ssize_t n = read(fd, at, size);
    if (n > 0) {
      at += n;
      size -= (size_t)n;
    } else if (n == 0) {
      return PF_WIRE_CLOSED;
    } else if (errno == EAGAIN) {
      const pf_wire w = wait_for(fd, POLLIN, end);
      if (w)
        return w;
    } else if (errno != EINTR) {
      return PF_WIRE_CLOSED;
    }
  }
  return PF_WIRE_OK;
}

static void put_length(uint8_t *to, size_t n)
{
  for (int i = 0; i < 4; i++)
    to[i] = (uint8_t)(n >> 8 * i);
}

static size_t get_length(const uint8_t *from)
{
  return (size_t)from[0] | (size_t)from[1] << 8 | (size_t)from[2] << 16 | (size_t)from[3] << 24;
}

pf_wire pf_wire_send(int fd, const json_t *head, const void *data, size_t size, int milliseconds)
{
  const int64_t end = milliseconds < 0 ? -1 : now() + milliseconds;
  const size_t length = head ? json_dumpb(head, NULL, 0, JSON_COMPACT) : 0;
  char *text = length ? malloc(HEADER + length) : NULL;
  if (!text)
    return PF_WIRE_FAILED;
  put_length((uint8_t *)text, length);
  put_length((uint8_t *)text + 4, size);
  json_dumpb(head, text + HEADER, length, JSON_COMPACT);
  pf_wire w = put_all(fd, text, HEADER + length, end);
  if (!w)
    w = put_all(fd, data, size, end);
  free(text);
  return w;
}

static pf_wire garbage(pf_error *e, const uint8_t *bytes, size_t count, const char *what)
{
  char shown[4 * 32 + 1] = "";
  size_t used = 0;
  for (size_t i = 0; i < count && i < 32; i++)
    used += (size_t)snprintf(shown + used, sizeof shown - used,
                             bytes[i] >= ' ' && bytes[i] < 127 ? "%c" : "\\x%02x", bytes[i]);
  pf_fail(e, PF_BAD_INPUT, 0, "%s, it begins with '%s'", what, shown);
  return PF_WIRE_GARBAGE;
}

static bool grow(pf_frame *f, size_t size)
{
  if (f->data && size <= f->capacity)
    return true;
  size_t capacity = 4096;
  while (capacity < size)
    capacity *= 2;
  free(f->data);
  f->data = aligned_alloc(64, capacity);
  f->capacity = f->data ? capacity : 0;
  return f->data;
}

static pf_wire get_head(int fd, pf_frame *f, size_t length, int64_t end, pf_error *e)
{
  char *text = malloc(length);
  if (!text)
    return PF_WIRE_FAILED;
  pf_wire w = get_all(fd, text, length, end);
  if (!w) {
    json_error_t error;
    f->head = json_loadb(text, length, 0, &error);
    if (!json_is_object(f->head))
      w = garbage(e, (const uint8_t *)text, length, "no JSON object");
  }
  free(text);
  return w;
}

pf_wire pf_wire_receive(int fd, pf_frame *f, int milliseconds, pf_error *e)
{
  const int64_t end = milliseconds < 0 ? -1 : now() + milliseconds;
  uint8_t header[HEADER];
  json_decref(f->head);
  f->head = NULL;
  f->size = 0;
  pf_wire w = get_all(fd, header, HEADER, end);
  if (w)
    return w;
  const size_t length = get_length(header), size = get_length(header + 4);
  if (!length || length > LONGEST_HEAD || size > LONGEST_DATA)
    return garbage(e, header, HEADER, "no frame");
  w = get_head(fd, f, length, end, e);
  if (!w && !grow(f, size))
    w = PF_WIRE_FAILED;
  if (!w)
    w = get_all(fd, f->data, size, end);
  f->size = w ? 0 : size;
  return w;
}

void pf_frame_free(pf_frame *f)
{
  json_decref(f->head);
  free(f->data);
  *f = (pf_frame){0};
}
