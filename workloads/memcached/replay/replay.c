/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Load without sockets: preloaded into memcached, it plays the clients (client.h) inside the
 * process. The server's own code runs unchanged from read() to sendmsg(); what the kernel would do
 * between them costs nothing, so that it cannot hide what the server costs.
 *
 * It takes the place of some calls of the C library. The server's first listening socket seems to
 * have as many connections waiting as there are clients; their descriptors are real (of eventfd),
 * but reading one gives what its client asks, and sending takes its answer. epoll_wait says that
 * such a descriptor can be read while its client has something to ask. All else goes to the kernel.
 *
 * Settings come from TANDEM_REPLAY, "name=value,name=value" (load.h). When all clients
 * are done, the results go as JSON to the file `output`, and the process gets SIGINT.
 */
#define _GNU_SOURCE
#include "memcached/replay/client.h"
#include "memcached/replay/load.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST_DESCRIPTORS = 1 << 16, KERNEL_EVERY = 64 };

static struct load load;
static const char *output = "/dev/stderr";
static bool active;

/* ---- results ---- */

static atomic_int listener = -1;
static atomic_uint accepted, finished;
static struct client
    *clients[MOST_DESCRIPTORS]; /* by descriptor; written before it is given away */
static struct timespec began;
static struct rusage usage_began;
static uint64_t instructions_began;
static int instruction_counter = -1;
static pthread_once_t begin_once = PTHREAD_ONCE_INIT;

/* User-mode instructions of all threads so far; 0 where the kernel does not count them. */
static uint64_t instructions(void) {
  uint64_t count = 0;
  if (instruction_counter < 0 ||
      syscall(SYS_read, instruction_counter, &count, sizeof count) != sizeof count)
    return 0;
  return count;
}

static void begin_measuring(void) {
  instructions_began = instructions();
  getrusage(RUSAGE_SELF, &usage_began);
  clock_gettime(CLOCK_MONOTONIC, &began);
}

static double seconds(struct timeval from, struct timeval to) {
  return (double)(to.tv_sec - from.tv_sec) + 1e-6 * (double)(to.tv_usec - from.tv_usec);
}

static void finish(void) {
  struct timespec now;
  struct rusage usage;
  clock_gettime(CLOCK_MONOTONIC, &now);
  getrusage(RUSAGE_SELF, &usage);
  const uint64_t counted = instructions() - instructions_began;
  struct tally all = {0};
  for (int fd = 0; fd < MOST_DESCRIPTORS; fd++) {
    if (!clients[fd])
      continue;
    const struct tally tally = client_tally(clients[fd]);
    tally_add(&all, &tally);
  }
  FILE *file = fopen(output, "we");
  if (!file) {
    fprintf(stderr, "replay: %s: %s\n", output, strerror(errno));
    _exit(2);
  }
  fprintf(file,
          "{\"version\": 1, \"clients\": %u, \"pipeline\": %u, \"operations\": %" PRIu64
          ", \"seconds\": %.6f, \"user_seconds\": %.6f, \"system_seconds\": %.6f, ",
          load.settings.clients, load.settings.pipeline, all.operations,
          (double)(now.tv_sec - began.tv_sec) + 1e-9 * (double)(now.tv_nsec - began.tv_nsec),
          seconds(usage_began.ru_utime, usage.ru_utime),
          seconds(usage_began.ru_stime, usage.ru_stime));
  if (counted)
    fprintf(file, "\"instructions\": %" PRIu64 ", ", counted);
  tally_print(file, &all, load.settings.check);
  fprintf(file, "}\n");
  if (fclose(file) != 0) {
    fprintf(stderr, "replay: %s: %s\n", output, strerror(errno));
    _exit(2);
  }
  kill(getpid(), SIGINT);
}

