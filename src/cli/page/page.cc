// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/page/page.h"

#include "base/printable.h"
#include "cli/page/builtin.h"

#include <map>

namespace tandem {
namespace {

// `text` with each {{name}} replaced; what is filled in is not looked at again.
std::string filled(std::string_view text, const std::map<std::string_view, std::string> &values) {
  std::string result;
  while (true) {
    const std::size_t begin = text.find("{{");
    result += text.substr(0, begin);
    if (begin == std::string_view::npos)
      return result;
    const std::size_t end = text.find("}}", begin);
    CHECK(end != std::string_view::npos, "page.html: a name without an end");
    const auto value = values.find(text.substr(begin + 2, end - begin - 2));
    CHECK(value != values.end(), "page.html: nothing for {}", text.substr(begin, end - begin));
    result += value->second;
    text.remove_prefix(end + 2);
  }
}

} // namespace

std::string to_html(const Report &report, const std::vector<JudgedFinding> &findings,
                    SourceFiles &sources, const std::string &name) {
  return filled(kPageTemplate,
                {{"title", markup(name)},
                 {"policy", fmt::format("default-src 'none'; script-src '{}'; style-src '{}'; "
                                        "base-uri 'none'; form-action 'none'",
                                        kPageScriptHash, kPageStyleHash)},
                 {"style", kPageStyle},
                 {"script", kPageScript},
                 {"data", page_data(report, findings, sources, name)}});
}

} // namespace tandem
