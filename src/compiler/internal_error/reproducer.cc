// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/internal_error/reproducer.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace tandem {
namespace {

constexpr unsigned kPatience_s = 120; // for the second run, which reads the inputs and writes
constexpr std::size_t kLongestCommand = std::size_t{4} << 20; // more than Linux takes
constexpr std::size_t kMostVariables = 4096;

Reproducer reproduced = Reproducer::command;
std::array<char, PATH_MAX> plugin_path;
std::array<char, PATH_MAX> program; // this process's
std::array<char, PATH_MAX> folder;
std::array<char, 64> passes;
std::array<char, PATH_MAX> script;
std::array<char, PATH_MAX> bitcode;
std::array<char, PATH_MAX> keep; // kEnvKeepBitcode=PATH

template <std::size_t size> void assign(std::array<char, size> &to, std::string_view text) {
  const std::size_t bytes = std::min(text.size(), size - 1);
  std::memcpy(to.data(), text.data(), bytes);
  to[bytes] = '\0';
}

void put(int file, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t count = ::write(file, text.data(), text.size());
    if (count <= 0)
      return;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

// As one word of a shell.
void put_quoted(int file, std::string_view text) noexcept {
  put(file, "'");
  for (std::size_t quote = text.find('\''); quote != std::string_view::npos;
       quote = text.find('\'')) {
    put(file, text.substr(0, quote));
    put(file, "'\\''");
    text.remove_prefix(quote + 1);
  }
  put(file, text);
  put(file, "'");
}

// This process's command line: words that end in '\0'. Empty: it cannot be read.
std::string_view command_line() noexcept {
  static char *text = static_cast<char *>(
      ::mmap(nullptr, kLongestCommand, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  const int file = text == MAP_FAILED ? -1 : ::open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return {};
  std::size_t bytes = 0;
  while (bytes < kLongestCommand - 1) {
    const ssize_t count = ::read(file, text + bytes, kLongestCommand - 1 - bytes);
    if (count <= 0)
      break;
    bytes += static_cast<std::size_t>(count);
  }
  ::close(file);
  return {text, bytes};
}

template <typename Each> void each_word(std::string_view words, Each each) noexcept {
  while (!words.empty()) {
    const std::string_view word(words.data()); // up to its '\0'
    each(word);
    words.remove_prefix(std::min(words.size(), word.size() + 1));
  }
}

// The same command once more, which ends where the pass would begin. Whether it has written the
// module.
bool keep_bitcode(std::string_view words) noexcept {
  static std::array<char *, kMostVariables> environment;
  static std::array<char *, 1 << 16> arguments;
  std::size_t variables = 0;
  environment[variables++] = keep.data();
  for (char **entry = environ; *entry != nullptr && variables < kMostVariables - 1; ++entry)
    environment[variables++] = *entry;
  environment[variables] = nullptr;
  std::size_t count = 0;
  each_word(words, [&](std::string_view word) {
    if (count < arguments.size() - 1)
      arguments[count++] = const_cast<char *>(word.data());
  });
  arguments[count] = nullptr;
  const pid_t child = ::_Fork(); // fork() would take locks that this thread may hold
  if (child == 0) {
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    if (const int nothing = ::open("/dev/null", O_RDWR); nothing >= 0)
      for (int file = 0; file <= 2; ++file)
        ::dup2(nothing, file);
    ::alarm(kPatience_s);
    ::execve(program.data(), arguments.data(), environment.data());
    ::_exit(127);
  }
  int status = -1;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && ::access(bitcode.data(), R_OK) == 0)
    return true;
  ::unlink(bitcode.data()); // what there is, is not all
  return false;
}

// Creates the script beside which the bitcode goes. -1: not possible.
int create_script() noexcept {
  const char *place = std::getenv("TMPDIR");
  if (place == nullptr || *place != '/')
    place = "/tmp";
  for (int attempt = 0; attempt < 100; ++attempt) {
    const int process = static_cast<int>(::getpid());
    std::snprintf(script.data(), script.size(), "%s/tandem-%d-%d.sh", place, process, attempt);
    std::snprintf(bitcode.data(), bitcode.size(), "%s/tandem-%d-%d.bc", place, process, attempt);
    std::snprintf(keep.data(), keep.size(), "%s=%s", kEnvKeepBitcode, bitcode.data());
    if (::access(bitcode.data(), F_OK) == 0)
      continue;
    // Follows no link that somebody may have put there.
    const int file = ::open(script.data(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    if (file >= 0 || errno != EEXIST)
      return file;
  }
  return -1;
}

void put_environment(int file) noexcept {
  for (char **entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (!text.starts_with("TANDEM_") || equals == std::string_view::npos ||
        text.starts_with(kEnvInternalError))
      continue;
    put(file, "export ");
    put(file, text.substr(0, equals + 1));
    put_quoted(file, text.substr(equals + 1));
    put(file, "\n");
  }
}

// opt is beside the linker.
void put_repetition(int file) noexcept {
  const std::string_view path = program.data();
  put(file, "exec ");
  put_quoted(file, path.substr(0, path.rfind('/') + 1));
  put(file, "opt -load-pass-plugin=");
  put_quoted(file, plugin_path.data());
  put(file, " -passes='");
  put(file, passes.data());
  put(file, "' -disable-output ");
  put_quoted(file, bitcode.data());
  put(file, "\n");
}

} // namespace

void prepare_reproducer(Reproducer kind, std::string_view plugin) {
  reproduced = kind;
  assign(plugin_path, plugin);
  assign(passes, "tandem");
  const ssize_t length = ::readlink("/proc/self/exe", program.data(), program.size() - 1);
  program[length < 0 ? 0 : static_cast<std::size_t>(length)] = '\0';
  if (::getcwd(folder.data(), folder.size()) == nullptr)
    assign(folder, "/");
  // The bitcode of opt's command may come from its standard input, which is gone.
  if (!std::string_view(program.data()).ends_with("lld"))
    reproduced = Reproducer::command;
}

void set_repeated_passes(std::string_view text) { assign(passes, text); }

const char *write_reproducer() noexcept {
  const int file = create_script();
  if (file < 0)
    return nullptr;
  const std::string_view words = command_line();
  put(file, "#!/bin/sh\n# An internal error of Tandem. The command was:\n#");
  each_word(words, [&](std::string_view word) {
    put(file, " ");
    put(file, word.find('\n') == std::string_view::npos ? word : "?"); // it would end the comment
  });
  put(file, "\ncd ");
  put_quoted(file, folder.data());
  put(file, " || exit\n");
  put_environment(file);
  if (reproduced == Reproducer::bitcode && keep_bitcode(words)) {
    put_repetition(file);
  } else {
    put(file, "exec");
    std::size_t number = 0;
    each_word(words, [&](std::string_view word) {
      put(file, " ");
      // LLVM's programs do what the name says that they are called by: lld as ld.lld, clang as
      // clang++.
      const bool no_path = number++ == 0 && word.find('/') == std::string_view::npos;
      put_quoted(file, no_path ? std::string_view(program.data()) : word);
    });
    put(file, "\n");
  }
  ::close(file);
  return script.data();
}

} // namespace tandem
