// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/proxy/address_space.h"

#include "base/check.h"
#include "machine/isa/state.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tandem::machine::proxy {
namespace {

// Bits of an entry of Sv39. Source: RISC-V privileged manual, figure of the Sv39 page table entry.
constexpr std::uint64_t kValid = 1;
constexpr std::uint64_t kRead = 2;
constexpr std::uint64_t kWrite = 4;
constexpr std::uint64_t kExecute = 8;
constexpr std::uint64_t kUser = 16;
constexpr std::uint64_t kAccessed = 64;
constexpr std::uint64_t kDirty = 128;
constexpr unsigned kNumberShift = 10;

constexpr unsigned kLevels = 3;
constexpr unsigned kIndexBits = 9;
constexpr std::uint64_t kIndexMask = (1U << kIndexBits) - 1;
constexpr std::uint64_t kPageMask = kPageBytes - 1;

constexpr std::uint64_t frame_of(std::uint64_t entry) {
  return (entry >> kNumberShift) << kPageShift;
}
constexpr std::uint64_t entry_of(std::uint64_t frame) {
  return (frame >> kPageShift) << kNumberShift | kValid;
}

// Write without read is reserved in the tables; like Linux, it also lets read.
constexpr std::uint64_t rights(const Protection &protection) {
  return (protection.read || protection.write ? kRead : 0) | (protection.write ? kWrite : 0) |
         (protection.execute ? kExecute : 0);
}
constexpr std::uint64_t right(Touch touch) {
  return touch == Touch::read ? kRead : touch == Touch::write ? kWrite : kExecute;
}

} // namespace

AddressSpace::AddressSpace(Memory &memory, DmaPort &dma,
                           std::function<void(std::uint64_t, std::uint64_t)> flush)
    : memory_(&memory), dma_(&dma), flush_(std::move(flush)), frames_(memory),
      root_(frames_.take().value()) {}

std::uint64_t AddressSpace::satp() const {
  return satp::kSv39 << satp::kModeShift | root_ >> kPageShift;
}

// The physical address of the last-level entry; none if a table is missing and may not be or cannot
// be made.
std::optional<std::uint64_t> AddressSpace::entry_address(std::uint64_t address, bool make) {
  std::uint64_t table = root_;
  for (unsigned level = kLevels - 1; level > 0; --level) {
    const std::uint64_t index = address >> (kPageShift + kIndexBits * level) & kIndexMask;
    const std::uint64_t place = table + 8 * index;
    std::uint64_t value = 0;
    CHECK(memory_->read_value(place, value));
    if ((value & kValid) == 0) {
      if (!make)
        return std::nullopt;
      const std::optional<std::uint64_t> frame = frames_.take();
      if (!frame)
        return std::nullopt;
      value = entry_of(*frame);
      set_entry(place, value);
    }
    table = frame_of(value);
  }
  return table + 8 * (address >> kPageShift & kIndexMask);
}

// The last-level entry, 0 if there is none.
std::uint64_t AddressSpace::entry(std::uint64_t address) {
  const std::optional<std::uint64_t> place = entry_address(address, false);
  std::uint64_t value = 0;
  if (place)
    CHECK(memory_->read_value(*place, value));
  return value;
}

void AddressSpace::set_entry(std::uint64_t entry_address, std::uint64_t value) {
  CHECK(dma_->put(entry_address, value));
}

// Calls action(page, place of its entry, entry) for each valid entry. Tables that are missing are
// passed over at once.
template <typename Action>
void AddressSpace::each_page(std::uint64_t start, std::uint64_t size, Action action) {
  constexpr std::uint64_t kTable = kPageBytes << kIndexBits; // what one last-level table maps
  for (std::uint64_t page = start; page < start + size; page += kPageBytes) {
    const std::optional<std::uint64_t> place = entry_address(page, false);
    if (!place) {
      page = (page / kTable + 1) * kTable - kPageBytes;
      continue;
    }
    std::uint64_t value = 0;
    CHECK(memory_->read_value(*place, value));
    if ((value & kValid) != 0)
      action(page, *place, value);
  }
}

// No mapping reaches across `at`.
void AddressSpace::split(std::uint64_t at) {
  Iterator next = mappings_.lower_bound(at);
  if (next == mappings_.begin())
    return;
  const Iterator before = std::prev(next);
  if (before->second.end <= at)
    return;
  Mapping rest = before->second;
  rest.offset += at - before->first;
  before->second.end = at;
  mappings_.emplace_hint(next, at, std::move(rest));
}

