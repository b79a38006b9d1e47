// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/report/report.h"

#include <algorithm>

namespace tandem {

Result<std::string> report_path(std::string_view pattern, const std::string &output) {
  const std::size_t slash = output.rfind('/');
  const std::string file = slash == std::string::npos ? output : output.substr(slash + 1);
  std::string whole = output;
  std::replace(whole.begin(), whole.end(), '/', '-');
  std::string path;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] != '%') {
      path += pattern[at];
      continue;
    }
    const char code = at + 1 < pattern.size() ? pattern[++at] : '\0';
    if (code == 'o')
      path += file;
    else if (code == 'p')
      path += whole;
    else if (code == '%')
      path += '%';
    else
      return Error{
          fmt::format("'{}' in the report's name '{}' stands for nothing: use %o for the output's "
                      "name, %p for its path, %% for a percent sign",
                      code == '\0' ? "%" : fmt::format("%{}", code), pattern)};
  }
  return path;
}

} // namespace tandem
