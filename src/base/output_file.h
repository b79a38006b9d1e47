// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file that is written as a whole: it appears, or is replaced, at the end, and until then, and if
// that never comes, everything is as it was. Nobody else can bend the way to it. C's library only,
// no exceptions: the runtime, which lives in other people's programs, uses it too. Objects are for
// one thread.
//
// The way: links are followed as open() does, but for links that another user has put into a folder
// where everybody may (sticky, and writable by others): /tmp. Linux has the same rule where
// fs.protected_symlinks is set; this one holds everywhere, and for each folder on the way. What is
// written to as it is (a pipe, a device, a file in a folder that takes no new ones) is not another
// user's there either.
//
// The file: one without a name where the file system has that (O_TMPFILE), so that nothing stays
// behind when the process is killed, else one with a name that cannot be guessed.
#pragma once

#include <csignal>
#include <cstdint>
#include <initializer_list>
#include <limits.h>
#include <sys/stat.h>

namespace tandem {

// Beside the values of errno, as the results of OutputFile.
inline constexpr int kForeignLink = -1; // the way leads over such a link
inline constexpr int kForeignFile = -2; // such a pipe, device or file is there

// One line for the user, lower-case where it is ours; valid until the thread's next call.
const char *output_error(int error) noexcept;

// Keeps signals off the calling thread: what arrives for the process is delivered afterwards, what
// the thread itself brings about by writing (SIGPIPE, SIGXFSZ) is dropped: write() says it too.
class SignalsHeld {
public:
  explicit SignalsHeld(std::initializer_list<int> signals) noexcept;
  ~SignalsHeld();
  SignalsHeld(const SignalsHeld &) = delete;
  SignalsHeld &operator=(const SignalsHeld &) = delete;

private:
  sigset_t own_{}; // of those held: which writing brings about
  sigset_t before_{};
};

class OutputFile {
public:
  OutputFile() = default;
  ~OutputFile(); // forgets what was not committed
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;

  // How it is written: replaced as a whole, as it is (a pipe or a device), or at the end of what
  // the process has open already (/dev/stdout, /dev/fd/3).
  enum class Way : std::uint8_t { replace, in_place, append };

  // Finds `path`, and whether something may be written there. Changes nothing. 0, or why not.
  int find(const char *path) noexcept;
  // After find(): whether begin() would succeed, with nothing left behind.
  int probe() noexcept;
  // After find(): opens it. `overwrite`: where its folder takes no file, but the file can be
  // written to, it is overwritten as it is.
  int begin(bool overwrite) noexcept;
  // After find(): opens it to be written to at its end, whoever else does so; it is made where
  // nothing is. A descriptor, which is the caller's, or less than 0: the error is in `error`.
  int append(int &error) noexcept;
  // After begin(): to write to.
  [[nodiscard]] int descriptor() const noexcept { return file_; }
  // What was written becomes the file, and is closed.
  int commit() noexcept;
  // Everything is as before find().
  void forget() noexcept { close_all(); }

  [[nodiscard]] Way way() const noexcept { return way_; }
  // After find(): whether a file is there, and which; else the folder that it would be in.
  [[nodiscard]] bool exists() const noexcept { return exists_; }
  [[nodiscard]] const struct stat &status() const noexcept { return status_; }
  [[nodiscard]] const struct stat &folder_status() const noexcept { return folder_status_; }
  [[nodiscard]] const char *name() const noexcept { return name_; }
  // A link leads to it.
  [[nodiscard]] bool linked() const noexcept { return linked_; }

private:
  int walk(const char *path) noexcept;
  int follow(const char *name, const struct stat &folder, char *rest) noexcept;
  int step(int folder) noexcept;
  int open_as_it_is() noexcept;
  int open_beside() noexcept;
  int name_beside(int (*attempt)(OutputFile &, const char *)) noexcept;
  int take_name() noexcept;
  void close_all() noexcept;

  int folder_ = -1; // O_PATH
  int file_ = -1;
  Way way_ = Way::replace;
  bool exists_ = false;
  bool linked_ = false;
  bool in_proc_ = false;
  struct stat status_{};
  struct stat folder_status_{};
  char name_[NAME_MAX + 1] = ""; // in the folder; never a link, but of /proc
  char temporary_[32] = "";      // in the folder; empty: it has no name
};

} // namespace tandem
