// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The recorder of programs built with -ftandem-check-effects: which section touches which object
// while the program runs, and where that contradicts the analysis (docs/check-effects.md).
//
// A miss is an access of a section that its effects lack, to a global variable or to memory that
// another thread touches too, one of the two writing; or two sections that touch the same bytes in
// different threads, one writing, without an edge. Misses are told at once, so that a process that
// is killed has told them; a process that ends by itself ends with status 86 where there was one.
//
// Any thread may call. Hooks take a lock only for what was not seen before.
#include "base/output_file.h"
#include "base/printable.h"
#include "runtime/observe/shadow.h"
#include "runtime/observe/tables.h"
#include "runtime/settings/environment.h"
#include "tandem/observe.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <malloc.h>
#include <map>
#include <mutex>
#include <pthread.h>
#include <set>
#include <shared_mutex>
#include <sys/mman.h>
#include <unistd.h>

#define TANDEM_EXPORT __attribute__((visibility("default")))

namespace tandem::observe {
namespace {

constexpr int kMissStatus = 86;
constexpr int kUsageStatus = 2;
constexpr std::size_t kMostMisses = 1000; // that are told
constexpr std::size_t kMostDepth = 4096;
constexpr std::size_t kCacheSize = 1U << 14;
// Objects from this size on are not written into each word of their shadow before it is needed.
constexpr std::uint64_t kLarge = 1U << 16;

// The sections that a thread is in; one object for each different list.
struct Context {
  std::vector<std::uint32_t> sections; // ascending
};

struct Large {
  std::uint64_t end;
  std::uint32_t label;
};

struct State {
  explicit State(const char *text) : tables(text), ran(tables.sections()) {}

