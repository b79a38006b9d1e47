// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the tools of LLVM 19 and our own files are.
#pragma once

#include "base/result.h"

#include <functional>
#include <string>
#include <string_view>

namespace tandem {

// What the driver asks the file system while it plans; tests answer from a table.
struct FileView {
  std::function<bool(const std::string &)> exists;
  std::function<bool(const std::string &)>
      is_bitcode; // a file of LLVM bitcode; not an archive of it
};

FileView real_files();

// Our own files, found from the program's place: PREFIX/bin/tandem-cc, PREFIX/lib, PREFIX/include.
struct Installation {
  std::string libraries; // PREFIX/lib
  std::string headers;   // PREFIX/include
  [[nodiscard]] std::string attribute_plugin() const;
  [[nodiscard]] std::string pass_plugin() const;
  [[nodiscard]] std::string anchor() const; // an object of empty bitcode
  [[nodiscard]] std::string named() const;  // a folder of links to the libraries, and nothing else
  // The same files, and libtandem.a, of programs for the harts of the simulated machine.
  [[nodiscard]] std::string harts() const;
};

// `executable` is the absolute path of the running program, without links.
Installation installation_of(const std::string &executable);

// Finds LLVM's programs: in `folder` (TANDEM_LLVM_BIN) alone where it is not empty, else in
// /usr/lib/llvm-19/bin, else in `path` (PATH) under Debian's names.
class Toolchain {
public:
  Toolchain(std::string folder, std::string path, FileView files)
      : folder_(std::move(folder)), path_(std::move(path)), files_(std::move(files)) {}

  // The program `name` ("clang", "clang++", "ld.lld", "llvm-ar"). Error: it is missing, and the
  // remedy.
  [[nodiscard]] Result<std::string> find(const std::string &name) const;

private:
  std::string folder_;
  std::string path_;
  FileView files_;
};

} // namespace tandem
