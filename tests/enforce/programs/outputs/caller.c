/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A library whose section calls what it is given.
 */
#include <tandem/tandem.h>

TANDEM_ATOMIC void call_it(void (*function)(long), long argument) { function(argument); }
