// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of system calls.
#include "machine/proxy/calls.h"

#include <array>

namespace tandem::machine::proxy {
namespace {

constexpr std::size_t kNumbers = 451; // of Linux 6.1

constexpr std::array<SystemCall, kNumbers> make_table() {
  std::array<SystemCall, kNumbers> table{};
#define TANDEM_CALL(number, name) table[number] = {#name, call_##name, false};
#define TANDEM_WITHOUT(number, name) table[number] = {#name, nullptr, true};
#define TANDEM_UNSERVED(number, name) table[number] = {#name, nullptr, false};
#include "machine/proxy/syscalls.def"
  return table;
}

constexpr std::array<SystemCall, kNumbers> kTable = make_table();

} // namespace

const SystemCall *find_system_call(std::uint64_t number) {
  return number < kNumbers && kTable[number].name != nullptr ? &kTable[number] : nullptr;
}

} // namespace tandem::machine::proxy
