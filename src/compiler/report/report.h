// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report: everything that the compiler found out about one linked output and decided about it,
// as plain data. The pass fills it, `tandem analyze` prints it, and it travels as JSON
// (docs/formats/report.md, one to one with these structures). Knows nothing of LLVM.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
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
enum class RegionShape { same_function, escapes, not_nested };

std::string_view to_string(SectionKind kind);   // "function", "block", "lambda", "lock-region"
std::string_view to_string(SectionClass klass); // "non-revocable", "hybrid", "pure"
std::string_view to_string(IrrevocableAt at);   // "never", "begin", "reach"
std::string_view to_string(LockMode mode);      // "exclusive", "shared"
std::string_view to_string(RegionShape shape);  // "same-function", "escapes", "not-nested"

struct ReportLock {
  std::string colour;
  LockMode mode = LockMode::exclusive;
  bool operator==(const ReportLock &) const = default;
};

struct ReportIrrevocable {
  std::string callee;
  // Function names from the section to the callee, both included.
  std::vector<std::string> chain;
  bool operator==(const ReportIrrevocable &) const = default;
};

struct ReportConflict {
  std::string with; // the other section's name; a section may conflict with itself
  std::vector<std::string> on;
  bool operator==(const ReportConflict &) const = default;
};

// What a lock region's lock is; only sections of kind lock-region have one.
struct ReportRegion {
  // The lock as the source names it, e.g. "stats_lock", "item_locks[]".
  std::vector<std::string> names;
  // "mutex", "trylock", or "wait" (entered anew when a condition wait returns).
  std::string kind = "mutex";
  std::uint32_t exits = 0; // release sites that end the region
  RegionShape shape = RegionShape::same_function;
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
  std::vector<ReportRegion> lock; // empty, or one element; JSON: an object, absent when empty
  bool operator==(const ReportSection &) const = default;
};

struct ReportColour {
  std::string name; // "A", "B", ..., "Z", "AA", ...
  std::vector<std::string> locations;
  bool operator==(const ReportColour &) const = default;
};

struct ReportFinding {
  std::string rule;
  std::string file;
  std::uint32_t line = 0;
  std::string message;
  bool operator==(const ReportFinding &) const = default;
};

struct ReportEnforcement {
  std::string requested = "none"; // the value of -ftandem-enforce
  std::string used = "none"; // what the output really uses; differs where a mode is not built yet
  bool operator==(const ReportEnforcement &) const = default;
};

struct ReportAnalysis {
  std::string mode = "insensitive"; // points-to: "insensitive" or "sensitive"
  double seconds = 0;               // wall time of analysis and transformation
  double peak_mib = 0;              // peak resident memory of the process, MiB
  std::uint64_t instructions = 0;   // IR instructions analysed
  bool operator==(const ReportAnalysis &) const = default;
};

struct Report {
  std::string output; // the linked file's name; empty for `tandem analyze`
  ReportEnforcement enforcement;
  std::vector<ReportSection> sections;
  std::vector<ReportColour> colours;
  std::vector<std::string> shared;
  // Functions that the program calls and does not define, and linked objects without bitcode (by
  // path).
  std::vector<std::string> externals;
  std::vector<ReportFinding> findings;
  ReportAnalysis analysis;
  bool operator==(const Report &) const = default;
};

// The report as JSON, two spaces of indentation, a newline at the end. Lists keep their order;
// bytes that are not UTF-8 become U+FFFD.
std::string to_json(const Report &report);

// Puts every list into the order that reports are written in, so that equal programs give equal
// bytes: sections by file and line (those of one line stay as they are); conflicts as the sections
// they are with; locations, callees and other names alphabetically and once each; colours as they
// are handed out (A, ..., Z, AA); findings by file, line, rule and message.
void sort_report(Report &report);

// Reads what to_json writes; fields that it does not know are skipped, `output` and `enforcement`
// may be absent. `place` is the file's name for messages. Errors: `place:line:column: ...` where
// the text is not JSON; `place: /sections/3/kind: ...` where a field is missing, has another type
// or value; `place: version 2 cannot be read ...`. What it returns is consistent: section and
// colour names are unique, every name of a colour or section that another field mentions exists.
Result<Report> report_from_json(std::string_view text, const std::string &place);

// The name of the report file for an output: each %o in `pattern` becomes the output's file name
// without its folder, each %p the output's path as given with '/' turned into '-', %% a percent
// sign. Error: any other use of '%'.
Result<std::string> report_path(std::string_view pattern, const std::string &output);

} // namespace tandem
