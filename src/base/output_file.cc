// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/output_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/random.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace tandem {
namespace {

constexpr int kMostLinks = 40; // as Linux
constexpr int kMostNames = 16; // tried for a file beside

// Whether everybody may put something into the folder, and take nothing away but her own.
bool is_everybodys(const struct stat &folder) noexcept {
  return (folder.st_mode & S_ISVTX) != 0 && (folder.st_mode & S_IWOTH) != 0;
}

// Whether `entry` of `folder` was put there by somebody else than us or the folder's owner.
bool is_foreign(const struct stat &folder, const struct stat &entry) noexcept {
  return is_everybodys(folder) && entry.st_uid != ::geteuid() && entry.st_uid != folder.st_uid;
}

bool is_proc(int folder) noexcept {
  struct statfs system{};
  return ::fstatfs(folder, &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

int error_of(int result) noexcept { return result < 0 ? errno : 0; }

void close_one(int &file) noexcept {
  if (file >= 0)
    ::close(file);
  file = -1;
}

// The first name of `rest`, which is moved to what follows; false: there is none, or (`error`) it
// is too long.
bool take_component(const char *&rest, char (&name)[NAME_MAX + 1], int &error) noexcept {
  while (*rest == '/')
    ++rest;
  const std::size_t length = std::strcspn(rest, "/");
  if (length == 0)
    return false;
  if (length > NAME_MAX) {
    error = ENAMETOOLONG;
    return false;
  }
  std::memcpy(name, rest, length);
  name[length] = '\0';
  rest += length;
  return true;
}

} // namespace

const char *output_error(int error) noexcept {
  if (error == kForeignLink)
    return "a link of another user, in a folder where everybody may put one, leads elsewhere";
  if (error == kForeignFile)
    return "is another user's, in a folder where everybody may put one";
  return std::strerror(error);
}

SignalsHeld::SignalsHeld(std::initializer_list<int> signals) noexcept {
  sigset_t held;
  sigemptyset(&held);
  sigemptyset(&own_);
  for (const int signal : signals) {
    sigaddset(&held, signal);
    if (signal == SIGPIPE || signal == SIGXFSZ)
      sigaddset(&own_, signal);
  }
  ::pthread_sigmask(SIG_BLOCK, &held, &before_);
  for (const int signal : signals) // held by the program already: hers, not ours
    if (sigismember(&before_, signal) == 1)
      sigdelset(&own_, signal);
}

SignalsHeld::~SignalsHeld() {
  const int saved = errno;
  const timespec at_once{};
  while (::sigtimedwait(&own_, nullptr, &at_once) > 0) {
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = saved;
}

OutputFile::~OutputFile() { close_all(); }

void OutputFile::close_all() noexcept {
  const int saved = errno;
  if (temporary_[0] != '\0')
    ::unlinkat(folder_, temporary_, 0);
  temporary_[0] = '\0';
  close_one(file_);
  close_one(folder_);
  errno = saved;
}

// Makes `folder` the one that the way has come to.
int OutputFile::step(int folder) noexcept {
  if (folder < 0)
    return errno;
  close_one(folder_);
  folder_ = folder;
  in_proc_ = is_proc(folder);
  return 0;
}

// Puts what the link `name` leads to before `rest`.
int OutputFile::follow(const char *name, const struct stat &folder, char *rest) noexcept {
  // Opened first, so that what is looked at is what is read.
  const int link = ::openat(folder_, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (link < 0)
    return errno;
  struct stat status{};
  char target[PATH_MAX];
  int error = error_of(::fstat(link, &status));
  ssize_t length = 0;
  if (error == 0 && !S_ISLNK(status.st_mode))
    error = EAGAIN; // it was one a moment ago
  else if (error == 0 && is_foreign(folder, status))
    error = kForeignLink;
  else if (error == 0 && (length = ::readlinkat(link, "", target, sizeof target)) < 0)
    error = errno;
  ::close(link);
  if (error != 0)
    return error;
  const std::size_t left = std::strlen(rest);
  if (static_cast<std::size_t>(length) + left + 1 > PATH_MAX)
    return ENAMETOOLONG;
  std::memmove(rest + length, rest, left + 1);
  std::memcpy(rest, target, static_cast<std::size_t>(length));
  linked_ = true;
  return *rest == '/' ? step(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)) : 0;
}

// Leaves the folder in folder_ and the name in it in name_.
int OutputFile::walk(const char *path) noexcept {
  char text[PATH_MAX];
  if (std::strlen(path) >= sizeof text)
    return ENAMETOOLONG;
  std::strcpy(text, path);
  int error = step(::open(*path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  const char *rest = text;
  for (int links = 0; error == 0;) {
    char name[NAME_MAX + 1];
    if (!take_component(rest, name, error))
      return error != 0 ? error : *path == '\0' ? ENOENT : EISDIR;
    const bool last = *rest == '\0';
    struct stat status{};
    struct stat folder{};
    if (::fstat(folder_, &folder) != 0)
      return errno;
    if (::fstatat(folder_, name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno != ENOENT || !last)
        return errno;
    } else if (S_ISLNK(status.st_mode) && !(in_proc_ && last)) {
      if (++links > kMostLinks)
        return ELOOP;
      if (in_proc_) { // whose links are the kernel's, and no text that leads there
        error = step(::openat(folder_, name, O_PATH | O_DIRECTORY | O_CLOEXEC));
        continue;
      }
      char more[PATH_MAX];
      std::strcpy(more, rest);
      error = follow(name, folder, more);
      std::strcpy(text, more);
      rest = text;
      continue;
    }
    if (last) {
      std::strcpy(name_, name);
      folder_status_ = folder;
      return std::strcmp(name, "..") == 0 || std::strcmp(name, ".") == 0 ? EISDIR : 0;
    }
    error = step(::openat(folder_, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  }
  return error;
}

int OutputFile::find(const char *path) noexcept {
  close_all();
  linked_ = false;
  if (const int error = walk(path); error != 0)
    return error;
  way_ = Way::replace;
  exists_ = ::fstatat(folder_, name_, &status_, in_proc_ ? 0 : AT_SYMLINK_NOFOLLOW) == 0;
  if (!exists_)
    return errno == ENOENT ? 0 : errno;
  if (S_ISDIR(status_.st_mode))
    return EISDIR;
  if (in_proc_) {
    way_ = Way::append;
    return 0;
  }
  if (S_ISCHR(status_.st_mode) || S_ISFIFO(status_.st_mode))
    way_ = Way::in_place;
  else if (!S_ISREG(status_.st_mode))
    return EINVAL;
  if (way_ == Way::in_place)
    return is_foreign(folder_status_, status_) ? kForeignFile : 0;
  return error_of(::faccessat(folder_, name_, W_OK, AT_EACCESS));
}

int OutputFile::open_as_it_is() noexcept {
  const int follows = way_ == Way::append ? O_APPEND : O_NOFOLLOW;
  // A pipe that nobody reads is an error at once.
  file_ = ::openat(folder_, name_, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | follows);
  if (file_ < 0)
    return errno;
  struct stat now{};
  if (::fstat(file_, &now) != 0)
    return errno;
  if (way_ == Way::in_place && is_foreign(folder_status_, now))
    return kForeignFile;
  if (way_ == Way::in_place && S_ISREG(now.st_mode) && ::ftruncate(file_, 0) != 0)
    return errno;
  return error_of(::fcntl(file_, F_SETFL, ::fcntl(file_, F_GETFL) & ~O_NONBLOCK));
}

// Calls `attempt` with names until one is free; the name is then in temporary_.
int OutputFile::name_beside(int (*attempt)(OutputFile &, const char *)) noexcept {
  for (int round = 0; round < kMostNames; ++round) {
    std::uint64_t number = 0;
    if (::getrandom(&number, sizeof number, 0) != sizeof number)
      return errno;
    char name[sizeof temporary_];
    std::snprintf(name, sizeof name, ".%016llx.part", static_cast<unsigned long long>(number));
    const int error = attempt(*this, name);
    if (error == EEXIST)
      continue;
    if (error == 0)
      std::strcpy(temporary_, name);
    return error;
  }
  return EEXIST;
}

int OutputFile::open_beside() noexcept {
  // What has no name gets one through /proc.
  file_ = ::access("/proc/thread-self/fd", X_OK) == 0
              ? ::openat(folder_, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666)
              : -1;
  if (file_ >= 0)
    return 0;
  return name_beside([](OutputFile &self, const char *name) noexcept {
    self.file_ =
        ::openat(self.folder_, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    return error_of(self.file_);
  });
}

int OutputFile::probe() noexcept {
  if (way_ != Way::replace)
    return 0;
  const int error = open_beside();
  if (temporary_[0] != '\0')
    ::unlinkat(folder_, temporary_, 0);
  temporary_[0] = '\0';
  close_one(file_);
  return error;
}

int OutputFile::begin(bool overwrite) noexcept {
  if (way_ != Way::replace)
    return open_as_it_is();
  const int error = open_beside();
  if (!overwrite || !exists_ || (error != EACCES && error != EPERM && error != EROFS))
    return error;
  way_ = Way::in_place; // where no file can be made beside it
  return open_as_it_is();
}

int OutputFile::append(int &error) noexcept {
  const int follows = in_proc_ ? 0 : O_NOFOLLOW | O_CREAT;
  int file = ::openat(folder_, name_, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | follows, 0666);
  struct stat now{};
  error = error_of(file < 0 ? file : ::fstat(file, &now));
  if (error == 0 && !in_proc_ && is_foreign(folder_status_, now))
    error = kForeignFile;
  if (error != 0)
    close_one(file);
  return file;
}

// Gives the file without a name one: its own where nothing is there, else one beside it.
int OutputFile::take_name() noexcept {
  const auto link = [](OutputFile &self, const char *name) noexcept {
    char number[32];
    std::snprintf(number, sizeof number, "/proc/thread-self/fd/%d", self.file_);
    return error_of(::linkat(AT_FDCWD, number, self.folder_, name, AT_SYMLINK_FOLLOW));
  };
  const int error = link(*this, name_);
  return error == EEXIST ? name_beside(link) : error;
}

int OutputFile::commit() noexcept {
  // A file system that writes later says so at a close.
  int error = error_of(::close(::dup(file_)));
  if (error == 0 && way_ == Way::replace) {
    if (temporary_[0] == '\0')
      error = take_name();
    if (error == 0 && temporary_[0] != '\0')
      error = error_of(::renameat(folder_, temporary_, folder_, name_));
    if (error == 0)
      temporary_[0] = '\0';
  }
  close_all();
  return error;
}

} // namespace tandem
