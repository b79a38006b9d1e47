// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Links bitcode files into one module in memory.
#pragma once

#include "base/result.h"

#include "llvm/IR/Module.h"

#include <memory>
#include <string>
#include <vector>

namespace tandem {

struct BitcodeFile {
  std::string bytes;
  std::string source; // its name in messages
};

// The files that the compilers wrote for `sources`, in that order. Error: one that is not there.
Result<std::vector<BitcodeFile>> read_bitcode_files(const std::vector<std::string> &paths,
                                                    const std::vector<std::string> &sources);

// Which of `files` define `main`, by index. Error: one that is no bitcode.
Result<std::vector<std::size_t>> with_main(const std::vector<BitcodeFile> &files);

using BitcodeList = std::vector<const BitcodeFile *>;

// The module of `files`, one or more, and of those of `archived` that define what is needed, as a
// linker takes objects from static libraries. Where one defines `main` they are taken for the whole
// program, and nothing else is visible from outside. Error: a file that is no bitcode, or two that
// do not fit together.
Result<std::unique_ptr<llvm::Module>> link_bitcode(llvm::LLVMContext &context,
                                                   const BitcodeList &files,
                                                   const BitcodeList &archived = {});

} // namespace tandem
