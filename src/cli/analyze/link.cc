// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/analyze/link.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/IPO/Internalize.h"

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

Result<std::unique_ptr<llvm::Module>>
read_bitcode(llvm::LLVMContext &context, const std::string &path, const std::string &source) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return Error{fmt::format("{}: the compiler wrote no object for it: leave options that choose "
                             "another output (-E, -S, -fsyntax-only) away",
                             source)};
  auto module = llvm::parseBitcodeFile(**buffer, context);
  if (module)
    return std::move(*module);
  llvm::consumeError(module.takeError());
  return Error{fmt::format("{}: the compiler wrote no bitcode for it: leave options that choose "
                           "another output (-E, -S, -fno-lto) away",
                           source)};
}

} // namespace

Result<std::unique_ptr<llvm::Module>> link_bitcode(llvm::LLVMContext &context,
                                                   const std::vector<std::string> &bitcode,
                                                   const std::vector<std::string> &sources) {
  CHECK(!bitcode.empty() && bitcode.size() == sources.size());
  std::string message;
  context.setDiagnosticHandler(std::make_unique<FirstError>(message));
  Result<std::unique_ptr<llvm::Module>> whole = read_bitcode(context, bitcode[0], sources[0]);
  if (!whole)
    return whole;
  llvm::Linker linker(**whole);
  for (std::size_t index = 1; index < bitcode.size(); ++index) {
    Result<std::unique_ptr<llvm::Module>> part =
        read_bitcode(context, bitcode[index], sources[index]);
    if (!part)
      return part;
    if (linker.linkInModule(std::move(*part)))
      return Error{fmt::format("{}: does not link with the files before it: {}", sources[index],
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
