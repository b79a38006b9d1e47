// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/proxy/files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tandem::machine::proxy {
namespace {

constexpr std::size_t kPipe = 65'536;

} // namespace

std::int64_t OpenFile::read(std::span<std::byte> /*to*/) { return -EINVAL; }
std::int64_t OpenFile::write(std::span<const std::byte> /*from*/) { return -EINVAL; }
std::int64_t OpenFile::read_at(std::uint64_t /*offset*/, std::span<std::byte> /*to*/) {
  return -ESPIPE;
}
std::int64_t OpenFile::write_at(std::uint64_t /*offset*/, std::span<const std::byte> /*from*/) {
  return -ESPIPE;
}
std::int64_t OpenFile::seek(std::int64_t /*offset*/, int /*whence*/) { return -ESPIPE; }
std::uint32_t OpenFile::mode() const { return 0600; }

// --- regular files ---------------------------------------------------------------------------

RegularFile::RegularFile(NodePointer node, std::function<std::int64_t()> clock)
    : node_(std::move(node)), clock_(std::move(clock)) {
  if (node_->generate)
    node_->set_contents(node_->generate());
}

std::int64_t RegularFile::read(std::span<std::byte> to) {
  const std::int64_t count = node_->read_bytes(offset_, to);
  if (count > 0)
    offset_ += static_cast<std::uint64_t>(count);
  return count;
}

std::int64_t RegularFile::write(std::span<const std::byte> from) {
  if ((flags & O_APPEND) != 0)
    offset_ = node_->size();
  const std::int64_t count = write_at(offset_, from);
  if (count > 0)
    offset_ += static_cast<std::uint64_t>(count);
  return count;
}

std::int64_t RegularFile::read_at(std::uint64_t offset, std::span<std::byte> to) {
  return node_->read_bytes(offset, to);
}

std::int64_t RegularFile::write_at(std::uint64_t offset, std::span<const std::byte> from) {
  node_->modified_ns = clock_();
  return node_->write_bytes(offset, from);
}

std::int64_t RegularFile::seek(std::int64_t offset, int whence) {
  std::int64_t base = 0;
  if (whence == SEEK_CUR)
    base = static_cast<std::int64_t>(offset_);
  else if (whence == SEEK_END)
    base = static_cast<std::int64_t>(node_->size());
  else if (whence != SEEK_SET)
    return -EINVAL;
  std::int64_t at = 0;
  if (__builtin_add_overflow(base, offset, &at) || at < 0)
    return -EINVAL;
  offset_ = static_cast<std::uint64_t>(at);
  return at;
}

short RegularFile::ready() { return POLLIN | POLLOUT; }

// --- folders ---------------------------------------------------------------------------------

std::int64_t FolderFile::read(std::span<std::byte> /*to*/) { return -EISDIR; }
short FolderFile::ready() { return POLLIN; }

std::int64_t FolderFile::seek(std::int64_t offset, int whence) {
  if (whence != SEEK_SET || offset < 0)
    return -EINVAL;
  if (offset == 0)
    list_.reset(); // rewinding looks again
  position_ = static_cast<std::size_t>(offset);
  return offset;
}

void FolderFile::list() {
  const auto type = [](const Node &node) -> std::uint8_t {
    switch (node.kind) {
    case Node::Kind::file:
      return 8; // DT_REG
    case Node::Kind::folder:
      return 4; // DT_DIR
    case Node::Kind::link:
      return 10; // DT_LNK
    default:
      return 2; // DT_CHR
    }
  };
  list_.emplace();
  const NodePointer up = node_->parent.lock();
  list_->push_back({".", node_->number, 4});
  list_->push_back({"..", up ? up->number : node_->number, 4});
  for (const auto &[name, node] : tree_->list(node_))
    list_->push_back({name, node->number, type(*node)});
}

std::int64_t FolderFile::entries(std::span<std::byte> to) {
  // struct linux_dirent64: number, where the next one is, size, type, name.
  constexpr std::size_t kHeader = 19;
  if (!list_)
    list();
  std::size_t done = 0;
  while (position_ < list_->size()) {
    const Entry &entry = (*list_)[position_];
    const std::size_t size = (kHeader + entry.name.size() + 1 + 7) / 8 * 8;
    if (size > to.size() - done)
      break;
    std::byte *place = to.data() + done;
    const std::uint64_t next = position_ + 1;
    const auto size16 = static_cast<std::uint16_t>(size);
    std::memset(place, 0, size);
    std::memcpy(place, &entry.number, 8);
    std::memcpy(place + 8, &next, 8);
    std::memcpy(place + 16, &size16, 2);
    std::memcpy(place + 18, &entry.type, 1);
    std::memcpy(place + kHeader, entry.name.data(), entry.name.size());
    done += size;
    ++position_;
  }
  return done == 0 && position_ < list_->size() ? -EINVAL : static_cast<std::int64_t>(done);
}

