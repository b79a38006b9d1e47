// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole files, read and written so that nothing is ever left half-written.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tandem {

// More is no input of ours, nor is what never ends (/dev/zero).
inline constexpr std::size_t kMostFileBytes = std::size_t{1} << 30;

// The bytes of `path`. Error: `path: cannot be read: reason`, or that it has more than `most`
// bytes.
Result<std::string> read_file(const std::string &path, std::size_t most = kMostFileBytes);

// Replaces `path` by `content`, as base/output_file.h says: a reader sees the old file or the new
// one, and a signal that ends the process waits until one of them is there. `-` writes to standard
// output. Error: `path: cannot be written: reason`.
Status write_file(const std::string &path, std::string_view content);

// Takes a text piece by piece.
using TakeText = std::function<void(std::string_view)>;
// The same for what `make` hands to its argument, so that no more than a piece need be in memory.
Status write_file(const std::string &path, const std::function<void(const TakeText &)> &make);

// Whether write_file(path, ...) would succeed, found out without changing anything (its folder
// exists and can be written). The same error as write_file.
Status check_writable(const std::string &path);

// check_writable() for each of `outputs`, and that none of them is one of `inputs`, which it would
// replace, or another output; whatever names lead there. `-` and empty names are none; devices and
// pipes may be named again. Inputs that cannot be looked at are none either.
Status check_outputs(const std::vector<std::string> &outputs,
                     const std::vector<std::string> &inputs);

} // namespace tandem
