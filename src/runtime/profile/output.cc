// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The profile as JSON (docs/formats/profile.md), at the end of the process.
#include "base/output_file.h"
#include "contention/names.h"
#include "runtime/fatal.h"
#include "runtime/processor.h"
#include "runtime/profile/command_line.h"
#include "runtime/profile/counters.h"
#include "runtime/profile/json.h"
#include "runtime/profile/symbols.h"
#include "runtime/settings/settings.h"

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

namespace tandem::profile {
namespace {

constexpr const char *kCauses[] = {"validation",
                                   "locked",
                                   "killed",
                                   "colour-taken",
                                   "serial-pending",
                                   "irrevocable-reached",
                                   "hardware-conflict",
                                   "hardware-capacity",
                                   "hardware-other",
                                   "retry",
                                   "cancel",
                                   "other-lock"};
constexpr const char *kSerialCauses[] = {"irrevocable-begin", "irrevocable-call", "requested",
                                         "retries",           "algorithm",        "no-memory"};

struct Name {
  char text[512];
};

// The program's name of a function: gcc calls the transactional clone of f _ZGTt and f's name as
// C++ has it.
Name function_name(const char *symbol) noexcept {
  Name name;
  constexpr char kClone[] = "_ZGTt";
  const char *rest = symbol + sizeof kClone - 1;
  char *end = nullptr;
  const bool is_clone = std::strncmp(symbol, kClone, sizeof kClone - 1) == 0;
  if (is_clone && *rest >= '1' && *rest <= '9' &&
      std::strlen(rest) == std::strtoul(rest, &end, 10) + static_cast<std::size_t>(end - rest))
    std::snprintf(name.text, sizeof name.text, "%s", end);
  else if (is_clone)
    std::snprintf(name.text, sizeof name.text, "_Z%s", rest);
  else
    std::snprintf(name.text, sizeof name.text, "%s", symbol);
  return name;
}

class Writer {
public:
  Writer(std::FILE *file, const Process &process, SectionCounts *counts,
         CountTable<AbortKey> &aborts, CountTable<StackKey> &stacks,
         CountTable<ColourKey> &colours) noexcept
      : json_(file), process_(process), counts_(counts), aborts_(aborts), stacks_(stacks),
        colours_(colours) {
    ::dladdr(reinterpret_cast<const void *>(&settings), &own_);
    timespec steady;
    ::clock_gettime(CLOCK_MONOTONIC, &steady);
    wall_ns_ = steady.tv_sec * 1'000'000'000LL + steady.tv_nsec - process.steady_ns;
    const std::uint64_t ticks = processor::ticks() - process.ticks;
    ns_per_tick_ = ticks == 0 ? 0 : static_cast<double>(wall_ns_) / static_cast<double>(ticks);
  }

  void write() noexcept {
    find_names();
    json_.open('{');
    json_.line();
    json_.number("version", 1);
    json_.line();
    write_run();
    json_.line();
    json_.open('[', "sections");
    for (const std::uint32_t section : order_) {
      json_.line();
      write_section(section);
    }
    json_.close(']');
    json_.close('}');
  }

private:
  void ask_code(std::uint64_t return_address) noexcept {
    if (return_address != 0)
      places_.push({.address = return_address - 1});
  }

  [[nodiscard]] const Place &code_at(std::uint64_t return_address) noexcept {
    static constexpr Place nowhere;
    if (return_address == 0 || is_own(return_address))
      return nowhere;
    const Place *place = place_of(places_.begin(), places_.size(), return_address - 1);
    return place != nullptr ? *place : nowhere;
  }
  // In this library: an access of many bytes, for example, comes from there.
  [[nodiscard]] bool is_own(std::uint64_t address) const noexcept {
    Dl_info module;
    return own_.dli_fbase != nullptr &&
           ::dladdr(reinterpret_cast<const void *>(address), &module) != 0 &&
           module.dli_fbase == own_.dli_fbase;
  }