  Tables tables;
  int file = -1;
  void (*thread_locals)() = nullptr;
  std::mutex mutex; // of what follows
  std::map<std::vector<std::uint32_t>, Context> contexts;
  std::set<std::string> misses;
  std::shared_mutex large_mutex;
  std::map<std::uint64_t, Large> large; // by begin
  std::vector<std::atomic<bool>> ran;   // by section
  std::atomic<bool> threads{false};     // a second thread may exist
  std::atomic<std::uint32_t> next_thread{1};
  std::atomic<std::uint64_t> in_sections{0}, unknown{0}, unshared{0}, missed{0};
};

struct Caches {
  std::uint64_t covered[kCacheSize]; // keys of accesses that all effects cover
  std::uint64_t met[kCacheSize];     // keys of pairs of records that are dealt with
};

struct Thread {
  std::uint32_t number = 0;
  bool busy = false; // in the recorder: a signal handler's accesses are left out
  std::uint32_t depth = 0;
  std::uint32_t turn = 0;
  Caches *caches = nullptr;
  std::map<std::pair<const Context *, std::uint32_t>, const Context *> *joins = nullptr;
  const Context *stack[kMostDepth] = {};
};

State *state = nullptr; // set once, before a second thread exists; never freed
thread_local Thread self;

void tell(const std::string &line) {
  const std::string text = printable(line) + "\n";
  if (state->file >= 0)
    (void)!::write(state->file, text.data(), text.size());
}

void miss(const std::string &text) {
  {
    const std::lock_guard lock(state->mutex);
    if (state->misses.size() >= kMostMisses || !state->misses.insert(text).second)
      return;
  }
  state->missed.fetch_add(1, std::memory_order_relaxed);
  tell("miss " + text);
  std::fprintf(stderr, "tandem: %s\n", printable(text).c_str());
}

const Context *intern(std::vector<std::uint32_t> sections) {
  const std::lock_guard lock(state->mutex);
  const auto [entry, fresh] = state->contexts.try_emplace(std::move(sections));
  if (fresh)
    entry->second.sections = entry->first;
  return &entry->second;
}

const Context *top() { return self.stack[self.depth]; }

// The sections of a context and of a set.
const Context *join(const Context *context, std::uint32_t set) {
  if (set == 0)
    return context;
  const Context *&known = (*self.joins)[{context, set}];
  if (known == nullptr) {
    std::set<std::uint32_t> sections(context->sections.begin(), context->sections.end());
    sections.insert(state->tables.set(set).begin(), state->tables.set(set).end());
    for (const std::uint32_t section : sections)
      state->ran[section].store(true, std::memory_order_relaxed);
    known = intern({sections.begin(), sections.end()});
  }
  return known;
}

// What lies below the calling frame on this thread's stack was another thread's.
void forget_stack() {
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0)
    return;
  void *begin = nullptr;
  std::size_t size = 0;
  if (::pthread_attr_getstack(&attributes, &begin, &size) == 0)
    forget(reinterpret_cast<std::uint64_t>(begin),
           reinterpret_cast<std::uint64_t>(__builtin_frame_address(0)));
  ::pthread_attr_destroy(&attributes);
}

void begin_thread() {
  self.busy = true;
  self.number = state->next_thread.fetch_add(1, std::memory_order_relaxed) % Record::kMostThreads;
  if (self.number == 0)
    self.number = state->next_thread.fetch_add(1, std::memory_order_relaxed);
  self.caches = static_cast<Caches *>(
      ::mmap(nullptr, sizeof(Caches), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (self.caches == MAP_FAILED)
    std::abort();
  self.joins = new std::map<std::pair<const Context *, std::uint32_t>, const Context *>;
  self.stack[0] = intern({});
  if (self.number != 1) {
    state->threads.store(true, std::memory_order_relaxed);
    forget_stack();
  }
  self.busy = false;
  state->thread_locals();
}

// Enters the recorder; false where this thread is in it already, or the program has not begun.
class Entered {
public:
  Entered() : entered_(state != nullptr && !self.busy) {
    if (!entered_)
      return;
    if (self.number == 0)
      begin_thread();
    self.busy = true;
  }
  ~Entered() {
    if (entered_)
      self.busy = false;
  }
  Entered(const Entered &) = delete;
  Entered &operator=(const Entered &) = delete;
  explicit operator bool() const { return entered_; }

private:
  bool entered_;
};

struct Owner {
  std::uint32_t label = 0;
  std::uint64_t offset = 0; // of the word in the object
};

Owner owner_of(Word &word, std::uint64_t address) {
  std::uint64_t object = word.object.load(std::memory_order_relaxed);
  if (object == 0) {
    const std::shared_lock lock(state->large_mutex);
    auto found = state->large.upper_bound(address);
    if (found == state->large.begin() || (--found)->second.end <= address)
      return {};
    word.set_object(found->first, found->second.label);
    object = word.object.load(std::memory_order_relaxed);
  }
  return {static_cast<std::uint32_t>(object & kMostLabel), address - (object >> 20 << 3)};
}

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  a = (a ^ b) * 0x9e3779b97f4a7c15U; // the golden ratio's fraction, as in Fibonacci hashing
  return a ^ a >> 29;
}

std::string place_of(const Owner &owner, std::uint32_t bytes) {
  const Label &label = state->tables.label(owner.label);
  const std::uint64_t offset = owner.offset + static_cast<unsigned>(__builtin_ctz(bytes | 256U));
  return "'" + label.name + "' byte " +
         std::to_string(owner.label == 0 ? 0 : state->tables.fold(owner.label, offset));
}

void miss_effect(std::uint32_t section, std::uint32_t site, const Owner &owner, std::uint32_t bytes,
                 bool writes) {
  miss(state->tables.site(site).place + ": section '" + state->tables.section(section).name + "' " +
       (writes ? "writes " : "reads ") + place_of(owner, bytes) + ", which its effects lack");
}

// Whether the effects of a section cover an access. `mark`: the effects without which it would
// be a miss are needed.
bool covered(std::uint32_t section, const Owner &owner, std::uint32_t bytes, bool writes,
             bool mark) {
  for (unsigned byte = 0; byte < 8; ++byte) {
    if ((bytes >> byte & 1) == 0)
      continue;
    const Effect *only = nullptr;
    if (!state->tables.covers(section, owner.label, owner.offset + byte, writes, &only))
      return false;
    if (mark && only != nullptr)
      only->needed.store(true, std::memory_order_relaxed);
  }
  return true;
}

// Two threads touched the same bytes, one of them writing: `mine` now, `other` before.
void meet(const Owner &owner, Record mine, Record other) {
  const std::uint32_t both = mine.bytes() & other.bytes();
  const std::uint64_t key =
      mix(mix(mine.bits(), other.bits()), mix(owner.label, owner.offset)) | 1U;
  std::uint64_t &cached = self.caches->met[key % kCacheSize];
  if (cached == key)
    return;
  cached = key;
  for (const Record record : {mine, other}) {
    if (record.section() == 0)
      continue;
    if (record.uncovered())
      miss_effect(record.section(), record.site(), owner, record.bytes(), record.writes());
    else
      covered(record.section(), owner, both, record.writes(), true);
  }
  Tables &tables = state->tables;
  if (mine.section() != 0 && other.section() != 0 && !mine.early() && !other.early() &&
      !tables.meet(mine.section(), other.section()))
    miss(tables.site(mine.site()).place + ": section '" + tables.section(mine.section()).name +
         "' " + (mine.writes() ? "writes " : "reads ") + place_of(owner, both) +
         ", which section '" + tables.section(other.section()).name + "' " +
         (other.writes() ? "wrote" : "read") + " in another thread at " +
         tables.site(other.site()).place + ", and there is no conflict between them");
}

void record(Word &word, const Owner &owner, Record mine) {
  std::size_t place = Word::kRecords;
  for (std::size_t i = 0; i < Word::kRecords; ++i) {
    const Record other(word.records[i].load(std::memory_order_relaxed));
    if (other.bits() == 0) {
      if (place == Word::kRecords)
        place = i;
      break;
    }
    if (other.same_kind(mine)) {
      place = i;
      mine = Record(mine.bits() | other.bytes());
    } else if (other.thread() != mine.thread() && (other.writes() || mine.writes()) &&
               (other.bytes() & mine.bytes()) != 0) {
      meet(owner, mine, other);
    }
  }
  if (place == Word::kRecords)
    place = self.turn++ % Word::kRecords;
  if (word.records[place].load(std::memory_order_relaxed) != mine.bits())
    word.records[place].store(mine.bits(), std::memory_order_relaxed);
}

// Which of the context's sections lack the access, as bits; counts from 64 on are as bit 63.
std::uint64_t check(const Context &context, const Owner &owner, std::uint32_t bytes,
                    std::uint32_t how, std::uint32_t site) {
  const bool global = state->tables.label(owner.label).kind == 'g';
  std::uint64_t lacking = 0;
  for (std::size_t i = 0; i < context.sections.size(); ++i)
    for (const bool writes : {false, true}) {
      if ((how & (writes ? TANDEM_OBSERVE_WRITES : TANDEM_OBSERVE_READS)) == 0 ||
          covered(context.sections[i], owner, bytes, writes, global))
        continue;
      lacking |= std::uint64_t{1} << (i < 63 ? i : 63);
      if (global)
        miss_effect(context.sections[i], site, owner, bytes, writes);
    }
  return lacking;
}

void access_word(std::uint64_t address, std::uint32_t bytes, std::uint32_t how, std::uint32_t site,
                 const Context &context) {
  Word &word = word_at(address);
  const Owner owner = owner_of(word, address);
  std::uint64_t lacking = 0;
  if (!context.sections.empty()) {
    const std::uint64_t folded =
        owner.label == 0 ? 0 : state->tables.fold(owner.label, owner.offset); // parts: as it is
    const std::uint64_t key = mix(mix(reinterpret_cast<std::uint64_t>(&context), owner.label),
                                  mix(folded, bytes << 2 | how)) |
                              1U;
    std::uint64_t &cached = self.caches->covered[key % kCacheSize];
    if (cached != key) {
      lacking = check(context, owner, bytes, how, site);
      if (lacking == 0)
        cached = key;
      else
        (owner.label == 0 ? state->unknown : state->unshared)
            .fetch_add(1, std::memory_order_relaxed);
    }
  }
  const bool early = !state->threads.load(std::memory_order_relaxed);
  for (const bool writes : {false, true}) {
    if ((how & (writes ? TANDEM_OBSERVE_WRITES : TANDEM_OBSERVE_READS)) == 0)
      continue;
    if (context.sections.empty())
      record(word, owner, {bytes, writes, false, early, self.number, 0, site});
    for (std::size_t i = 0; i < context.sections.size(); ++i) {
      const bool lacks = (lacking >> (i < 63 ? i : 63) & 1) != 0;
      record(word, owner, {bytes, writes, lacks, early, self.number, context.sections[i], site});
    }
  }
}

void access(std::uint64_t begin, std::uint64_t size, std::uint32_t how, std::uint32_t site) {
  const Context *context = join(top(), state->tables.site(site).set);
  if (!context->sections.empty())
    state->in_sections.fetch_add(1, std::memory_order_relaxed);
  const std::uint64_t end = begin + size;
  for (std::uint64_t word = begin & ~std::uint64_t{7}; word < end; word += 8) {
    std::uint32_t bytes = 0xff;
    if (word < begin)
      bytes &= 0xffU << (begin - word);
    if (end - word < 8)
      bytes &= 0xffU >> (8 - (end - word));
    access_word(word, bytes & 0xffU, how, site, *context);
  }
}

std::uint64_t size_of(const void *address, std::uint64_t size) {
  return size != 0 ? size : ::malloc_usable_size(const_cast<void *>(address));
}

void release(std::uint64_t begin, std::uint64_t end) {
  if (end - begin >= kLarge) {
    const std::lock_guard lock(state->large_mutex);
    auto first = state->large.lower_bound(begin);
    while (first != state->large.end() && first->first < end)
      first = state->large.erase(first);
  }
  forget(begin, end);
}

void allocate(std::uint64_t begin, std::uint64_t end, std::uint32_t label) {
  release(begin, end);
  if (end - begin >= kLarge) {
    const std::lock_guard lock(state->large_mutex);
    state->large[begin] = {end, label};
    return;
  }
  for (std::uint64_t word = begin & ~std::uint64_t{7}; word < end; word += 8)
    word_at(word).set_object(begin, label);
}

// A program's own allocator gives away what lies from `begin` to the end of its object.
void rename(std::uint64_t begin, std::uint32_t label) {
  {
    const std::lock_guard lock(state->large_mutex);
    auto around = state->large.upper_bound(begin);
    if (around != state->large.begin() && begin < (--around)->second.end) {
      const std::uint64_t end = around->second.end;
      around->second.end = begin;
      state->large[begin] = {end, label};
      forget(begin, end);
      return;
    }
  }
  const auto object_at = [](std::uint64_t address) {
    return word_at(address).object.load(std::memory_order_relaxed);
  };
  const std::uint64_t object = object_at(begin);
  if (object == 0)
    return;
  for (std::uint64_t word = begin & ~std::uint64_t{7}; object_at(word) == object; word += 8) {
    word_at(word).clear_records();
    word_at(word).set_object(begin, label);
  }
}

bool is_address(const void *address) {
  const auto number = reinterpret_cast<std::uint64_t>(address);
  return number >= 4096 && number < kMostAddress;
}

// Sections that ran, effects without which there would have been misses, and numbers.
void summarise() {
  const Tables &tables = state->tables;
  std::size_t ran = 0;
  for (std::uint32_t number = 1; number < tables.sections(); ++number) {
    const SectionFacts &section = tables.section(number);
    if (state->ran[number].load(std::memory_order_relaxed)) {
      ++ran;
      tell("ran " + std::to_string(number) + " " + section.name);
    }
    for (const auto &effects : section.effects)
      for (const auto &effect : effects)
        if (effect->needed.load(std::memory_order_relaxed))
          tell("needed " + std::to_string(number) + " " + std::to_string(effect->label) + " " +
               std::to_string(effect->begin) + " " + std::to_string(effect->end) +
               (effect->writes ? " w" : " r"));
  }
  for (std::uint32_t a = 1; a < tables.sections(); ++a)
    for (std::uint32_t b = a; b < tables.sections(); ++b)
      if (const Tables::Edge &edge = tables.edge(a, b);
          edge.known && edge.met.load(std::memory_order_relaxed))
        tell("needed edge " + std::to_string(a) + " " + std::to_string(b));
  const auto number = [](const std::atomic<std::uint64_t> &count) {
    return std::to_string(count.load(std::memory_order_relaxed));
  };
  tell("summary process " + std::to_string(::getpid()) + " sections " +
       std::to_string(tables.sections() - 1) + " ran " + std::to_string(ran) + " accesses " +
       number(state->in_sections) + " unknown " + number(state->unknown) + " unshared " +
       number(state->unshared) + " misses " + number(state->missed));
}

// After the program's own exit handlers and destructors.
__attribute__((destructor(101))) void end() {
  if (state == nullptr)
    return;
  self.busy = true;
  summarise();
  if (state->missed.load(std::memory_order_relaxed) == 0)
    return;
  std::fflush(nullptr);
  ::_exit(kMissStatus);
}

[[noreturn]] void refuse(const char *text) {
  std::fprintf(stderr, "libtandem_observe: %s\n", printable(text).c_str());
  ::_exit(kUsageStatus);
}

} // namespace
} // namespace tandem::observe

