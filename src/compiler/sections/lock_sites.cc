// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/check.h"
#include "compiler/report/coverage.h"
#include "compiler/sections/access_path.h"
#include "compiler/sections/regions.h"
#include "compiler/sections/section.h"
#include "compiler/sections/unwrap.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/DebugInfoMetadata.h"

#include <fmt/format.h>

namespace tandem {
namespace {

using namespace llvm;

std::string operation_name(LockOperation operation) {
  switch (operation) {
  case LockOperation::lock:
    return "lock";
  case LockOperation::trylock:
    return "trylock";
  case LockOperation::wait:
    return "wait";
  case LockOperation::unlock:
    return "unlock";
  }
  CHECK(false, "lock operation {}", static_cast<int>(operation));
}

ReportLockSite site_at(const CallBase &call) {
  ReportLockSite site;
  site.function = source_name(*call.getFunction());
  if (const DILocation *location = operation_place(call)) {
    site.file = location->getFilename().str();
    site.line = location->getLine();
  } else if (const DISubprogram *program = call.getFunction()->getSubprogram()) {
    site.file = program->getFilename().str();
  }
  return site;
}

// Why no section begins or ends at `site`.
std::string reason_of(const LockSite &site, const LockCalls &calls,
                      const ForeignReleases &foreign) {
  const Function &function = *site.call->getFunction();
  if (calls.is_wrapper(function))
    return function.use_empty() ? "inside a wrapper of the operation that nothing calls"
                                : kInWrapper;
  if (site.empty)
    return "the guard has given its lock away";
  if (site.guard)
    return "the guard does not hold its lock here, unless it was acquired elsewhere";
  const auto found = foreign.find(&function);
  if (found != foreign.end() &&
      any_of(site.locks, [&](const std::string &lock) { return found->second.contains(lock); }))
    return "releases a lock that the function's caller holds";
  return "no acquisition in the function reaches it: the lock was acquired elsewhere, or under "
         "another name";
}

// Why the region that begins at `site` is not all that runs with its lock held.
std::string reason_of(const Section &section) {
  if (!section.doubt.empty())
    return section.doubt;
  const Function &function = *section.function;
  const std::string name = source_name(function);
  const std::string why = why_not_unwrapped(function);
  const std::string more = why.empty() ? "" : ", and " + why;
  return section.exits.empty()
             ? fmt::format("{} does not release it{}", name, more)
             : fmt::format("some path of {} returns without releasing it{}", name, more);
}

} // namespace

std::vector<ReportLockSite> lock_sites(const Module &module, const std::vector<Section> &sections) {
  const LockCalls calls(module);
  const ForeignReleases foreign = find_foreign_releases(module, calls);
  DenseMap<const CallBase *, std::vector<std::string>> at;
  DenseMap<const CallBase *, const Section *> begun;
  for (const Section &section : sections) {
    if (section.kind != SectionKind::lock_region)
      continue;
    at[section.entry.call].push_back(section.name);
    begun[section.entry.call] = &section;
    for (const auto *ends : {&section.exits, &section.partial})
      for (const CallBase *end : *ends)
        if (std::vector<std::string> &names = at[end]; !is_contained(names, section.name))
          names.push_back(section.name);
  }
  std::vector<ReportLockSite> found;
  for (const Function &function : module)
    for (const LockSite *site : calls.sites(function)) {
      ReportLockSite described = site_at(*site->call);
      described.operation = operation_name(site->operation);
      described.primitive = site->primitive;
      described.lock = join(site->locks, ", ");
      described.sections = at.lookup(site->call);
      if (described.sections.empty())
        described.reason = reason_of(*site, calls, foreign);
      else if (const Section *section = begun.lookup(site->call);
               section != nullptr && section->shape == RegionShape::escapes)
        described.reason = reason_of(*section);
      found.push_back(std::move(described));
    }
  for (const SignalSite &signal : calls.signals()) {
    ReportLockSite described = site_at(*signal.call);
    described.operation = "signal";
    described.primitive = signal.primitive;
    described.lock = signal.condition;
    described.reason = "wakes waiters and holds no lock itself";
    found.push_back(std::move(described));
  }
  return found;
}

} // namespace tandem
