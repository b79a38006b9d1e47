/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A library with one of the functions that program.c calls (FUNCTION), which calls an exported one.
 */
int NUMBER_OF(void);
int FUNCTION(void) { return NUMBER_OF(); }
int NUMBER_OF(void) { return NUMBER; }
