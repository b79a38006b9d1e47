/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What clients share, made from its settings in TANDEM_REPLAY, "name=value,name=value" (the list
 * `names` in load.c), and what they have seen, as fields of JSON.
 */
#pragma once

#include "memcached/replay/client.h"

#include <stdbool.h>
#include <stdio.h>

/* Before any client is made. `output` is changed where the settings say so. Ends the process with
 * one line and status 2 where they are wrong. */
void load_make(struct load *load, const char **output, const char *text);

void tally_add(struct tally *all, const struct tally *tally);

/* Fields without braces around them; with `checked` also what was found. */
void tally_print(FILE *file, const struct tally *tally, bool checked);
