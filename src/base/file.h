// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole files, read and written so that nothing is ever left half-written.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace tandem {

// The bytes of `path`. Error: `path: cannot be read: reason`.
Result<std::string> read_file(const std::string &path);

// Replaces `path` by `content`: writes a temporary file beside it and renames it, so a reader sees
// the old file or the new one. `-` writes to standard output. Error: `path: cannot be written:
// reason`.
Status write_file(const std::string &path, std::string_view content);

// Whether write_file(path, ...) would succeed, found out without changing anything (its folder
// exists and can be written). The same error as write_file.
Status check_writable(const std::string &path);

} // namespace tandem
