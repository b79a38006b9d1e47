// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// gem5's traces as text, told apart by their lines:
//
//   r,4096,8,0,77000          packets of a CommMonitor, by its util/decode_packet_trace.py:
//                             [id,]r|w|u,address,size[,flags],tick[,pc]; one core
//   77000: system.cpu0: A0 T0 : 0x10148 : ld ra, 8(sp) : MemRead : D=0x1 A=0x7ff8
//                             instructions, by --debug-flags=Exec; all cores, in the order in which
//                             their names appear
#include "machine/trace/inputs.h"
#include "machine/trace/trace.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>

namespace tandem::machine::trace {
namespace {

// Flags of requests, from gem5's src/mem/request.hh.
constexpr std::uint64_t kFetch = 0x100;
constexpr std::uint64_t kUncacheable = 0x400;
constexpr std::uint64_t kLockedUpdate = 0x100000;
constexpr std::uint64_t kReserved = 0x200000;
constexpr std::uint64_t kPrefetch = 0x1000000;

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    const std::size_t end = line.find(',');
    fields.push_back(line.substr(0, end));
    if (end == std::string_view::npos)
      return fields;
    line.remove_prefix(end + 1);
  }
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  return begin == std::string_view::npos
             ? std::string_view()
             : text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

class Gem5Trace : public ForeignTrace {
public:
  Gem5Trace(Input input, std::uint64_t ticks_per_instruction)
      : lines_(std::move(input)), ticks_(ticks_per_instruction) {
    cores_ = 0; // known when the first access is
    while (cores_ == 0 && error_.empty() && (more_ = read()))
      ;
    if (!more_ && error_.empty())
      error_ = lines_.at("the file ends without a packet or an instruction");
  }

  bool next(TracedAccess &access) override {
    while (error_.empty() && ready_.empty() && (more_ = read()))
      ;
    if (ready_.empty() || !error_.empty())
      return false;
    access = ready_.front();
    ready_.pop_front();
    return true;
  }

private:
  struct Core {
    std::string name;
    std::uint64_t fetched = ~std::uint64_t{0}; // block
    std::uint32_t gap = 0;
  };

  // One line.
  bool read() {
    std::string line;
    if (!lines_.next(line, error_, /*comments=*/false))
      return false;
    const std::string_view text = trimmed(line);
    if (text.empty())
      return true;
    if (text.find(": ") != std::string_view::npos)
      read_instruction(text);
    else
      read_packet(text);
    return true;
  }

  void wrong(std::string_view why) {
    error_ = lines_.at(fmt::format(
        "{}: neither a packet ([id,]r|w|u,address,size[,flags],tick[,pc]) nor an instruction "
        "(tick: cpu: thread : pc : text : class : ...)",
        why));
  }

  // The bytes from `address` on, split into blocks. The first has the instructions before it.
  void add(const TracedAccess &access, std::uint64_t address, std::uint64_t size) {
    TracedAccess part = access;
    const std::uint64_t last = (address + std::max<std::uint64_t>(size, 1) - 1) / 64;
    for (std::uint64_t block = address / 64; block <= last; ++block) {
      part.operation.block = block;
      ready_.push_back(part);
      part.operation.gap = 0;
    }
  }

  static RequestKind kind_of(bool read, std::uint64_t flags) {
    if ((flags & kFetch) != 0)
      return RequestKind::fetch;
    if ((flags & kReserved) != 0)
      return read ? RequestKind::load_reserved : RequestKind::store_conditional;
    if ((flags & kLockedUpdate) != 0)
      return RequestKind::atomic;
    return read ? RequestKind::load : RequestKind::store;
  }

