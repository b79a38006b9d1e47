/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * What tandem-cc would emit for one output: the colours "tandem.shared", of the process, and "A".
 */
#pragma once
#include <tandem/abi.h>

static const struct tandem_colour colours[] = {
    {"tandem.shared", TANDEM_COLOUR_IRREVOCABLE | TANDEM_COLOUR_PROCESS | TANDEM_COLOUR_SHARED, 0},
    {"A", TANDEM_COLOUR_IRREVOCABLE | TANDEM_COLOUR_SHARED, 0}};
static struct tandem_colour_table table = {TANDEM_ABI_VERSION, sizeof table, 2,   1, 3, 0,
                                           OUTPUT_NAME,        colours,      NULL};
static const uint64_t both = 3;
static const uint64_t own = 2;
static const uint64_t none = 0;

/* clang-format off */
static const struct tandem_section exclusive = {
    TANDEM_ABI_VERSION, sizeof exclusive, TANDEM_KIND_FUNCTION, TANDEM_CLASS_NON_REVOCABLE,
    TANDEM_IRREVOCABLE_BEGIN, 0, 0, 11, 0, "exclusive", __FILE__, &both, &both, &table};
static const struct tandem_section hybrid = {
    TANDEM_ABI_VERSION, sizeof hybrid, TANDEM_KIND_BLOCK, TANDEM_CLASS_HYBRID,
    TANDEM_IRREVOCABLE_NEVER, 0, 0, 22, 1, "hybrid", __FILE__, &both, &both, &table};
static const struct tandem_section pure = {
    TANDEM_ABI_VERSION, sizeof pure, TANDEM_KIND_LAMBDA, TANDEM_CLASS_PURE,
    TANDEM_IRREVOCABLE_NEVER, 0, 0, 33, 2, "pure", __FILE__, &none, &none, &table};
/* clang-format on */

uint64_t _ITM_RU8(const uint64_t *);
void _ITM_WU8(uint64_t *, uint64_t);
void _ITM_commitTransaction(void);

__attribute__((noinline)) static void body(uint64_t *pair) {
  uint64_t first = _ITM_RU8(&pair[0]);
  uint64_t second = _ITM_RU8(&pair[1]);
  _ITM_WU8(&pair[0], first + 1);
  _ITM_WU8(&pair[1], second + 1);
}

/* As the wrapper of a section does, with code that is instrumented only. */
__attribute__((noinline)) static void run(const struct tandem_section *section, uint64_t *pair) {
  _TANDEM_begin(0x9, section);
  body(pair);
  _ITM_commitTransaction();
}
