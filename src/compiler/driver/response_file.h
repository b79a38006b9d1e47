// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Response files: `@file` on a command line stands for the words in the file, in the quoting of the
// GNU tools, as clang reads them.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace tandem {

// The words of a response file: separated by white space; a backslash takes the next character as
// it is, quotes keep white space together.
std::vector<std::string> split_words(std::string_view text);

// `words` as the text of a response file that split_words reads back.
std::string join_words(const std::vector<std::string> &words);

// `words` with each `@file` replaced by the words of the file, files named in files included. An
// `@file` that cannot be read stays as it is, and clang says what is wrong. Error: files that name
// each other without end.
Result<std::vector<std::string>> expand_response_files(const std::vector<std::string> &words);

} // namespace tandem