  void read_packet(std::string_view line) {
    std::vector<std::string_view> fields = fields_of(line);
    if (fields.size() > 1 && number_of(fields[0])) // a packet's id
      fields.erase(fields.begin());
    if (fields.size() < 4 || fields.size() > 6 || fields[0].size() != 1 ||
        std::string_view("rwu").find(fields[0][0]) == std::string_view::npos)
      return wrong("is no line of gem5");
    const std::optional<std::uint64_t> address = number_of(fields[1]);
    const std::optional<std::uint64_t> size = number_of(fields[2]);
    const std::optional<std::uint64_t> flags =
        fields.size() > 4 ? number_of(fields[3]) : std::optional<std::uint64_t>(0);
    const std::optional<std::uint64_t> tick = number_of(fields[fields.size() > 4 ? 4 : 3]);
    if (!address || !size || !flags || !tick || *size > 4096)
      return wrong("has a field that is no number, or more than 4096 bytes");
    cores_ = 1;
    const bool read = fields[0] == "r";
    // A locked update is its write: its read is part of it.
    if (fields[0] == "u" || (*flags & (kUncacheable | kPrefetch)) != 0 ||
        (read && (*flags & kLockedUpdate) != 0)) {
      left_out_ += read && (*flags & kLockedUpdate) != 0 ? 0 : 1;
      return;
    }
    const RequestKind kind = kind_of(read, *flags);
    std::uint64_t gap = 0;
    if (kind != RequestKind::fetch) {
      const std::uint64_t since = *tick - std::min(tick_, *tick);
      gap = tick_ == 0 || since < ticks_ ? 0 : since / ticks_ - 1;
      tick_ = *tick;
    }
    add({*tick,
         0,
         {0, static_cast<std::uint32_t>(std::min<std::uint64_t>(gap, 1U << 20)), kind, false}},
        *address, *size);
  }

  void read_instruction(std::string_view line) {
    std::vector<std::string_view> parts; // separated by ": ", as gem5 writes them
    for (std::string_view rest = line;;) {
      const std::size_t end = rest.find(": ");
      parts.push_back(trimmed(rest.substr(0, end)));
      if (end == std::string_view::npos)
        break;
      rest.remove_prefix(end + 2);
    }
    const std::optional<std::uint64_t> tick = number_of(parts[0]);
    if (!tick)
      return wrong("is no line of gem5");
    const std::string_view place = parts.size() < 4 ? std::string_view() : parts[3];
    const std::optional<std::uint64_t> pc = number_of(place.substr(0, place.find_first_of(" @.")));
    if (!pc) {
      ++left_out_; // another debug flag's line
      return;
    }
    Core *core = core_of(parts[1]);
    if (core == nullptr)
      return;
    const auto number = static_cast<unsigned>(core - known_.data());
    if (*pc / 64 != core->fetched) {
      core->fetched = *pc / 64;
      ready_.push_back({*tick, number, {core->fetched, 0, RequestKind::fetch, false}});
    }
    const auto is = [&](std::string_view what) {
      return std::ranges::any_of(parts,
                                 [&](std::string_view part) { return part.ends_with(what); });
    };
    const std::size_t at = line.rfind(" A=");
    const bool reads = is("MemRead");
    if (at == std::string_view::npos || (!reads && !is("MemWrite"))) {
      ++core->gap;
      return;
    }
    const std::string_view address = line.substr(at + 3);
    const std::optional<std::uint64_t> value =
        number_of(address.substr(0, address.find_first_of(" \t")));
    if (!value)
      return wrong("has an address that is no number");
    add({*tick, number, {0, core->gap, reads ? RequestKind::load : RequestKind::store, false}},
        *value, 1);
    core->gap = 0;
  }

  Core *core_of(std::string_view name) {
    for (Core &core : known_)
      if (core.name == name)
        return &core;
    if (known_.size() == kMostTracedCores) {
      error_ = lines_.at(fmt::format("names a core more than {}: {}", kMostTracedCores, name));
      return nullptr;
    }
    known_.push_back({std::string(name)});
    cores_ = static_cast<unsigned>(known_.size());
    return &known_.back();
  }

  Lines lines_;
  const std::uint64_t ticks_;
  bool more_ = false;
  std::deque<TracedAccess> ready_;
  std::vector<Core> known_;
  std::uint64_t tick_ = 0; // of the latest packet that is no fetch
};

} // namespace

std::unique_ptr<ForeignTrace> gem5(Input input, std::uint64_t ticks_per_instruction) {
  return std::make_unique<Gem5Trace>(std::move(input), ticks_per_instruction);
}

} // namespace tandem::machine::trace