/* Counts from now on, with the threads that will be made; not where the kernel forbids it. */
static void open_counter(void) {
  struct perf_event_attr event = {.type = PERF_TYPE_HARDWARE,
                                  .size = sizeof event,
                                  .config = PERF_COUNT_HW_INSTRUCTIONS,
                                  .inherit = 1,
                                  .exclude_kernel = 1,
                                  .exclude_hv = 1};
  instruction_counter = (int)syscall(SYS_perf_event_open, &event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

__attribute__((constructor)) static void start(void) {
  const char *text = getenv("TANDEM_REPLAY");
  if (!text)
    return;
  load_make(&load, &output, text);
  open_counter();
  active = true;
}

/* ---- what takes the place of the C library's ---- */

/* The next definition of the function that it stands in; looked up once. */
#define NEXT(result, function, ...)                                                                \
  static result (*_Atomic next)(__VA_ARGS__);                                                      \
  if (!next)                                                                                       \
  next = (result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #function)

static struct client *client_of(int fd) {
  return fd >= 0 && fd < MOST_DESCRIPTORS ? clients[fd] : NULL;
}

/* The descriptors of clients that an epoll instance watches. Only its own thread touches it, but
 * for `add`, which the server's dispatcher may do: hence the mutex. */
struct watch {
  pthread_mutex_t mutex;
  unsigned count, room, next, rounds;
  struct watched {
    int fd;
    struct epoll_event event;
  } *all;
  bool listens;
  struct epoll_event listener_event;
};
static struct watch *watches[MOST_DESCRIPTORS];
static pthread_mutex_t watches_mutex = PTHREAD_MUTEX_INITIALIZER;

static struct watch *watch_of(int epoll) {
  if (epoll < 0 || epoll >= MOST_DESCRIPTORS)
    return NULL;
  pthread_mutex_lock(&watches_mutex);
  struct watch *watch = watches[epoll];
  if (!watch && (watch = calloc(1, sizeof *watch))) {
    pthread_mutex_init(&watch->mutex, NULL);
    watches[epoll] = watch;
  }
  pthread_mutex_unlock(&watches_mutex);
  return watch;
}

static int change_watched(struct watch *watch, int operation, int fd, struct epoll_event *event) {
  unsigned at = 0;
  while (at < watch->count && watch->all[at].fd != fd)
    at++;
  const bool there = at < watch->count;
  if (there == (operation == EPOLL_CTL_ADD)) {
    errno = there ? EEXIST : ENOENT;
    return -1;
  }
  if (operation == EPOLL_CTL_DEL) {
    watch->all[at] = watch->all[--watch->count];
    return 0;
  }
  if (!there && watch->count == watch->room) {
    const unsigned room = 2 * watch->room + 16;
    struct watched *all = realloc(watch->all, room * sizeof *all);
    if (!all) {
      errno = ENOMEM;
      return -1;
    }
    watch->all = all, watch->room = room;
  }
  watch->all[at] = (struct watched){fd, *event};
  watch->count += !there;
  return 0;
}

int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event) {
  NEXT(int, epoll_ctl, int, int, int, struct epoll_event *);
  const bool listens = active && fd == atomic_load(&listener);
  if (!listens && !client_of(fd))
    return next(epoll, operation, fd, event);
  struct watch *watch = watch_of(epoll);
  pthread_mutex_lock(&watch->mutex);
  int result = 0;
  if (listens) {
    watch->listens = operation != EPOLL_CTL_DEL && (event->events & EPOLLIN);
    if (event)
      watch->listener_event = *event;
  } else {
    result = change_watched(watch, operation, fd, event);
  }
  pthread_mutex_unlock(&watch->mutex);
  return result;
}

/* Those of the watch that are ready, beginning after where the last call ended. */
static int ready_of(struct watch *watch, struct epoll_event *events, int most) {
  int count = 0;
  pthread_mutex_lock(&watch->mutex);
  if (watch->listens && atomic_load(&accepted) < load.settings.clients) {
    events[count] = watch->listener_event;
    events[count++].events = EPOLLIN;
  }
  for (unsigned i = 0; i < watch->count && count < most; i++) {
    const unsigned at = (watch->next + i) % watch->count;
    const struct watched *watched = &watch->all[at];
    const bool readable = (watched->event.events & EPOLLIN) && client_ready(clients[watched->fd]);
    const uint32_t now = (readable ? EPOLLIN : 0) | (watched->event.events & EPOLLOUT);
    if (now) {
      events[count] = watched->event;
      events[count++].events = now;
    }
  }
  watch->next++;
  pthread_mutex_unlock(&watch->mutex);
  return count;
}

int epoll_wait(int epoll, struct epoll_event *events, int most, int timeout) {
  NEXT(int, epoll_wait, int, struct epoll_event *, int, int);
  struct watch *watch = active ? watch_of(epoll) : NULL;
  if (!watch || (watch->count == 0 && !watch->listens))
    return next(epoll, events, most, timeout);
  int count = ready_of(watch, events, most);
  if (count == 0) /* clients wait for others, or are done */
    return next(epoll, events, most, atomic_load(&finished) < load.settings.clients ? 1 : timeout);
  if (count < most && ++watch->rounds % KERNEL_EVERY == 0) {
    const int more = next(epoll, events + count, most - count, 0);
    count += more > 0 ? more : 0;
  }
  return count;
}

int listen(int fd, int backlog) {
  NEXT(int, listen, int, int);
  int none = -1;
  if (active && atomic_compare_exchange_strong(&listener, &none, fd))
    return 0;
  return next(fd, backlog);
}

int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags) {
  NEXT(int, accept4, int, struct sockaddr *, socklen_t *, int);
  if (!active || fd != atomic_load(&listener))
    return next(fd, address, length, flags);
  const unsigned index = atomic_load(&accepted);
  if (index == load.settings.clients) {
    errno = EAGAIN;
    return -1;
  }
  const int client = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (client < 0)
    return -1;
  if (client >= MOST_DESCRIPTORS) {
    close(client);
    errno = EMFILE;
    return -1;
  }
  clients[client] = client_make(&load, index);
  atomic_store(&accepted, index + 1);
  if (address && length)
    *length = 0;
  return client;
}

int accept(int fd, struct sockaddr *address, socklen_t *length) {
  return accept4(fd, address, length, 0);
}

int getpeername(int fd, struct sockaddr *address, socklen_t *length) {
  NEXT(int, getpeername, int, struct sockaddr *, socklen_t *);
  if (!client_of(fd))
    return next(fd, address, length);
  const struct sockaddr_in loopback = {.sin_family = AF_INET,
                                       .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  memcpy(address, &loopback, *length < sizeof loopback ? *length : sizeof loopback);
  *length = sizeof loopback;
  return 0;
}

static ssize_t read_client(struct client *client, void *bytes, size_t most) {
  const size_t count = client_ready(client) ? client_send(client, bytes, most) : 0;
  if (count > 0) {
    if (atomic_load(&load.stored) == load.settings.clients)
      pthread_once(&begin_once, begin_measuring);
    return (ssize_t)count;
  }
  errno = EAGAIN;
  return -1;
}

/* Called after each exchange with a client: the last one to be done ends the load. */
static void maybe_finish(int fd) {
  static atomic_bool counted[MOST_DESCRIPTORS];
  if (!client_done(clients[fd]) || atomic_exchange(&counted[fd], true))
    return;
  if (atomic_fetch_add(&finished, 1) + 1 == load.settings.clients)
    finish();
}

ssize_t read(int fd, void *bytes, size_t most) {
  NEXT(ssize_t, read, int, void *, size_t);
  struct client *client = client_of(fd);
  if (!client)
    return next(fd, bytes, most);
  const ssize_t count = read_client(client, bytes, most);
  maybe_finish(fd);
  return count;
}

ssize_t __read_chk(int fd, void *bytes, size_t most, size_t room) {
  if (most > room)
    abort();
  return read(fd, bytes, most);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
  NEXT(ssize_t, sendmsg, int, const struct msghdr *, int);
  struct client *client = client_of(fd);
  if (!client)
    return next(fd, message, flags);
  ssize_t count = 0;
  for (size_t i = 0; i < message->msg_iovlen; i++) {
    client_receive(client, message->msg_iov[i].iov_base, message->msg_iov[i].iov_len);
    count += (ssize_t)message->msg_iov[i].iov_len;
  }
  return count;
}

int close(int fd) {
  NEXT(int, close, int);
  if (client_of(fd) && atomic_load(&finished) < load.settings.clients) {
    fprintf(stderr, "replay: the server closed the connection of a client\n");
    _exit(1);
  }
  return next(fd);
}
