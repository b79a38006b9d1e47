// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program and the libraries that it has loaded, as the dynamic linker sees them: what they
// call, what they define, and in what order it looks for that. Read from their dynamic sections.
// Source: System V ABI, chapter 5, and its supplement for x86-64; for versions and hash tables, the
// LSB and what GNU ld writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <link.h>
#include <span>

namespace tandem::linkage {

// Tables are null, and their counts 0, where the object has none.
struct Object {
  std::uintptr_t base = 0;           // added to the addresses in it
  const char *path = "";             // of the program: empty
  const char *file = "";             // its last part
  const ElfW(Phdr) *parts = nullptr; // where it is in memory, among others; there may be holes
  std::size_t part_count = 0;
  const ElfW(Dyn) *dynamic = nullptr;
  const ElfW(Rela) *calls = nullptr; // of functions, by slots
  std::size_t call_count = 0;
  const ElfW(Rela) *addresses = nullptr; // of functions and data
  std::size_t address_count = 0;
  std::size_t relative_count = 0; // the first of them, which have no symbols
  const ElfW(Sym) *symbols = nullptr;
  const char *names = nullptr;          // of symbols, versions and libraries
  const ElfW(Half) *versions = nullptr; // of each symbol
  const ElfW(Verneed) *needed = nullptr;
  std::size_t needed_count = 0;
  const ElfW(Verdef) *defined = nullptr;
  std::size_t defined_count = 0;
  const std::uint32_t *gnu_hash = nullptr;
  const std::uint32_t *hash = nullptr;
  const char *soname = nullptr;
  bool eager = false;     // all its calls were looked up when it was loaded
  bool own_first = false; // it finds its own functions before others'
};

// What the process has loaded just now, in the order of the dynamic linker's list. To be made where
// no other thread holds that one's locks for ever: before main, or while this thread loads a
// library. Not copied; gives its memory back, if it does not keep it.
class Objects {
public:
  Objects() noexcept;
  Objects(const Objects &) = delete;
  Objects &operator=(const Objects &) = delete;
  ~Objects();

  std::span<const Object> all() const noexcept { return {objects_, count_}; }

  // What the program was started with: itself, what was preloaded, and the libraries that these
  // need, in the order in which a function is looked for. None where that cannot be told.
  std::span<const Object> program() const noexcept;

  // Keeps program() for good, as what is in it is never unloaded. Once in a process, when the
  // runtime is loaded.
  void keep_started() noexcept;

  // Whether somebody may watch the calls, in a name space of the dynamic linker's that is not the
  // program's: auditors (LD_AUDIT, DT_AUDIT, --audit). glibc 2.35 and later.
  static bool are_watched() noexcept;

private:
  Object *find(const char *name) const noexcept;

  Object *objects_ = nullptr;
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
  bool is_kept_ = false;
};

// What Objects::keep_started has kept; nothing before. Any time.
std::span<const Object> started() noexcept;

// Fills in what the program or library is that has the address. False: there is none, or it cannot
// be read. Any time, any thread, while it stays loaded: takes no locks.
bool read_at(std::uintptr_t address, Object &object) noexcept;

// Whether the address is in one of the object's parts that have the flags, PF_X say.
bool has(const Object &object, std::uintptr_t address, unsigned flags = 0) noexcept;

// The version that a symbol of the object, by its index, has or wants; null: none.
const char *version_of(const Object &object, std::size_t symbol) noexcept;

} // namespace tandem::linkage