// --- devices ---------------------------------------------------------------------------------

std::int64_t DeviceFile::read(std::span<std::byte> to) {
  switch (node_->kind) {
  case Node::Kind::null:
    return 0;
  case Node::Kind::random:
    for (std::byte &byte : to)
      byte = static_cast<std::byte>(random_());
    break;
  default:
    std::ranges::fill(to, std::byte{0});
    break;
  }
  return static_cast<std::int64_t>(to.size());
}

std::int64_t DeviceFile::write(std::span<const std::byte> from) {
  return node_->kind == Node::Kind::full ? -ENOSPC : static_cast<std::int64_t>(from.size());
}

short DeviceFile::ready() { return POLLIN | POLLOUT; }

// --- standard streams ------------------------------------------------------------------------

StreamFile::StreamFile(int stream) : stream_(stream), mode_(S_IFIFO | 0600) {
  struct stat about{};
  if (::fstat(stream, &about) == 0)
    mode_ = about.st_mode;
  terminal_ = ::isatty(stream) == 1;
  seekable_ = S_ISREG(mode_);
}

std::int64_t StreamFile::read(std::span<std::byte> to) {
  if (!seekable_)
    return read_line(to);
  std::size_t done = 0;
  while (done < to.size()) {
    const ssize_t count = ::read(stream_, to.data() + done, to.size() - done);
    if (count < 0 && errno == EINTR)
      return done > 0 ? static_cast<std::int64_t>(done) : kNotYet;
    if (count < 0)
      return -errno;
    if (count == 0)
      break;
    done += static_cast<std::size_t>(count);
  }
  return static_cast<std::int64_t>(done);
}

std::int64_t StreamFile::read_line(std::span<std::byte> to) {
  const auto newline = [this] { return std::ranges::find(ahead_, std::byte{'\n'}); };
  while (!ended_ && ahead_.size() < to.size() && newline() == ahead_.end()) {
    std::array<std::byte, 4096> part;
    const ssize_t count = ::read(stream_, part.data(), part.size());
    if (count < 0 && errno == EINTR)
      return kNotYet; // a signal asks the machine to end
    if (count < 0)
      return -errno;
    if (count == 0) {
      ended_ = true;
      break;
    }
    ahead_.insert(ahead_.end(), part.begin(), part.begin() + count);
  }
  const auto line = newline();
  const std::size_t available =
      line == ahead_.end() ? ahead_.size() : static_cast<std::size_t>(line - ahead_.begin()) + 1;
  const std::size_t count = std::min(available, to.size());
  std::copy_n(ahead_.begin(), count, to.begin());
  ahead_.erase(ahead_.begin(), ahead_.begin() + static_cast<std::ptrdiff_t>(count));
  if (count == 0)
    ended_ = !terminal_; // a terminal's end of file is one read's
  return static_cast<std::int64_t>(count);
}

std::int64_t StreamFile::write(std::span<const std::byte> from) {
  std::size_t done = 0;
  while (done < from.size()) {
    const ssize_t count = ::write(stream_, from.data() + done, from.size() - done);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) {
      if (errno == EAGAIN) {
        pollfd wait{.fd = stream_, .events = POLLOUT, .revents = 0};
        ::poll(&wait, 1, -1);
      }
      continue;
    }
    if (count < 0)
      return done > 0 ? static_cast<std::int64_t>(done) : -errno;
    done += static_cast<std::size_t>(count);
  }
  return static_cast<std::int64_t>(done);
}

std::int64_t StreamFile::seek(std::int64_t offset, int whence) {
  if (!seekable_ || whence > SEEK_END)
    return seekable_ ? -EINVAL : -ESPIPE;
  const off_t at = ::lseek(stream_, offset, whence);
  return at < 0 ? -errno : at;
}

// Always: a read waits for the host, in which time the machine's does not pass.
short StreamFile::ready() { return stream_ == 0 ? POLLIN : POLLOUT; }

// --- pipes -----------------------------------------------------------------------------------

PipeEnd::PipeEnd(std::shared_ptr<Pipe> pipe, bool writes)
    : pipe_(std::move(pipe)), writes_(writes) {
  ++(writes_ ? pipe_->writers : pipe_->readers);
}
PipeEnd::~PipeEnd() { --(writes_ ? pipe_->writers : pipe_->readers); }

