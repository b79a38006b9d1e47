// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/analyze/accepted.h"

#include "base/file.h"
#include "cli/common/process.h"
#include "compiler/convert/convert.h"

#include "llvm/Transforms/Utils/Cloning.h"

#include <map>

namespace tandem {
namespace {

// What the compiler keeps of a file, or why it refuses all of it.
struct Verdict {
  bool accepted = false;
  std::vector<std::string> kept;
};

// Without the names of the temporary file.
std::string in_words(std::string message, const std::string &path) {
  for (std::size_t at = message.find(path); at != std::string::npos; at = message.find(path)) {
    // A place at the begin says nothing; elsewhere it is the file that is meant.
    const std::size_t end =
        message.find_first_not_of(at == 0 ? "0123456789: " : "0123456789:", at + path.size());
    message.replace(at, (end == std::string::npos ? message.size() : end) - at,
                    at == 0 ? "" : "this file");
  }
  return message;
}

Verdict verdict(const llvm::Module &module, const std::string &text, const PassOptions &options,
                const Catalogue &catalogue, const std::string &path) {
  if (Status written = write_file(path, text); !written)
    return {false, {written.error().message}};
  const std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
  PassOptions asked = options;
  asked.convert = path;
  asked.enforcement = Enforcement::hybrid;
  const Result<Conversion> converted = convert_locks(*copy, asked, catalogue, false);
  Verdict result{converted ? true : false,
                 converted ? converted->kept : std::vector{converted.error().message}};
  for (std::string &message : result.kept)
    message = in_words(message, path);
  return result;
}

} // namespace

Result<std::string> accepted_suggestion(const llvm::Module &module, const Report &report,
                                        const std::string &program,
                                        const std::vector<Profile> &profiles,
                                        const PassOptions &options, const Catalogue &catalogue) {
  const EndSignals signals; // takes effect after the folder is gone
  const Result<PrivateFolder> folder = PrivateFolder::make();
  if (!folder)
    return folder.error();
  const std::string path = folder->path() + "/suggested.toml";
  Refusals refused;
  while (true) {
    Result<std::string> text = suggest_conversion(report, program, profiles, refused);
    if (!text)
      return text;
    const Verdict told = verdict(module, *text, options, catalogue, path);
    bool news = false;
    for (const std::string &why : told.kept)
      news = refuse(report, why, refused) || news;
    if (!news && !told.accepted)
      return Error{"no lock can become a section: " + told.kept.front()};
    if (!news) // what is kept of it the compiler says by itself
      return text;
  }
}

} // namespace tandem
