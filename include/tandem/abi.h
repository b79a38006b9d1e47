/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What tandem-cc emits into a program beyond libitm's ABI, and what libtandem.so reads: section
 * descriptors, colour tables, and the calls that enforce sections. docs/formats/abi.md is its
 * reference. C11 and C++11.
 *
 * Descriptors are constants of the linked output; only tandem_colour_table::runtime is ever
 * written, and only by the runtime. All pointers are valid for as long as the output is loaded.
 */
#pragma once

#ifdef __cplusplus
#include <cstddef>
#include <cstdint>
#define TANDEM_ABI_ASSERT(condition) static_assert(condition, #condition)
extern "C" {
#else
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#define TANDEM_ABI_ASSERT(condition) _Static_assert(condition, #condition)
#endif

/* Changes when an offset, a value or a meaning below changes. Fields that are appended to a
 * structure do not change it: `size` tells whether a descriptor has them, and an absent field
 * counts as zero. */
#define TANDEM_ABI_VERSION 1u

/* Parts of a program that change their phases by themselves, at most (docs/enforcement.md). */
#define TANDEM_PARTS 8

/* tandem_section::kind: what the source marked. */
enum tandem_section_kind {
  TANDEM_KIND_FUNCTION = 1,
  TANDEM_KIND_BLOCK = 2,
  TANDEM_KIND_LAMBDA = 3,
  TANDEM_KIND_LOCK_REGION = 4
};

/* tandem_section::section_class: LockSTM's classes. */
enum tandem_section_class {
  TANDEM_CLASS_PURE = 1,         /* revocable, shares no colour with a non-revocable section */
  TANDEM_CLASS_HYBRID = 2,       /* revocable, shares a colour with a non-revocable section */
  TANDEM_CLASS_NON_REVOCABLE = 3 /* may reach an action that cannot be undone */
};

/* tandem_section::irrevocable_at: when the section stops being revocable. */
enum tandem_irrevocable_at {
  TANDEM_IRREVOCABLE_NEVER = 1,
  TANDEM_IRREVOCABLE_BEGIN = 2, /* runs irrevocably from its begin */
  TANDEM_IRREVOCABLE_REACH =
      3 /* runs revocably until the action: abort, then again from begin, irrevocably */
};

/* tandem_section::flags. Bits that are not named here are zero. */
enum tandem_section_flags {
  TANDEM_SECTION_STRICT = 1 /* the source demands that no irrevocable action is reachable */
};

/* tandem_colour::flags. */
enum tandem_colour_flags {
  TANDEM_COLOUR_IRREVOCABLE = 1, /* some section of the output that has it is non-revocable */
  TANDEM_COLOUR_PROCESS = 2,     /* one colour for all outputs of the process, equal by name */
  TANDEM_COLOUR_SHARED = 4 /* some section of the output holds it shared: has it in `guard` and
                              begins by _TANDEM_begin */
};

/* A colour: sections that may conflict have one in common. 16 bytes. */
struct tandem_colour {
  const char *name;  /*  0: "A", "B", ..., as in the report */
  uint32_t flags;    /*  8: tandem_colour_flags */
  uint32_t reserved; /* 12: zero */
};

/* tandem_colour_table::flags. Bits that are not named here are zero. */
enum tandem_table_flags {
  TANDEM_TABLE_HTM = 1 /* the output asks for the algorithm htm where the user names none */
};

/* The colours of one linked output; one table per output. 48 bytes, writable.
 * Locks of colours are taken in ascending index. Colours with TANDEM_COLOUR_PROCESS have the lowest
 * indices, ordered by name, so that the order is the same for all outputs. */
struct tandem_colour_table {
  uint32_t abi_version;   /*  0: TANDEM_ABI_VERSION; at this offset in every version */
  uint32_t size;          /*  4: sizeof(struct tandem_colour_table) when it was emitted */
  uint32_t colour_count;  /*  8 */
  uint32_t word_count;    /* 12: 64-bit words of each bit set: (colour_count + 63) / 64 */
  uint32_t section_count; /* 16: descriptors in the output; tandem_section::index is below it */
  uint32_t flags;         /* 20: tandem_table_flags */
  const char *output;     /* 24: the output's file name, without its folder */
  const struct tandem_colour *colours; /* 32: colour_count of them; null where colour_count is 0 */
  void *runtime;                       /* 40: the runtime's; emitted as null */
};

/* An atomic section. 64 bytes, aligned to 64: one cache line. */
struct tandem_section {
  uint32_t abi_version;   /*  0: TANDEM_ABI_VERSION; at this offset in every version */
  uint32_t size;          /*  4: sizeof(struct tandem_section) when it was emitted */
  uint8_t kind;           /*  8: tandem_section_kind */
  uint8_t section_class;  /*  9: tandem_section_class */
  uint8_t irrevocable_at; /* 10: tandem_irrevocable_at */
  uint8_t reserved;       /* 11: zero */
  uint32_t flags;         /* 12: tandem_section_flags */
  uint32_t line;          /* 16: of the mark or the acquisition; 0: unknown (compiled without -g) */
  uint32_t index;         /* 20: position among the output's sections, in the report's order */
  const char *name;       /* 24: unique in the output, as in the report */
  const char *file;       /* 32: as the debug information names it; "" where unknown */
  const uint64_t *colours; /* 40: bit set, word_count words: all colours of the section */
  /* 48: bit set, word_count words: the colours that it holds from its begin under the hybrid plan:
   * exclusively where irrevocable_at is BEGIN (then guard == colours), shared otherwise. */
  const uint64_t *guard;
  struct tandem_colour_table *table; /* 56: the output's; never null */
};

/* Whether bit `index` (below 64 * word_count) of a bit set is on: bit i is bit i % 64 of word i
 * / 64. */
static inline int tandem_has_colour(const uint64_t *set, uint32_t index) {
  return (int)((set[index / 64u] >> (index % 64u)) & 1u);
}

/* Enters and leaves `section` under the process's one global lock (enforcement global-lock). Enters
 * nest: an inner section is subsumed by the outermost one of its thread, and the lock is released
 * when that one is left. Both are called by the same thread; enter blocks while another thread is
 * inside. Full fences in the sense of a mutex: what a section did happens before every section that
 * enters after it. They never return an error: misuse ends the process with one line on standard
 * error (docs/formats/abi.md). */
void _TANDEM_global_lock_enter(const struct tandem_section *section);
void _TANDEM_global_lock_leave(const struct tandem_section *section);

/* Enters and leaves `section`, which may share anything with any other section of the process, in
 * code that no tandem compiler has seen (tandem/stock.hpp): under the process's colour, "*", the
 * only one of its table, and the global lock. So it excludes transactions, those of other
 * compilers and of tandem/transaction.h too, and what the enforcements locks, hybrid and
 * global-lock make of sections with memory that code outside can reach. Rules as for both; inside a
 * section under the global lock it only counts. */
void _TANDEM_process_enter(const struct tandem_section *section);
void _TANDEM_process_leave(const struct tandem_section *section);

/* Enters and leaves `section` with all of its colours held exclusively (enforcement locks; sections
 * of the hybrid plan that are irrevocable from their begin). Nested enters only count: the
 * outermost one's colours are held to its end. Rules and order as for the global lock. Where the
 * thread is in a transaction, that one becomes irrevocable first, which may begin it again. */
void _TANDEM_colours_enter(const struct tandem_section *section);
void _TANDEM_colours_leave(const struct tandem_section *section);

/* Begins `section` as a transaction, as _ITM_beginTransaction(properties) does: returns bits of
 * ItmActions, possibly several times; the end is _ITM_commitTransaction or its variants. Where
 * section->guard is not empty, its colours are held shared from here to the end. A non-revocable
 * section that becomes irrevocable (_ITM_changeTransactionMode) is undone, takes
 * section->colours exclusively and begins again with a_runUninstrumentedCode. Defined by
 * libitm.so.1 (which is also libtandem_tm.so). */
uint32_t _TANDEM_begin(uint32_t properties, const struct tandem_section *section)
#if defined(__GNUC__)
    __attribute__((returns_twice))
#endif
    ;

#if defined(__x86_64__) && !defined(__ILP32__)
TANDEM_ABI_ASSERT(sizeof(struct tandem_colour) == 16);
TANDEM_ABI_ASSERT(offsetof(struct tandem_colour, flags) == 8);
TANDEM_ABI_ASSERT(offsetof(struct tandem_colour, reserved) == 12);
TANDEM_ABI_ASSERT(sizeof(struct tandem_colour_table) == 48);
TANDEM_ABI_ASSERT(offsetof(struct tandem_colour_table, size) == 4);
TANDEM_ABI_ASSERT(offsetof(struct tandem_colour_table, colour_count) == 8);
TANDEM_ABI_ASSERT(offsetof(struct tandem_colour_table, word_count) == 12);
TANDEM_ABI_ASSERT(offsetof(struct tandem_colour_table, section_count) == 16);
TANDEM_ABI_ASSERT(offsetof(struct tandem_colour_table, flags) == 20);
TANDEM_ABI_ASSERT(offsetof(struct tandem_colour_table, output) == 24);
TANDEM_ABI_ASSERT(offsetof(struct tandem_colour_table, colours) == 32);
TANDEM_ABI_ASSERT(offsetof(struct tandem_colour_table, runtime) == 40);
TANDEM_ABI_ASSERT(sizeof(struct tandem_section) == 64);
TANDEM_ABI_ASSERT(offsetof(struct tandem_section, size) == 4);
TANDEM_ABI_ASSERT(offsetof(struct tandem_section, kind) == 8);
TANDEM_ABI_ASSERT(offsetof(struct tandem_section, section_class) == 9);
TANDEM_ABI_ASSERT(offsetof(struct tandem_section, irrevocable_at) == 10);
TANDEM_ABI_ASSERT(offsetof(struct tandem_section, reserved) == 11);
TANDEM_ABI_ASSERT(offsetof(struct tandem_section, flags) == 12);
TANDEM_ABI_ASSERT(offsetof(struct tandem_section, line) == 16);
TANDEM_ABI_ASSERT(offsetof(struct tandem_section, index) == 20);
TANDEM_ABI_ASSERT(offsetof(struct tandem_section, name) == 24);
TANDEM_ABI_ASSERT(offsetof(struct tandem_section, file) == 32);
TANDEM_ABI_ASSERT(offsetof(struct tandem_section, colours) == 40);
TANDEM_ABI_ASSERT(offsetof(struct tandem_section, guard) == 48);
TANDEM_ABI_ASSERT(offsetof(struct tandem_section, table) == 56);
#endif

#undef TANDEM_ABI_ASSERT

#ifdef __cplusplus
}
#endif