// Neighbours that are alike become one, from the one before `start` to the one at `end`.
void AddressSpace::merge(std::uint64_t start, std::uint64_t end) {
  Iterator at = mappings_.lower_bound(start);
  if (at != mappings_.begin())
    --at;
  while (at != mappings_.end() && at->first <= end) {
    const Iterator next = std::next(at);
    if (next == mappings_.end())
      return;
    const Mapping &a = at->second;
    const Mapping &b = next->second;
    const bool alike = a.end == next->first && a.protection == b.protection &&
                       a.shared == b.shared && a.file == b.file && a.name == b.name &&
                       (a.file == nullptr || b.offset - a.offset == next->first - at->first);
    if (!alike) {
      at = next;
      continue;
    }
    at->second.end = b.end;
    mappings_.erase(next);
  }
}

void AddressSpace::write_back(std::uint64_t page, const Mapping &mapping, std::uint64_t start,
                              std::uint64_t entry) {
  if (!mapping.shared || mapping.file == nullptr || (entry & kDirty) == 0)
    return;
  const std::uint64_t offset = mapping.offset + (page - start);
  if (offset >= mapping.file->size())
    return;
  const std::uint64_t count = std::min(kPageBytes, mapping.file->size() - offset);
  mapping.file->write_at(offset, {memory_->host(frame_of(entry)), count});
}

// Takes back the frames of a range, whose mappings still stand.
void AddressSpace::drop_pages(std::uint64_t start, std::uint64_t size) {
  bool any = false;
  each_page(start, size, [&](std::uint64_t page, std::uint64_t place, std::uint64_t value) {
    const auto *mapping = find(page);
    CHECK(mapping != nullptr);
    write_back(page, mapping->second, mapping->first, value);
    set_entry(place, 0);
    frames_.give(frame_of(value));
    any = true;
  });
  if (any)
    flush_(start, size);
}

void AddressSpace::unmap(std::uint64_t start, std::uint64_t size) {
  drop_pages(start, size);
  split(start);
  split(start + size);
  mappings_.erase(mappings_.lower_bound(start), mappings_.lower_bound(start + size));
}

void AddressSpace::map(std::uint64_t start, std::uint64_t size, Mapping mapping) {
  CHECK(start % kPageBytes == 0 && size % kPageBytes == 0 && size > 0 && start + size <= kEnd);
  unmap(start, size);
  mapping.end = start + size;
  mappings_.emplace(start, std::move(mapping));
  merge(start, start + size);
}

bool AddressSpace::protect(std::uint64_t start, std::uint64_t size, Protection protection) {
  if (!is_mapped(start, size))
    return false;
  split(start);
  split(start + size);
  for (Iterator at = mappings_.lower_bound(start);
       at != mappings_.end() && at->first < start + size; ++at)
    at->second.protection = protection;
  merge(start, start + size);
  const std::uint64_t allowed = rights(protection);
  bool any = false;
  each_page(start, size, [&](std::uint64_t /*page*/, std::uint64_t place, std::uint64_t value) {
    constexpr std::uint64_t kRights = kRead | kWrite | kExecute;
    // An entry without rights would point to a table: the page stays, in an entry that is not valid
    // for users.
    const std::uint64_t changed =
        allowed == 0 ? (value & ~kRights & ~kUser) | kRead : (value & ~kRights) | allowed | kUser;
    set_entry(place, changed);
    any |= changed != value;
  });
  if (any)
    flush_(start, size);
  return true;
}

void AddressSpace::discard(std::uint64_t start, std::uint64_t size) { drop_pages(start, size); }

void AddressSpace::synchronise(std::uint64_t start, std::uint64_t size) {
  bool any = false;
  each_page(start, size, [&](std::uint64_t page, std::uint64_t place, std::uint64_t value) {
    const auto *mapping = find(page);
    if (!mapping->second.shared || mapping->second.file == nullptr || (value & kDirty) == 0)
      return;
    write_back(page, mapping->second, mapping->first, value);
    set_entry(place, value & ~kDirty);
    any = true;
  });
  if (any)
    flush_(start, size);
}

void AddressSpace::move(std::uint64_t from, std::uint64_t to, std::uint64_t size) {
  split(from);
  split(from + size);
  Mapping mapping = mappings_.at(from);
  mapping.end = to + size;
  mappings_.emplace(to, std::move(mapping));
  each_page(from, size, [&](std::uint64_t page, std::uint64_t place, std::uint64_t value) {
    const std::optional<std::uint64_t> other = entry_address(to + (page - from), true);
    if (other)
      set_entry(*other, value);
    else
      frames_.give(frame_of(value)); // no memory for a table: the page is lost with it
    set_entry(place, 0);
  });
  mappings_.erase(from);
  merge(to, to + size);
  flush_(from, size);
}

