/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#define _GNU_SOURCE
#include "memcached/replay/load.h"

#include "memcached/replay/alias.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct settings told = {.operations = 100000,
                               .clients = 8,
                               .keys = 10000,
                               .private_keys = 100,
                               .counters = 16,
                               .pipeline = 4,
                               .value_least = 32,
                               .value_most = 1024,
                               .mix = {[GET] = 90, [SET] = 10},
                               .skew = 0.99,
                               .check = true,
                               .seed = 1,
                               .admin_every = 10000};

static const struct {
  const char *name;
  unsigned *number;
  uint64_t *large;
  unsigned least, most;
} names[] = {
    {"operations", NULL, &told.operations, 1, UINT32_MAX}, /* of each client */
    {"clients", &told.clients, NULL, 1, MOST_CLIENTS},
    {"keys", &told.keys, NULL, 1, 1u << 28},
    {"private-keys", &told.private_keys, NULL, 0, 1u << 24}, /* of each client */
    {"counters", &told.counters, NULL, 1, 1u << 20},
    {"pipeline", &told.pipeline, NULL, 1, MOST_PIPELINED},
    {"value-least", &told.value_least, NULL, 8, MOST_VALUE},
    {"value-most", &told.value_most, NULL, 8, MOST_VALUE},
    {"get", &told.mix[GET], NULL, 0, 100}, /* what is not said is a get */
    {"set", &told.mix[SET], NULL, 0, 100},
    {"incr", &told.mix[INCREMENT], NULL, 0, 100},
    {"delete", &told.mix[DELETE], NULL, 0, 100},
    {"touch", &told.mix[TOUCH], NULL, 0, 100},
    {"seed", NULL, &told.seed, 0, UINT32_MAX},
    {"admin-every", NULL, &told.admin_every, 1, UINT32_MAX},
};

static _Noreturn void refuse(const char *entry, const char *why) {
  fprintf(stderr, "replay: TANDEM_REPLAY: '%s': %s\n", entry, why);
  _exit(2);
}

static bool set_number(const char *name, const char *entry, const char *value) {
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (strcmp(name, names[i].name) != 0)
      continue;
    char *end;
    const unsigned long long number = strtoull(value, &end, 10);
    char why[96];
    snprintf(why, sizeof why, "give a number from %u to %u", names[i].least, names[i].most);
    if (*value < '0' || *value > '9' || *end || number < names[i].least || number > names[i].most)
      refuse(entry, why);
    if (names[i].number)
      *names[i].number = (unsigned)number;
    else
      *names[i].large = number;
    return true;
  }
  return false;
}

static void set(const char *entry, const char **output) {
  char *name = strdup(entry);
  char *value = name ? strchr(name, '=') : NULL;
  if (!value)
    refuse(entry, "give NAME=VALUE");
  *value++ = '\0';
  if (set_number(name, entry, value))
    return;
  char *end = value;
  if (!strcmp(name, "skew"))
    told.skew = strtod(value, &end);
  else if (!strcmp(name, "check"))
    told.check = strtol(value, &end, 10) != 0;
  else if (!strcmp(name, "exact"))
    told.exact = strtol(value, &end, 10) != 0;
  else if (!strcmp(name, "output"))
    *output = value, end = value + strlen(value);
  else if (!strcmp(name, "admin"))
    told.admin = value, end = value + strlen(value);
  else
    refuse(entry, "there is no such setting");
  if (end == value || *end)
    refuse(entry, "this is no value for it");
}

void load_make(struct load *load, const char **output, const char *text) {
  char *entries = strdup(text), *rest = entries;
  if (!entries)
    refuse(text, "out of memory");
  for (const char *entry; (entry = strsep(&rest, ","));)
    if (*entry)
      set(entry, output);
  unsigned sum = 0;
  for (int command = SET; command < COMMANDS; command++)
    sum += told.mix[command];
  if (sum > 100)
    refuse(text, "set, incr, delete and touch are more than a hundred in a hundred");
  told.mix[GET] = 100 - sum;
  if (told.value_least > told.value_most)
    refuse(text, "value-least is above value-most");
  load->settings = told;
  load->popularity = alias_zipf(told.keys, told.skew);
  load->sums = calloc(told.counters, sizeof *load->sums);
  if (!load->popularity || !load->sums)
    refuse(text, "out of memory");
}

void tally_add(struct tally *all, const struct tally *tally) {
  all->operations += tally->operations, all->hits += tally->hits, all->misses += tally->misses;
  all->refused += tally->refused, all->checked += tally->checked;
  for (int command = 0; command < COMMANDS; command++)
    all->commands[command] += tally->commands[command];
}

void tally_print(FILE *file, const struct tally *tally, bool checked) {
  fprintf(file,
          "\"get\": %" PRIu64 ", \"set\": %" PRIu64 ", \"incr\": %" PRIu64 ", \"delete\": %" PRIu64
          ", \"touch\": %" PRIu64,
          tally->commands[GET], tally->commands[SET], tally->commands[INCREMENT],
          tally->commands[DELETE], tally->commands[TOUCH]);
  if (checked)
    fprintf(file,
            ", \"checked\": %" PRIu64 ", \"hits\": %" PRIu64 ", \"misses\": %" PRIu64
            ", \"refused\": %" PRIu64,
            tally->checked, tally->hits, tally->misses, tally->refused);
}
