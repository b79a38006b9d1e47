// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A profile for people: as text, and as an HTML page.
#pragma once

#include "cli/common/terminal.h"
#include "cli/report/profile.h"

#include <string>

namespace tandem {

// Tables of sections, of aborts by cause, place and opponent, of serialisations with the calls that
// asked for them, and of locks. `all`: no list is cut.
std::string profile_text(const Profile &profile, const Terminal &terminal, bool all);

// One page that needs nothing else, with a script of its own that filters its tables: the same
// tables, who aborts whom as a matrix, and histograms of set sizes and retries.
std::string profile_html(const Profile &profile);

// How both show things.
std::string demangled(const std::string &name);
std::string place_text(const std::string &file, std::uint64_t line); // "file:line", or ""
std::string location_text(const ProfileAbort &abort);                // the memory, or ""
std::string access_text(const ProfileAbort &abort);
std::string lock_text(const ProfileLock &lock); // "items_lock", "init (a.c:3), 8 of them"
std::string time_text(std::uint64_t ns);        // "1.25 ms"
// "; estimates: 640 of 20,000 executions were measured"; empty where all were, or it is not known.
std::string sampling_of(const Profile &profile);

} // namespace tandem
