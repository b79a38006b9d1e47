// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compilations side by side: each thread compiles the same texts of C with tcc, in an order of its
// own. What comes out must be the same for all. SIZE: how many texts each compiles.
#include "kernel.h"

#include "compile.h"

#include <string.h>

__asm__(".section .rodata\n"
        "input_begin:\n.incbin \"" INPUT "\"\ninput_end:\n.byte 0\n.previous\n");
extern const char input_begin[], input_end[];

enum { kMostTexts = 16 };
static const char *texts[kMostTexts];
static unsigned text_count;
static uint64_t expected[kMostTexts];
static size_t each;
static atomic_uint wrong;

// The input is texts, each with a byte 1 behind it.
static void prepare(size_t size) {
  each = size;
  char *rest = make_array((size_t)(input_end - input_begin) + 1);
  memcpy(rest, input_begin, (size_t)(input_end - input_begin) + 1);
  for (char *end; text_count < kMostTexts && (end = strchr(rest, 1)) != 0; rest = end + 1) {
    *end = 0;
    texts[text_count++] = rest;
  }
  for (unsigned i = 0; i < text_count; ++i)
    if ((expected[i] = compile_text(texts[i])) == 0)
      atomic_fetch_add(&wrong, 1);
}

static void restore(unsigned thread) { (void)thread; }

static void work(unsigned thread) {
  for (size_t i = 0; i < each; ++i) {
    const unsigned text = (unsigned)((i + thread) % text_count);
    if (compile_text(texts[text]) != expected[text])
      atomic_fetch_add(&wrong, 1);
  }
}

static int is_right(void) { return text_count > 0 && wrong == 0; }

int main(int argc, char **argv) { return kernel_main(argc, argv, "tcc", 1); }
