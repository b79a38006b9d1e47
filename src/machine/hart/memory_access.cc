// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The slow paths of memory: what the TLBs have not, devices, accesses across pages, fetches.
#include "machine/hart/core.h"
#include "machine/htm/transactional_memory.h"

#include <cstring>

namespace tandem::machine {

namespace {

// What a walk waits for, done at once.
void step(Memory &memory, Walk &walk) {
  std::uint64_t entry = 0;
  CHECK(memory.read_value(walk.address(), entry));
  if (walk.state() == Walk::State::wants_entry) {
    walk.feed(entry);
    return;
  }
  // Somebody may have changed it since it was read.
  const bool same = entry == walk.expected();
  if (same)
    CHECK(memory.write_value(walk.address(), walk.updated()));
  walk.updated_done(same);
}

bool waits(const Walk &walk) {
  return walk.state() == Walk::State::wants_entry || walk.state() == Walk::State::wants_update;
}

} // namespace

bool HartCore::walk(const WalkContext &context, std::uint64_t address, AccessKind kind,
                    Translation &found) {
  if (timing.lines == nullptr) {
    found = translate(*memory, context, address, kind);
  } else {
    Walk &walk = walks.of(context, address, kind, retired());
    bool outside = false;
    while (waits(walk) && !outside) {
      outside = !memory->contains(walk.address(), sizeof(std::uint64_t));
      if (outside)
        continue;
      if (!timing.drained())
        return false;
      if (!timing.may_walk(id, walk.address() >> kLineShift,
                           walk.state() == Walk::State::wants_update))
        return false;
      step(*memory, walk);
    }
    found = {.fault = {}, .physical = walk.physical(), .level = walk.level(), .leaf = walk.leaf()};
    if (outside)
      found.fault = access_fault(kind);
    else if (walk.state() == Walk::State::page_fault)
      found.fault = page_fault(kind);
  }
  if (found.fault)
    trap = {*found.fault, address};
  return !found.fault;
}

bool HartCore::walk_step(std::uint64_t line, bool update) {
  Walk *walk = walks.present();
  const Walk::State wanted = update ? Walk::State::wants_update : Walk::State::wants_entry;
  if (walk == nullptr || walk->state() != wanted || walk->address() >> kLineShift != line)
    return false;
  step(*memory, *walk);
  return true;
}

bool HartCore::physical(std::uint64_t address, AccessKind kind, std::uint64_t &to) {
  std::uint64_t leaf = ~pte::kReserved; // untranslated: everything allowed, A and D set
  unsigned level = 0;
  to = address;
  const std::uint64_t tag = (address & kPageMask) | tlb_context;
  TlbEntry &entry = tlb.at(address);
  // A quick access that had to come here, or one that was only missing in the L1.
  if (kind == AccessKind::load
          ? entry.read_tag == tag
          : entry.write_tag == tag || (timing.lines != nullptr && tlb.stores(address, tag))) {
    to = (entry.physical & kPageMask) | (address & ~kPageMask);
    return true;
  }
  if (data_translated) {
    Translation found;
    if (!walk(data_walk, address, kind, found))
      return false;
    to = found.physical;
    leaf = found.leaf;
    level = found.level;
  }
  if (!memory->contains(to))
    return true;
  const std::uint64_t page_at = to & kPageMask;
  const auto may = [&](AccessKind what) {
    return !data_translated || allows(leaf, data_walk, what);
  };
  entry.read_tag = may(AccessKind::load) ? tag : kNoTag;
  const std::uint64_t stores = (leaf & pte::kDirty) != 0 && may(AccessKind::store) ? tag : kNoTag;
  tlb.filled(address, stores, level);
  entry.write_tag = memory->holds_code(page_at) ? kNoTag : stores;
  entry.addend = reinterpret_cast<std::uintptr_t>(memory->host(page_at)) - (address & kPageMask);
  entry.physical = page_at | level;
  return true;
}

namespace {

// Devices may compute with floating point of their own.
class DeviceCall {
public:
  explicit DeviceCall(HartCore &core) {
    core.fold_flags();
    host_float::set(0);
  }

private:
  host_float::Scope scope_;
};

} // namespace

bool HartCore::find_places(std::uint64_t address, unsigned size, AccessKind kind, Places &found) {
  const std::uint64_t room = kPageBytes - (address & (kPageBytes - 1));
  found = {.at = {0, 0}, .first = room < size ? static_cast<unsigned>(room) : size, .size = size};
  return physical(address, kind, found.at[0]) &&
         (!found.crosses() || physical(address + found.first, kind, found.at[1]));
}

bool HartCore::in_memory(std::uint64_t address, const Places &places, AccessKind kind) {
  if (!memory->contains(places.at[0], places.first)) {
    trap = {access_fault(kind), address};
    return false;
  }
  if (places.crosses() && !memory->contains(places.at[1], places.size - places.first)) {
    trap = {access_fault(kind), address + places.first};
    return false;
  }
  return true;
}

template <typename Call>
bool HartCore::at_device(std::uint64_t address, const Places &places, AccessKind kind, Call call) {
  if (inside)
    return refuse(AbortCause::io);
  if (!timing.drained())
    return false;
  if (timing.lines != nullptr && !timing.device_granted) {
    timing.want = Want::device;
    return false;
  }
  bool done = false;
  if (places.at[0] % places.size == 0) {
    const DeviceCall scope(*this);
    done = call();
  }
  if (!done)
    trap = {access_fault(kind), address};
  return done;
}

bool HartCore::load(std::uint64_t address, unsigned size) {
  Places places;
  if (!find_places(address, size, AccessKind::load, places))
    return false;
  loaded = 0;
  if (!places.crosses() && !memory->contains(places.at[0], size))
    return at_device(address, places, AccessKind::load,
                     [&] { return bus->device_load(places.at[0], size, loaded); });
  if (!in_memory(address, places, AccessKind::load))
    return false;
  if (timing.lines != nullptr)
    return load_in_parts(address, places);
  if (asks && !ask_for_parts(places, AccessMode::read))
    return false;
  auto *to = reinterpret_cast<std::byte *>(&loaded);
  std::memcpy(to, memory->host(places.at[0]), places.first);
  if (places.crosses())
    std::memcpy(to + places.first, memory->host(places.at[1]), size - places.first);
  return true;
}

bool HartCore::store(std::uint64_t address, unsigned size, std::uint64_t value) {
  Places places;
  if (!find_places(address, size, AccessKind::store, places))
    return false;
  if (!places.crosses() && !memory->contains(places.at[0], size))
    return at_device(address, places, AccessKind::store,
                     [&] { return bus->device_store(places.at[0], size, value); });
  if (!in_memory(address, places, AccessKind::store))
    return false;
  if (timing.lines != nullptr)
    return store_in_parts(address, places, value);
  if (asks && !ask_for_parts(places, AccessMode::write))
    return false;
  const auto *from = reinterpret_cast<const std::byte *>(&value);
  memory->store(places.at[0], {from, places.first});
  if (places.crosses())
    memory->store(places.at[1], {from + places.first, size - places.first});
  if (asks && htm->recording())
    note_parts(places);
  return true;
}

// At the end of a page, or of a line inside one.
unsigned HartCore::split(const Places &places, Part (&parts)[2]) {
  const std::uint64_t room = kLineBytes - places.at[0] % kLineBytes;
  const unsigned low = room < places.first ? static_cast<unsigned>(room) : places.first;
  parts[0] = {places.at[0], 0, low};
  if (low == places.size)
    return 1;
  parts[1] = {low < places.first ? places.at[0] + low : places.at[1], low, places.size - low};
  return 2;
}

bool HartCore::buffers() const { return timing.buffer.on() && !inside && !htm->recording(); }

bool HartCore::load_in_parts(std::uint64_t address, const Places &places) {
  Part parts[2];
  const unsigned count = split(places, parts);
  for (unsigned i = 0; i < count; ++i) {
    const Part &part = parts[i];
    auto *to = reinterpret_cast<std::byte *>(&loaded) + part.offset;
    if (i == 0 && timing.first_part == part.address) {
      std::memcpy(to, &timing.first_value, part.size);
      continue;
    }
    touch(address + part.offset, part.address, part.size);
    if (timing.buffer.read(part.address, part.size, to) != (1U << part.size) - 1) {
      if (!ask_granted(part.address, part.size, AccessMode::read, Want::load))
        return false;
      std::memcpy(to, memory->host(part.address), part.size);
      timing.buffer.read(part.address, part.size, to);
    }
    if (i == 0 && count == 2) {
      timing.first_part = part.address;
      timing.first_value = 0;
      std::memcpy(&timing.first_value, to, part.size);
    }
  }
  timing.first_part = kNoLine;
  return true;
}

bool HartCore::store_in_parts(std::uint64_t address, const Places &places, std::uint64_t value) {
  Part parts[2];
  const unsigned count = split(places, parts);
  for (unsigned i = 0; i < count; ++i) {
    const Part &part = parts[i];
    if (i == 0 && timing.first_part == part.address)
      continue;
    touch(address + part.offset, part.address, part.size);
    const auto *from = reinterpret_cast<const std::byte *>(&value) + part.offset;
    if (buffers()) {
      if (timing.buffer.full()) {
        timing.want = Want::room;
        return false;
      }
      timing.buffer.push(part.address, from, part.size);
    } else {
      if (!timing.drained() ||
          !ask_granted(part.address, part.size, AccessMode::write, Want::store))
        return false;
      memory->store(part.address, {from, part.size});
      if (asks && htm->recording())
        htm->note_written(id, part.address, part.size);
    }
    if (i == 0 && count == 2)
      timing.first_part = part.address;
  }
  timing.first_part = kNoLine;
  if (!timing.buffer.empty())
    self->end_burst(); // it may leave from the next cycle on
  return true;
}

std::byte *HartCore::atomic(std::uint64_t address, unsigned size, AtomicKind atomic_kind) {
  const bool writes = atomic_kind != AtomicKind::reserve;
  if (address % size != 0) {
    trap = {writes ? Exception::store_misaligned : Exception::load_misaligned, address};
    return nullptr;
  }
  const AccessKind kind = writes ? AccessKind::store : AccessKind::load;
  std::uint64_t place = 0;
  if (!physical(address, kind, place))
    return nullptr;
  if (!memory->contains(place, size)) {
    trap = {access_fault(kind), address};
    return nullptr;
  }
  if (!timing.drained())
    return nullptr;
  touch(address, place, size);
  constexpr Want kWants[] = {Want::load_reserved, Want::store_conditional, Want::atomic};
  constexpr AccessMode kModes[] = {AccessMode::read, AccessMode::both, AccessMode::both};
  const AccessMode mode = kModes[unsigned(atomic_kind)];
  // A store-conditional that fails reads and writes nothing.
  const bool fails =
      atomic_kind == AtomicKind::conditional && state.reservation != place / kReservationBytes;
  if (timing.lines != nullptr) {
    const Want kind_wanted = kWants[unsigned(atomic_kind)];
    if (fails ? !timing.may(id, place >> kLineShift, kind_wanted)
              : !ask_granted(place, size, mode, kind_wanted))
      return nullptr;
  } else if (asks && !fails && !ask(place, size, mode)) {
    return nullptr;
  }
  return memory->host(place);
}

bool HartCore::ask_for_parts(const Places &places, AccessMode mode) {
  Part parts[2];
  const unsigned count = split(places, parts);
  for (unsigned i = 0; i < count; ++i)
    if (!ask(parts[i].address, parts[i].size, mode))
      return false;
  return true;
}

void HartCore::note_parts(const Places &places) {
  Part parts[2];
  const unsigned count = split(places, parts);
  for (unsigned i = 0; i < count; ++i)
    htm->note_written(id, parts[i].address, parts[i].size);
}

void HartCore::atomic_written(const std::byte *place, unsigned size) {
  const std::uint64_t address = physical_of(place);
  if (asks && htm->recording()) [[unlikely]]
    htm->note_written(id, address, size);
  if (memory->holds_code(address)) [[unlikely]]
    memory->written(address, size);
}

namespace {

// Where an instruction is fetched from; false: `core.trap` says why not.
bool fetch_address(HartCore &core, std::uint64_t pc, std::uint64_t &to, unsigned &level) {
  to = pc;
  level = 0;
  if (core.fetch_translated) {
    Translation found;
    if (!core.walk(core.fetch_walk, pc, AccessKind::fetch, found))
      return false;
    to = found.physical;
    level = found.level;
  }
  if (core.memory->contains(to))
    return true;
  core.trap = {Exception::instruction_access, pc};
  return false;
}

} // namespace

const Slot *HartCore::fetch(std::uint64_t pc) {
  FetchEntry &entry = fetch_tlb[pc >> kPageShift & (fetch_tlb.size() - 1)];
  const std::uint64_t tag = (pc & kPageMask) | fetch_context;
  if (entry.tag != tag) {
    std::uint64_t place = entry.physical;
    auto level = static_cast<unsigned>(entry.level);
    if ((timing.lines == nullptr || entry.translated != tag) &&
        !fetch_address(*this, pc, place, level))
      return nullptr;
    CodePage &found = code->page(place); // which may empty the TLBs of fetches
    entry = {tag, &found, level, tag, place & kPageMask};
    fetch_large.note(pc, level);
  }
  page = pc & kPageMask;
  slots = entry.page->slots.data();
  return slots + (pc & ~kPageMask) / 2;
}

void HartCore::decode_slot(const Slot *ip) {
  code->decode_slot(*present_page(), static_cast<unsigned>(ip - slots));
}

const Slot *HartCore::cross_page(std::uint64_t pc) {
  std::uint32_t word = 0;
  for (unsigned half = 0; half < 2; ++half) {
    std::uint64_t place = 0;
    unsigned level = 0;
    if (!fetch_address(*this, pc + 2 * half, place, level))
      return nullptr;
    std::uint16_t bits = 0;
    std::memcpy(&bits, memory->host(place), sizeof bits);
    word |= std::uint32_t{bits} << (16 * half);
    cross_line = place >> kLineShift;
  }
  cross_word = word;
  const HandlerSet &handlers = code->handlers();
  handlers.fill_slot(cross[0], decode(word), pc & ~kPageMask, true);
  if (code->watches(decode(word))) {
    cross_watched = cross[0].handler;
    cross[0].handler = handlers.watched;
  }
  cross[1].handler = handlers.page_end;
  cross[2].handler = handlers.page_end;
  // So that pc_of() holds: the array as if it were the end of a page's.
  // NOLINTNEXTLINE(performance-no-int-to-ptr): in front of the array there is nothing to point to
  slots = reinterpret_cast<const Slot *>(reinterpret_cast<std::uintptr_t>(cross.data()) -
                                         (CodePage::kSlots - 1) * sizeof(Slot));
  return cross.data();
}

std::uint32_t HartCore::word_at(const Slot *ip) {
  if (ip == cross.data())
    return cross_word;
  // Of the page that it was decoded from.
  const std::uint64_t place = present_page()->physical + (pc_of(ip) & ~kPageMask);
  std::uint32_t word = 0;
  std::uint16_t low = 0;
  std::memcpy(&low, memory->host(place), sizeof low);
  if (is_compressed(low))
    return low;
  std::memcpy(&word, memory->host(place), sizeof word);
  return word;
}

} // namespace tandem::machine
