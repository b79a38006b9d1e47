// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/common/process.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace tandem {

EndSignals::EndSignals() {
  ::sigemptyset(&waiting_);
  ::sigaddset(&waiting_, SIGCHLD);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action{};
    if (::sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_IGN)
      ::sigaddset(&waiting_, number);
  }
  // A blocked SIGCHLD is queued although its default action is to be ignored (signal(7)).
  CHECK(::sigprocmask(SIG_BLOCK, &waiting_, &outer_) == 0);
}

EndSignals::~EndSignals() {
  ::sigprocmask(SIG_SETMASK, &outer_, nullptr);
  if (received_ != 0)
    ::raise(received_);
}

void EndSignals::wait() {
  const int number = ::sigwaitinfo(&waiting_, nullptr);
  if (number > 0 && number != SIGCHLD && received_ == 0)
    received_ = number;
}

Result<PrivateFolder> PrivateFolder::make() {
  const char *asked = std::getenv("TMPDIR");
  const std::string parent = asked != nullptr && *asked != '\0' ? asked : "/tmp";
  std::string path = parent + "/tandem.XXXXXX";
  if (::mkdtemp(path.data()) == nullptr)
    return Error{fmt::format("{}: no temporary folder can be made in it: {}; set TMPDIR", parent,
                             std::strerror(errno))};
  return PrivateFolder(std::move(path));
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored; // what somebody else removed is gone all the same
  if (!path_.empty())
    std::filesystem::remove_all(path_, ignored);
}

namespace {

std::vector<char *> pointers(const std::vector<std::string> &words) {
  std::vector<char *> result;
  result.reserve(words.size() + 1);
  for (const std::string &word : words)
    result.push_back(
        const_cast<char *>(word.c_str())); // posix_spawn's signature; it does not write
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> environment_without(const std::vector<std::string> &names) {
  std::vector<std::string> result;
  for (char **entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    if (std::find(names.begin(), names.end(), name) == names.end())
      result.emplace_back(text);
  }
  return result;
}

Result<pid_t> start(const Command &command, const EndSignals &signals) {
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, command.output.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  // Last: `output` is relative to where this process runs.
  if (!command.folder.empty())
    ::posix_spawn_file_actions_addchdir_np(&files, command.folder.c_str());
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  ::posix_spawnattr_setsigmask(&attributes, &signals.outer_mask());
  const std::vector<std::string> environment = environment_without(command.unset);
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, command.words.front().c_str(), &files, &attributes,
                                   pointers(command.words).data(), pointers(environment).data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
  if (failed != 0)
    return Error{
        fmt::format("{}: cannot be run: {}", command.words.front(), std::strerror(failed))};
  return child;
}

using Running = std::map<pid_t, std::size_t>; // which command a child runs

// Ends all children, and waits until they are gone.
void end_all(Running &running) {
  for (const auto &[child, index] : running)
    ::kill(child, SIGTERM);
  for (const auto &[child, index] : running)
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  running.clear();
}

} // namespace

Result<std::vector<std::optional<int>>> run_all(const std::vector<Command> &commands,
                                                std::size_t width, EndSignals &signals,
                                                const std::function<void()> &finished) {
  std::vector<std::optional<int>> statuses(commands.size());
  Running running;
  std::size_t next = 0;
  bool failed = false;
  while (true) {
    while (!failed && next < commands.size() && running.size() < std::max<std::size_t>(width, 1)) {
      const Result<pid_t> child = start(commands[next], signals);
      if (!child) {
        end_all(running);
        return child.error();
      }
      running.emplace(*child, next++);
    }
    if (running.empty())
      return statuses;
    signals.wait();
    if (signals.asked()) {
      end_all(running);
      return statuses;
    }
    int status = 0;
    pid_t child = 0;
    while ((child = ::waitpid(-1, &status, WNOHANG)) > 0) {
      const auto found = running.find(child);
      if (found == running.end())
        continue;
      const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
      statuses[found->second] = code;
      failed = failed || code != 0;
      running.erase(found);
      finished();
    }
  }
}

} // namespace tandem
