// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Colours and plans of outputs, made at their first use. Looking a plan up takes no lock; making
// one does. The registry's lock is a leaf: nothing is acquired inside it.
#include "runtime/irrevocable/plans.h"

#include "runtime/fatal.h"
#include "runtime/memory/pages.h"

#include <cstring>
#include <new>
#include <pthread.h>

namespace tandem::colours {
namespace {

pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;
Table *tables = nullptr;           // newest first
Colour *process_colours = nullptr; // by name
char *room = nullptr;              // of the pages that are being used up
std::size_t room_left = 0;
std::size_t made_colours = 0;

constexpr std::size_t kPages = 64 * 1024;

void *allocate(std::size_t bytes) noexcept {
  const std::size_t rounded = (bytes + 63) & ~std::size_t{63}; // a colour has its own line
  if (rounded > kPages / 4)
    return memory::allocate_pages(rounded, "the colours of an output");
  if (rounded > room_left) {
    room = static_cast<char *>(memory::allocate_pages(kPages, "the colours of an output"));
    room_left = kPages;
  }
  void *place = room;
  room += rounded;
  room_left -= rounded;
  return place;
}

template <class T> T *allocate_array(std::size_t count) noexcept {
  return static_cast<T *>(allocate(count * sizeof(T)));
}

Colour *make_colour(const tandem_colour &colour) noexcept {
  ++made_colours;
  const std::size_t length = std::strlen(colour.name) + 1;
  auto *name = allocate_array<char>(length);
  std::memcpy(name, colour.name, length);
  return new (allocate(sizeof(Colour))) Colour{{kFree}, colour.flags, {0}, name, nullptr};
}

Colour *process_colour(const tandem_colour &colour) noexcept {
  Colour **place = &process_colours;
  while (*place != nullptr && std::strcmp((*place)->name, colour.name) < 0)
    place = &(*place)->next;
  if (*place == nullptr || std::strcmp((*place)->name, colour.name) != 0) {
    Colour *made = make_colour(colour);
    // An output that comes later may share it although this one does not say so.
    made->flags |= TANDEM_COLOUR_SHARED;
    made->next = *place;
    *place = made;
  }
  return *place;
}

Table &make_table(tandem_colour_table &given) noexcept {
  const std::uint32_t count = given.colour_count;
  auto *table = new (allocate(sizeof(Table))) Table{};
  table->colours = allocate_array<Colour *>(count);
  table->colour_count = count;
  table->section_count = given.section_count;
  table->plans = allocate_array<std::atomic<const Plan *>>(given.section_count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const tandem_colour &colour = given.colours[i];
    const bool process = (colour.flags & TANDEM_COLOUR_PROCESS) != 0;
    if (process && i > 0 &&
        ((given.colours[i - 1].flags & TANDEM_COLOUR_PROCESS) == 0 ||
         std::strcmp(given.colours[i - 1].name, colour.name) >= 0))
      fatal("the colours of '%s' are not in the order of acquisition: '%s' comes after '%s'",
            given.output, colour.name, given.colours[i - 1].name);
    table->colours[i] = process ? process_colour(colour) : make_colour(colour);
  }
  table->next = tables;
  tables = table;
  // Release: partner of the load in plan_of.
  __atomic_store_n(&given.runtime, table, __ATOMIC_RELEASE);
  return *table;
}

Colour **colours_of(const Table &table, const std::uint64_t *set, std::uint32_t &count) noexcept {
  count = 0;
  if (table.colour_count == 0)
    return nullptr;
  for (std::uint32_t i = 0; i < table.colour_count; ++i)
    count += static_cast<std::uint32_t>(tandem_has_colour(set, i));
  auto **list = allocate_array<Colour *>(count);
  std::uint32_t next = 0;
  for (std::uint32_t i = 0; i < table.colour_count; ++i)
    if (tandem_has_colour(set, i) != 0)
      list[next++] = table.colours[i];
  return list;
}

const Plan *make_plan(const Table &table, const tandem_section &section) noexcept {
  auto *plan = new (allocate(sizeof(Plan))) Plan{};
  plan->section = &section;
  plan->section_class = section.section_class;
  plan->colours = colours_of(table, section.colours, plan->colour_count);
  plan->guard = colours_of(table, section.guard, plan->guard_count);
  for (std::uint32_t i = 0; i < plan->colour_count; ++i) {
    plan->scans |= (plan->colours[i]->flags & TANDEM_COLOUR_SHARED) != 0;
    plan->process |= (plan->colours[i]->flags & TANDEM_COLOUR_PROCESS) != 0;
  }
  return plan;
}

void check_version(const tandem_section &section) noexcept {
  for (const std::uint32_t version : {section.abi_version, section.table->abi_version})
    if (version != TANDEM_ABI_VERSION)
      refuse("the program was compiled for version %u of the runtime's ABI, this libtandem.so has "
             "version %u; use the libtandem.so that came with its compiler",
             version, TANDEM_ABI_VERSION);
}

} // namespace

void lock_registry() noexcept {
  if (const int error = pthread_mutex_lock(&registry); error != 0)
    fatal("the list of colours cannot be locked: %s", std::strerror(error));
}

void unlock_registry() noexcept {
  if (const int error = pthread_mutex_unlock(&registry); error != 0)
    fatal("the list of colours cannot be unlocked: %s", std::strerror(error));
}

std::size_t colours_made() noexcept { return made_colours; }

Colours all_colours() noexcept {
  Colours all = {nullptr, made_colours};
  if (all.count == 0)
    return all;
  all.list = static_cast<Colour **>(
      memory::allocate_pages(all.count * sizeof(Colour *), "the colours of the process"));
  std::size_t next = 0;
  for (Colour *colour = process_colours; colour != nullptr; colour = colour->next)
    all.list[next++] = colour;
  for (const Table *table = tables; table != nullptr; table = table->next)
    for (std::uint32_t i = 0; i < table->colour_count; ++i)
      if ((table->colours[i]->flags & TANDEM_COLOUR_PROCESS) == 0)
        all.list[next++] = table->colours[i];
  return all;
}

void release_colours(Colours colours) noexcept {
  if (colours.count != 0)
    memory::release_pages(colours.list, colours.count * sizeof(Colour *));
}

} // namespace tandem::colours

using namespace tandem;

extern "C" const colours::Plan *_TANDEM_colours_make_plan(const tandem_section *section) {
  colours::check_version(*section);
  tandem_colour_table &given = *section->table;
  if (section->index >= given.section_count)
    fatal("the atomic section '%s' (%s:%u) is number %u of the %u of '%s'", section->name,
          section->file, section->line, section->index, given.section_count, given.output);
  colours::lock_registry();
  auto *table = static_cast<colours::Table *>(given.runtime);
  if (table == nullptr)
    table = &colours::make_table(given);
  std::atomic<const colours::Plan *> &place = table->plans[section->index];
  const colours::Plan *plan = place.load(std::memory_order_relaxed); // written under the lock
  if (plan == nullptr) {
    plan = colours::make_plan(*table, *section);
    place.store(plan, std::memory_order_release); // partner: the load in plan_of
  }
  colours::unlock_registry();
  return plan;
}
