// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tandem-cc, tandem-c++, tandem-ar, tandem-ranlib and tandem-nm: one program, told apart by the
// name it is called by. It plans, checks, and becomes the program of LLVM that does the work; the
// compilers wait for it.
#include "base/printable.h"
#include "compiler/driver/plan.h"
#include "compiler/driver/response_file.h"
#include "compiler/internal_error/internal_error.h"

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

extern char **environ;

namespace tandem {
namespace {

// Linux takes 128 KiB in one argument or variable and, with the usual stack, 2 MiB in all; what
// comes close goes through a file in memory.
constexpr std::size_t kLongestVariable = std::size_t{96} << 10;
constexpr std::size_t kLongestCommand = std::size_t{512} << 10;

Error system_error(const std::string &what) {
  return Error{fmt::format("{}: {}", what, std::strerror(errno))};
}

Environment environment_of_process() {
  Environment environment;
  for (char **entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos &&
        (text.starts_with("TANDEM_") || text.starts_with("PATH=")))
      environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

Result<std::string> own_path() {
  std::string path(PATH_MAX, '\0');
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  if (length < 0)
    return system_error("/proc/self/exe");
  path.resize(static_cast<std::size_t>(length));
  return path;
}

std::string working_folder() {
  std::string folder(PATH_MAX, '\0');
  if (::getcwd(folder.data(), folder.size()) == nullptr)
    return ".";
  folder.resize(std::strlen(folder.c_str()));
  return folder;
}

// A file in memory with `text`, as a path that this process and those it becomes or starts can
// open.
Result<std::string> memory_file(const std::string &text) {
  const int file = ::memfd_create("tandem", 0);
  if (file < 0)
    return system_error("memfd_create");
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(file, text.data() + done, text.size() - done);
    if (count < 0)
      return system_error("memfd_create");
    done += static_cast<std::size_t>(count);
  }
  return fmt::format("/proc/self/fd/{}", file);
}

Status apply_environment(const Environment &set) {
  for (const auto &[name, value] : set) {
    if (value.empty()) {
      ::unsetenv(name.c_str());
      continue;
    }
    std::string short_value = value;
    if (value.size() > kLongestVariable) {
      const Result<std::string> path = memory_file(value);
      if (!path)
        return path.error();
      short_value = "@" + *path;
    }
    ::setenv(name.c_str(), short_value.c_str(), 1);
  }
  return Unit{};
}

Status shorten(std::vector<std::string> &arguments) {
  std::size_t bytes = 0;
  for (const std::string &argument : arguments)
    bytes += argument.size() + 1;
  if (bytes <= kLongestCommand)
    return Unit{};
  const Result<std::string> path = memory_file(join_words(arguments));
  if (!path)
    return path.error();
  arguments = {"@" + *path};
  return Unit{};
}

// Becomes the program; returns only the error that kept it from that.
Error become(const Plan &plan) {
  std::vector<char *> argv = {const_cast<char *>(plan.program.c_str())};
  for (const std::string &argument : plan.arguments)
    argv.push_back(const_cast<char *>(argument.c_str()));
  argv.push_back(nullptr);
  ::execv(plan.program.c_str(), argv.data());
  return Error{fmt::format("{}: cannot be run: {}", plan.program, std::strerror(errno))};
}

// Ends as the child did: by the same signal.
int end_by(int signal) {
  std::signal(signal, SIG_DFL);
  ::raise(signal);
  return 128 + signal;
}

// Runs the program and then prints the epilogue, if it succeeded. What our plugins cannot tell
// through clang, that the error was internal, they write into a file in memory. Result: the exit
// status.
Result<int> run_and_wait(const Plan &plan) {
  const int mark = ::memfd_create("tandem", MFD_CLOEXEC);
  if (mark < 0)
    return system_error("memfd_create");
  ::setenv(kEnvInternalError, fmt::format("/proc/{}/fd/{}", ::getpid(), mark).c_str(), 1);
  std::fflush(stdout);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0)
    return system_error("fork");
  if (child == 0) {
    // Whoever ends this program means the compiler.
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent)
      ::_exit(kUsageStatus);
    std::fprintf(stderr, "%s\n", printable(become(plan).message).c_str());
    ::_exit(kUsageStatus);
  }
  // A terminal sends these to the compiler as well, and the last word is its.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGQUIT, SIG_IGN);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return system_error("waitpid");
  if (::lseek(mark, 0, SEEK_END) > 0)
    return kInternalStatus;
  if (!WIFEXITED(status))
    return end_by(WTERMSIG(status));
  if (WEXITSTATUS(status) == 0) {
    std::fputs(plan.epilogue.c_str(), stdout);
    if (!plan.note.empty())
      std::fprintf(stderr, "%s\n", printable(plan.note).c_str());
  }
  return WEXITSTATUS(status);
}

Result<int> run(Tool tool, const std::vector<std::string> &words) {
  const bool compiler = tool == Tool::cc || tool == Tool::cxx;
  Result<std::vector<std::string>> expanded =
      compiler ? expand_response_files(words) : Result<std::vector<std::string>>(words);
  if (!expanded)
    return expanded.error();
  const Result<std::string> executable = own_path();
  if (!executable)
    return executable.error();
  Result<Plan> plan = make_plan({tool, std::move(*expanded), environment_of_process(),
                                 installation_of(*executable), real_files(), working_folder()});
  if (!plan)
    return plan.error();
  if (Status checked = run_checks(*plan); !checked)
    return checked.error();
  if (Status applied = apply_environment(plan->set); !applied)
    return applied.error();
  if (compiler) {
    if (Status shortened = shorten(plan->arguments); !shortened)
      return shortened.error();
  }
  std::fputs(plan->prologue.c_str(), stdout);
  std::fflush(stdout);
  return compiler ? run_and_wait(*plan) : Result<int>(become(*plan));
}

} // namespace
} // namespace tandem

int main(int argc, char **argv) {
  const tandem::Tool tool = tandem::tool_of(argc > 0 ? argv[0] : "");
  const tandem::Result<int> status =
      tandem::run(tool, std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
  if (status)
    return status.value();
  std::fprintf(stderr, "%s: %s\n", std::string(to_string(tool)).c_str(),
               tandem::printable(status.error().message).c_str());
  return tandem::kUsageStatus;
}
