// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs with LD_BIND_NOW (runtime/CMakeLists.txt), so that glibc's dynamic linker has looked up all
// calls itself: what is found here must be what it has found.
#include "runtime/linkage/calls.h"
#include "runtime/linkage/lookup.h"
#include "runtime/linkage/objects.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <span>
#include <unistd.h>

// As programs have it that were linked before glibc 2.14. The first test compares its slot too.
__asm__(".symver old_memcpy, memcpy@GLIBC_2.2.5");
extern "C" void *old_memcpy(void *to, const void *from, std::size_t bytes);

namespace tandem::linkage {
namespace {

bool is_loaded(std::span<const Object> objects, const char *part) {
  return std::any_of(objects.begin(), objects.end(), [&](const Object &object) {
    return std::strstr(object.path, part) != nullptr;
  });
}

TEST(linkage, finds_what_the_dynamic_linker_finds) {
  const Objects loaded;
  const std::span<const Object> scope = loaded.program();
  ASSERT_TRUE(is_loaded(scope, "libc.so") && is_loaded(scope, "libstdc++.so"));
  int alike = 0;
  int left = 0;
  for (const Object &object : scope)
    for (const ElfW(Rela) & call : std::span(object.calls, object.call_count)) {
      if (ELF64_R_TYPE(call.r_info) != R_X86_64_JUMP_SLOT)
        continue;
      const auto bound = *reinterpret_cast<const std::uintptr_t *>(object.base + call.r_offset);
      const std::size_t symbol = ELF64_R_SYM(call.r_info);
      const std::uintptr_t found = function_of(object, symbol, scope);
      const char *name = object.names + object.symbols[symbol].st_name;
      if (found == 0 && bound != 0) {
        ++left; // a symbol that is one in the whole process, say
        continue;
      }
      EXPECT_EQ(found, bound) << object.path << ": " << name;
      ++alike;
    }
  EXPECT_GT(alike, 1000);
  EXPECT_LT(left, alike / 100);
}

// A library that is preloaded comes before the others, also where it defines a function without the
// version that is asked for.
TEST(linkage, finds_what_is_preloaded) {
  const Objects loaded;
  const std::span<const Object> scope = loaded.program();
  ASSERT_TRUE(is_loaded(scope, "preloaded_test")) << "LD_PRELOAD";
  const Object &program = scope.front();
  const std::span calls(program.calls, program.call_count);
  const auto call = std::find_if(calls.begin(), calls.end(), [&](const ElfW(Rela) & entry) {
    const ElfW(Sym) &symbol = program.symbols[ELF64_R_SYM(entry.r_info)];
    return std::strcmp(program.names + symbol.st_name, "getpagesize") == 0;
  });
  ASSERT_NE(call, calls.end());
  const std::uintptr_t found = function_of(program, ELF64_R_SYM(call->r_info), scope);
  EXPECT_EQ(reinterpret_cast<int (*)()>(found)(), 4242);
  EXPECT_EQ(getpagesize(), 4242);
}

TEST(linkage, finds_old_versions) {
  char to[] = "to";
  old_memcpy(to, "of", sizeof to);
  EXPECT_STREQ(to, "of");
}

// Every function that has a transactional version, as pointers to it have it.
TEST(linkage, finds_names_as_dlsym_does) {
  constexpr const char *kNames[] = {
#define TANDEM_WRAPPER_OF(LENGTH, NAME) #NAME,
#define TANDEM_LOCK_WRAPPER_OF TANDEM_WRAPPER_OF
#define TANDEM_OUTPUT_WRAPPER_OF TANDEM_WRAPPER_OF
#include "runtime/library/wrappers.def"
#undef TANDEM_OUTPUT_WRAPPER_OF
#undef TANDEM_LOCK_WRAPPER_OF
#undef TANDEM_WRAPPER_OF
      "getpagesize", "preloaded_only", "preloaded_chosen", "_Znwm", "no_such_function"};
  const Objects loaded;
  int found = 0;
  for (const char *name : kNames) {
    const auto address = reinterpret_cast<std::uintptr_t>(::dlsym(RTLD_DEFAULT, name));
    EXPECT_EQ(function_named(name, loaded.program()), address) << name;
    found += address != 0 ? 1 : 0;
  }
  EXPECT_GT(found, 150);
  EXPECT_EQ(function_named("no_such_function", loaded.program()), 0U);
  EXPECT_NE(function_named("preloaded_chosen", loaded.program()), 0U);
}

TEST(linkage, keeps_what_the_program_was_started_with) {
  EXPECT_TRUE(started().empty());
  {
    Objects loaded;
    loaded.keep_started();
    ASSERT_EQ(started().size(), loaded.program().size());
  }
  EXPECT_TRUE(is_loaded(started(), "libc.so"));
  EXPECT_NE(function_named("getpagesize", started()), 0U);
}

TEST(linkage, knows_what_is_asked_of_others) {
  const auto kind_of = [](const char *name, bool) -> unsigned {
    return (std::strcmp(name, "getpagesize") == 0 ? 1U : 0U) |
           (std::strcmp(name, "preloaded_only") == 0 ? 2U : 0U) |
           (std::strcmp(name, "old_memcpy") == 0 ? 4U : 0U);
  };
  const Objects loaded;
  EXPECT_EQ(kinds_asked_for(loaded.program().front(), kind_of), 1U);
  Object here;
  ASSERT_TRUE(read_at(reinterpret_cast<std::uintptr_t>(&is_loaded), here));
  EXPECT_EQ(here.dynamic, loaded.program().front().dynamic);
  EXPECT_EQ(kinds_asked_for(here, kind_of), 1U);
}

} // namespace
} // namespace tandem::linkage
