// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report: everything that the compiler found out about one linked output and decided about it,
// as plain data. The pass fills it, `tandem analyze` prints it, and it travels as JSON
// (docs/formats/report.md, one to one with these structures). Knows nothing of LLVM.
#pragma once

#include "base/result.h"

#include <compare>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tandem {

// `version` of the JSON that this code writes and the only one that it reads.
inline constexpr int kReportVersion = 1;

enum class SectionKind { function, block, lambda, lock_region };
enum class SectionClass { non_revocable, hybrid, pure };
enum class IrrevocableAt { never, begin, reach };
enum class LockMode { exclusive, shared };
// same_function: every path from the acquisition releases the lock in the acquiring function.
// escapes: some path leaves the function, by return or by a callee, with the lock held.
// not_nested: another lock is acquired inside and still held when this one is released.
// flag_guarded: as same_function, where local flags tell whether the lock is held and which
// releases run.
enum class RegionShape { same_function, escapes, not_nested, flag_guarded };

std::string_view to_string(SectionKind kind);   // "function", "block", "lambda", "lock-region"
std::string_view to_string(SectionClass klass); // "non-revocable", "hybrid", "pure"
std::string_view to_string(IrrevocableAt at);   // "never", "begin", "reach"
std::string_view to_string(LockMode mode);      // "exclusive", "shared"
std::string_view to_string(RegionShape shape);  // "same-function", "escapes", "not-nested",
                                                // "flag-guarded"

struct ReportLock {
  std::string colour;
  LockMode mode = LockMode::exclusive;
  bool operator==(const ReportLock &) const = default;
};

struct ReportIrrevocable {
  std::string callee;
  // Function names from the section to the callee, both included.
  std::vector<std::string> chain;
  // Where chain[i] calls chain[i + 1], as "file:line"; one shorter than the chain. JSON: absent
  // when empty.
  std::vector<std::string> places;
  // Reached only on an unlikely path: behind a branch that ends in an error exit, or that the
  // source or its profile calls unlikely. JSON: absent when false.
  bool cold = false;
  bool operator==(const ReportIrrevocable &) const = default;
};

// A list of names that does not change; copies are one list. Pairs of sections are many, and what
// they conflict on is mostly the same few lists.
class SharedNames {
public:
  SharedNames() : SharedNames(std::vector<std::string>()) {}
  SharedNames(std::vector<std::string> names) // NOLINT(google-explicit-constructor)
      : names_(std::make_shared<const std::vector<std::string>>(std::move(names))) {}
  SharedNames(std::initializer_list<std::string> names)
      : SharedNames(std::vector<std::string>(names)) {}

  [[nodiscard]] const std::vector<std::string> &list() const { return *names_; }
  [[nodiscard]] auto begin() const { return names_->begin(); }
  [[nodiscard]] auto end() const { return names_->end(); }
  [[nodiscard]] std::size_t size() const { return names_->size(); }
  bool operator==(const SharedNames &other) const {
    return names_ == other.names_ || *names_ == *other.names_;
  }
  auto operator<=>(const SharedNames &other) const {
    return names_ == other.names_ ? std::strong_ordering::equal : *names_ <=> *other.names_;
  }

private:
  std::shared_ptr<const std::vector<std::string>> names_; // never null
};

struct ReportConflict {
  std::string with; // the other section's name; a section may conflict with itself
  SharedNames on;
  bool operator==(const ReportConflict &) const = default;
};

// A place in the source where a section, or what it calls, touches a location.
struct ReportAccess {
  std::string location;
  bool writes = false; // else it reads
  std::string function;
  std::string file;
  std::uint32_t line = 0;
  bool operator==(const ReportAccess &) const = default;
};

