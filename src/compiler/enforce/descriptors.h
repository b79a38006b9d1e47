// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Section descriptors and the colour table as constants of the program (include/tandem/abi.h).
#pragma once

#include "compiler/report/report.h"

#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Module.h"

#include <map>
#include <string>

namespace tandem {

class Descriptors {
public:
  // `report` describes the module and outlives this object.
  Descriptors(llvm::Module &module, const Report &report);

  // The descriptor of report.sections[index]: a constant struct tandem_section.
  llvm::Constant *of(std::size_t index);

private:
  llvm::Constant *string(const std::string &text);
  llvm::Constant *colour_set(const std::vector<std::string> &colours);
  llvm::Constant *table();

  llvm::Module &module_;
  const Report &report_;
  std::map<std::string, std::size_t> colour_numbers_;
  std::map<std::string, llvm::Constant *> strings_;
  std::map<std::size_t, llvm::Constant *> made_;
  llvm::GlobalVariable *table_ = nullptr;
};

} // namespace tandem
