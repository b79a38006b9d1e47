/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * sockets ADDRESS [THREADS]: the replay's clients (memcached/replay/client.h) at the other end of
 * real sockets, against the server that listens at ADDRESS: a unix socket's path, or a port of the
 * loopback. Each thread (default: one) serves its share of the clients in turn.
 *
 * A machine that simulates it warms its caches while the clients store their keys, and measures
 * what they ask then (tandem/machine.h).
 *
 * Settings come from TANDEM_REPLAY (memcached/replay/load.h). When all clients are done, what they
 * saw goes as JSON to the file `output`. Exit status: 0; 1 where an answer was wrong; 2 where the
 * settings are, or the file; 3 where the server cannot be reached, or closed a connection.
 */
#define _GNU_SOURCE
#include "memcached/replay/client.h"
#include "memcached/replay/load.h"
#include "tandem/machine.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { ROOM = 1 << 16, MOST_THREADS = 64, WRONG_USE = 2, UNREACHABLE = 3 };

static struct load load;
static unsigned threads = 1;
static int all_stored; /* an eventfd, readable once all clients have stored their keys */
static struct connection {
  struct client *client;
  int fd;
  char bytes[ROOM]; /* to be sent: from `begin` to `end` */
  size_t begin, end;
} *connections;

static _Noreturn void fail(int status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "sockets: ");
  vfprintf(stderr, format, arguments);
  fprintf(stderr, ": %s\n", strerror(errno));
  _exit(status);
}

/* Of the text, if it is nothing else than a number up to `most`; else 0. */
static unsigned number_of(const char *text, unsigned long most) {
  char *end;
  const unsigned long number = strtoul(text, &end, 10);
  return *text >= '0' && *text <= '9' && !*end && number <= most ? (unsigned)number : 0;
}

static int dial(const char *text) {
  struct sockaddr_un path = {.sun_family = AF_UNIX};
  struct sockaddr_in port = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                             .sin_port = htons((uint16_t)number_of(text, UINT16_MAX))};
  const bool by_port = port.sin_port != 0;
  if (!by_port && strlen(text) >= sizeof path.sun_path) {
    errno = ENAMETOOLONG;
    fail(WRONG_USE, "%s", text);
  }
  strncpy(path.sun_path, text, sizeof path.sun_path - 1);
  const struct sockaddr *address = by_port ? (struct sockaddr *)&port : (struct sockaddr *)&path;
  const int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect(fd, address, by_port ? sizeof port : sizeof path) != 0)
    fail(UNREACHABLE, "%s", text);
  return fd;
}

/* Sends what there is until the socket is full, or the client has to wait for answers. */
static void send_some(struct connection *of) {
  for (;;) {
    if (of->begin == of->end) {
      of->begin = 0;
      of->end = client_ready(of->client) ? client_send(of->client, of->bytes, ROOM) : 0;
      if (of->end == 0)
        return;
    }
    const ssize_t count =
        send(of->fd, of->bytes + of->begin, of->end - of->begin, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0 && errno == EAGAIN)
      return;
    if (count < 0)
      fail(UNREACHABLE, "the server went away");
    of->begin += (size_t)count;
  }
}

static void receive_some(struct connection *of) {
  char bytes[ROOM];
  const ssize_t count = recv(of->fd, bytes, sizeof bytes, MSG_DONTWAIT);
  if (count < 0 && errno == EAGAIN)
    return;
  if (count <= 0) {
    errno = count == 0 ? ECONNRESET : errno;
    fail(UNREACHABLE, "the server went away");
  }
  client_receive(of->client, bytes, (size_t)count);
}

/* Whether all clients have stored their keys. Who sees it first tells the threads whose clients
 * wait for that, and the machine. */
static bool stored(void) {
  static atomic_bool told;
  if (atomic_load(&load.stored) < load.settings.clients)
    return false;
  if (!atomic_exchange(&told, true)) {
    TANDEM_MACHINE_TIMING();
    const uint64_t one = 1;
    if (write(all_stored, &one, sizeof one) != sizeof one)
      fail(1, "an eventfd");
  }
  return true;
}

/* The clients of a thread: each `threads`th, from its own number on. */
static void *run(void *argument) {
  const unsigned first = (unsigned)(uintptr_t)argument, clients = load.settings.clients;
  struct pollfd *polled = calloc(clients + 1, sizeof *polled);
  if (!polled)
    fail(1, "memory");
  for (;;) {
    const bool waits = !stored();
    unsigned count = 0, done = 0;
    for (unsigned i = first; i < clients; i += threads) {
      send_some(&connections[i]);
      const bool pending = connections[i].begin < connections[i].end;
      polled[count++] = (struct pollfd){.fd = connections[i].fd,
                                        .events = (short)(POLLIN | (pending ? POLLOUT : 0))};
      done += !pending && client_done(connections[i].client);
    }
    if (done == count)
      break;
    if (waits && stored()) /* those that were looked at before the last one */
      continue;
    polled[count] = (struct pollfd){.fd = all_stored, .events = POLLIN};
    if (poll(polled, count + waits, -1) < 0)
      fail(UNREACHABLE, "poll");
    for (unsigned i = 0; i < count; i++)
      if (polled[i].revents & (POLLIN | POLLHUP | POLLERR))
        receive_some(&connections[first + i * threads]);
  }
  free(polled);
  return NULL;
}

static void print_result(const char *output) {
  struct tally all = {0};
  for (unsigned i = 0; i < load.settings.clients; i++) {
    const struct tally tally = client_tally(connections[i].client);
    tally_add(&all, &tally);
  }
  FILE *file = fopen(output, "we");
  if (!file)
    fail(WRONG_USE, "%s", output);
  fprintf(file, "{\"version\": 1, \"operations\": %llu, ", (unsigned long long)all.operations);
  tally_print(file, &all, load.settings.check);
  fprintf(file, "}\n");
  if (fclose(file) != 0)
    fail(WRONG_USE, "%s", output);
}

int main(int count, char **words) {
  const char *output = "/dev/stdout", *settings = getenv("TANDEM_REPLAY");
  pthread_t others[MOST_THREADS];
  if (count == 3)
    threads = number_of(words[2], MOST_THREADS);
  if (count < 2 || count > 3 || threads == 0) {
    fprintf(stderr,
            "sockets: give the path of a unix socket, or a port, and perhaps a number of "
            "threads, 1 to %d\n",
            MOST_THREADS);
    return WRONG_USE;
  }
  load_make(&load, &output, settings ? settings : "");
  const unsigned clients = load.settings.clients;
  connections = calloc(clients, sizeof *connections);
  all_stored = eventfd(0, EFD_CLOEXEC);
  if (!connections || all_stored < 0)
    fail(1, "memory");
  for (unsigned i = 0; i < clients; i++) {
    connections[i].client = client_make(&load, i);
    connections[i].fd = dial(words[1]);
  }
  TANDEM_MACHINE_WARMING();
  for (unsigned i = 1; i < threads; i++)
    if ((errno = pthread_create(&others[i], NULL, run, (void *)(uintptr_t)i)))
      fail(1, "a thread");
  run(NULL);
  for (unsigned i = 1; i < threads; i++)
    pthread_join(others[i], NULL);
  TANDEM_MACHINE_FUNCTIONAL();
  print_result(output);
  return 0;
}
