// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/front/subcommands.h"

#include "cli/common/installation.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace tandem {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "tandem-";
// How long summaries may take: enough for an interpreter on a slow machine.
constexpr std::chrono::seconds kPatience{5};
constexpr std::size_t kLongestSummary = 4096; // bytes read of each

bool is_name(std::string_view name) {
  return !name.empty() && std::isalnum(static_cast<unsigned char>(name[0])) != 0 &&
         std::all_of(name.begin(), name.end(), [](unsigned char letter) {
           return std::isalnum(letter) != 0 || letter == '-' || letter == '_' || letter == '+';
         });
}

void add_folder(const fs::path &folder, bool own, std::map<std::string, Subcommand> &found) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string file = entry->path().filename().string();
    std::error_code unreadable;
    if (!file.starts_with(kPrefix) || !is_name(file.substr(kPrefix.size())) ||
        !entry->is_regular_file(unreadable) || ::access(entry->path().c_str(), X_OK) != 0)
      continue;
    const std::string name = file.substr(kPrefix.size());
    found.try_emplace(name, Subcommand{name, entry->path().string(), own});
  }
}

// A program that is being asked.
struct Question {
  pid_t child = 0;
  int pipe = -1;
  std::string answer;
};

Question ask(const std::string &program) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return {};
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  char *const words[] = {const_cast<char *>(program.c_str()), const_cast<char *>("--summary"),
                         nullptr};
  Question question;
  if (::posix_spawn(&question.child, program.c_str(), &files, nullptr, words, environ) != 0)
    question.child = 0;
  ::posix_spawn_file_actions_destroy(&files);
  ::close(ends[1]);
  if (question.child == 0)
    ::close(ends[0]);
  else
    question.pipe = ends[0];
  return question;
}

// Reads what there is; closes the pipe at its end.
void listen(Question &question) {
  char buffer[1024];
  const ssize_t count = ::read(question.pipe, buffer, sizeof buffer);
  if (count > 0)
    question.answer.append(buffer, static_cast<std::size_t>(count));
  if (count <= 0 || question.answer.size() > kLongestSummary) {
    ::close(question.pipe);
    question.pipe = -1;
  }
}

void listen_to_all(std::vector<Question> &questions) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point deadline = Clock::now() + kPatience;
  while (true) {
    std::vector<pollfd> waiting;
    std::vector<Question *> asked;
    for (Question &question : questions)
      if (question.pipe >= 0) {
        waiting.push_back({question.pipe, POLLIN, 0});
        asked.push_back(&question);
      }
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (waiting.empty() || left <= 0)
      return;
    if (::poll(waiting.data(), waiting.size(), static_cast<int>(left)) <= 0)
      continue;
    for (std::size_t index = 0; index < waiting.size(); ++index)
      if (waiting[index].revents != 0)
        listen(*asked[index]);
  }
}

// The answer's first line, if the program ended well.
std::string conclude(Question &question) {
  if (question.child == 0)
    return "";
  if (question.pipe >= 0) { // too late
    ::close(question.pipe);
    ::kill(question.child, SIGKILL);
  }
  int status = 0;
  if (::waitpid(question.child, &status, 0) != question.child || !WIFEXITED(status) ||
      WEXITSTATUS(status) != 0)
    return "";
  return question.answer.substr(0, question.answer.find('\n'));
}

} // namespace

std::vector<Subcommand> find_subcommands(const std::string &path) {
  std::map<std::string, Subcommand> found;
  add_folder(subcommands_folder(), true, found);
  std::size_t begin = 0;
  while (begin <= path.size()) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const std::string folder = path.substr(begin, end - begin);
    begin = end + 1;
    std::error_code error;
    const bool ours = fs::equivalent(folder, programs_folder(), error);
    if (!folder.empty() && !ours)
      add_folder(folder, false, found);
  }
  std::vector<Subcommand> subcommands;
  subcommands.reserve(found.size());
  for (auto &[name, subcommand] : found)
    subcommands.push_back(std::move(subcommand));
  return subcommands;
}

std::vector<std::string> ask_summaries(const std::vector<Subcommand> &subcommands) {
  std::vector<Question> questions;
  questions.reserve(subcommands.size());
  for (const Subcommand &subcommand : subcommands)
    questions.push_back(ask(subcommand.path));
  listen_to_all(questions);
  std::vector<std::string> summaries;
  summaries.reserve(questions.size());
  for (Question &question : questions)
    summaries.push_back(conclude(question));
  return summaries;
}

} // namespace tandem
