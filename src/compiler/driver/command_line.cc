// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/command_line.h"

#include "compiler/driver/clang_options.h"

#include <algorithm>
#include <array>
#include <optional>

namespace tandem {
namespace {

using Words = std::vector<std::string>;

template <std::size_t count>
bool begins_with_any(std::string_view word, const std::array<std::string_view, count> &prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return word.starts_with(prefix); });
}

template <std::size_t count>
bool is_any(std::string_view word, const std::array<std::string_view, count> &names) {
  return std::find(names.begin(), names.end(), word) != names.end();
}

// The name's ending, as clang's types::lookupTypeForExtension.
InputKind kind_by_name(std::string_view path) {
  static constexpr auto kCFamily = std::to_array<std::string_view>(
      {"c", "i",  "C", "cc", "cp",  "cpp",  "CPP", "c++",  "C++",  "cxx", "CXX", "ii",
       "m", "mi", "M", "mm", "mii", "cppm", "ccm", "cxxm", "c++m", "ixx", "iim"});
  static constexpr auto kHeader =
      std::to_array<std::string_view>({"h", "hh", "H", "hp", "hpp", "hxx", "h++", "tcc"});
  static constexpr auto kAssembler = std::to_array<std::string_view>({"s", "S", "sx", "asm"});
  static constexpr auto kIr = std::to_array<std::string_view>({"ll", "bc"});
  static constexpr auto kOther = std::to_array<std::string_view>(
      {"cu", "cui", "hip", "hipi", "cl", "clcpp", "f", "F", "f90", "F90", "for", "pcm", "ast",
       "hlsl", "rs", "d", "ads", "adb"});
  const std::size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  const std::size_t dot = name.rfind('.');
  const std::string_view ending = dot == std::string_view::npos ? "" : name.substr(dot + 1);
  if (is_any(ending, kCFamily))
    return InputKind::c_family;
  if (is_any(ending, kHeader))
    return InputKind::header;
  if (is_any(ending, kAssembler))
    return InputKind::assembler;
  if (is_any(ending, kIr))
    return InputKind::ir;
  return is_any(ending, kOther) ? InputKind::other_source : InputKind::object;
}

// The language of -x; none: by the name again.
std::optional<InputKind> kind_by_language(std::string_view language) {
  if (language == "none")
    return std::nullopt;
  if (language.starts_with("assembler"))
    return InputKind::assembler;
  if (language == "ir")
    return InputKind::ir;
  if (language.find("-header") != std::string_view::npos) // also c-header-cpp-output
    return InputKind::header;
  if (language == "c" || language.starts_with("c-") || language.starts_with("c++") ||
      language.starts_with("cpp-") || language.starts_with("objective-c") ||
      language.starts_with("objc"))
    return InputKind::c_family;
  return InputKind::other_source;
}

class Parser {
public:
  explicit Parser(const Words &words) : words_(words) {}
  CommandLine parse();

private:
  void add_input(const std::string &path);
  void option(std::string_view word);
  bool stop_option(std::string_view word);
  bool value_option(std::string_view word);
  bool joined_option(std::string_view word);
  bool code_option(std::string_view word);
  bool link_option(std::string_view word);
  void linker_word(std::string_view word);
  void stop_at(Stop stop) { line_.stop = std::min(line_.stop, stop); }

  const Words &words_;
  std::size_t next_ = 0; // index of the word after the current one
  std::optional<InputKind> language_;
  CommandLine line_;
};

void Parser::add_input(const std::string &path) {
  InputKind kind = language_.value_or(kind_by_name(path));
  if (path == "-" && !language_)
    kind = InputKind::c_family; // only with -E, which takes it for C
  line_.inputs.push_back({path, kind});
}

bool is_for_harts(std::string_view target) { return target.starts_with("riscv64"); }

bool Parser::stop_option(std::string_view word) {
  static constexpr auto kPreprocess =
      std::to_array<std::string_view>({"-E", "--preprocess", "-M", "-MM", "--dependencies",
                                       "--user-dependencies", "-rewrite-includes"});
  static constexpr auto kSyntax =
      std::to_array<std::string_view>({"-fsyntax-only", "--analyze", "--precompile", "-emit-ast",
                                       "-module-file-info", "-verify-pch", "-emit-interface-stubs",
                                       "-rewrite-objc", "-print-supported-cpus", "-extract-api"});
  static constexpr auto kAssembly = std::to_array<std::string_view>({"-S", "--assemble"});
  static constexpr auto kObject = std::to_array<std::string_view>({"-c", "--compile"});
  if (is_any(word, kPreprocess))
    stop_at(Stop::preprocess);
  else if (is_any(word, kSyntax))
    stop_at(Stop::syntax);
  else if (is_any(word, kAssembly))
    stop_at(Stop::assembly);
  else if (is_any(word, kObject))
    stop_at(Stop::object);
  else
    return false;
  return true;
}

