// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a clang command line asks for, as far as the driver must know. Knows nothing of files: two
// equal command lines have equal meanings.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tandem {

// Where clang stops, in the order of its phases.
enum class Stop { preprocess, syntax, assembly, object, link };

// What an input file holds, by its name or by -x.
enum class InputKind { c_family, header, assembler, ir, other_source, object };

struct Input {
  std::string path; // "-": standard input
  InputKind kind = InputKind::object;
};

// The value of the last option that chooses a mode of link-time optimisation.
enum class Lto { unsaid, off, full, thin };

// What a link searches: a library by name, or a folder for those that follow or precede.
struct LinkSearch {
  std::vector<std::string> folders; // -L, in order
  std::vector<std::string> names;   // -l, in order, without the -l
};

struct CommandLine {
  std::vector<std::string> words;       // for clang: all but our own options
  std::vector<std::string> own_options; // the words that begin with -ftandem
  std::size_t options_end = 0;          // index in `words` of "--", or words.size()

  Stop stop = Stop::link;
  std::vector<Input> inputs;
  LinkSearch search;
  std::vector<std::string> linker_words; // from -Wl, and -Xlinker, in order
  bool cc1 = false;                      // clang's inner command line: not for us
  bool help = false;
  bool version = false;
  bool dry_run = false;  // -###
  bool emits_ir = false; // -emit-llvm
  Lto lto = Lto::unsaid;
  bool fat_objects = false;     // -ffat-lto-objects
  bool optimises = false;       // the last -O is not -O0
  bool chooses_debug = false;   // some -g that says how much
  bool looks_for_races = false; // by ThreadSanitizer
  bool instruments = false;     // asks for passes that run at compile time
  bool gnu_tm = false;          // -fgnu-tm: gcc's syntax of transactions
  bool no_standard_includes = false;
  bool shared = false;
  bool is_static = false;
  bool relocatable = false;
  bool other_width = false; // -m32, -mx32, -m16
  bool for_harts = false;   // --target=riscv64-...: of the simulated machine
  std::string output;       // -o; empty: clang's default
  std::string linker;       // -fuse-ld=; empty: unsaid
  std::string linker_path;  // --ld-path=; empty: unsaid

  // Whether clang starts a linker: an input of any kind but a header, a library counts.
  [[nodiscard]] bool links() const;
  [[nodiscard]] bool has(InputKind kind) const;
  // C, C++ and their like, headers that are precompiled included.
  [[nodiscard]] bool has_c_family() const {
    return has(InputKind::c_family) || has(InputKind::header);
  }
};

CommandLine parse_command_line(const std::vector<std::string> &words);

} // namespace tandem
