/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * server FAULT: the clients of the replay, two in turn, against a small server that makes one
 * mistake from some point on: none, torn, lost-increment, other-key, short, stale, undeleted,
 * no-answer, lost. The clients must end it with status 1, and with 0 where FAULT is none.
 */
#define _GNU_SOURCE
#include "memcached/replay/alias.h"
#include "memcached/replay/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 4096, CLIENTS = 2, ROOM = 1 << 16, FAULTY_FROM = 500 };

static struct entry {
  char key[MOST_KEY];
  char *value, *before; /* null: none */
  size_t size, size_before;
} entries[SLOTS];
static const char *fault;
static unsigned commands; /* so far */

static bool faulty(const char *name) { return commands > FAULTY_FROM && !strcmp(fault, name); }

static struct entry *entry_of(const char *key) {
  size_t at = 5381;
  for (const char *c = key; *c; c++)
    at = at * 33 + (unsigned char)*c;
  for (;; at++) {
    struct entry *entry = &entries[at % SLOTS];
    if (!entry->key[0])
      strcpy(entry->key, key);
    if (!strcmp(entry->key, key))
      return entry;
  }
}

static void keep(struct entry *entry, const char *value, size_t size) {
  free(entry->before);
  entry->before = entry->value, entry->size_before = entry->size;
  entry->value = malloc(size);
  entry->size = size;
  memcpy(entry->value, value, size);
}

static void answer_get(struct client *client, struct entry *entry) {
  static char text[ROOM];
  if (!entry->value || (faulty("lost") && !strncmp(entry->key, "private", 7))) {
    client_receive(client, "END\r\n", 5);
    return;
  }
  const struct entry *from = entry;
  for (unsigned i = 0; faulty("other-key") &&
                       (from == entry || !from->value || strncmp(from->key, "shared", 6) != 0);
       i++)
    from = &entries[i];
  const bool stale = faulty("stale") && from->before && !strncmp(entry->key, "private", 7);
  const char *value = stale ? from->before : from->value;
  size_t size = stale ? from->size_before : from->size;
  size -= faulty("short") && size > 8;
  const int header = sprintf(text, "VALUE %s 0 %zu\r\n", entry->key, size);
  memcpy(text + header, value, size);
  if (faulty("torn") && size > 24)
    text[(size_t)header + size - 9] ^= 1;
  memcpy(text + (size_t)header + size, "\r\nEND\r\n", 7);
  const size_t all = (size_t)header + size + 7;
  client_receive(client, text, all / 2); /* in two parts, as sockets may */
  client_receive(client, text + all / 2, all - all / 2);
}

static void answer_increment(struct client *client, struct entry *entry) {
  char text[32] = "NOT_FOUND\r\n";
  if (entry->value) {
    char digits[24] = "";
    memcpy(digits, entry->value, entry->size);
    const int size = sprintf(digits, "%llu", strtoull(digits, NULL, 10) + 1);
    if (!faulty("lost-increment") || commands % 64)
      keep(entry, digits, (size_t)size);
    sprintf(text, "%s\r\n", digits);
  }
  client_receive(client, text, strlen(text));
}

/* The command at `line`; how many bytes it has. */
static size_t serve(struct client *client, const char *line) {
  char name[16], key[MOST_KEY];
  size_t size = 0;
  sscanf(line, "%15s %31s %*d %*d %zu", name, key, &size);
  struct entry *entry = entry_of(key);
  size_t length = strcspn(line, "\r") + 2;
  commands++;
  if (!strcmp(name, "set")) {
    keep(entry, line + length, size);
    length += size + 2;
    client_receive(client, "STORED\r\n", faulty("no-answer") ? 0 : 8);
  } else if (!strcmp(name, "get")) {
    answer_get(client, entry);
  } else if (!strcmp(name, "incr")) {
    answer_increment(client, entry);
  } else {
    const bool there = entry->value, touch = !strcmp(name, "touch");
    if (!touch && !faulty("undeleted")) {
      free(entry->value);
      entry->value = NULL;
    }
    const char *yes = touch ? "TOUCHED\r\n" : "DELETED\r\n";
    const char *text = there ? yes : "NOT_FOUND\r\n";
    client_receive(client, text, strlen(text));
  }
  return length;
}

int main(int argc, char **argv) {
  static struct load load = {.settings = {.operations = 4000,
                                          .clients = CLIENTS,
                                          .keys = 100,
                                          .private_keys = 20,
                                          .counters = 3,
                                          .pipeline = 4,
                                          .value_least = 8,
                                          .value_most = 400,
                                          .mix = {60, 15, 15, 5, 5},
                                          .skew = 1,
                                          .exact = true,
                                          .check = true}};
  static char bytes[ROOM];
  struct client *clients[CLIENTS];
  if (argc != 3)
    return 2;
  fault = argv[1];
  load.settings.seed = strtoull(argv[2], NULL, 10);
  load.popularity = alias_zipf(load.settings.keys, load.settings.skew);
  load.sums = calloc(load.settings.counters, sizeof *load.sums);
  for (unsigned i = 0; i < CLIENTS; i++)
    clients[i] = client_make(&load, i);
  unsigned idle = 0;
  for (unsigned turn = 0; idle < CLIENTS; turn++) {
    struct client *client = clients[turn % CLIENTS];
    const size_t size = client_ready(client) ? client_send(client, bytes, sizeof bytes - 1) : 0;
    idle = size ? 0 : idle + !client_ready(client);
    bytes[size] = '\0';
    for (size_t at = 0; at < size;)
      at += serve(client, bytes + at);
  }
  for (unsigned i = 0; i < CLIENTS; i++)
    if (!client_done(clients[i])) {
      fprintf(stderr, "replay: client %u waits for an answer\n", i);
      return 1;
    }
  printf("%llu checked\n",
         (unsigned long long)(client_tally(clients[0]).checked + client_tally(clients[1]).checked));
  return 0;
}
