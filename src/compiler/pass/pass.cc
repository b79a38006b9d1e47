// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/pass/pass.h"

#include "base/doing.h"
#include "base/file.h"
#include "base/printable.h"
#include "compiler/convert/convert.h"
#include "compiler/convert/file.h"
#include "compiler/convert/sites.h"
#include "compiler/enforce/enforce.h"
#include "compiler/instrument/barriers.h"
#include "compiler/instrument/clones.h"
#include "compiler/internal_error/internal_error.h"
#include "compiler/observe/instrument.h"
#include "compiler/pass/analyse.h"
#include "compiler/pass/link_inputs.h"
#include "compiler/pass/link_symbols.h"
#include "compiler/pass/prepare.h"
#include "compiler/pass/process_colour.h"
#include "compiler/sections/section.h"
#include "compiler/sections/told.h"
#include "compiler/sections/unwrap.h"
#include "compiler/strict/strict.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Verifier.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/IPO/Internalize.h"

#include <array>
#include <cstdio>
#include <set>
#include <unistd.h>

namespace tandem {
namespace {

using namespace llvm;

// One line on standard error.
void say(const std::string &message) {
  std::fprintf(stderr, "tandem-cc: %s\n", printable(message).c_str());
  std::fflush(stderr);
}

// Ends the link because of a user's mistake. The linker has written nothing yet.
[[noreturn]] void stop(const std::string &message) {
  say(message);
  ::_exit(kUsageStatus);
}

// Links the definitions that the transformed module needs from the runtime's bitcode, as internal
// functions. A call that a pass introduces to a bitcode archive would not resolve: the linker has
// chosen its members.
void link_runtime(Module &module, const std::string &path) {
  SMDiagnostic diagnostic;
  std::unique_ptr<Module> runtime = parseIRFile(path, diagnostic, module.getContext());
  if (runtime == nullptr)
    stop(fmt::format("{}: cannot be read: {}; install tandem again", path,
                     diagnostic.getMessage().str()));
  runtime->setTargetTriple(module.getTargetTriple());
  runtime->setDataLayout(module.getDataLayout());
  const bool failed =
      Linker::linkModules(module, std::move(runtime), Linker::Flags::LinkOnlyNeeded,
                          [](Module &merged, const StringSet<> &linked) {
                            internalizeModule(merged, [&](const GlobalValue &value) {
                              return !value.hasName() || !linked.contains(value.getName());
                            });
                          });
  CHECK(!failed, "{} does not link", path);
}

// The runtime's bitcode of that name for the module's processor, beside runtime.bc or below it.
std::string bitcode_for(const Module &module, const std::string &path, std::string_view name) {
  const bool harts = Triple(module.getTargetTriple()).isRISCV64();
  return fmt::format("{}{}{}", path.substr(0, path.rfind('/') + 1), harts ? "riscv64/" : "", name);
}

bool finds_by_name(StringRef function) {
  return is_contained({"dlsym", "dlvsym", "dlopen", "dlmopen"}, function);
}

// Whether a symbol is the runtime's, or names what its transactions call.
bool is_of_runtime(StringRef symbol) {
  constexpr std::array kRuntime = {"_ITM_", "_ZGTt", "tandem_", "_TANDEM_"};
  return any_of(kRuntime, [&](StringRef prefix) { return symbol.starts_with(prefix); });
}

// Whether machine code that uses this symbol may begin a transaction: by the runtime, whoever
// defines that, or by code of which nothing is known. What the program defines is seen.
bool may_lead_to_transactions(const std::string &symbol, const LinkInputs &inputs,
                              const Module &module, const Catalogue &catalogue) {
  const GlobalValue *value = module.getNamedValue(symbol);
  if (value != nullptr && !value->isDeclaration())
    return false;
  return is_of_runtime(symbol) || finds_by_name(symbol) ||
         (!inputs.native_definitions.contains(symbol) && catalogue.lookup(symbol).stores_anything &&
          !catalogue.is_own_variable(symbol) && symbol != "_GLOBAL_OFFSET_TABLE_");
}

// Whether inline assembly calls, or there is code in assembly: what that leads to is not seen.
bool calls_by_assembly(const Module &module) {
  return !module.getModuleInlineAsm().empty() || any_of(module, [](const Function &function) {
    return any_of(instructions(function), [](const Instruction &instruction) {
      const auto *call = dyn_cast<CallBase>(&instruction);
      const auto *code = call == nullptr ? nullptr : dyn_cast<InlineAsm>(call->getCalledOperand());
      return code != nullptr && code->getAsmString().find("call") != std::string::npos &&
             code->getAsmString().find("syscall") == std::string::npos;
    });
  });
}

// Whether all transactions of the process that could meet this program's sections are these
// sections: no code that the analysis does not see has any, or is found by name.
bool is_closed(const Module &module, const PassOptions &options, const Catalogue &catalogue) {
  const auto used = [](const Function &function) { return !function.use_empty(); };
  const LinkInputs inputs = inspect_link_inputs(options.link_inputs);
  return inputs.complete && !may_meet_other_outputs(module, options, catalogue) &&
         !calls_by_assembly(module) &&
         none_of(inputs.native_uses,
                 [&](const std::string &symbol) {
                   return may_lead_to_transactions(symbol, inputs, module, catalogue);
                 }) &&
         none_of(module, [&](const Function &function) {
           return finds_by_name(function.getName()) && used(function);
         });
}

// Whether the program's sections may hold its own locks in place of being transactions: all of them
// were its locks, so that it is then the program as it was written, also to other code of the
// process. Not where it asks the runtime for what only transactions do, or machine code that is
// linked with it begins transactions, which may be meant to exclude what the locks guard.
bool all_sections_are_locks(Module &module, const PassOptions &options) {
  const LinkInputs inputs = inspect_link_inputs(options.link_inputs);
  return none_of(module,
                 [](const Function &function) {
                   return function.isDeclaration() && !function.use_empty() &&
                          is_of_runtime(function.getName());
                 }) &&
         none_of(inputs.native_uses,
                 [](const std::string &symbol) { return is_of_runtime(symbol); }) &&
         all_of(discover_sections(module),
                [](const Section &section) { return section.kind == SectionKind::lock_region; });
}

// Whether sections of the program may run plain code with their colours held: no section of the
// process can conflict with one of them but others of these, and none asks the runtime for what
// only transactions do.
bool colours_suffice(const Module &module, const PassOptions &options, const Catalogue &catalogue) {
  // What is put off to the commit may wait for another thread; plain code does it at once.
  const auto needs_transactions = [&](const Function &function) {
    const StringRef name = function.getName();
    return function.isDeclaration() && !function.isIntrinsic() && !function.use_empty() &&
           (name.starts_with("tandem_") || name.starts_with("_ITM_") ||
            catalogue.lookup(name).effect == ExternalEffect::deferrable);
  };
  return is_closed(module, options, catalogue) && none_of(module, needs_transactions);
}

void refuse_optimised(const std::vector<Section> &sections) {
  for (const Section &section : sections)
    if (section.kind != SectionKind::lock_region && section.optimised)
      stop(
          fmt::format("{}: atomic section '{}' was optimised before the link, which may have moved "
                      "its calls; compile this file with the enforcement of the link too",
                      section.line == 0 ? section.function->getParent()->getSourceFileName()
                                        : fmt::format("{}:{}", section.file, section.line),
                      section.name));
}

// Every irrevocable action that a strict section may reach, one line each.
void refuse_irrevocable(const Report &report) {
  const std::vector<std::string> errors = strict_errors(report);
  for (const std::string &error : errors)
    std::fprintf(stderr, "%s\n", printable(error).c_str());
  if (errors.empty())
    return;
  std::fflush(stderr);
  ::_exit(kUsageStatus);
}

// What became of waits and signals that the conversion has taken from the library. A wait belongs
// to the sections that begin where it returns.
void list_conditions(const std::vector<ConditionOperation> &operations, Report &report) {
  for (const ConditionOperation &operation : operations) {
    const bool waits = !operation.lock.empty();
    ReportLockSite site{waits ? "wait" : "signal",
                        waits ? "pthread-mutex" : "pthread-cond",
                        waits ? operation.lock : operation.condition,
                        operation.file,
                        operation.line,
                        operation.function,
                        {},
                        ""};
    if (waits)
      for (const ReportSection &section : report.sections)
        if (section.kind == SectionKind::block && section.line == operation.line &&
            section.file == operation.file)
          site.sections.push_back(section.name);
    if (site.sections.empty())
      site.reason = waits ? "converted: the section ends, and the thread sleeps in none"
                          : "converted: wakes those who wait with converted locks";
    report.lock_sites.push_back(std::move(site));
  }
  if (!operations.empty())
    sort_report(report);
}

// Puts lock wrappers into their callers, but the functions that a conversion file is about.
bool unwrap(Module &module, const PassOptions &options) {
  const Doing unwrapping("looking through lock wrappers");
  std::set<std::string> named;
  if (!options.convert.empty())
    if (const Result<ConversionFile> file = read_conversion(options.convert); file) {
      for (const ConversionFile::Balanced &balanced : file->balanced)
        named.insert(balanced.function);
      for (const ConversionFile::LockRegion &region : file->lock_regions)
        named.insert(region.function);
    }
  return !unwrap_locks(module, [&](const Function &function) {
            return named.contains(function.getName().str());
          }).empty();
}

// In the second run of a command that failed: writes the module as the pass got it, and ends.
void keep_bitcode(const Module &module) {
  const char *path = std::getenv(kEnvKeepBitcode);
  if (path == nullptr || *path == '\0')
    return;
  std::error_code error;
  raw_fd_ostream file(path, error, sys::fs::CD_CreateNew, sys::fs::FA_Write, sys::fs::OF_None);
  if (!error)
    WriteBitcodeToFile(module, file);
  file.close();
  ::_exit(error || file.has_error() ? 1 : 0);
}

// For tests: what the verifier must find.
void break_module(Module &module) {
  for (Function &function : module)
    if (!function.isDeclaration())
      function.getEntryBlock().getTerminator()->clone()->insertBefore(
          function.getEntryBlock().getTerminator());
}

// What became of the sections, for people.
std::string summary(const Report &report, Enforcement mode, const std::string &output) {
  std::size_t transactions = 0;
  std::size_t locked = 0;
  std::size_t regions = 0;
  for (const ReportSection &section : report.sections) {
    const bool is_undone =
        mode == Enforcement::stm || mode == Enforcement::htm ||
        (mode == Enforcement::hybrid && section.klass != SectionClass::non_revocable);
    if (section.kind == SectionKind::lock_region)
      ++regions;
    else
      ++(is_undone ? transactions : locked);
  }
  const auto counted = [](std::size_t number, std::string_view what) {
    return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
  };
  const std::string sections = counted(transactions + locked, "atomic section");
  const std::string unchanged = counted(regions, "lock region") + " unchanged";
  if (mode == Enforcement::none)
    return fmt::format("{}: {}, none enforced; {}", output, sections, unchanged);
  return fmt::format("{}: {} under {}: {}, {} by locks; {}", output, sections, to_string(mode),
                     counted(transactions, "transaction"), locked, unchanged);
}

} // namespace

PreservedAnalyses TandemPass::run(Module &module, ModuleAnalysisManager &) {
  keep_bitcode(module);
  const Doing whole("reading what is linked");
  Result<Catalogue> catalogue = Catalogue::load(options_.catalogue);
  if (!catalogue)
    stop(catalogue.error().message);
  const LinkInputs inputs = inspect_link_inputs(options_.link_inputs);
  const bool prepared = prepare(module, *catalogue, inputs.native_definitions);
  keep_linked_symbols(module, inputs, *catalogue);
  if (!inputs.thin.empty())
    stop(fmt::format(
        "{}: was compiled with -flto=thin, which hides it from the analysis; compile it "
        "with tandem-cc or with -flto=full",
        inputs.thin.front()));
  const bool removed = !calls_cancel(module) && remove_ways_past_blocks(module);
  const bool unwrapped = unwrap(module, options_);
  const Enforcement mode = options_.enforcement;
  bool holds = false;
  std::vector<ConditionOperation> conditions;
  PhaseKind phases = mode == Enforcement::hybrid && options_.convert.empty() &&
                             colours_suffice(module, options_, *catalogue)
                         ? PhaseKind::colours
                         : PhaseKind::none;
  if (!options_.convert.empty() && mode != Enforcement::none) {
    const Doing converting("converting locks");
    const Result<Conversion> converted =
        convert_locks(module, options_, *catalogue,
                      mode == Enforcement::hybrid && all_sections_are_locks(module, options_));
    if (!converted)
      stop(converted.error().message);
    for (const std::string &warning : converted->warnings)
      say("warning: " + warning);
    for (const std::string &kept : converted->kept)
      say("note: stays a lock: " + kept);
    holds = converted->holds;
    conditions = converted->conditions;
    if (converted->keeps_locks)
      phases = PhaseKind::own_locks;
  }
  const Doing analysing("analysing the program");
  provoke("analyse");
  Analysis analysis = analyse_program(module, options_, *catalogue);
  list_conditions(conditions, analysis.report);
  refuse_irrevocable(analysis.report);
  if (mode != Enforcement::none)
    refuse_optimised(analysis.sections);
  if (analysis.observation) {
    if (!*analysis.observation)
      stop(analysis.observation->error().message);
    instrument_observation(module, analysis.sections, std::move(*analysis.observation).value());
  }
  const Doing enforcing(fmt::format("enforcing {}", to_string(mode)));
  if (!analysis.sections.empty()) {
    const Doing first(told("enforcing", analysis.sections.front()));
    provoke("enforce");
  }
  for (const LoadInst *load : analysis.unwritten_reads)
    Barriers::mark_unwritten(const_cast<LoadInst &>(*load));
  for (const Instruction *atomic : analysis.mixed_atomics)
    Actions::mark_mixed(const_cast<Instruction &>(*atomic));
  for (const Function *function : analysis.reached)
    TransactionalClones::mark_reached(const_cast<Function &>(*function));
  const bool closed = is_closed(module, options_, *catalogue);
  const Result<bool> changed = enforce(
      module, analysis.sections, analysis.report, analysis.cancels, mode, *catalogue,
      // Sections of another output may nest in one of this program, and run beside it by
      // themselves: then one phase has to hold for all.
      {phases,
       phases == PhaseKind::own_locks && closed ? analysis.parts : std::vector<std::uint32_t>(),
       options_.inline_barriers, options_.short_sections});
  if (!changed)
    stop(changed.error().message);
  if (mode == Enforcement::global_lock)
    link_runtime(module, bitcode_for(module, runtime_bitcode_, "runtime.bc"));
  if (phases == PhaseKind::own_locks)
    holds = finish_own_locks(module, [](const Function &function) {
      return function.hasFnAttribute(kTransactionalAttribute);
    });
  finish_guarded_by(module);
  if (phases != PhaseKind::none)
    link_runtime(module, bitcode_for(module, runtime_bitcode_, "phases.bc"));
  if (const ReportInstrumentation &made = analysis.report.instrumentation;
      made.barriers + made.deferred_updates + made.short_sections != 0)
    link_runtime(module, bitcode_for(module, runtime_bitcode_, "barriers.bc"));
  if (holds)
    link_runtime(module, bitcode_for(module, runtime_bitcode_, "held.bc"));
  if (is_provoked("enforce", "verifier"))
    break_module(module);
  std::string broken;
  raw_string_ostream stream(broken);
  CHECK(!verifyModule(module, &stream), "enforcement {} built wrong code: {}", to_string(mode),
        broken);
  if (options_.verbose)
    say("note: " + summary(analysis.report, mode, options_.link_output));
  if (!options_.report.empty()) {
    const Result<std::string> path = report_path(options_.report, options_.link_output);
    if (!path)
      stop(path.error().message);
    const auto write = [&](const TakeText &take) { write_json(analysis.report, take); };
    if (const Status written = write_file(*path, write); !written)
      stop(written.error().message);
  }
  return removed || prepared || unwrapped || *changed || analysis.observation
             ? PreservedAnalyses::none()
             : PreservedAnalyses::all();
}

} // namespace tandem
