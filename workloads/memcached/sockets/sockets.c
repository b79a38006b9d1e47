/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * sockets PATH: the replay's clients (memcached/replay/client.h) at the other end of real sockets,
 * against the server that listens at the unix socket PATH. One thread, all clients in turn.
 *
 * Settings come from TANDEM_REPLAY (memcached/replay/load.h). When all clients are done, what they
 * saw goes as JSON to the file `output`. Exit status: 0; 1 where an answer was wrong; 2 where the
 * settings are, or the file; 3 where the server cannot be reached, or closed a connection.
 */
#define _GNU_SOURCE
#include "memcached/replay/client.h"
#include "memcached/replay/load.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { ROOM = 1 << 16, IDLE_MS = 1, WRONG_USE = 2, UNREACHABLE = 3 };

static struct connection {
  struct client *client;
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

static int dial(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    fail(WRONG_USE, "%s", path);
  }
  strcpy(address.sun_path, path);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
    fail(UNREACHABLE, "%s", path);
  return fd;
}

/* Sends what there is until the socket is full, or the client has to wait for answers. */
static void send_some(struct connection *of, int fd) {
  for (;;) {
    if (of->begin == of->end) {
      of->begin = 0;
      of->end = client_ready(of->client) ? client_send(of->client, of->bytes, ROOM) : 0;
      if (of->end == 0)
        return;
    }
    const ssize_t count =
        send(fd, of->bytes + of->begin, of->end - of->begin, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0 && errno == EAGAIN)
      return;
    if (count < 0)
      fail(UNREACHABLE, "the server went away");
    of->begin += (size_t)count;
  }
}

static void receive_some(struct connection *of, int fd) {
  static char bytes[ROOM];
  const ssize_t count = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
  if (count < 0 && errno == EAGAIN)
    return;
  if (count <= 0) {
    errno = count == 0 ? ECONNRESET : errno;
    fail(UNREACHABLE, "the server went away");
  }
  client_receive(of->client, bytes, (size_t)count);
}

static void run(struct pollfd *polled, unsigned count) {
  for (;;) {
    unsigned done = 0;
    for (unsigned i = 0; i < count; i++) {
      send_some(&connections[i], polled[i].fd);
      const bool pending = connections[i].begin < connections[i].end;
      polled[i].events = POLLIN | (pending ? POLLOUT : 0);
      done += !pending && client_done(connections[i].client);
    }
    if (done == count)
      return;
    /* A client may also become ready by what another one was answered. */
    if (poll(polled, count, IDLE_MS) < 0)
      fail(UNREACHABLE, "poll");
    for (unsigned i = 0; i < count; i++)
      if (polled[i].revents & (POLLIN | POLLHUP | POLLERR))
        receive_some(&connections[i], polled[i].fd);
  }
}

static void print_result(const struct load *load, const char *output) {
  struct tally all = {0};
  for (unsigned i = 0; i < load->settings.clients; i++) {
    const struct tally tally = client_tally(connections[i].client);
    tally_add(&all, &tally);
  }
  FILE *file = fopen(output, "we");
  if (!file)
    fail(WRONG_USE, "%s", output);
  fprintf(file, "{\"version\": 1, \"operations\": %llu, ", (unsigned long long)all.operations);
  tally_print(file, &all, load->settings.check);
  fprintf(file, "}\n");
  if (fclose(file) != 0)
    fail(WRONG_USE, "%s", output);
}

int main(int count, char **words) {
  static struct load load;
  const char *output = "/dev/stdout", *settings = getenv("TANDEM_REPLAY");
  if (count != 2) {
    fprintf(stderr, "sockets: give one argument, the path of a unix socket\n");
    return WRONG_USE;
  }
  load_make(&load, &output, settings ? settings : "");
  const unsigned clients = load.settings.clients;
  struct pollfd *polled = calloc(clients, sizeof *polled);
  connections = calloc(clients, sizeof *connections);
  if (!polled || !connections)
    fail(1, "memory");
  for (unsigned i = 0; i < clients; i++) {
    connections[i].client = client_make(&load, i);
    polled[i].fd = dial(words[1]);
  }
  run(polled, clients);
  print_result(&load, output);
  return 0;
}
