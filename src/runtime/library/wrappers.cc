// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a function of the C library to its transactional version, for calls through pointers. Only
// asked where no clone table has an answer, so a plain search will do. The functions are found by
// name: by address, the dynamic linker would look each of them up whenever a process starts.
#include "runtime/library/hooks.h"
#include "runtime/linkage/lookup.h"
#include "runtime/linkage/objects.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>

// Functions, whatever their types: only the addresses count.
#define TANDEM_LOCK_WRAPPER_OF TANDEM_WRAPPER_OF
#define TANDEM_OUTPUT_WRAPPER_OF TANDEM_WRAPPER_OF
#define TANDEM_WRAPPER_OF(LENGTH, NAME)                                                            \
  extern "C" void tandem_plain_##NAME() __asm__(#NAME);                                            \
  extern "C" void tandem_wrapper_##NAME() __asm__("_ZGTt" #LENGTH #NAME);
#include "runtime/library/wrappers.def"
#undef TANDEM_OUTPUT_WRAPPER_OF
#undef TANDEM_WRAPPER_OF

namespace tandem::library {
namespace {

struct Wrapped {
#if defined(__riscv) // static programs, where there is nothing to look up
  void (*plain)();
#define TANDEM_PLAIN(NAME) tandem_plain_##NAME
#else
  const char *plain;
#define TANDEM_PLAIN(NAME) #NAME
#endif
  void (*wrapper)();
  bool puts_off_output;
};

const Wrapped wrapped[] = {
#define TANDEM_WRAPPER_OF(LENGTH, NAME) {TANDEM_PLAIN(NAME), tandem_wrapper_##NAME, false},
#define TANDEM_OUTPUT_WRAPPER_OF(LENGTH, NAME) {TANDEM_PLAIN(NAME), tandem_wrapper_##NAME, true},
#include "runtime/library/wrappers.def"
#undef TANDEM_OUTPUT_WRAPPER_OF
#undef TANDEM_WRAPPER_OF
};
#undef TANDEM_PLAIN
#undef TANDEM_LOCK_WRAPPER_OF

// By the same index; 0: the program has no such function. Whoever fills them in stores the same.
std::atomic<std::uintptr_t> addresses[std::size(wrapped)];
std::atomic<bool> are_found{false};

std::uintptr_t address_of(const Wrapped &one,
                          [[maybe_unused]] std::span<const linkage::Object> scope) noexcept {
#if defined(__riscv)
  return reinterpret_cast<std::uintptr_t>(one.plain);
#else
  return linkage::function_named(one.plain, scope);
#endif
}

} // namespace

void find_wrapped(std::span<const linkage::Object> scope) noexcept {
#if !defined(__riscv)
  if (scope.empty())
    return;
#endif
  for (std::size_t i = 0; i < std::size(wrapped); ++i)
    addresses[i].store(address_of(wrapped[i], scope), std::memory_order_relaxed);
  // Release: who sees it sees the addresses.
  are_found.store(true, std::memory_order_release);
}

void *wrapper_of(void *original, WhenOutput output) noexcept {
  const auto wanted = reinterpret_cast<std::uintptr_t>(original);
  if (!are_found.load(std::memory_order_acquire)) [[unlikely]]
    find_wrapped(linkage::started());
  for (std::size_t i = 0; i < std::size(wrapped) && wanted != 0; ++i)
    if (addresses[i].load(std::memory_order_relaxed) == wanted &&
        (output == WhenOutput::at_commit || !wrapped[i].puts_off_output))
      return reinterpret_cast<void *>(wrapped[i].wrapper);
  return nullptr;
}

} // namespace tandem::library
