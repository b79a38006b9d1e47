// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contents of files.
#include "machine/proxy/tree.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tandem::machine::proxy {
namespace {

// The largest file in the overlay, which is memory of the host.
constexpr std::uint64_t kLargest = std::uint64_t{1} << 30;

} // namespace

Node::~Node() {
  if (descriptor_ >= 0)
    ::close(descriptor_);
}

Errno Node::open_host(bool to_write) {
  to_write = to_write && writable;
  if (descriptor_ >= 0 && (descriptor_writes_ || !to_write))
    return 0;
  const int file = ::open(host.c_str(), (to_write ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  if (file < 0)
    return -errno;
  if (descriptor_ >= 0)
    ::close(descriptor_);
  descriptor_ = file;
  descriptor_writes_ = to_write;
  return 0;
}

std::uint64_t Node::size() const {
  if (contents_)
    return contents_->size();
  struct stat about{};
  if (descriptor_ >= 0 && ::fstat(descriptor_, &about) == 0)
    return static_cast<std::uint64_t>(about.st_size);
  return host_size_;
}

std::int64_t Node::read_bytes(std::uint64_t offset, std::span<std::byte> to) {
  if (contents_) {
    if (offset >= contents_->size())
      return 0;
    const std::size_t count = std::min<std::size_t>(to.size(), contents_->size() - offset);
    std::memcpy(to.data(), contents_->data() + offset, count);
    return static_cast<std::int64_t>(count);
  }
  if (const Errno error = open_host(false); error != 0)
    return error;
  std::size_t done = 0;
  while (done < to.size()) {
    const ssize_t count =
        ::pread(descriptor_, to.data() + done, to.size() - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return done > 0 ? static_cast<std::int64_t>(done) : -errno;
    if (count == 0)
      break;
    done += static_cast<std::size_t>(count);
  }
  return static_cast<std::int64_t>(done);
}

// The host's file becomes one in memory.
Errno Node::copy_up() {
  if (contents_ || writable)
    return 0;
  std::string bytes(size(), '\0');
  const std::int64_t count = read_bytes(0, std::as_writable_bytes(std::span(bytes)));
  if (count < 0)
    return static_cast<Errno>(count);
  bytes.resize(static_cast<std::size_t>(count));
  contents_ = std::move(bytes);
  return 0;
}

std::int64_t Node::write_bytes(std::uint64_t offset, std::span<const std::byte> from) {
  if (writable && !contents_) {
    if (const Errno error = open_host(true); error != 0)
      return error;
    std::size_t done = 0;
    while (done < from.size()) {
      const ssize_t count = ::pwrite(descriptor_, from.data() + done, from.size() - done,
                                     static_cast<off_t>(offset + done));
      if (count < 0 && errno == EINTR)
        continue;
      if (count < 0)
        return done > 0 ? static_cast<std::int64_t>(done) : -errno;
      done += static_cast<std::size_t>(count);
    }
    return static_cast<std::int64_t>(done);
  }
  if (offset > kLargest || from.size() > kLargest - offset)
    return -EFBIG;
  if (const Errno error = copy_up(); error != 0)
    return error;
  if (offset + from.size() > contents_->size())
    contents_->resize(offset + from.size());
  std::memcpy(contents_->data() + offset, from.data(), from.size());
  return static_cast<std::int64_t>(from.size());
}

Errno Node::truncate(std::uint64_t size) {
  if (writable && !contents_) {
    if (const Errno error = open_host(true); error != 0)
      return error;
    return ::ftruncate(descriptor_, static_cast<off_t>(size)) == 0 ? 0 : -errno;
  }
  if (size > kLargest)
    return -EFBIG;
  if (size == 0 && !contents_) {
    contents_.emplace();
    return 0;
  }
  if (const Errno error = copy_up(); error != 0)
    return error;
  contents_->resize(size);
  return 0;
}

void Node::read_at(std::uint64_t offset, std::span<std::byte> to) { read_bytes(offset, to); }
void Node::write_at(std::uint64_t offset, std::span<const std::byte> from) {
  write_bytes(offset, from);
}

} // namespace tandem::machine::proxy