// One word that the linker sees.
void Parser::linker_word(std::string_view word) {
  line_.linker_words.emplace_back(word);
  if (word == "-r" || word == "--relocatable" || word == "-relocatable")
    line_.relocatable = true;
  else if (word == "-shared" || word == "--shared" || word == "-Bshareable")
    line_.shared = true;
}

// Options with their value in the next word.
bool Parser::value_option(std::string_view word) {
  if (next_ >= words_.size())
    return false;
  const std::string &value = words_[next_];
  if (word == "-o" || word == "--output")
    line_.output = value;
  else if (word == "-x" || word == "--language")
    language_ = kind_by_language(value);
  else if (word == "-L" || word == "--library-directory")
    line_.search.folders.push_back(value);
  else if (word == "-l")
    line_.search.names.push_back(value);
  else if (word == "-Xlinker" || word == "--for-linker")
    linker_word(value);
  else if (word == "-T")
    linker_word("--script=" + value);
  else if (word == "-target")
    line_.for_harts = is_for_harts(value);
  else
    return false;
  return true;
}

// Options with their value joined to the name.
bool Parser::joined_option(std::string_view word) {
  const auto value = [word](std::string_view name) {
    return std::string(word.substr(name.size()));
  };
  if (word.starts_with("-Wl,")) {
    for (std::size_t begin = 4; begin <= word.size();) {
      const std::size_t end = std::min(word.find(',', begin), word.size());
      linker_word(word.substr(begin, end - begin));
      begin = end + 1;
    }
  } else if (word.starts_with("--output=")) {
    line_.output = value("--output=");
  } else if (word.starts_with("--language=")) {
    language_ = kind_by_language(value("--language="));
  } else if (word.starts_with("--target=")) {
    line_.for_harts = is_for_harts(word.substr(9));
  } else if (word.starts_with("--library-directory=")) {
    line_.search.folders.push_back(value("--library-directory="));
  } else if (word.starts_with("-o") && word.size() > 2 && !word.starts_with("-objcmt-") &&
             !word.starts_with("-object")) {
    line_.output = value("-o");
  } else if (word.starts_with("-x") && word.size() > 2) {
    language_ = kind_by_language(value("-x"));
  } else if (word.starts_with("-L") && word.size() > 2) {
    line_.search.folders.push_back(value("-L"));
  } else if (word.starts_with("-l") && word.size() > 2 && !word.starts_with("-lazy_")) {
    line_.search.names.push_back(value("-l"));
  } else if (word.starts_with("-T") && !word.starts_with("-Ttext") && !word.starts_with("-Tdata") &&
             !word.starts_with("-Tbss")) {
    linker_word("--script=" + value("-T"));
  } else {
    return false;
  }
  return true;
}

