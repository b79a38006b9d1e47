// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/file.h"
#include "cli/common/installation.h"
#include "cli/common/process.h"
#include "cli/doctor/check.h"
#include "compiler/driver/toolchain.h"

#include <fmt/format.h>

#include <array>
#include <cpuid.h>
#include <cstdlib>
#include <filesystem>
#include <gnu/libc-version.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace tandem {
namespace {

namespace fs = std::filesystem;

constexpr int kOldestGlibc = 35; // of version 2; as docs/limits.md has it

constexpr std::string_view kProgram = R"(#include <tandem/tandem.h>
static long count;
TANDEM_ATOMIC static long next(void) { return ++count; }
int main(void) { return next() == 1 ? 0 : 1; }
)";
constexpr std::string_view kCxxProgram = R"(#include <mutex>
#include <thread>
static std::mutex lock;
static long count;
static void work() { const std::lock_guard<std::mutex> hold(lock); ++count; }
int main() { std::thread other(work); work(); other.join(); return count == 2 ? 0 : 1; }
)";

std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value == nullptr ? "" : value;
}

DoctorCheck check_platform() {
  utsname name{};
  ::uname(&name);
  const std::string found = fmt::format("{} on {}", name.sysname, name.machine);
  const bool good =
      std::string_view(name.sysname) == "Linux" && std::string_view(name.machine) == "x86_64";
  return {"platform", good ? CheckStatus::ok : CheckStatus::failed, found,
          good ? "" : "use Linux on x86-64"};
}

DoctorCheck check_libc() {
  const std::string version = ::gnu_get_libc_version();
  const std::size_t dot = version.find('.');
  const int minor = dot == std::string::npos ? 0 : std::atoi(version.c_str() + dot + 1);
  const bool good = version.starts_with("2.") && minor >= kOldestGlibc;
  return {"C library", good ? CheckStatus::ok : CheckStatus::failed, "glibc " + version,
          good ? "" : fmt::format("use a system with glibc 2.{} or newer", kOldestGlibc)};
}

DoctorCheck check_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int count = ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
  const std::string found = fmt::format("{} may be used", count);
  if (count > 1)
    return {"processors", CheckStatus::ok, found};
  return {"processors", CheckStatus::note, found,
          "threads cannot run side by side: measure nothing here"};
}

// Restricted transactional memory: leaf 7, EBX bit 11, and not forced to abort: EDX bit 11.
// Source: Intel SDM, volume 2A, CPUID.
DoctorCheck check_transactions() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  const bool told = __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0;
  const bool has = told && (b & (1U << 11)) != 0;
  const bool aborts = told && (d & (1U << 11)) != 0;
  if (has && !aborts)
    return {"hardware transactions", CheckStatus::ok, "RTM"};
  return {"hardware transactions", CheckStatus::note, has ? "RTM, which always aborts" : "none",
          "sections run as software transactions, or with locks; nothing need be done"};
}

DoctorCheck check_tool(const Toolchain &tools, const std::string &name) {
  const Result<std::string> path = tools.find(name);
  return path ? DoctorCheck{name, CheckStatus::ok, *path}
              : DoctorCheck{name, CheckStatus::failed, "not found", path.error().message};
}

DoctorCheck check_file(const std::string &what, const std::string &path) {
  const bool there = ::access(path.c_str(), R_OK) == 0;
  return {what, there ? CheckStatus::ok : CheckStatus::failed, path,
          there ? "" : "it is not there, or not readable: install Tandem again"};
}

// The first line of a command's output that says what is wrong, or the first one.
std::string complaint(const std::string &path) {
  const Result<std::string> said = read_file(path);
  std::string first;
  std::string line;
  for (const char c : said ? *said + "\n" : std::string("\n")) {
    if (c != '\n') {
      line += c;
      continue;
    }
    if (line.find("error") != std::string::npos)
      return line;
    if (first.empty())
      first = line;
    line.clear();
  }
  return first.empty() ? "no message" : first;
}

