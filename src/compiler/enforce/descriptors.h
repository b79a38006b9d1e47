// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Section descriptors and the colour table as constants of the program (include/tandem/abi.h).
#pragma once

#include "compiler/enforce/cancels.h"
#include "compiler/options/options.h"
#include "compiler/report/report.h"

#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Module.h"

#include <map>
#include <string>
#include <vector>

namespace tandem {

class Descriptors {
public:
  // `report` describes the module and outlives this object. Under stm and htm the output has no
  // colours, and its sections are pure: whatever is irrevocable runs serially in the process. So do
  // those that may be cancelled, of class non-revocable: they can be undone up to there.
  Descriptors(llvm::Module &module, const Report &report, const Cancels &cancels, Enforcement mode);

  // The descriptor of report.sections[index]: a constant struct tandem_section.
  llvm::Constant *of(std::size_t index);

  [[nodiscard]] Enforcement mode() const { return mode_; }

private:
  [[nodiscard]] bool has_colours() const;
  [[nodiscard]] std::uint32_t flags_of(const ReportColour &colour) const;
  [[nodiscard]] std::vector<std::string> guard_of(const ReportSection &section) const;
  llvm::Constant *string(const std::string &text);
  llvm::Constant *colour_set(const std::vector<std::string> &colours);
  llvm::Constant *table();

  llvm::Module &module_;
  const Report &report_;
  const Cancels &cancels_;
  const Enforcement mode_;
  std::map<std::string, std::size_t> colour_numbers_;
  std::map<std::string, llvm::Constant *> strings_;
  std::map<std::size_t, llvm::Constant *> made_;
  llvm::GlobalVariable *table_ = nullptr;
};

} // namespace tandem
