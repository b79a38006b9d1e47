// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Child processes, and a private folder for temporary files that is removed whatever happens: see
// EndSignals. For one thread at a time.
#pragma once

#include "base/result.h"

#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tandem {

// While it lives, SIGINT, SIGTERM and SIGHUP (those that are not ignored) wait: run_all() ends its
// children when one arrives, and the destructor lets it take effect. Declare it before what must be
// cleaned up.
class EndSignals {
public:
  EndSignals();
  ~EndSignals();
  EndSignals(const EndSignals &) = delete;
  EndSignals &operator=(const EndSignals &) = delete;

  // Sleeps until a child ends or a signal asks this process to end.
  void wait();
  [[nodiscard]] bool asked() const { return received_ != 0; }
  // The signal mask from before, which children get.
  [[nodiscard]] const sigset_t &outer_mask() const { return outer_; }

private:
  sigset_t waiting_{};
  sigset_t outer_{};
  int received_ = 0;
};

// A new folder that only this user can read; the destructor removes it with all that is in it.
class PrivateFolder {
public:
  // In TMPDIR, else /tmp. Error: `FOLDER: no temporary folder can be made in it: REASON; set
  // TMPDIR`.
  static Result<PrivateFolder> make();

  PrivateFolder(PrivateFolder &&other) noexcept : path_(std::exchange(other.path_, {})) {}
  PrivateFolder(const PrivateFolder &) = delete;
  PrivateFolder &operator=(const PrivateFolder &) = delete;
  ~PrivateFolder();

  [[nodiscard]] const std::string &path() const { return path_; }

private:
  explicit PrivateFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

struct Command {
  std::vector<std::string> words; // the program's path, then its arguments; not empty
  std::vector<std::string> unset; // environment variables that the child does not get
  std::string output;             // the file that gets its standard output and error
  std::string folder = {};        // where it runs; empty: where this process does
};

// Runs `commands`, `width` at a time, in order; after one has failed it starts no more. For each
// command its exit status (128 + the signal where one ended it), or nothing where it was not
// started or was ended because of `signals`. All commands before the first that failed have run,
// whatever the timing. `finished` is called after each. Error: a program that cannot be started.
Result<std::vector<std::optional<int>>> run_all(const std::vector<Command> &commands,
                                                std::size_t width, EndSignals &signals,
                                                const std::function<void()> &finished);

} // namespace tandem
