// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A report as one HTML page that needs nothing else: no network, no other file. What it looks like
// and does is in page.html, page.css and the scripts beside this file; what it shows is a block of
// JSON inside it.
#pragma once

#include "cli/findings/sources.h"
#include "cli/findings/suppress.h"
#include "compiler/report/report.h"

#include <string>
#include <vector>

namespace tandem {

// The page of `report`, titled `name`. `findings` are those of the report, judged. Lines of the
// sources around sections and the places that they touch are part of the page where `sources` has
// them. The page's policy (CSP) lets nothing be loaded and no script run but its own.
std::string to_html(const Report &report, const std::vector<JudgedFinding> &findings,
                    SourceFiles &sources, const std::string &name);

// The block of JSON: the report with names and lists of locations stored once and numbers in their
// place, positions of sections for every grouping, and source lines. Private to the page, and as
// such without a version.
std::string page_data(const Report &report, const std::vector<JudgedFinding> &findings,
                      SourceFiles &sources, const std::string &name);

} // namespace tandem
