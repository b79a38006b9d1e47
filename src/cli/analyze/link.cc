// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/analyze/link.h"

#include "base/file.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/IPO/Internalize.h"

#include <algorithm>
#include <set>

namespace tandem {
namespace {

// Keeps the first error that LLVM reports, on one line.
class FirstError final : public llvm::DiagnosticHandler {
public:
  explicit FirstError(std::string &message) : message_(message) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo &diagnostic) override {
    if (diagnostic.getSeverity() == llvm::DS_Error && message_.empty()) {
      llvm::raw_string_ostream stream(message_);
      llvm::DiagnosticPrinterRawOStream printer(stream);
      diagnostic.print(printer);
    }
    return true;
  }

private:
  std::string &message_;
};

// `lazy`: without what is in functions.
Result<std::unique_ptr<llvm::Module>> read_bitcode(llvm::LLVMContext &context,
                                                   const BitcodeFile &file, bool lazy = false) {
  const llvm::MemoryBufferRef bytes(file.bytes, file.source);
  auto module =
      lazy ? llvm::getLazyBitcodeModule(bytes, context) : llvm::parseBitcodeFile(bytes, context);
  if (module)
    return std::move(*module);
  llvm::consumeError(module.takeError());
  return Error{fmt::format("{}: the compiler wrote no bitcode for it: leave options that choose "
                           "another output (-E, -S, -fno-lto) away",
                           file.source)};
}

// The names that a file has for others, and those that it needs of them.
struct Symbols {
  std::set<std::string> defined;
  std::set<std::string> needed;
};

Result<Symbols> symbols_of(const BitcodeFile &file) {
  llvm::LLVMContext context;
  const Result<std::unique_ptr<llvm::Module>> module = read_bitcode(context, file, /*lazy=*/true);
  if (!module)
    return module.error();
  Symbols symbols;
  for (const llvm::GlobalValue &value : (*module)->global_values())
    if (!value.hasLocalLinkage() && !value.getName().starts_with("llvm."))
      (value.isDeclarationForLinker() ? symbols.needed : symbols.defined)
          .insert(value.getName().str());
  return symbols;
}

// Those of `archived` that `files` need, and that these need in turn; the first that defines a name
// is taken.
Result<BitcodeList> needed_of(const BitcodeList &archived, const BitcodeList &files) {
  std::set<std::string> defined;
  std::set<std::string> needed;
  const auto take = [&](const Symbols &symbols) {
    defined.insert(symbols.defined.begin(), symbols.defined.end());
    needed.insert(symbols.needed.begin(), symbols.needed.end());
  };
  for (const BitcodeFile *file : files) {
    const Result<Symbols> symbols = symbols_of(*file);
    if (!symbols)
      return symbols.error();
    take(*symbols);
  }
  std::vector<Symbols> members;
  for (const BitcodeFile *file : archived) {
    Result<Symbols> symbols = symbols_of(*file);
    if (!symbols)
      return symbols.error();
    members.push_back(std::move(*symbols));
  }
  std::vector<bool> taken(archived.size());
  BitcodeList found;
  const auto is_missing = [&](const std::string &name) {
    return needed.contains(name) && !defined.contains(name);
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t index = 0; index < members.size(); ++index)
      if (!taken[index] && std::ranges::any_of(members[index].defined, is_missing)) {
        taken[index] = changed = true;
        take(members[index]);
        found.push_back(archived[index]);
      }
  }
  return found;
}

} // namespace

Result<std::vector<BitcodeFile>> read_bitcode_files(const std::vector<std::string> &paths,
                                                    const std::vector<std::string> &sources) {
  CHECK(paths.size() == sources.size());
  std::vector<BitcodeFile> files;
  for (std::size_t index = 0; index < paths.size(); ++index) {
    Result<std::string> bytes = read_file(paths[index]);
    if (!bytes)
      return Error{fmt::format("{}: the compiler wrote no object for it: leave options that choose "
                               "another output (-E, -S, -fsyntax-only) away",
                               sources[index])};
    files.push_back({std::move(*bytes), sources[index]});
  }
  return files;
}

Result<std::vector<std::size_t>> with_main(const std::vector<BitcodeFile> &files) {
  std::vector<std::size_t> found;
  for (std::size_t index = 0; index < files.size(); ++index) {
    const Result<Symbols> symbols = symbols_of(files[index]);
    if (!symbols)
      return symbols.error();
    if (symbols->defined.contains("main"))
      found.push_back(index);
  }
  return found;
}

Result<std::unique_ptr<llvm::Module>>
link_bitcode(llvm::LLVMContext &context, const BitcodeList &files, const BitcodeList &archived) {
  CHECK(!files.empty());
  std::string message;
  context.setDiagnosticHandler(std::make_unique<FirstError>(message));
  BitcodeList all = files;
  if (!archived.empty()) {
    const Result<BitcodeList> more = needed_of(archived, files);
    if (!more)
      return more.error();
    all.insert(all.end(), more->begin(), more->end());
  }
  Result<std::unique_ptr<llvm::Module>> whole = read_bitcode(context, *all[0]);
  if (!whole)
    return whole;
  llvm::Linker linker(**whole);
  for (std::size_t index = 1; index < all.size(); ++index) {
    Result<std::unique_ptr<llvm::Module>> part = read_bitcode(context, *all[index]);
    if (!part)
      return part;
    if (linker.linkInModule(std::move(*part)))
      return Error{fmt::format("{}: does not link with the files before it: {}", all[index]->source,
                               message.empty() ? "unknown reason" : message)};
  }
  // Sources with a `main` are a whole program, as for a linker: nothing else is visible from
  // outside.
  if (const llvm::Function *main = (*whole)->getFunction("main"); main && !main->isDeclaration())
    llvm::internalizeModule(
        **whole, [](const llvm::GlobalValue &value) { return value.getName() == "main"; });
  return whole;
}

} // namespace tandem