// What a lock region's lock is; only sections of kind lock-region have one.
struct ReportRegion {
  // The lock as the source names it, e.g. "stats_lock", "item_locks[]".
  std::vector<std::string> names;
  // "mutex", "trylock", or "wait" (entered anew when a condition wait returns).
  std::string kind = "mutex";
  // What the lock is: "pthread-mutex", "pthread-rwlock", "pthread-spinlock", "c11-mutex",
  // "std-mutex", "std-shared-mutex", ...; and whether it is held shared (a reader's lock).
  std::string primitive = "pthread-mutex";
  bool shared = false;     // JSON: absent when false
  std::uint32_t exits = 0; // release sites that end the region
  RegionShape shape = RegionShape::same_function;
  // The field that it is, as "record.field", where it lies in a record with a name; JSON: absent
  // when empty.
  std::string field;
  bool operator==(const ReportRegion &) const = default;
};

struct ReportSection {
  std::string name; // unique in the report
  SectionKind kind = SectionKind::function;
  std::string file;
  std::uint32_t line = 0;                  // 0: unknown (compiled without -g)
  SectionClass klass = SectionClass::pure; // JSON: "class"
  IrrevocableAt irrevocable_at = IrrevocableAt::never;
  std::vector<std::string> colours; // LockPick's: names of ReportColour
  std::vector<ReportLock> locks;    // the hybrid plan's
  std::vector<std::string> reads;
  std::vector<std::string> writes;
  std::vector<ReportIrrevocable> irrevocable;
  std::vector<ReportConflict> conflicts;
  // One place for each location and direction that is in reads or writes: the first in the source.
  // JSON: absent when empty.
  std::vector<ReportAccess> accesses;
  bool strict = false;            // TANDEM_ATOMIC_STRICT; JSON: absent when false
  std::vector<ReportRegion> lock; // empty, or one element; JSON: an object, absent when empty
  bool operator==(const ReportSection &) const = default;
};

// The name of the colour that all outputs of a process have in common.
inline constexpr const char *kProcessColour = "*";

struct ReportColour {
  std::string name; // kProcessColour, "A", "B", ..., "Z", "AA", ...
  std::vector<std::string> locations;
  bool operator==(const ReportColour &) const = default;
};

// A class of memory that the analysis does not tell apart.
struct ReportLocation {
  std::string name;                 // as reads, writes and conflicts mention it
  std::string kind;                 // "global", "heap", "stack", "external"
  std::string file;                 // where it is declared or allocated; may be empty
  std::uint32_t line = 0;           // 0: unknown
  std::vector<std::string> aliases; // other access paths that the program has for it
  bool operator==(const ReportLocation &) const = default;
};

// A way into the program that may run beside others.
struct ReportThread {
  std::string function;
  std::string kind;  // "main", "thread", "signal-handler", "exported", "callback"
  bool many = false; // several may run at the same time
  bool operator==(const ReportThread &) const = default;
};

// A call that acquires, tries, waits for or releases a lock. Every one of the program is listed.
struct ReportLockSite {
  std::string operation; // "lock", "trylock", "wait", "unlock", "signal"
  std::string primitive; // as ReportRegion::primitive
  std::string lock;      // its access path
  std::string file;
  std::uint32_t line = 0;
  std::string function;
  std::vector<std::string> sections; // that it begins or ends
  std::string reason;                // why there is none; empty where there is one
  bool operator==(const ReportLockSite &) const = default;
};

struct ReportNote {
  std::string file;
  std::uint32_t line = 0;
  std::string message;
  bool operator==(const ReportNote &) const = default;
};

struct ReportFinding {
  std::string rule;
  std::string file;
  std::uint32_t line = 0;
  std::string message;
  std::vector<ReportNote> notes; // further places; JSON: absent when empty
  // What it is about, so that a person can allow it there. JSON: absent when empty.
  std::string function = {};
  std::string section = {};
  bool operator==(const ReportFinding &) const = default;
};

struct ReportEnforcement {
  std::string requested = "none"; // the value of -ftandem-enforce
  std::string used = "none";      // what the output really uses
  bool operator==(const ReportEnforcement &) const = default;
};