using namespace tandem::observe;

extern "C" {

TANDEM_EXPORT void _TANDEM_observe_begin(const char *table, const tandem_observe_global *globals,
                                         void (*thread_locals)()) {
  if (state != nullptr)
    refuse("a process may have one part that was linked with -ftandem-check-effects; link the "
           "others without");
  auto *fresh = new State(table);
  if (fresh->tables.sections() > Record::kMostSections)
    refuse("more than 8191 sections cannot be told apart; check a smaller program");
  fresh->thread_locals = thread_locals;
  if (const char *path = tandem::variable("TANDEM_OBSERVE"); path != nullptr && *path != '\0') {
    tandem::OutputFile file;
    int error = file.find(path);
    if (error == 0)
      fresh->file = file.append(error);
    if (error != 0) {
      const std::string text = std::string("TANDEM_OBSERVE: ") + path +
                               ": cannot be written: " + tandem::output_error(error) +
                               "; name a file in a folder of yours";
      refuse(text.c_str());
    }
  }
  state = fresh;
  const Entered entered;
  for (; globals->address != nullptr; ++globals) {
    const auto begin = reinterpret_cast<std::uint64_t>(globals->address);
    allocate(begin, begin + globals->size, static_cast<std::uint32_t>(globals->label));
  }
}

TANDEM_EXPORT void _TANDEM_observe_access(const void *address, std::uint64_t size,
                                          std::uint32_t how, std::uint32_t site) {
  if (size == 0 || !is_address(address))
    return;
  if (const Entered entered; entered)
    access(reinterpret_cast<std::uint64_t>(address), size, how, site);
}

TANDEM_EXPORT void _TANDEM_observe_allocated(const void *address, std::uint64_t size,
                                             std::uint64_t label) {
  if (!is_address(address))
    return;
  if (const Entered entered; entered) {
    const auto begin = reinterpret_cast<std::uint64_t>(address);
    allocate(begin, begin + size_of(address, size), static_cast<std::uint32_t>(label));
  }
}

TANDEM_EXPORT void _TANDEM_observe_renamed(const void *address, std::uint64_t label) {
  if (!is_address(address))
    return;
  if (const Entered entered; entered)
    rename(reinterpret_cast<std::uint64_t>(address), static_cast<std::uint32_t>(label));
}

TANDEM_EXPORT void _TANDEM_observe_released(const void *address, std::uint64_t size) {
  if (!is_address(address))
    return;
  if (const Entered entered; entered) {
    const auto begin = reinterpret_cast<std::uint64_t>(address);
    release(begin, begin + size_of(address, size));
  }
}

TANDEM_EXPORT std::uint32_t _TANDEM_observe_depth() { return self.depth; }

TANDEM_EXPORT void _TANDEM_observe_push(std::uint32_t set) {
  if (const Entered entered; entered) {
    if (self.depth + 1 >= kMostDepth)
      refuse("sections are nested more than 4095 deep");
    const Context *inner = join(top(), set);
    self.stack[++self.depth] = inner;
  }
}

TANDEM_EXPORT void _TANDEM_observe_restore(std::uint32_t depth) { self.depth = depth; }

TANDEM_EXPORT void _TANDEM_observe_threads() {
  if (state != nullptr)
    state->threads.store(true, std::memory_order_relaxed);
}

} // extern "C"
