/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char kHelp[] =
    "usage: replay [OPTION...]    a stream of a cache's operations, in process; one line of JSON\n"
    "  --threads N      [1]\n"
    "  --processes N    they share the store [0: one, with a store of its own]\n"
    "  --operations N   of each thread [200000]\n"
    "  --warm-up N      of each thread, before these, not measured [0]\n"
    "  --keys N         [9120]\n"
    "  --s X            Zipf's law: the i-th key is asked for in proportion to i^-X [1]\n"
    "  --stream FILE    keys in the order of a file instead, one a line\n"
    "  --objects N      the cap on objects [1009]\n"
    "  --bytes N        the cap on bytes [67108864]\n"
    "  --policy P       gdsf or lru [gdsf]\n"
    "  --check          every object is compared with what was stored\n"
    "  --changes N      of 1000 hits, how many refresh, replace or remove [with --check 60, else "
    "0]\n"
    "  --kills N        so many processes are killed as they run, and others begin [0]\n"
    "  --seed N         [1]\n";

__attribute__((noreturn, format(printf, 1, 2))) static void refuse(const char *format, ...) {
  va_list arguments;
  fputs("replay: ", stderr);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputs("; see --help\n", stderr);
  exit(2);
}

static uint64_t number(const char *option, const char *text, uint64_t least, uint64_t most) {
  char *end;
  errno = 0;
  const unsigned long long value = strtoull(text, &end, 10);
  if (errno != 0 || *text < '0' || *text > '9' || *end != '\0' || value < least || value > most)
    refuse("--%s wants a number from %llu to %llu, not '%s'", option, (unsigned long long)least,
           (unsigned long long)most, text);
  return value;
}

enum {
  kThreads,
  kProcesses,
  kOperations,
  kWarmUp,
  kKeys,
  kS,
  kStream,
  kObjects,
  kBytes,
  kPolicy,
  kCheck,
  kChanges,
  kKills,
  kSeed,
  kHelpOption
};
static const struct option kOptions[] = {
    {"threads", required_argument, NULL, kThreads},
    {"processes", required_argument, NULL, kProcesses},
    {"operations", required_argument, NULL, kOperations},
    {"warm-up", required_argument, NULL, kWarmUp},
    {"keys", required_argument, NULL, kKeys},
    {"s", required_argument, NULL, kS},
    {"stream", required_argument, NULL, kStream},
    {"objects", required_argument, NULL, kObjects},
    {"bytes", required_argument, NULL, kBytes},
    {"policy", required_argument, NULL, kPolicy},
    {"check", no_argument, NULL, kCheck},
    {"changes", required_argument, NULL, kChanges},
    {"kills", required_argument, NULL, kKills},
    {"seed", required_argument, NULL, kSeed},
    {"help", no_argument, NULL, kHelpOption},
    {0},
};

static void set_law(struct options *options, const char *text) {
  char *end;
  options->s = strtod(text, &end);
  if (end == text || *end != '\0' || !isfinite(options->s) || options->s < 0 || options->s > 10)
    refuse("--s wants a number from 0 to 10, not '%s'", text);
}

static void set(struct options *options, int which, const char *text) {
  const char *name = kOptions[which].name;
  switch (which) {
  case kThreads:
    options->threads = (uint32_t)number(name, text, 1, 256);
    break;
  case kProcesses:
    options->processes = (uint32_t)number(name, text, 0, 64);
    break;
  case kOperations:
    options->operations = number(name, text, 1, (uint64_t)1 << 40);
    break;
  case kWarmUp:
    options->warm_up = number(name, text, 0, (uint64_t)1 << 40);
    break;
  case kKeys:
    options->keys = (uint32_t)number(name, text, 1, 100000000);
    break;
  case kS:
    set_law(options, text);
    break;
  case kStream:
    options->stream = text;
    break;
  case kObjects:
    options->store.objects = (uint32_t)number(name, text, 1, STORE_MOST_OBJECTS);
    break;
  case kBytes:
    options->store.bytes = number(name, text, STORE_LEAST_BYTES, SIZE_MAX / 2);
    break;
  case kPolicy:
    if (strcmp(text, "gdsf") != 0 && strcmp(text, "lru") != 0)
      refuse("--policy is gdsf or lru, not '%s'", text);
    options->store.policy = *text == 'g' ? STORE_GDSF : STORE_LRU;
    break;
  case kCheck:
    options->check = true;
    break;
  case kChanges:
    options->changes = (uint32_t)number(name, text, 0, 1000);
    break;
  case kKills:
    options->kills = (uint32_t)number(name, text, 0, 1000000);
    break;
  case kSeed:
    options->seed = number(name, text, 0, UINT64_MAX);
    break;
  case kHelpOption:
    fputs(kHelp, stdout);
    exit(0);
  default:
    refuse("an option is wrong");
  }
}

struct options options_read(int count, char **words) {
  struct options options = {
      .store = {.bytes = (size_t)64 << 20, .objects = 1009, .policy = STORE_GDSF},
      .threads = 1,
      .keys = 9120,
      .operations = 200000,
      .s = 1,
      .seed = 1,
      .changes = UINT32_MAX,
  };
  opterr = 0;
  for (int which; (which = getopt_long(count, words, "", kOptions, NULL)) >= 0;) {
    if (which == '?')
      refuse("'%s' is no option, or lacks its value", words[optind - 1]);
    set(&options, which, optarg);
  }
  if (optind < count)
    refuse("'%s' is no option", words[optind]);
  if (options.changes == UINT32_MAX)
    options.changes = options.check ? 60 : 0;
  if (options.kills != 0 && options.processes == 0)
    refuse("--kills needs --processes");
  options.store.shared = options.processes != 0;
  return options;
}