// What became of the accesses in the transactional clones of functions.
struct ReportInstrumentation {
  std::uint64_t clones = 0;      // functions that have a transactional version
  std::uint64_t barriers = 0;    // accesses that call the runtime
  std::uint64_t plain = 0;       // accesses to constants and to locals that stay in their function
  std::uint64_t captured = 0;    // accesses to memory that the transaction has just allocated
  std::uint64_t unwritten = 0;   // reads of memory that no section writes
  std::uint64_t merged = 0;      // accesses that repeated others, or became values, and are gone
  std::uint64_t counters = 0;    // accesses to counters of coverage and profiling, left plain
  std::uint64_t irrevocable = 0; // places where a transaction becomes irrevocable
  std::uint64_t deferred_updates = 0; // updates that commute, put off to the commit
  std::uint64_t atomics = 0;          // sections that are one atomic instruction
  std::uint64_t short_sections = 0;   // sections that are tried in place first
  bool operator==(const ReportInstrumentation &) const = default;
};

// What the analysis gave up since the program is too large for it. Its results stay sound: sections
// may be said to conflict that do not, and no conflict is missing.
// inclusion: which objects flow into each pointer; memory is told apart by unification alone.
// contexts: of the sensitive mode, calling contexts of the functions that are nearest to main.
// callers: of the sensitive mode, small functions analysed once for each call.
enum class AnalysisLimit { inclusion, contexts, callers };
std::string_view to_string(AnalysisLimit limit); // "inclusion", "contexts", "callers"
std::string_view explain(AnalysisLimit limit);   // one clause, what is no longer told apart

struct ReportAnalysis {
  std::string mode = "insensitive";  // points-to: "insensitive" or "sensitive"
  double seconds = 0;                // wall time of analysis and transformation
  double peak_mib = 0;               // peak resident memory of the process, MiB
  std::uint64_t instructions = 0;    // IR instructions analysed
  std::vector<AnalysisLimit> limits; // in the order above; JSON: absent when empty
  bool operator==(const ReportAnalysis &) const = default;
};

struct Report {
  std::string output; // the linked file's name; empty for `tandem analyze`
  ReportEnforcement enforcement;
  std::vector<ReportSection> sections;
  std::vector<ReportColour> colours;
  std::vector<std::string> shared;
  std::vector<ReportLocation> locations; // those that a section touches
  std::vector<ReportThread> threads;
  std::vector<ReportLockSite> lock_sites;
  // Functions that the program calls and does not define, and linked objects without bitcode (by
  // path).
  std::vector<std::string> externals;
  std::vector<ReportFinding> findings;
  ReportInstrumentation instrumentation; // JSON: absent when there are no clones
  ReportAnalysis analysis;
  bool operator==(const Report &) const = default;
};

// The report as JSON, two spaces of indentation, a newline at the end. Lists keep their order;
// bytes that are not UTF-8 become U+FFFD.
std::string to_json(const Report &report);
// The same piece by piece: the text of a large program has hundreds of megabytes.
void write_json(const Report &report, const std::function<void(std::string_view)> &take);

// Puts every list into the order that reports are written in, so that equal programs give equal
// bytes: sections by file and line (those of one line stay as they are); conflicts as the sections
// they are with; locations, callees and other names alphabetically and once each; colours as they
// are handed out (A, ..., Z, AA); accesses by location, reads first; threads by function; lock
// sites by file, line and function; findings by file, line, rule and message. Chains, their places
// and the notes of a finding keep their order.
void sort_report(Report &report);

// Reads what to_json writes; fields that it does not know are skipped; `output`, `enforcement` and
// what docs/formats/report.md calls optional may be absent. `place` is the file's name for
// messages. Errors: `place:line:column: ...` where the text is not JSON; `place: /sections/3/kind:
// ...` where a field is missing, has another type or value; `place: version 2 cannot be read ...`.
// What it returns is consistent: section and colour names are unique, every name of a colour or
// section that another field mentions exists, and a chain has no places or one for each of its
// calls.
Result<Report> report_from_json(std::string_view text, const std::string &place);

// The name of the report file for an output: each %o in `pattern` becomes the output's file name
// without its folder, each %p the output's path as given with '/' turned into '-', %% a percent
// sign. Error: any other use of '%'.
Result<std::string> report_path(std::string_view pattern, const std::string &output);

} // namespace tandem