std::optional<std::uint64_t> AddressSpace::find_free(std::uint64_t size) const {
  // Downwards from the lowest address of the stack, whose mapping is the last one.
  std::uint64_t top = mappings_.empty() ? kEnd : mappings_.rbegin()->first;
  for (auto at = mappings_.rbegin(); at != mappings_.rend(); ++at) {
    if (at->second.end <= top && top - at->second.end >= size)
      return top - size;
    top = std::min(top, at->first);
  }
  if (top > kLowest && top - kLowest >= size)
    return top - size;
  return std::nullopt;
}

bool AddressSpace::is_free(std::uint64_t start, std::uint64_t size) const {
  const auto next = mappings_.lower_bound(start);
  if (next != mappings_.end() && next->first < start + size)
    return false;
  return next == mappings_.begin() || std::prev(next)->second.end <= start;
}

bool AddressSpace::is_mapped(std::uint64_t start, std::uint64_t size) const {
  std::uint64_t at = start;
  while (at < start + size) {
    const auto *mapping = find(at);
    if (mapping == nullptr)
      return false;
    at = mapping->second.end;
  }
  return true;
}

const std::pair<const std::uint64_t, AddressSpace::Mapping> *
AddressSpace::find(std::uint64_t address) const {
  auto next = mappings_.upper_bound(address);
  if (next == mappings_.begin())
    return nullptr;
  --next;
  return address < next->second.end ? &*next : nullptr;
}

Fault AddressSpace::touch(std::uint64_t address, Touch touch) {
  const auto *found = find(address);
  if (found == nullptr)
    return Fault::unmapped;
  const Mapping &mapping = found->second;
  const std::uint64_t allowed = rights(mapping.protection);
  if ((allowed & right(touch)) == 0)
    return Fault::forbidden;
  const std::uint64_t page = address & ~kPageMask;
  const std::uint64_t offset = mapping.offset + (page - found->first);
  if (mapping.file != nullptr && offset >= mapping.file->size())
    return Fault::beyond_file;
  const std::optional<std::uint64_t> place = entry_address(page, true);
  if (!place)
    return Fault::no_memory;
  std::uint64_t value = 0;
  CHECK(memory_->read_value(*place, value));
  if ((value & kValid) != 0)
    return Fault::none; // somebody else was first
  const std::optional<std::uint64_t> frame = frames_.take();
  if (!frame)
    return Fault::no_memory;
  if (mapping.file != nullptr) {
    std::array<std::byte, kPageBytes> bytes{};
    mapping.file->read_at(offset, bytes);
    CHECK(dma_->write(*frame, bytes));
  }
  // Only of shared files does anybody ask what has changed.
  const std::uint64_t dirty = mapping.shared && mapping.file != nullptr ? 0 : kDirty;
  set_entry(*place, entry_of(*frame) | allowed | kUser | kAccessed | dirty);
  return Fault::none;
}

// Pages of a range, made accessible one by one: copy(physical address, offset in the range, count).
template <typename Copy>
bool AddressSpace::each_part(std::uint64_t address, std::uint64_t size, Touch how, Copy copy) {
  for (std::uint64_t done = 0; done < size;) {
    const std::uint64_t at = address + done;
    if (at >= kEnd)
      return false;
    std::uint64_t value = entry(at);
    if ((value & kValid) == 0 || (value & kUser) == 0 || (value & right(how)) == 0) {
      if (touch(at, how) != Fault::none)
        return false;
      value = entry(at);
    }
    const std::uint64_t count = std::min(size - done, kPageBytes - (at & kPageMask));
    if (how == Touch::write && (value & kDirty) == 0)
      set_entry(entry_address(at, false).value(), value | kDirty);
    copy(frame_of(value) + (at & kPageMask), done, count);
    done += count;
  }
  return true;
}

bool AddressSpace::read(std::uint64_t address, std::span<std::byte> to) {
  return each_part(address, to.size(), Touch::read, [&](auto physical, auto done, auto count) {
    CHECK(dma_->read(physical, to.subspan(done, count)));
  });
}

bool AddressSpace::write(std::uint64_t address, std::span<const std::byte> from) {
  return each_part(address, from.size(), Touch::write, [&](auto physical, auto done, auto count) {
    CHECK(dma_->write(physical, from.subspan(done, count)));
  });
}

std::optional<std::string> AddressSpace::string(std::uint64_t address, std::size_t limit) {
  std::string text;
  while (text.size() < limit) {
    const std::uint64_t at = address + text.size();
    std::array<char, 64> part{};
    // Up to the end of the page: what follows may not be mapped.
    const std::uint64_t count = std::min<std::uint64_t>(part.size(), kPageBytes - (at & kPageMask));
    if (!read(at, std::as_writable_bytes(std::span(part)).first(count)))
      return std::nullopt;
    const char *const end = std::find(part.data(), part.data() + count, '\0');
    text.append(part.data(), static_cast<std::size_t>(end - part.data()));
    if (end != part.data() + count)
      return text;
  }
  return std::nullopt;
}

} // namespace tandem::machine::proxy
