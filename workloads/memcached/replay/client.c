/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#define _GNU_SOURCE
#include "memcached/replay/client.h"

#include "memcached/replay/alias.h"
#include "stamp/lib/random.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum kind { SHARED, PRIVATE, COUNTER, ADMIN };
enum phase { STORING, WAITING, RUNNING, ADDING_UP, DONE };

/* An answer that is to come. */
struct expected {
  enum command command;
  enum kind kind;
  bool lines; /* of ADMIN: several, up to END */
  uint32_t index, version;
};

struct bytes {
  char *at;
  size_t size, room;
};

struct client {
  struct load *load;
  unsigned index;
  enum phase phase;
  struct random random;
  uint64_t next;     /* of the phase: what is to be stored, asked or added up */
  uint32_t version;  /* of the last value that it sent */
  uint32_t *stored;  /* by private key: the version there; 0: none */
  uint64_t *seen;    /* by counter: the largest value seen */
  const char *admin; /* where the next administrator's command begins */
  struct bytes out;
  size_t sent; /* of `out` */
  struct bytes in;
  struct expected expected[MOST_PIPELINED + 1];
  unsigned expected_count, expected_first;
  struct tally tally;
};

static _Noreturn void wrong(const struct client *client, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  fprintf(stderr, "replay: client %u after %" PRIu64 " operations: %s (seed %" PRIu64 ")\n",
          client->index, client->tally.operations, text, client->load->settings.seed);
  _exit(1);
}

static void *allocate(size_t count, size_t size) {
  void *memory = calloc(count ? count : 1, size);
  if (!memory) {
    fprintf(stderr, "replay: out of memory\n");
    _exit(1);
  }
  return memory;
}

/* Room for `more` bytes at the end. */
static char *grow(struct bytes *bytes, size_t more) {
  if (bytes->size + more > bytes->room) {
    bytes->room = 2 * (bytes->size + more);
    bytes->at = realloc(bytes->at, bytes->room);
    if (!bytes->at) {
      fprintf(stderr, "replay: out of memory\n");
      _exit(1);
    }
  }
  return bytes->at + bytes->size;
}

static int key_text(char *text, const struct client *client, enum kind kind, uint32_t index) {
  if (kind == SHARED)
    return snprintf(text, MOST_KEY, "shared-%" PRIu32, index);
  if (kind == COUNTER)
    return snprintf(text, MOST_KEY, "counter-%" PRIu32, index);
  return snprintf(text, MOST_KEY, "private-%u-%" PRIu32, client->index, index);
}

/* ---- values: the words of one are told by its first, and so is its length ---- */

enum { STRIDE = 0x9e3779b1 };

static uint64_t value_stamp(const struct client *client, const struct expected *of) {
  const uint64_t key = (uint64_t)of->index << 2 | of->kind;
  const uint64_t owner = of->kind == PRIVATE ? client->index + 1 : 0;
  return random_mix(key * 0x9e3779b97f4a7c15u + owner) << 32 | of->version;
}

static size_t value_length(const struct settings *settings, uint64_t stamp) {
  const double unit = (double)(random_mix(stamp) >> 11) * 0x1p-53;
  const double span = settings->value_most - settings->value_least;
  return settings->value_least + (size_t)(span * unit * unit * unit);
}

static void value_write(char *at, size_t length, uint64_t stamp) {
  for (uint64_t word = stamp; length > 0; word += STRIDE) {
    const size_t part = length < sizeof word ? length : sizeof word;
    memcpy(at, &word, part);
    at += part, length -= part;
  }
}

static void value_check(const struct client *client, const struct expected *of, const char *at,
                        size_t length) {
  uint64_t stamp;
  memcpy(&stamp, at, sizeof stamp);
  struct expected there = *of;
  there.version = (uint32_t)stamp;
  if (length < sizeof stamp || stamp != value_stamp(client, &there))
    wrong(client, "a value of another key under kind %d index %" PRIu32, of->kind, of->index);
  if (length != value_length(&client->load->settings, stamp))
    wrong(client, "a value of %zu bytes that was stored with %zu", length,
          value_length(&client->load->settings, stamp));
  uint64_t word = stamp;
  for (size_t i = 0; i < length; i += sizeof word, word += STRIDE)
    if (memcmp(at + i, &word, length - i < sizeof word ? length - i : sizeof word) != 0)
      wrong(client, "a torn value: byte %zu of %zu is of another one", i, length);
  if (of->kind == PRIVATE && there.version != client->stored[of->index])
    wrong(client, "version %" PRIu32 " of private key %" PRIu32 ", where %" PRIu32 " was stored",
          there.version, of->index, client->stored[of->index]);
}