// Compiles, links and runs a program in `folder`.
DoctorCheck check_building(const std::string &what, const std::string &compiler,
                           std::string_view program, const std::string &suffix,
                           const std::string &folder, EndSignals &signals) {
  const std::string source = folder + "/program" + suffix;
  const std::string output = folder + "/program" + suffix + ".out";
  const std::string log = folder + "/log";
  if (const Status written = write_file(source, program); !written)
    return {what, CheckStatus::failed, written.error().message, "make room for temporary files"};
  const std::vector<Command> commands = {
      {{programs_folder() + "/" + compiler, "-ftandem-enforce=locks", "-pthread", source, "-o",
        output},
       {"TANDEM_ENFORCE", "TANDEM_REPORT", "TANDEM_CONVERT"},
       log},
      {{output}, {}, log}};
  const auto statuses = run_all(commands, 1, signals, [] {});
  if (!statuses)
    return {what, CheckStatus::failed, statuses.error().message, "install Tandem again"};
  if (statuses->at(0) != 0)
    return {what, CheckStatus::failed, complaint(log),
            suffix == ".cc" ? "install the C++ library's headers: apt install g++"
                            : "install the C library's headers: apt install libc6-dev"};
  if (statuses->at(1) != 0)
    return {what, CheckStatus::failed, "the program that was built does not run: " + complaint(log),
            "let programs run in TMPDIR, and the runtime be where the program was linked"};
  return {what, CheckStatus::ok, "compiles, links and runs"};
}

// A program that only a part of Tandem needs.
DoctorCheck check_optional(const std::string &name, const std::vector<std::string> &words,
                           const std::string &remedy, const std::string &folder,
                           EndSignals &signals) {
  const std::string log = folder + "/log";
  const auto statuses = run_all({{words, {}, log}}, 1, signals, [] {});
  if (statuses && statuses->at(0) == 0)
    return {name, CheckStatus::ok, complaint(log)};
  return {name, CheckStatus::note, "not found, or too old", remedy};
}

} // namespace

std::string_view to_string(CheckStatus status) {
  constexpr std::array<std::string_view, 3> kNames = {"ok", "note", "failed"};
  return kNames.at(static_cast<std::size_t>(status));
}

Result<std::vector<DoctorCheck>> check_machine() {
  std::vector<DoctorCheck> checks = {check_platform(), check_libc(), check_processors(),
                                     check_transactions()};
  const Toolchain tools(environment("TANDEM_LLVM_BIN"), environment("PATH"), real_files());
  for (const char *name : {"clang", "clang++", "ld.lld", "llvm-ar"})
    checks.push_back(check_tool(tools, name));
  const Installation own = installation_of(programs_folder() + "/tandem-cc");
  checks.push_back(check_file("compiler's pass", own.pass_plugin()));
  checks.push_back(check_file("compiler's attributes", own.attribute_plugin()));
  checks.push_back(check_file("runtime", own.libraries + "/libtandem.so"));
  EndSignals signals;
  Result<PrivateFolder> folder = PrivateFolder::make();
  if (!folder)
    return folder.error();
  checks.push_back(
      check_building("programs in C", "tandem-cc", kProgram, ".c", folder->path(), signals));
  checks.push_back(
      check_building("programs in C++", "tandem-c++", kCxxProgram, ".cc", folder->path(), signals));
  const std::string python = environment("TANDEM_PYTHON");
  checks.push_back(check_optional(
      "Python",
      {"/usr/bin/env", python.empty() ? "python3" : python, "-c",
       "import sys; print('Python', sys.version.split()[0]); sys.exit(sys.version_info < (3, 11))"},
      "tandem workload, experiment and bench need Python 3.11: install it, or name one in "
      "TANDEM_PYTHON",
      folder->path(), signals));
  checks.push_back(check_optional("gcc", {"/usr/bin/env", "gcc", "--version"},
                                  "only what tandem rewrite writes needs it: apt install gcc",
                                  folder->path(), signals));
  return checks;
}

} // namespace tandem