std::uint32_t PipeEnd::mode() const { return S_IFIFO | 0600; }

std::int64_t PipeEnd::read(std::span<std::byte> to) {
  if (writes_)
    return -EBADF;
  if (pipe_->bytes.empty() && !to.empty())
    return pipe_->writers == 0 ? 0 : kNotYet;
  const std::size_t count = std::min(to.size(), pipe_->bytes.size());
  std::copy_n(pipe_->bytes.begin(), count, to.begin());
  pipe_->bytes.erase(pipe_->bytes.begin(),
                     pipe_->bytes.begin() + static_cast<std::ptrdiff_t>(count));
  return static_cast<std::int64_t>(count);
}

// What is no longer than PIPE_BUF goes whole; of more, what fits.
std::int64_t PipeEnd::write(std::span<const std::byte> from) {
  if (!writes_)
    return -EBADF;
  if (pipe_->readers == 0)
    return -EPIPE;
  const std::size_t room = kPipe - pipe_->bytes.size();
  if (room == 0 || (from.size() <= 4096 && room < from.size()))
    return from.empty() ? 0 : kNotYet;
  const std::size_t count = std::min(from.size(), room);
  pipe_->bytes.insert(pipe_->bytes.end(), from.begin(),
                      from.begin() + static_cast<std::ptrdiff_t>(count));
  return static_cast<std::int64_t>(count);
}

short PipeEnd::ready() {
  if (writes_)
    return static_cast<short>((pipe_->bytes.size() + 4096 <= kPipe ? POLLOUT : 0) |
                              (pipe_->readers == 0 ? POLLERR : 0));
  return static_cast<short>((pipe_->bytes.empty() ? 0 : POLLIN) |
                            (pipe_->writers == 0 ? POLLHUP : 0));
}

// --- eventfd ---------------------------------------------------------------------------------

std::int64_t EventFile::read(std::span<std::byte> to) {
  if (to.size() < 8)
    return -EINVAL;
  if (count_ == 0)
    return kNotYet;
  const std::uint64_t value = semaphore_ ? 1 : count_;
  count_ -= value;
  std::memcpy(to.data(), &value, 8);
  return 8;
}

std::int64_t EventFile::write(std::span<const std::byte> from) {
  std::uint64_t value = 0;
  if (from.size() < 8)
    return -EINVAL;
  std::memcpy(&value, from.data(), 8);
  if (value == ~std::uint64_t{0})
    return -EINVAL;
  if (value > ~std::uint64_t{0} - 1 - count_)
    return kNotYet;
  count_ += value;
  return 8;
}

short EventFile::ready() { return static_cast<short>(POLLOUT | (count_ > 0 ? POLLIN : 0)); }

// --- descriptors -----------------------------------------------------------------------------

FilePointer Descriptors::get(int descriptor) const {
  return descriptor >= 0 && static_cast<std::size_t>(descriptor) < slots_.size()
             ? slots_[static_cast<std::size_t>(descriptor)].file
             : nullptr;
}

int Descriptors::add(FilePointer file, bool close_on_exec, int from) {
  for (int descriptor = std::max(from, 0); descriptor < kLimit; ++descriptor) {
    if (get(descriptor) != nullptr)
      continue;
    put(descriptor, std::move(file), close_on_exec);
    return descriptor;
  }
  return -EMFILE;
}

void Descriptors::put(int descriptor, FilePointer file, bool close_on_exec) {
  const auto index = static_cast<std::size_t>(descriptor);
  if (index >= slots_.size())
    slots_.resize(index + 1);
  slots_[index] = {.file = std::move(file), .close_on_exec = close_on_exec};
}

bool Descriptors::close(int descriptor) {
  if (get(descriptor) == nullptr)
    return false;
  slots_[static_cast<std::size_t>(descriptor)] = {};
  return true;
}

bool Descriptors::close_on_exec(int descriptor) const {
  return get(descriptor) != nullptr && slots_[static_cast<std::size_t>(descriptor)].close_on_exec;
}

void Descriptors::set_close_on_exec(int descriptor, bool on) {
  if (get(descriptor) != nullptr)
    slots_[static_cast<std::size_t>(descriptor)].close_on_exec = on;
}

std::vector<int> Descriptors::open() const {
  std::vector<int> found;
  for (std::size_t index = 0; index < slots_.size(); ++index)
    if (slots_[index].file != nullptr)
      found.push_back(static_cast<int>(index));
  return found;
}

} // namespace tandem::machine::proxy
