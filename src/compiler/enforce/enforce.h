// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Enforcement: makes the marked functions, blocks and lambdas of a module atomic. Lock regions keep
// their locks.
#pragma once

#include "compiler/catalogue/catalogue.h"
#include "compiler/enforce/cancels.h"
#include "compiler/enforce/descriptors.h"
#include "compiler/options/options.h"
#include "compiler/sections/section.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <vector>

namespace tandem {

// What sections hold while they run plain code in the phase of locks (runtime/phases/phases.h).
enum class PhaseKind : std::uint8_t {
  none,      // there are none: a section is a transaction, or holds colours
  own_locks, // the program's own locks, which plain code of all sections acquires
  colours    // their own colours, exclusively
};

struct HowTransactions {
  // Other than none of mode hybrid only. Nothing is cancelled then.
  PhaseKind phases = PhaseKind::none;
  // Of each section: the part of the program whose phase it is in; empty: all in the first.
  std::vector<std::uint32_t> parts;
  bool inline_barriers = true; // whether the common course of accesses may be inlined
  bool short_sections = true;  // whether short sections may run in place (short.h)
};

// Transforms `module` so that the sections among `sections` that are no lock regions run atomically
// under `mode`. `report` describes the same sections in the same order; it gets what was
// instrumented. Result: whether the module changed. Error: a section that `mode` cannot enforce;
// the module is half-changed then and must not be used. `cancels`: of the same sections.
Result<bool> enforce(llvm::Module &module, std::vector<Section> sections, Report &report,
                     const Cancels &cancels, Enforcement mode, const Catalogue &catalogue,
                     const HowTransactions &how);

// The runtime's calls that enter and leave a section; both take its descriptor.
struct BracketCalls {
  llvm::StringRef enter;
  llvm::StringRef leave;
};
// One process-wide lock; defined by the runtime's bitcode.
inline constexpr BracketCalls kGlobalLock{"_TANDEM_inline_global_lock_enter",
                                          "_TANDEM_inline_global_lock_leave"};
// The section's colours, exclusively.
inline constexpr BracketCalls kColours{"_TANDEM_colours_enter", "_TANDEM_colours_leave"};

// A lock around every section that is `needed`, held until the outermost one is left, also by an
// exception. Blocks stay where they are: the calls take the place of their markers.
void enforce_by_brackets(const std::vector<Section> &sections, const BracketCalls &calls,
                         llvm::function_ref<bool(std::size_t)> needed, Descriptors &descriptors);

// The same for one function.
void bracket_function(llvm::Function &function, const BracketCalls &calls,
                      llvm::Constant *descriptor);

// Every section is a transaction. The function becomes a wrapper that begins, runs the plain body
// or its transactional clone as the runtime decides, and commits, also when an exception leaves it.
// A restart runs the body from its start in a fresh frame with the wrapper's arguments, which no
// one changes: so it finds every local as it was at begin, whatever the optimiser does.
// With phases the wrapper asks first whether the plain body is to run as it is
// (runtime/phases/inline.h).
// Under the hybrid plan a non-revocable section that is irrevocable from its begin, or has no
// transactional clone, runs its plain body with its colours held exclusively instead.
// A section that may be cancelled stays a transaction of its own where it runs in another, so that
// it can be undone alone. Cancelled, a function or lambda returns zero; a block goes on behind
// itself, with variables as they were.
// Result: what was instrumented.
ReportInstrumentation enforce_by_transactions(llvm::Module &module,
                                              const std::vector<Section> &sections,
                                              const Report &report, const Cancels &cancels,
                                              const Catalogue &catalogue, Descriptors &descriptors,
                                              const HowTransactions &how);

} // namespace tandem