/* ---- asking ---- */

static void expect(struct client *client, struct expected expected) {
  if (client->load->settings.check)
    client->expected[client->expected_count++] = expected;
}

static void ask(struct client *client, enum command command, enum kind kind, uint32_t index) {
  const struct settings *settings = &client->load->settings;
  struct expected expected = {.command = command, .kind = kind, .index = index};
  char key[MOST_KEY];
  key_text(key, client, kind, index);
  char *line = grow(&client->out, MOST_KEY + 64);
  int length = 0;
  switch (command) {
  case GET:
    length = sprintf(line, "get %s\r\n", key);
    break;
  case INCREMENT:
    length = sprintf(line, "incr %s 1\r\n", key);
    break;
  case DELETE:
    length = sprintf(line, "delete %s\r\n", key);
    break;
  case TOUCH:
    length = sprintf(line, "touch %s 0\r\n", key);
    break;
  default:
    if (kind == COUNTER) {
      length = sprintf(line, "set %s 0 0 1\r\n0\r\n", key);
      break;
    }
    expected.version = ++client->version;
    const uint64_t stamp = value_stamp(client, &expected);
    const size_t bytes = value_length(settings, stamp);
    length = sprintf(line, "set %s 0 0 %zu\r\n", key, bytes);
    client->out.size += (size_t)length;
    char *value = grow(&client->out, bytes + 2);
    value_write(value, bytes, stamp);
    memcpy(value + bytes, "\r\n", 2);
    length = (int)bytes + 2;
  }
  client->out.size += (size_t)length;
  expect(client, expected);
}

static void ask_admin(struct client *client) {
  const char *end = strchrnul(client->admin, ';');
  const size_t length = (size_t)(end - client->admin);
  char *line = grow(&client->out, length + 2);
  memcpy(line, client->admin, length);
  memcpy(line + length, "\r\n", 2);
  client->out.size += length + 2;
  expect(client, (struct expected){.kind = ADMIN, .lines = !strncmp(client->admin, "stats", 5)});
  client->admin = *end ? end + 1 : client->load->settings.admin;
}

/* The keys of the client: its private ones, and its share of the others. */
static void store_next(struct client *client) {
  const struct settings *settings = &client->load->settings;
  const uint32_t number = (uint32_t)client->next++;
  const uint32_t mine = settings->private_keys;
  const uint32_t shared = (settings->keys + settings->clients - 1) / settings->clients;
  if (number < mine) {
    ask(client, SET, PRIVATE, number);
  } else if (number < mine + shared) {
    const uint32_t index = (number - mine) * settings->clients + client->index;
    if (index < settings->keys)
      ask(client, SET, SHARED, index);
  } else {
    const uint32_t index = (number - mine - shared) * settings->clients + client->index;
    if (index < settings->counters)
      ask(client, SET, COUNTER, index);
    else
      client->phase = WAITING;
  }
}

static enum command draw_command(struct client *client) {
  unsigned of_hundred = (unsigned)random_below(&client->random, 100);
  for (enum command command = GET; command < COMMANDS; command++) {
    if (of_hundred < client->load->settings.mix[command])
      return command;
    of_hundred -= client->load->settings.mix[command];
  }
  return GET;
}

static void operate_next(struct client *client) {
  const struct settings *settings = &client->load->settings;
  if (client->next == settings->operations) {
    client->phase = DONE;
    return;
  }
  client->next++;
  client->tally.operations++;
  if (client->index == 0 && settings->admin && client->next % settings->admin_every == 0) {
    ask_admin(client);
    return;
  }
  const enum command command = draw_command(client);
  client->tally.commands[command]++;
  if (command == INCREMENT)
    ask(client, command, COUNTER, (uint32_t)random_below(&client->random, settings->counters));
  else if (settings->private_keys && random_below(&client->random, 4) == 0)
    ask(client, command, PRIVATE, (uint32_t)random_below(&client->random, settings->private_keys));
  else
    ask(client, command, SHARED, alias_draw(client->load->popularity, &client->random));
}

