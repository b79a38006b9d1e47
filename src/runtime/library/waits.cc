// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which transactions may have to wait inside: for a real lock (locks.cc), or for a change. Seen by
// what the program and its libraries ask others for, before the first transaction.
#include "runtime/library/hooks.h"
#include "runtime/linkage/calls.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>

namespace tandem::library {

constinit std::atomic<bool> must_give_way{false};
constinit std::atomic<bool> may_wait_serial{false};

namespace {

enum Kind : unsigned {
  kWaits = 1,     // it waits in transactions
  kLock = 2,      // takes the address of what is about a real lock: it may wait where it is called
  kPointers = 4,  // calls through pointers in transactions
  kCondition = 8, // takes the address of what waits for a condition, at most for some time
};

struct Name {
  const char *symbol;
  Kind kind;
};
constexpr Name kNames[] = {
#define TANDEM_WRAPPER_OF(LENGTH, NAME)
#define TANDEM_OUTPUT_WRAPPER_OF(LENGTH, NAME)
#define TANDEM_LOCK_WRAPPER_OF(LENGTH, NAME) {"_ZGTt" #LENGTH #NAME, kWaits}, {#NAME, kLock},
#include "runtime/library/wrappers.def"
#undef TANDEM_LOCK_WRAPPER_OF
#undef TANDEM_OUTPUT_WRAPPER_OF
#undef TANDEM_WRAPPER_OF
    {"tandem_retry", kWaits},
    {"tandem_wait", kWaits},
    {"_ITM_getTMCloneOrIrrevocable", kPointers},
    {"_ITM_getTMCloneSafe", kPointers},
};

unsigned kind_of(const char *symbol, bool takes_address) {
  // The first letters of all of them.
  if (std::strchr("_tpmc", *symbol) == nullptr)
    return 0;
  const Name *found = std::find_if(std::begin(kNames), std::end(kNames), [&](const Name &name) {
    return std::strcmp(name.symbol, symbol) == 0;
  });
  if (found == std::end(kNames))
    return 0;
  if (found->kind != kLock)
    return found->kind;
  if (!takes_address)
    return 0;
  return std::strstr(symbol, "wait") == nullptr ? kLock : kLock | kCondition;
}

// Of all that was looked at.
std::atomic<unsigned> kinds{0};

void look_at(const linkage::Object &object) noexcept {
  // The runtime takes the addresses of all of them, and calls none in the program's transactions.
  if (linkage::has(object, reinterpret_cast<std::uintptr_t>(&must_give_way)))
    return;
  const unsigned found = linkage::kinds_asked_for(object, kind_of);
  const unsigned all = kinds.fetch_or(found, std::memory_order_relaxed) | found;
  if ((all & kWaits) != 0 || (all & (kLock | kPointers)) == (kLock | kPointers))
    must_give_way.store(true, std::memory_order_relaxed);
  if ((all & kWaits) != 0 || (all & (kCondition | kPointers)) == (kCondition | kPointers))
    may_wait_serial.store(true, std::memory_order_relaxed);
}

// Whether what the program was started with has the address.
bool is_of_started(std::uintptr_t address) noexcept {
  const std::span<const linkage::Object> objects = linkage::started();
  return std::any_of(objects.begin(), objects.end(),
                     [&](const linkage::Object &object) { return linkage::has(object, address); });
}

// Code that the program was started with, which is never unloaded. What does not fit counts as
// loaded later.
struct Place {
  std::uintptr_t low;
  std::uintptr_t bytes;
};
constinit Place started_with[64] = {};
constinit std::size_t started_count = 0;

} // namespace

void expect_waits(const linkage::Objects &loaded) noexcept {
  for (const linkage::Object &object : linkage::started())
    for (const ElfW(Phdr) & part : std::span(object.parts, object.part_count))
      if (part.p_type == PT_LOAD && (part.p_flags & PF_X) != 0 &&
          started_count < std::size(started_with))
        started_with[started_count++] = {object.base + part.p_vaddr, part.p_memsz};
  for (const linkage::Object &object : loaded.all().subspan(linkage::started().size()))
    look_at(object);
}

void expect_waits_of_started() noexcept {
  for (const linkage::Object &object : linkage::started())
    look_at(object);
  if ((kinds.load(std::memory_order_relaxed) & kPointers) != 0)
    find_wrapped(linkage::started());
}

void expect_waits_beside(const void *address) noexcept {
  const auto there = reinterpret_cast<std::uintptr_t>(address);
  if (is_of_started(there))
    return;
  linkage::Object object;
  if (linkage::read_at(there, object))
    return look_at(object);
  must_give_way.store(true, std::memory_order_relaxed);
  may_wait_serial.store(true, std::memory_order_relaxed);
}

bool is_started_with(Thread &thread, std::uintptr_t target) noexcept {
  const std::span<const Place> places(started_with, started_count);
  const auto found = std::find_if(places.begin(), places.end(), [&](const Place &place) {
    return target - place.low < place.bytes;
  });
  if (found == places.end())
    return false;
  thread.known_code = found->low;
  thread.known_code_bytes = found->bytes;
  return true;
}

} // namespace tandem::library
