// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/common/installation.h"

#include "base/check.h"

#include <filesystem>

namespace tandem {

std::string installation_prefix() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  CHECK(!error, "/proc/self/exe: {}", error.message());
  return self.parent_path().parent_path().string();
}

std::string programs_folder() { return installation_prefix() + "/bin"; }
std::string subcommands_folder() { return installation_prefix() + "/libexec"; }

} // namespace tandem