static void add_up_next(struct client *client) {
  if (client->next < client->load->settings.counters) {
    ask(client, GET, COUNTER, (uint32_t)client->next++);
  } else {
    client->phase = DONE;
    client->next = UINT64_MAX;
  }
}

/* Fills `out` with up to a pipeline of commands. */
static void next_batch(struct client *client) {
  client->out.size = client->sent = 0;
  client->expected_count = client->expected_first = 0;
  const enum phase phase = client->phase;
  for (unsigned i = 0; i < client->load->settings.pipeline && client->phase == phase; i++) {
    if (phase == STORING)
      store_next(client);
    else if (phase == RUNNING)
      operate_next(client);
    else if (phase == ADDING_UP)
      add_up_next(client);
  }
}

/* Goes on to the phase for which all answers so far are needed. */
static void next_phase(struct client *client) {
  struct load *load = client->load;
  if (client->phase == WAITING && client->next != UINT64_MAX) {
    client->next = UINT64_MAX;
    atomic_fetch_add(&load->stored, 1);
  }
  if (client->phase == WAITING && atomic_load(&load->stored) == load->settings.clients) {
    client->phase = RUNNING;
    client->next = 0;
  }
  if (client->phase == DONE && client->next == load->settings.operations) {
    client->next = UINT64_MAX;
    const bool last = atomic_fetch_add(&load->done, 1) + 1 == load->settings.clients;
    if (last && load->settings.check && load->settings.exact && load->settings.counters) {
      client->phase = ADDING_UP;
      client->next = 0;
    }
  }
}

static bool answers_missing(const struct client *client) {
  return client->expected_first < client->expected_count;
}

bool client_ready(const struct client *client) {
  if (client->sent < client->out.size)
    return true;
  if (answers_missing(client))
    return false;
  if (client->phase == WAITING)
    return client->next != UINT64_MAX ||
           atomic_load(&client->load->stored) == client->load->settings.clients;
  return !client_done(client);
}

bool client_done(const struct client *client) {
  return client->phase == DONE && client->sent == client->out.size && !answers_missing(client) &&
         client->next != client->load->settings.operations;
}

size_t client_send(struct client *client, char *bytes, size_t most) {
  if (client->sent == client->out.size) {
    if (answers_missing(client))
      return 0;
    next_phase(client);
    next_batch(client);
    /* A phase may end without a command. */
    if (client->out.size == 0) {
      next_phase(client);
      next_batch(client);
    }
  }
  const size_t left = client->out.size - client->sent;
  const size_t count = left < most ? left : most;
  memcpy(bytes, client->out.at + client->sent, count);
  client->sent += count;
  return count;
}

/* ---- answers ---- */

static bool is(const char *line, size_t length, const char *text) {
  return length == strlen(text) && memcmp(line, text, length) == 0;
}

static void missing(struct client *client, const struct expected *of) {
  client->tally.misses++;
  if (of->kind == PRIVATE) {
    if (client->stored[of->index] && client->load->settings.exact)
      wrong(client, "private key %" PRIu32 " is lost", of->index);
    client->stored[of->index] = 0;
  } else if (of->kind == COUNTER) {
    if (client->load->settings.exact)
      wrong(client, "counter %" PRIu32 " is lost", of->index);
    client->seen[of->index] = 0;
  }
}

static void found(struct client *client, const struct expected *of) {
  client->tally.hits++;
  if (of->kind == PRIVATE && !client->stored[of->index])
    wrong(client, "private key %" PRIu32 " is there after it was deleted", of->index);
}

/* A counter that was evicted begins anew at nothing: so only exact loads know it never falls. */
static void counted(struct client *client, const struct expected *of, const char *line) {
  const uint64_t value = strtoull(line, NULL, 10);
  const bool grows = of->command == INCREMENT;
  if (client->load->settings.exact && value < client->seen[of->index] + grows)
    wrong(client, "counter %" PRIu32 " is %" PRIu64 " after %" PRIu64, of->index, value,
          client->seen[of->index]);
  client->seen[of->index] = value;
  const uint64_t sum = atomic_load(&client->load->sums[of->index]);
  if (client->phase == ADDING_UP && value != sum)
    wrong(client, "counter %" PRIu32 " is %" PRIu64 " after %" PRIu64 " increments", of->index,
          value, sum);
}

