// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/link.h"

#include "compiler/catalogue/catalogue.h"

#include <algorithm>

namespace tandem {
namespace {

std::string base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

bool is_shared_library(const std::string &path) {
  const std::string name = base_name(path);
  return name.ends_with(".so") || name.find(".so.") != std::string::npos;
}

std::string joined_lines(const std::vector<std::string> &lines) {
  std::string text;
  for (const std::string &line : lines)
    text += line + "\n";
  return text;
}

// Adds -fuse-ld=lld and the path of the linker.
Status choose_linker(const CommandLine &line, const Toolchain &toolchain,
                     std::vector<std::string> &options) {
  const auto is_lld = [](const std::string &linker) {
    return linker.empty() || linker == "lld" || base_name(linker).starts_with("ld.lld");
  };
  if (!is_lld(line.linker))
    return Error{fmt::format("-fuse-ld={}: this linker cannot see the whole program; use lld, or "
                             "drop the option",
                             line.linker)};
  if (!is_lld(line.linker_path))
    return Error{fmt::format("--ld-path={}: this linker cannot see the whole program; use ld.lld, "
                             "or drop the option",
                             line.linker_path)};
  options.emplace_back("-fuse-ld=lld");
  if (!line.linker_path.empty())
    return Unit{};
  const Result<std::string> lld = toolchain.find("ld.lld");
  if (!lld)
    return lld.error();
  options.push_back("--ld-path=" + *lld);
  return Unit{};
}

// A relocatable link keeps bitcode as bitcode, so that the link of the program can analyse it. lld
// then leaves machine code out, so there must be none.
Status plan_relocatable(const Request &request, const CommandLine &line, const Settings &settings,
                        std::vector<std::string> &options) {
  bool bitcode = false;
  bool machine_code = false;
  for (const Input &input : line.inputs) {
    const bool compiled = input.kind == InputKind::c_family || input.kind == InputKind::ir;
    const bool is_bitcode = compiled ? line.lto != Lto::off : request.files.is_bitcode(input.path);
    (is_bitcode ? bitcode : machine_code) = true;
  }
  if (!bitcode)
    return Unit{};
  if (machine_code || !line.search.names.empty()) {
    if (settings.enforcement == Enforcement::none)
      return Unit{}; // as clang does: all of it becomes machine code
    return Error{
        "-r: bitcode together with machine code or archives would lose its atomic sections; "
        "link the objects themselves, or use -ftandem-enforce=none"};
  }
  options.emplace_back("-Wl,--lto-emit-llvm,--lto-O0");
  return Unit{};
}

// Where the dynamic linker finds our libraries; empty: there by itself, or not asked.
std::string run_path(const Request &request, const CommandLine &line) {
  const std::string &folder = request.installation.libraries;
  return line.is_static || folder == "/usr/lib" || folder == "/lib" ? "" : "-Wl,-rpath," + folder;
}

// Our libraries by name (-ltandem), of which another installation may lie where the user has
// libraries searched for. The folder is searched first and holds no others: those that the user
// names are his.
void find_own_libraries(const Request &request, const CommandLine &line, const Settings &settings,
                        std::vector<std::string> &options) {
  const auto is_own = [](std::string_view name) {
    return name == "tandem" || name.starts_with("tandem_");
  };
  const auto is_own_word = [&](std::string_view word) {
    return word.starts_with("-l") && is_own(word.substr(2));
  };
  if (line.other_width || line.for_harts ||
      (std::none_of(line.search.names.begin(), line.search.names.end(), is_own) &&
       std::none_of(line.linker_words.begin(), line.linker_words.end(), is_own_word)))
    return;
  options.push_back("-L" + request.installation.named());
  const std::string path = run_path(request, line);
  if (settings.enforcement == Enforcement::none && !path.empty())
    options.push_back(path); // runtime_libraries has it elsewhere
}

// The engine, which is also libitm.so.1 at run time. Before what the user links: of libraries with
// one name lld takes the first, and GCC's (-litm, a path) lacks most of what sections call.
void link_engine(const Request &request, const CommandLine &line, const Settings &settings,
                 std::vector<std::string> &options) {
  if (settings.enforcement == Enforcement::none ||
      settings.enforcement == Enforcement::global_lock || line.other_width || line.is_static ||
      line.for_harts)
    return;
  options.push_back("-Wl,--push-state,--as-needed," + request.installation.libraries +
                    "/libtandem_tm.so,--pop-state");
}

// The other libraries that a transformed program calls. lld drops those that it does not.
std::vector<std::string> runtime_libraries(const Request &request, const CommandLine &line,
                                           const Settings &settings) {
  const std::string &folder = request.installation.libraries;
  if (settings.enforcement == Enforcement::none || line.other_width)
    return {};
  std::vector<std::string> libraries = {"-Wl,--push-state,--as-needed"};
  if (request.files.exists(folder + (line.is_static ? "/libtandem.a" : "/libtandem.so"))) {
    libraries.push_back("-L" + folder);
    libraries.emplace_back("-ltandem");
  }
  if (settings.check_effects)
    libraries.emplace_back("-ltandem_observe");
  libraries.emplace_back("-Wl,--pop-state");
  // Inside a hardware transaction no function can be looked up. For programs, and what they are
  // started with, the runtime does that before the first one (runtime/linkage/calls.h), with
  // exceptions; of a library that is loaded later the dynamic linker has to do it all.
  if (settings.enforcement == Enforcement::htm ||
      (settings.enforcement != Enforcement::global_lock && line.shared))
    libraries.emplace_back("-Wl,-z,now");
  if (std::string path = run_path(request, line); !path.empty())
    libraries.push_back(std::move(path));
  return libraries;
}

// libtandem.a and libstdc++.a refer to each other weakly, as programs have only one of them or
// none: to exceptions and operators, and to what transactional code of libstdc++ calls. For a weak
// reference lld takes nothing out of an archive; for these words it does.
constexpr const char *kOfProgramsInCxx[] = {
    "__cxa_tm_cleanup",
    "_Znwm",
    "_Znam",
    "_ZnwmRKSt9nothrow_t",
    "_ZnamRKSt9nothrow_t",
    "_ZnwmSt11align_val_t",
    "_ZnamSt11align_val_t",
    "_ZnwmSt11align_val_tRKSt9nothrow_t",
    "_ZnamSt11align_val_tRKSt9nothrow_t",
    "_ZdlPv",
    "_ZdaPv",
    "_ZdlPvSt11align_val_t",
    "_ZdaPvSt11align_val_t",
    "_ITM_RU1",
    "_ITM_RU8",
    "_ITM_addUserCommitAction",
    "_ITM_memcpyRnWt",
    "_ITM_memcpyRtWn",
    "_ZGTtdlPv",
    "_ZGTtnam",
};

// Programs for the simulated machine's harts are static: its proxy kernel loads no others. What is
// linked is made for all of RV64GC, also where the pass makes functions that have no such mark.
Status plan_for_harts(const Request &request, const CommandLine &line, const Settings &settings,
                      LinkStep &step) {
  if (line.shared)
    return Error{"-shared: programs for riscv64 are static; link what it is of with the program"};
  if (settings.check_effects)
    return Error{"-ftandem-check-effects: there is no recorder for riscv64; check the program as "
                 "one for this machine"};
  if (!line.is_static)
    step.options.emplace_back("-static");
  for (const char *word : {"-mllvm", "-mattr=+m,+a,+f,+d,+c"}) // whose commas -Wl would take
    step.options.insert(step.options.end(), {"-Xlinker", word});
  const std::string folder = request.installation.harts();
  for (const char *name : {"/anchor.o", "/libtandem.a"})
    step.checks.push_back({Check::Kind::present, folder + name,
                           "install g++-riscv64-linux-gnu and libc6-dev-riscv64-cross, and build "
                           "tandem again"});
  if (settings.enforcement != Enforcement::none) {
    step.libraries.push_back(folder + "/libtandem.a");
    if (request.tool == Tool::cxx)
      for (const char *name : kOfProgramsInCxx)
        step.options.push_back(fmt::format("-Wl,-u,{}", name));
  }
  step.libraries.push_back("-Wl," + folder + "/anchor.o");
  return Unit{};
}

std::string absolute(const std::string &path, const std::string &folder) {
  return path.empty() || path[0] == '/' || is_builtin_catalogue(path) ? path : folder + "/" + path;
}

Environment link_environment(const Request &request, const CommandLine &line,
                             const Settings &settings) {
  Environment set;
  const auto known = request.environment.find("LIBRARY_PATH");
  set[kEnvEnforce] = to_string(settings.enforcement);
  set[kEnvReport] = settings.report;
  set[kEnvCatalogue] = absolute(settings.catalogue, request.folder);
  set[kEnvConvert] = absolute(settings.convert, request.folder);
  set[kEnvPointsTo] = to_string(settings.points_to);
  set[kEnvInlineBarriers] = settings.inline_barriers ? "1" : "0";
  set[kEnvShortSections] = settings.short_sections ? "1" : "0";
  set[kEnvCheckEffects] = settings.check_effects ? "1" : "";
  set[kEnvVerbose] = settings.verbose ? "1" : "";
  set[kEnvLinkOutput] = line.output.empty() ? "a.out" : line.output;
  set[kEnvLinkInputs] = joined_lines(
      link_inputs(line, request.files, known == request.environment.end() ? "" : known->second));
  set[kEnvLinkShared] = line.shared ? "1" : "";
  return set;
}

} // namespace

namespace {

// The file of a linker's option that names a script; a file of its own word is an input like any.
std::string_view script_of(std::string_view word) {
  for (const std::string_view option : {"--script=", "-script=", "-T"})
    if (word.starts_with(option))
      return word.substr(option.size());
  return {};
}

} // namespace

std::vector<std::string> link_inputs(const CommandLine &line, const FileView &files,
                                     std::string_view library_path) {
  std::vector<std::string> inputs;
  LinkSearch search = line.search;
  for (const Input &input : line.inputs)
    if (input.kind == InputKind::object && !is_shared_library(input.path))
      inputs.push_back(input.path);
  for (const std::string &word : line.linker_words)
    if (word.starts_with("-l"))
      search.names.push_back(word.substr(2));
    else if (word.starts_with("-L"))
      search.folders.push_back(word.substr(2));
    else if (word.starts_with("@"))
      inputs.push_back("?" + word);
    else if (const std::string_view script = script_of(word); !script.empty())
      inputs.emplace_back(script);
    else if (!word.starts_with("-") && !is_shared_library(word) &&
             (word.ends_with(".o") || word.ends_with(".a") || files.exists(word)))
      inputs.push_back(word);
  while (!library_path.empty()) {
    const std::string_view folder = library_path.substr(0, library_path.find(':'));
    library_path.remove_prefix(std::min(folder.size() + 1, library_path.size()));
    if (!folder.empty())
      search.folders.emplace_back(folder);
  }
  for (const std::string &name : search.names) {
    const bool exact = name.starts_with(":");
    for (const std::string &folder : search.folders) {
      const std::string stem =
          fmt::format("{}/{}{}", folder, exact ? "" : "lib", exact ? name.substr(1) : name);
      if (!exact && !line.is_static && files.exists(stem + ".so"))
        break;
      const std::string archive = exact ? stem : stem + ".a";
      if (!files.exists(archive))
        continue;
      if (!is_shared_library(archive))
        inputs.push_back(archive);
      break;
    }
  }
  return inputs;
}

Result<LinkStep> plan_link(const Request &request, const CommandLine &line,
                           const Settings &settings, const Toolchain &toolchain) {
  LinkStep step;
  if (line.lto != Lto::off)
    step.options.emplace_back("-flto=full");
  if (Status chosen = choose_linker(line, toolchain, step.options); !chosen)
    return chosen.error();
  find_own_libraries(request, line, settings, step.options);
  if (!settings.analyses())
    return step;
  if (line.relocatable) {
    if (Status planned = plan_relocatable(request, line, settings, step.options); !planned)
      return planned.error();
    return step;
  }
  const std::string plugin = request.installation.pass_plugin();
  step.checks.push_back(
      {Check::Kind::present, plugin, "the installation is incomplete: reinstall"});
  step.options.push_back("-Wl,--load-pass-plugin=" + plugin);
  step.set = link_environment(request, line, settings);
  if (line.for_harts) {
    if (Status planned = plan_for_harts(request, line, settings, step); !planned)
      return planned.error();
    return step;
  }
  link_engine(request, line, settings, step.options);
  step.libraries = runtime_libraries(request, line, settings);
  if (!line.other_width) {
    // lld runs the pass only where some input is bitcode for full LTO: this one, which is empty,
    // always is.
    const std::string anchor = request.installation.anchor();
    step.checks.push_back(
        {Check::Kind::present, anchor, "the installation is incomplete: reinstall"});
    step.libraries.push_back("-Wl," + anchor); // not an input of clang: a -x would apply to it
  }
  return step;
}

} // namespace tandem
