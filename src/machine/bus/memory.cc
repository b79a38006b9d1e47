// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/bus/memory.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>

namespace tandem::machine {

Result<std::unique_ptr<Memory>> Memory::create(std::uint64_t base, std::uint64_t size) {
  CHECK(base % kPageBytes == 0 && size % kPageBytes == 0 && size > 0 && base + size > base,
        "{:#x} bytes at {:#x}", size, base);
  void *data = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED)
    return Error{fmt::format("{} MiB of memory for the guest: {}; give it less", size >> 20,
                             std::strerror(errno))};
  return std::unique_ptr<Memory>(new Memory(static_cast<std::byte *>(data), base, size));
}

Memory::Memory(std::byte *data, std::uint64_t base, std::uint64_t size)
    : data_(data), base_(base), size_(size), code_(size >> kPageShift) {}

Memory::~Memory() { munmap(data_, size_); }

bool Memory::read(std::uint64_t address, std::span<std::byte> to) const {
  if (outside_ != nullptr && contains(address, to.size())) [[unlikely]]
    outside_->outside(address, to.size(), false);
  return peek(address, to);
}

bool Memory::peek(std::uint64_t address, std::span<std::byte> to) const {
  if (!contains(address, to.size()))
    return false;
  std::memcpy(to.data(), host(address), to.size());
  return true;
}

bool Memory::write(std::uint64_t address, std::span<const std::byte> from) {
  if (!contains(address, from.size()))
    return false;
  if (outside_ != nullptr) [[unlikely]]
    outside_->outside(address, from.size(), true);
  store(address, from);
  return true;
}

void Memory::store(std::uint64_t address, std::span<const std::byte> from) {
  std::memcpy(host(address), from.data(), from.size());
  written(address, from.size());
}

void Memory::written(std::uint64_t address, std::uint64_t size) {
  for (std::uint64_t at = address, end = address + size; at < end;) {
    const std::uint64_t next = std::min(end, (at | (kPageBytes - 1)) + 1);
    if (holds_code(at) && observer_ != nullptr)
      observer_->code_written(at, next - at);
    at = next;
  }
}

} // namespace tandem::machine