/* The answer to a get that begins with `line`: how many bytes it has, 0 if not all are there. */
static size_t value_answer(struct client *client, const struct expected *of, const char *line,
                           size_t length, size_t available) {
  if (is(line, length, "END")) {
    missing(client, of);
    return length + 2;
  }
  char key[MOST_KEY], got[MOST_KEY];
  unsigned flags;
  size_t bytes;
  key_text(key, client, of->kind, of->index);
  if (sscanf(line, "VALUE %31s %u %zu", got, &flags, &bytes) != 3 || strcmp(key, got) != 0)
    wrong(client, "asked for %s, got '%.*s'", key, (int)length, line);
  const size_t all = length + 2 + bytes + 7;
  if (available < all)
    return 0;
  const char *value = line + length + 2;
  if (memcmp(value + bytes, "\r\nEND\r\n", 7) != 0)
    wrong(client, "the value of %s does not end where it should", key);
  found(client, of);
  if (of->kind == COUNTER)
    counted(client, of, value);
  else
    value_check(client, of, value, bytes);
  return all;
}

static void line_answer(struct client *client, const struct expected *of, const char *line,
                        size_t length) {
  if (of->kind == ADMIN)
    return;
  if (is(line, length, "NOT_FOUND") && of->command != SET) {
    missing(client, of);
  } else if (of->command == SET && is(line, length, "STORED")) {
    if (of->kind == PRIVATE)
      client->stored[of->index] = of->version;
  } else if (of->command == SET && length > 12 && !memcmp(line, "SERVER_ERROR", 12) &&
             !client->load->settings.exact) {
    client->tally.refused++;
    if (of->kind == PRIVATE)
      client->stored[of->index] = 0;
  } else if (of->command == DELETE && is(line, length, "DELETED")) {
    found(client, of);
    if (of->kind == PRIVATE)
      client->stored[of->index] = 0;
  } else if (of->command == TOUCH && is(line, length, "TOUCHED")) {
    found(client, of);
  } else if (of->command == INCREMENT && length > 0 && line[0] >= '0' && line[0] <= '9') {
    client->tally.hits++;
    counted(client, of, line);
    atomic_fetch_add(&client->load->sums[of->index], 1);
  } else {
    wrong(client, "'%.*s' is no answer to command %d", (int)length, line, of->command);
  }
}

void client_receive(struct client *client, const char *bytes, size_t count) {
  if (!client->load->settings.check)
    return;
  struct bytes *in = &client->in;
  memcpy(grow(in, count + 1), bytes, count);
  in->size += count;
  in->at[in->size] = '\0'; /* so that sscanf and strtoull end */
  size_t at = 0;
  while (answers_missing(client)) {
    const char *line = in->at + at;
    const char *end = memchr(line, '\n', in->size - at);
    if (!end)
      break;
    const struct expected *of = &client->expected[client->expected_first];
    const size_t length = (size_t)(end - line) - 1;
    if (of->kind != ADMIN && of->command == GET) {
      const size_t all = value_answer(client, of, line, length, in->size - at);
      if (all == 0)
        break;
      at += all;
    } else {
      line_answer(client, of, line, length);
      at += length + 2;
    }
    if (of->kind != ADMIN || !of->lines || is(line, length, "END") || is(line, length, "RESET")) {
      client->expected_first++;
      client->tally.checked++;
    }
  }
  if (!answers_missing(client) && at < in->size)
    wrong(client, "an answer to nothing: '%.60s'", in->at + at);
  in->size -= at;
  memmove(in->at, in->at + at, in->size);
}

struct client *client_make(struct load *load, unsigned index) {
  struct client *client = allocate(1, sizeof *client);
  client->load = load;
  client->index = index;
  client->random = random_stream(load->settings.seed, index);
  client->stored = allocate(load->settings.private_keys, sizeof *client->stored);
  client->seen = allocate(load->settings.counters, sizeof *client->seen);
  client->admin = load->settings.admin;
  return client;
}

struct tally client_tally(const struct client *client) { return client->tally; }