// Options that decide which code a compile step makes.
bool Parser::code_option(std::string_view word) {
  // What these ask for happens in passes that a compile step would otherwise leave to the link,
  // which does not know of it.
  static constexpr auto kInstruments = std::to_array<std::string_view>(
      {"-fsanitize",       "-fprofile-arcs",   "-fprofile-generate",
       "-fprofile-instr",  "-fprofile-use",    "-fprofile-sample",
       "-fprofile-update", "-fcs-profile",     "-fauto-profile",
       "-fpseudo-probe",   "-fmemory-profile", "-fcoverage-mapping",
       "-ftest-coverage",  "--coverage",       "-coverage",
       "-finstrument",     "-fxray",           "-fobjc-arc",
       "-fpass-plugin=",   "-fcreate-profile", "-forder-file-instrumentation",
       "-fbounds-safety"});
  static constexpr auto kDebug = std::to_array<std::string_view>({"-g",
                                                                  "-g0",
                                                                  "-g1",
                                                                  "-g2",
                                                                  "-g3",
                                                                  "--debug",
                                                                  "-gmlt",
                                                                  "-gline-tables-only",
                                                                  "-gline-directives-only",
                                                                  "-gfull",
                                                                  "-gused",
                                                                  "-gcodeview",
                                                                  "-gmodules",
                                                                  "-gdwarf",
                                                                  "-gdwarf-2",
                                                                  "-gdwarf-3",
                                                                  "-gdwarf-4",
                                                                  "-gdwarf-5",
                                                                  "-gstabs",
                                                                  "-gxcoff"});
  if (word == "-flto" || word == "-flto=full" || word == "-flto=auto" || word == "-flto=jobserver")
    line_.lto = Lto::full;
  else if (word.starts_with("-flto=thin") || word.starts_with("-fthinlto-index="))
    line_.lto = Lto::thin;
  else if (word == "-fno-lto")
    line_.lto = Lto::off;
  else if (word == "-ffat-lto-objects" || word == "-fno-fat-lto-objects")
    line_.fat_objects = word == "-ffat-lto-objects";
  else if (word == "-emit-llvm")
    line_.emits_ir = true;
  else if (word.starts_with("-O"))
    line_.optimises = word != "-O0";
  else if (is_any(word, kDebug) || word.starts_with("-ggdb"))
    line_.chooses_debug = true;
  else if (word == "-fno-sanitize=thread" || word == "-fno-sanitize=all")
    line_.looks_for_races = false;
  else if (word == "-pg" || begins_with_any(word, kInstruments)) {
    line_.instruments = true;
    line_.looks_for_races |= word == "-fsanitize=thread"; // it goes with no other of its kind
  } else if (word == "-nostdinc")
    line_.no_standard_includes = true;
  else if (word == "-m32" || word == "-mx32" || word == "-m16")
    line_.other_width = true;
  else
    return false;
  return true;
}

bool Parser::link_option(std::string_view word) {
  if (word == "-shared" || word == "--shared")
    line_.shared = true;
  else if (word == "-static" || word == "--static" || word == "-static-pie")
    line_.is_static = true;
  else if (word == "-r")
    line_.relocatable = true;
  else if (word.starts_with("-fuse-ld="))
    line_.linker = word.substr(9);
  else if (word.starts_with("--ld-path="))
    line_.linker_path = word.substr(10);
  else
    return false;
  return true;
}

void Parser::option(std::string_view word) {
  if (word == "--help" || word == "-help" || word == "--help-hidden")
    line_.help = true;
  else if (word == "--version" || word == "-version")
    line_.version = true;
  else if (word == "-###")
    line_.dry_run = true;
  else if (!stop_option(word) && !code_option(word) && !link_option(word) && !value_option(word))
    joined_option(word);
}

CommandLine Parser::parse() {
  line_.cc1 = !words_.empty() && words_[0].starts_with("-cc1");
  bool only_inputs = false;
  while (next_ < words_.size()) {
    const std::string &word = words_[next_++];
    if (only_inputs || word.size() < 2 || word[0] != '-') {
      if (!word.empty())
        add_input(word);
      line_.words.push_back(word);
      continue;
    }
    if (word == "--") {
      only_inputs = true;
      line_.options_end = line_.words.size();
    } else if (word.starts_with("-ftandem")) {
      line_.own_options.push_back(word);
      continue;
    } else if (word == "-fgnu-tm" || word == "-fno-gnu-tm") {
      line_.gnu_tm = word == "-fgnu-tm"; // clang does not know it
      continue;
    } else {
      option(word);
    }
    line_.words.push_back(word);
    for (std::size_t taken = only_inputs ? 0 : words_taken(word);
         taken > 0 && next_ < words_.size(); --taken)
      line_.words.push_back(words_[next_++]);
  }
  if (!only_inputs)
    line_.options_end = line_.words.size();
  return std::move(line_);
}

} // namespace

bool CommandLine::links() const {
  const bool linked = std::any_of(inputs.begin(), inputs.end(), [](const Input &input) {
    return input.kind != InputKind::header;
  });
  return stop == Stop::link && (linked || !search.names.empty() || !linker_words.empty());
}

bool CommandLine::has(InputKind kind) const {
  return std::any_of(inputs.begin(), inputs.end(),
                     [kind](const Input &input) { return input.kind == kind; });
}

CommandLine parse_command_line(const Words &words) { return Parser(words).parse(); }

} // namespace tandem
