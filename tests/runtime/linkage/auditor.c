/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Watches the program's calls, and tells of those that program.c makes.
 */
#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <string.h>

unsigned la_version(unsigned version) { return version; }

unsigned la_objopen(struct link_map *object, Lmid_t space, uintptr_t *cookie) {
  (void)object, (void)space, (void)cookie;
  return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

Elf64_Addr la_x86_64_gnu_pltenter(Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to,
                                  La_x86_64_regs *registers, unsigned *flags, const char *name,
                                  long *frame) {
  (void)index, (void)from, (void)to, (void)registers, (void)flags, (void)frame;
  if (strcmp(name, "first") == 0 || strcmp(name, "second") == 0)
    fprintf(stderr, "%s\n", name);
  return symbol->st_value;
}