  // Of the sections of one module that have no descriptor.
  void find_begins(const Module &module) noexcept {
    const auto is_of = [&](std::uint32_t section) {
      return process_.module_of[section] == &module && process_.description_of[section] == nullptr;
    };
    memory::Log<Place> places;
    for (std::uint32_t section = 1; section <= process_.sections; ++section)
      if (is_of(section))
        places.push({.address = process_.begin_of[section] - 1});
    find_places_in(module.path, module.base, places.begin(), places.size());
    for (std::uint32_t section = 1; section <= process_.sections; ++section)
      if (const Place *place = is_of(section) ? place_of(places.begin(), places.size(),
                                                         process_.begin_of[section] - 1)
                                              : nullptr;
          place != nullptr)
        begins_[section] = *place;
  }

  void find_names() noexcept {
    for (std::uint32_t section = 1; section <= process_.sections; ++section)
      if (process_.description_of[section] == nullptr && process_.module_of[section] == nullptr)
        ask_code(process_.begin_of[section]);
    for (const auto &entry : aborts_) {
      ask_code(entry.key.from);
      if (entry.key.kind == MemoryKind::global)
        places_.push({.address = entry.key.place, .data = true});
      else if (entry.key.kind == MemoryKind::heap)
        ask_code(entry.key.place);
    }
    for (const auto &entry : stacks_)
      for (const std::uint64_t frame : entry.key.frames)
        ask_code(frame);
    find_places(places_.begin(), places_.size());
    for (std::uint32_t section = 0; section <= process_.sections; ++section)
      begins_.push({});
    for (const Module *module = remembered_modules(); module != nullptr; module = module->next)
      find_begins(*module);
    for (std::uint32_t section = 1; section <= process_.sections; ++section)
      if (counts_[section].starts != 0)
        order_.push(section);
    std::sort(order_.begin(), order_.end(),
              [this](std::uint32_t a, std::uint32_t b) { return before(a, b); });
  }

  // Where a section begins.
  [[nodiscard]] Place begin_at(std::uint32_t section) noexcept {
    const Description *description = process_.description_of[section];
    if (description == nullptr)
      return process_.module_of[section] == nullptr || process_.module_of[section] == own_module_
                 ? code_at(process_.begin_of[section])
                 : begins_[section];
    Place place;
    place.output = description->output;
    place.symbol = description->name;
    place.file = description->file;
    place.line = description->line;
    return place;
  }

  [[nodiscard]] bool before(std::uint32_t a, std::uint32_t b) noexcept {
    const Place left = begin_at(a);
    const Place right = begin_at(b);
    for (const int difference :
         {std::strcmp(left.output, right.output), std::strcmp(left.file, right.file)})
      if (difference != 0)
        return difference < 0;
    if (left.line != right.line)
      return left.line < right.line;
    return process_.begin_of[a] < process_.begin_of[b];
  }

  // Unique in its output: a function may have a namesake in another file, but not the same line.
  [[nodiscard]] Name section_name(std::uint32_t section) noexcept {
    Name name = short_name(section);
    for (const std::uint32_t other : order_)
      if (other != section && std::strcmp(short_name(other).text, name.text) == 0 &&
          std::strcmp(begin_at(other).output, begin_at(section).output) == 0) {
        Name longer;
        std::snprintf(longer.text, sizeof longer.text, "%.400s@%#llx", name.text,
                      static_cast<unsigned long long>(process_.begin_of[section]));
        if (process_.begin_of[other] == process_.begin_of[section]) {
          const std::size_t used = std::strlen(longer.text);
          std::snprintf(longer.text + used, sizeof longer.text - used, "#%u", section);
        }
        return longer;
      }
    return name;
  }
  [[nodiscard]] Name short_name(std::uint32_t section) noexcept {
    const Place place = begin_at(section);
    if (process_.description_of[section] != nullptr) {
      Name name;
      std::snprintf(name.text, sizeof name.text, "%s", place.symbol);
      return name;
    }
    Name name = function_name(place.symbol);
    const std::size_t used = std::strlen(name.text);
    // The symbol's offset is that of the last byte of the call.
    if (used == 0 || place.offset != 0) // a body that the API was given begins with its function
      std::snprintf(name.text + used, sizeof name.text - used, "%s%#llx", used == 0 ? "" : "+",
                    static_cast<unsigned long long>(place.offset + 1));
    if (process_.begin_of[section] == 0)
      std::snprintf(name.text, sizeof name.text, "others");
    return name;
  }

