// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

struct tally;
struct tally *tally_new(void);
void tally_add(struct tally *tally, long more);
void tally_wait(struct tally *tally, long wanted);
long tally_all(void);
