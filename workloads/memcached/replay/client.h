/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * One client of memcached: what it asks, and whether the answers are right. It speaks the text
 * protocol, several commands at a time. A client is used by one thread at a time; the mutex-free
 * state that clients share is in `load`.
 *
 * Keys of three kinds. Private ones belong to one client, which knows what must be stored there.
 * Shared ones are written by all: what is read must be a value that someone stored under that key,
 * whole. Counters are shared, and only ever incremented: what a client sees of one never falls, and
 * in the end each is the sum of all increments.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum command { GET, SET, INCREMENT, DELETE, TOUCH, COMMANDS };

struct settings {
  uint64_t operations;    /* of each client, after all have stored their keys */
  unsigned clients;       /* at most MOST_CLIENTS */
  unsigned keys;          /* shared ones */
  unsigned private_keys;  /* of each client */
  unsigned counters;      /* shared ones */
  unsigned pipeline;      /* commands sent at a time, at most MOST_PIPELINED */
  unsigned value_least;   /* bytes of a value: between these, most near the least */
  unsigned value_most;    /* at most MOST_VALUE */
  unsigned mix[COMMANDS]; /* in a hundred */
  double skew;            /* of the shared keys: Zipf's exponent; 0 is uniform */
  bool exact;             /* nothing is evicted: a key that was stored must be there */
  bool check;             /* answers are checked; otherwise only sent away */
  uint64_t seed;
  const char *admin;    /* commands, separated by ';', that client 0 sends in between; or null */
  uint64_t admin_every; /* after so many operations of client 0 */
};

enum { MOST_CLIENTS = 1024, MOST_PIPELINED = 64, MOST_VALUE = 512 * 1024, MOST_KEY = 32 };

/* What all clients share. */
struct load {
  struct settings settings;
  struct alias *popularity;    /* of the shared keys, the most popular first */
  atomic_uint stored;          /* clients that have stored their keys */
  atomic_uint done;            /* clients that have done their operations */
  atomic_uint_least64_t *sums; /* of each counter: increments that were acknowledged */
};

struct client;

/* `load` outlives the client. Ends the process where memory is exhausted. */
struct client *client_make(struct load *load, unsigned index);

/* Whether client_send would give bytes now. It does not while answers are missing, or while the
 * client waits for the others to have stored their keys. */
bool client_ready(const struct client *client);

/* Whether the client has nothing more to ask. */
bool client_done(const struct client *client);

/* The next bytes that it sends: 0 where it is not ready. */
size_t client_send(struct client *client, char *bytes, size_t most);

/* Takes bytes of answers. A wrong one ends the process with one line and status 1. */
void client_receive(struct client *client, const char *bytes, size_t count);

/* What was seen, of all clients made so far. */
struct tally {
  uint64_t operations, commands[COMMANDS], hits, misses, refused /* out of memory */, checked;
};
struct tally client_tally(const struct client *client);
