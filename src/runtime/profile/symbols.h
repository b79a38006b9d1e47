// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From addresses of the process to names: the module, the symbol (.symtab, else .dynsym) and, where
// the module has debug information, file and line (.debug_line, DWARF 2 to 5). What a stripped
// module lacks is looked for in its separate debug file, which is found by its build-id: in
// /usr/lib/debug/.build-id, and where debuginfod's client keeps what it has fetched
// ($DEBUGINFOD_CACHE_PATH, $XDG_CACHE_HOME/debuginfod_client, ~/.cache/debuginfod_client). Nothing
// is fetched. Compressed debug sections are not read. For the end of a process: slow, and calls
// malloc.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tandem::profile {

// What an address is asked for, and what was found. Strings live as long as the process; they are
// never null.
struct Place {
  std::uint64_t address = 0;
  bool data = false;         // else code
  const char *output = "";   // file name of the module, without its folder
  const char *build_id = ""; // of the module, in hexadecimal digits; empty: it has none
  const char *symbol = "";   // as the linker knows it
  std::uint64_t offset = 0;  // from the symbol's start; from the module's, where there is no symbol
  const char *folder = "";   // of `file`; empty where `file` says it or the compiler's own counts
  const char *file = "";
  std::uint32_t line = 0;
};

// Fills in all places; sorts them by address.
void find_places(Place *places, std::size_t count) noexcept;

// The same for places in one program or library, which need not be loaded any more: that of `path`
// (empty: the program), at `base`.
void find_places_in(const char *path, std::uint64_t base, Place *places,
                    std::size_t count) noexcept;

// The place of `address`, in places that find_places has sorted; null if it is not there.
const Place *place_of(const Place *places, std::size_t count, std::uint64_t address) noexcept;

} // namespace tandem::profile
