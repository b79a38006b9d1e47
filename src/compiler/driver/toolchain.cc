// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/toolchain.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace tandem {
namespace {

constexpr const char *kDebianFolder = "/usr/lib/llvm-19/bin";

bool is_bitcode(const std::string &path) {
  constexpr std::array<unsigned char, 4> kRaw = {'B', 'C', 0xC0, 0xDE};
  constexpr std::array<unsigned char, 4> kWrapped = {0xDE, 0xC0, 0x17, 0x0B};
  std::FILE *file = std::fopen(path.c_str(), "rb");
  if (file == nullptr)
    return false;
  std::array<unsigned char, 4> magic{};
  const bool complete = std::fread(magic.data(), 1, magic.size(), file) == magic.size();
  std::fclose(file);
  return complete && (magic == kRaw || magic == kWrapped);
}

std::string package_of(const std::string &name) {
  if (name == "ld.lld")
    return "lld-19";
  return name.starts_with("clang") ? "clang-19" : "llvm-19";
}

} // namespace

FileView real_files() {
  return {[](const std::string &path) { return ::access(path.c_str(), F_OK) == 0; }, is_bitcode};
}

std::string Installation::attribute_plugin() const {
  return libraries + "/tandem/TandemAttributes.so";
}

std::string Installation::pass_plugin() const { return libraries + "/tandem/TandemPass.so"; }

std::string Installation::anchor() const { return libraries + "/tandem/anchor.o"; }

std::string Installation::named() const { return libraries + "/tandem/named"; }

std::string Installation::harts() const { return libraries + "/tandem/riscv64"; }

Installation installation_of(const std::string &executable) {
  const std::filesystem::path prefix =
      std::filesystem::path(executable).parent_path().parent_path();
  return {(prefix / "lib").string(), (prefix / "include").string()};
}

Result<std::string> Toolchain::find(const std::string &name) const {
  const std::string folder = folder_.empty() ? kDebianFolder : folder_;
  std::string candidate = folder + "/" + name;
  if (files_.exists(candidate))
    return candidate;
  if (!folder_.empty())
    return Error{fmt::format("{}: not found; install {}, or let TANDEM_LLVM_BIN name a folder that "
                             "has it",
                             candidate, package_of(name))};
  for (std::size_t begin = 0; begin < path_.size();) {
    const std::size_t end = std::min(path_.find(':', begin), path_.size());
    candidate = path_.substr(begin, end - begin) + "/" + name + "-19";
    if (end > begin && files_.exists(candidate))
      return candidate;
    begin = end + 1;
  }
  return Error{
      fmt::format("{}-19: not found in {} or PATH; install {}, or let TANDEM_LLVM_BIN name "
                  "its folder",
                  name, kDebianFolder, package_of(name))};
}

} // namespace tandem
