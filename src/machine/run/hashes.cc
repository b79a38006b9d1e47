// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/run/hashes.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fcntl.h>
#include <span>
#include <unistd.h>
#include <vector>

namespace tandem::machine {
namespace {

constexpr std::uint64_t kPresent = std::uint64_t{1} << 63; // bits of /proc/self/pagemap
constexpr std::uint64_t kSwapped = std::uint64_t{1} << 62;

// Which pages of the host may hold anything but zeros. Source: the kernel's documentation of
// pagemap. Where it cannot be read: all.
class Touched {
public:
  Touched() : file_(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {}
  ~Touched() {
    if (file_ >= 0)
      ::close(file_);
  }
  Touched(const Touched &) = delete;
  Touched &operator=(const Touched &) = delete;

  // Calls page(index) for each page of the range.
  template <typename Page> void each(std::span<const std::byte> range, Page page) {
    const auto first = reinterpret_cast<std::uintptr_t>(range.data()) / kPageBytes;
    const std::size_t count = range.size() / kPageBytes;
    std::array<std::uint64_t, 8192> entries{};
    for (std::size_t done = 0; done < count;) {
      const std::size_t part = std::min(entries.size(), count - done);
      const bool known =
          file_ >= 0 && ::sysconf(_SC_PAGESIZE) == kPageBytes &&
          ::pread(file_, entries.data(), part * 8, static_cast<off_t>((first + done) * 8)) ==
              static_cast<ssize_t>(part * 8);
      for (std::size_t index = 0; index < part; ++index)
        if (!known || (entries[index] & (kPresent | kSwapped)) != 0)
          page(done + index);
      done += part;
    }
  }

private:
  int file_;
};

} // namespace

StateHash hash_of(Machine &machine) {
  static constexpr std::array<std::byte, kPageBytes> kZeros{};
  StateHash hash{.memory = 0, .registers = 0};
  const std::span<const std::byte> bytes = std::as_const(machine.memory()).bytes();
  Touched touched;
  touched.each(bytes, [&](std::size_t page) {
    const std::byte *data = bytes.data() + page * kPageBytes;
    if (std::memcmp(data, kZeros.data(), kPageBytes) != 0)
      hash.memory += XXH3_64bits_withSeed(data, kPageBytes, page + 1);
  });
  std::string registers;
  Archive archive = Archive::writer(registers);
  for (const auto &hart : machine.harts()) {
    HartState state = hart->state();
    hart_fields(archive, state);
  }
  Schedule schedule = machine.cores().schedule();
  Cycle now = machine.clock().now;
  archive(schedule.round, schedule.hart, schedule.done, schedule.instructions, now);
  hash.registers = XXH3_64bits(registers.data(), registers.size());
  return hash;
}

std::string hash_line(Machine &machine) {
  const StateHash hash = hash_of(machine);
  return fmt::format("{} {} {:016x} {:016x}\n", machine.cores().schedule().instructions,
                     machine.clock().now, hash.memory, hash.registers);
}

} // namespace tandem::machine
