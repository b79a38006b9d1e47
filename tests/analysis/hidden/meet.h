/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * How the two sides of a pair of sections meet. The library is machine code, and the catalogue
 * calls it pure (meet.toml), so it is no part of what is analysed. Waits have an end where the
 * other side may be kept out by right: a program whose sections are atomic always gets through.
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

enum { MEET_PAIRS = 64, MEET_ROUNDS = 6 };

/* Outside of sections: both sides of `pair` begin their next round together. */
void meet_begin(int pair, int side);
/* Inside: waits, for a while, until the other side is inside too. */
void meet_inside(int pair, int side);
/* Outside: this side has left its section. meet_left() waits, for a while, until the other one has.
 */
void meet_leave(int pair, int side);
void meet_left(int pair, int side);
/* Prints how many updates of the pair were lost, or how many looks saw half of one; once for each
 * pair. */
void meet_result(int pair, long lost);
/* Waits until the result of `pair` is there. */
void meet_wait(int pair);

#ifdef __cplusplus
}
#endif
