// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tells ThreadSanitizer what libtandem's colours order: entering a section acquires what leaving
// one with the same colour released, and nothing else. Linked into the program, before the library.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <tandem/abi.h>

void __tsan_acquire(void *address);
void __tsan_release(void *address);

static _Thread_local unsigned depth; // sections inside the outermost one are part of it

static void tell(const struct tandem_section *section, void (*what)(void *)) {
  for (uint32_t i = 0; i < section->table->colour_count; ++i)
    if (tandem_has_colour(section->colours, i))
      what((void *)&section->table->colours[i]);
}

void _TANDEM_colours_enter(const struct tandem_section *section) {
  static void (*enter)(const struct tandem_section *);
  if (enter == NULL)
    enter = (void (*)(const struct tandem_section *))dlsym(RTLD_NEXT, "_TANDEM_colours_enter");
  enter(section);
  if (depth++ == 0)
    tell(section, __tsan_acquire);
}

void _TANDEM_colours_leave(const struct tandem_section *section) {
  static void (*leave)(const struct tandem_section *);
  if (leave == NULL)
    leave = (void (*)(const struct tandem_section *))dlsym(RTLD_NEXT, "_TANDEM_colours_leave");
  if (--depth == 0)
    tell(section, __tsan_release);
  leave(section);
}
