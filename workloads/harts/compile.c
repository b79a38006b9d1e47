// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define ONE_SOURCE 1
#include "libtcc.c"

#include "compile.h"

static uint64_t number_of(uint64_t number, const Section *section) {
  for (unsigned long i = 0; section->sh_type != SHT_NOBITS && i < section->data_offset; ++i)
    number = (number ^ section->data[i]) * 0x100000001b3; // FNV-1a
  return number;
}

uint64_t compile_text(const char *text) {
  TCCState *s1 = tcc_new(); // the name that tcc's macros of sections take
  tcc_set_options(s1, "-nostdinc -nostdlib");
  tcc_set_output_type(s1, TCC_OUTPUT_OBJ);
  uint64_t number = 0;
  if (tcc_compile_string(s1, text) == 0) {
    number = 0xcbf29ce484222325;
    number = number_of(number, text_section);
    number = number_of(number, data_section);
  }
  tcc_delete(s1);
  return number;
}