  void write_run() noexcept {
    json_.open('{', "run");
    char program[4096];
    const ssize_t length = ::readlink("/proc/thread-self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    json_.text("program", length > 0 ? program : "/");
    write_command_line(json_);
    json_.number("pid", static_cast<std::uint64_t>(process_.pid));
    json_.text("algorithm", algorithm_name());
    json_.open('{', "policy");
    const bool names_holders = settings.algorithm != Algorithm::norec &&
                               settings.algorithm != Algorithm::serial &&
                               settings.algorithm != Algorithm::htm;
    json_.text("contention",
               names_holders ? name_in(contention::kPolicyNames, settings.policy) : "none");
    json_.text("backoff", name_in(contention::kBackoffNames, settings.backoff));
    json_.number("serialise_after",
                 settings.serialise_after != kNever ? settings.serialise_after : 0);
    json_.close('}');
    json_.number("executions", process_.executions);
    json_.number("measured", process_.measured);
    json_.number("period", settings.profile_period);
    json_.number("threads", process_.threads);
    json_.open('[', "each_thread");
    for (std::size_t i = 0; i < process_.each_threads; ++i) {
      json_.open('{', nullptr);
      json_.number("commits", process_.each_thread[i].commits);
      json_.number("aborts", process_.each_thread[i].aborts);
      json_.close('}');
    }
    json_.close(']');
    const time_t start = static_cast<time_t>(process_.start_ns / 1'000'000'000);
    tm parts;
    char text[64];
    const std::size_t used =
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", ::gmtime_r(&start, &parts));
    std::snprintf(text + used, sizeof text - used, ".%03dZ",
                  static_cast<int>(process_.start_ns / 1'000'000 % 1000));
    json_.text("start", text);
    json_.seconds("wall_seconds", wall_ns_);
    json_.close('}');
  }

  template <class Table, class Value>
  static const char *name_in(const Table &table, Value value) noexcept {
    for (const auto &entry : table)
      if (entry.second == value)
        return entry.first.data(); // of a literal
    return "none";
  }

  static const char *algorithm_name() noexcept {
    if ((settings.special & kSpecialSerial) != 0)
      return "auto";
    switch (settings.algorithm.load(std::memory_order_relaxed)) {
    case Algorithm::serial:
      return "serial";
    case Algorithm::eager:
      return "eager";
    case Algorithm::lazy:
      return "lazy";
    case Algorithm::norec:
      return "norec";
    case Algorithm::two_phase:
      return "two-phase";
    case Algorithm::htm:
      return "htm";
    }
    return "auto";
  }

  void write_section(std::uint32_t section) noexcept {
    const SectionCounts &counts = counts_[section];
    const Place place = begin_at(section);
    const Description *description = process_.description_of[section];
    json_.open('{');
    json_.text("name", section_name(section).text);
    json_.text("output", *place.output != '\0' ? place.output : "unknown");
    write_file(place);
    json_.text("kind", description == nullptr ? "transaction" : kind_name(*description));
    if (description != nullptr)
      json_.text("class", class_name(*description));
    json_.open('[', "colours");
    for (std::uint32_t i = 0; description != nullptr && i < description->colour_count; ++i)
      json_.text(nullptr, description->colours[i]);
    json_.close(']');
    json_.number("starts", counts.starts);
    json_.number("commits", counts.commits);
    json_.number("unfinished", counts.starts - counts.commits - counts.aborts);
    json_.line();
    json_.open('[', "aborts");
    write_aborts(section);
    json_.close(']');
    json_.line();
    json_.open('[', "serialisations");
    for (const auto &entry : stacks_)
      if (entry.key.section == section)
        write_serialisation(entry.key, entry.count);
    json_.close(']');
    json_.line();
    write_colour_waits(section);
    json_.line();
    write_histogram("read_set", counts.reads);
    json_.line();
    write_histogram("write_set", counts.writes);
    json_.line();
    write_histogram("retries", counts.retries);
    json_.line();
    json_.open('{', "time");
    // Rounded so that the parts never exceed the whole.
    const std::uint64_t waiting = nanoseconds(counts.waiting_ticks);
    const std::uint64_t irrevocable = nanoseconds(counts.irrevocable_ticks);
    json_.number("section_ns", std::max(nanoseconds(counts.section_ticks), waiting + irrevocable));
    json_.number("waiting_ns", waiting);
    json_.number("irrevocable_ns", irrevocable);
    json_.close('}');
    json_.close('}');
  }

  void write_colour_waits(std::uint32_t section) noexcept {
    json_.open('[', "colour_waits");
    for (const auto &entry : colours_) {
      if (entry.key.section != section || entry.key.kind != 0)
        continue;
      json_.line();
      json_.open('{');
      json_.text("colour", entry.key.colour);
      json_.number("count", entry.count);
      std::uint64_t ticks = 0;
      for (const auto &other : colours_)
        if (other.key == ColourKey{section, 1, entry.key.colour})
          ticks = other.count;
      json_.number("waiting_ns", nanoseconds(ticks));
      json_.close('}');
    }
    json_.close(']');
  }

  // Keys of which nothing can be told apart are one.
  void write_aborts(std::uint32_t section) noexcept {
    struct Reason {
      const AbortKey *key;
      std::uint64_t count;
    };
    memory::Log<Reason> reasons;
    for (const auto &entry : aborts_)
      if (entry.key.section == section)
        reasons.push({&entry.key, entry.count});
    std::sort(reasons.begin(), reasons.end(), [this](const Reason &one, const Reason &other) {
      return order(*one.key, *other.key) < 0;
    });
    for (const Reason *reason = reasons.begin(); reason != reasons.end();) {
      const AbortKey &key = *reason->key;
      std::uint64_t count = 0;
      for (; reason != reasons.end() && order(key, *reason->key) == 0; ++reason)
        count += reason->count;
      write_abort(key, count);
    }
  }

  [[nodiscard]] std::uint32_t opponent(const AbortKey &key) const noexcept {
    return key.other != 0 && counts_[key.other].starts != 0 ? key.other : 0;
  }
  // By what is written of them; 0: the same.
  [[nodiscard]] int order(const AbortKey &one, const AbortKey &other) noexcept {
    const auto compare = [](auto a, auto b) { return a < b ? -1 : (b < a ? 1 : 0); };
    int found = compare(one.cause, other.cause);
    if (found == 0)
      found = compare(one.kind, other.kind);
    if (found == 0)
      found = compare(opponent(one), opponent(other));
    if (found == 0 && one.kind == MemoryKind::global)
      found = compare(one.place, other.place);
    if (found == 0 && one.kind == MemoryKind::heap) {
      found = compare(one.offset, other.offset);
      if (found == 0 && one.place != other.place)
        found = order(code_at(one.place), code_at(other.place));
    }
    if (found == 0 && one.from != other.from)
      found = order(code_at(one.from), code_at(other.from));
    return found;
  }
  static int order(const Place &one, const Place &other) noexcept {
    int found = std::strcmp(one.symbol, other.symbol);
    if (found == 0)
      found = std::strcmp(one.file, other.file);
    if (found == 0)
      found = std::strcmp(one.folder, other.folder);
    if (found == 0)
      found = (*other.output == '\0' ? 1 : 0) - (*one.output == '\0' ? 1 : 0);
    return found != 0 ? found : (one.line < other.line ? -1 : (other.line < one.line ? 1 : 0));
  }

  void write_abort(const AbortKey &key, std::uint64_t count) noexcept {
    json_.line();
    json_.open('{');
    json_.text("cause", kCauses[static_cast<std::size_t>(key.cause)]);
    json_.number("count", count);
    const Place &from = code_at(key.from);
    if (key.kind != MemoryKind::none || *from.output != '\0') {
      json_.open('{', "location");
      write_memory(key);
      json_.text("function", function_name(from.symbol).text);
      write_file(from);
      json_.close('}');
    }
    if (const std::uint32_t other = opponent(key); other != 0)
      json_.text("other", section_name(other).text);
    json_.close('}');
  }

  void write_memory(const AbortKey &key) noexcept {
    switch (key.kind) {
    case MemoryKind::global: {
      const Place *place = place_of(places_.begin(), places_.size(), key.place);
      json_.text("kind", "global");
      json_.text("symbol", place != nullptr ? place->symbol : "");
      json_.number("offset", place != nullptr ? place->offset : 0);
      return;
    }
    case MemoryKind::heap: {
      const Place &site = code_at(key.place);
      json_.text("kind", "heap");
      json_.text("symbol", function_name(site.symbol).text);
      json_.number("offset", key.offset);
      json_.text("allocation_file", path_of(site).text);
      json_.number("allocation_line", site.line);
      return;
    }
    case MemoryKind::stack:
      json_.text("kind", "stack");
      break;
    case MemoryKind::none:
    case MemoryKind::unknown:
      json_.text("kind", "unknown");
      break;
    }
    json_.text("symbol", "");
    json_.number("offset", 0);
  }

  void write_serialisation(const StackKey &key, std::uint64_t count) noexcept {
    json_.line();
    json_.open('{');
    json_.text("cause", kSerialCauses[static_cast<std::size_t>(key.cause)]);
    json_.number("count", count);
    json_.open('[', "stack");
    for (const std::uint64_t frame : key.frames) {
      if (frame == 0)
        break;
      const Place &place = code_at(frame);
      json_.open('{');
      json_.text("function", function_name(place.symbol).text);
      write_file(place);
      json_.close('}');
    }
    json_.close(']');
    json_.close('}');
  }

  static Name path_of(const Place &place) noexcept {
    Name name;
    std::snprintf(name.text, sizeof name.text, "%s%s%s", place.folder,
                  *place.folder != '\0' ? "/" : "", place.file);
    return name;
  }
  void write_file(const Place &place) noexcept {
    json_.text("file", path_of(place).text);
    json_.number("line", place.line);
  }

  void write_histogram(const char *key, const Histogram &histogram) noexcept {
    json_.open('{', key);
    json_.open('[', "counts");
    std::size_t used = histogram.counts.size();
    while (used > 0 && histogram.counts[used - 1] == 0)
      --used;
    for (std::size_t i = 0; i < used; ++i)
      json_.number(nullptr, histogram.counts[i]);
    json_.close(']');
    json_.number("sum", histogram.sum);
    json_.number("max", histogram.max);
    json_.close('}');
  }

  [[nodiscard]] std::uint64_t nanoseconds(std::uint64_t ticks) const noexcept {
    return static_cast<std::uint64_t>(static_cast<double>(ticks) * ns_per_tick_);
  }

  Json json_;
  const Process &process_;
  SectionCounts *counts_;
  CountTable<AbortKey> &aborts_;
  CountTable<StackKey> &stacks_;
  CountTable<ColourKey> &colours_;
  Dl_info own_{};
  const Module *own_module_ = module_of(&settings);
  std::int64_t wall_ns_ = 0;
  double ns_per_tick_ = 0;
  memory::Log<Place> places_;
  memory::Log<Place> begins_; // by section; empty for those that have a descriptor
  memory::Log<std::uint32_t> order_;
};

struct Counts {
  const Process &process;
  SectionCounts *counts;
  CountTable<AbortKey> &aborts;
  CountTable<StackKey> &stacks;
  CountTable<ColourKey> &colours;
};

} // namespace

void write(const Process &process, SectionCounts *counts, CountTable<AbortKey> &aborts,
           CountTable<StackKey> &stacks, CountTable<ColourKey> &colours) noexcept {
  Counts all{process, counts, aborts, stacks, colours};
  const auto writer = [](std::FILE *file, void *argument) {
    const Counts &given = *static_cast<Counts *>(argument);
    Writer(file, given.process, given.counts, given.aborts, given.stacks, given.colours).write();
  };
  if (const int error = process.destination.write(writer, &all); error != 0)
    say("error: the profile %s cannot be written: %s", process.destination.path(),
        output_error(error));
}

} // namespace tandem::profile
