// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// System calls about open files.
#include "machine/proxy/calls.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/select.h>

namespace tandem::machine::proxy {
namespace {

FilePointer file_of(Call &call, std::uint64_t descriptor) {
  return call.kernel.descriptors().get(static_cast<std::int32_t>(descriptor));
}

bool reads(const OpenFile &file) { return (file.flags & O_ACCMODE) != O_WRONLY; }
bool writes(const OpenFile &file) { return (file.flags & O_ACCMODE) != O_RDONLY; }

struct Part {
  std::uint64_t address;
  std::uint64_t size;
};

// struct iovec, or one part. None: not readable, or too many.
std::optional<std::vector<Part>> parts_of(Call &call, std::uint64_t address, std::uint64_t count) {
  if (count > IOV_MAX)
    return std::nullopt;
  std::vector<Part> parts(count);
  if (!call.kernel.space().read(address, std::as_writable_bytes(std::span(parts))))
    return std::nullopt;
  return parts;
}

// Moves bytes through a buffer of the host: `move(bytes)` reads or writes, and gives a count. Stops
// at the first part that is not done whole. A part that was done counts even if the next one fails.
template <typename Move> std::int64_t transfer(const std::vector<Part> &parts, Move move) {
  std::int64_t done = 0;
  for (const Part &part : parts) {
    for (std::uint64_t place = 0; place < part.size;) {
      const std::uint64_t size = std::min<std::uint64_t>(part.size - place, kCopy);
      const std::int64_t count = move(part.address + place, size, static_cast<std::uint64_t>(done));
      if (count < 0)
        return done > 0 ? done : count;
      done += count;
      place += static_cast<std::uint64_t>(count);
      if (static_cast<std::uint64_t>(count) < size)
        return done;
    }
  }
  return done;
}

// `offset` where the file's own is not used.
std::int64_t read_parts(Call &call, OpenFile &file, const std::vector<Part> &parts,
                        std::optional<std::uint64_t> offset) {
  std::vector<std::byte> buffer;
  return transfer(parts, [&](std::uint64_t address, std::uint64_t size, std::uint64_t done) {
    buffer.resize(size);
    const std::int64_t count = offset ? file.read_at(*offset + done, buffer)
                               : done > 0 && file.node() == nullptr
                                   ? 0 // what has no place gives what it has at once
                                   : file.read(buffer);
    if (count > 0 && !call.kernel.space().write(
                         address, std::span(buffer).first(static_cast<std::size_t>(count))))
      return static_cast<std::int64_t>(-EFAULT);
    return count;
  });
}

std::int64_t write_parts(Call &call, OpenFile &file, const std::vector<Part> &parts,
                         std::optional<std::uint64_t> offset) {
  std::vector<std::byte> buffer;
  return transfer(parts, [&](std::uint64_t address, std::uint64_t size, std::uint64_t done) {
    buffer.resize(size);
    if (!call.kernel.space().read(address, buffer))
      return static_cast<std::int64_t>(-EFAULT);
    return offset ? file.write_at(*offset + done, buffer) : file.write(buffer);
  });
}

// What a transfer without an offset comes to: waits, wakes others, SIGPIPE.
std::int64_t settle(Call &call, const OpenFile &file, std::int64_t result) {
  if (result == kNotYet) {
    if ((file.flags & O_NONBLOCK) != 0)
      return -EAGAIN;
    return call.kernel.wait_for_change(call, kNever, true);
  }
  if (result == -EPIPE)
    call.kernel.send(&call.thread, {.signal = SIGPIPE, .code = SI_USER});
  if (result > 0)
    call.kernel.changed();
  return result;
}

std::int64_t read_at(Call &call, const std::optional<std::vector<Part>> &parts,
                     std::optional<std::uint64_t> offset) {
  const FilePointer file = file_of(call, call.a[0]);
  if (file == nullptr || !reads(*file))
    return -EBADF;
  if (!parts)
    return -EINVAL;
  if (offset && static_cast<std::int64_t>(*offset) < 0)
    return -EINVAL;
  return settle(call, *file, read_parts(call, *file, *parts, offset));
}

std::int64_t write_at(Call &call, const std::optional<std::vector<Part>> &parts,
                      std::optional<std::uint64_t> offset) {
  const FilePointer file = file_of(call, call.a[0]);
  if (file == nullptr || !writes(*file))
    return -EBADF;
  if (!parts)
    return -EINVAL;
  if (offset && static_cast<std::int64_t>(*offset) < 0)
    return -EINVAL;
  return settle(call, *file, write_parts(call, *file, *parts, offset));
}

std::vector<Part> one_part(Call &call) { return {{.address = call.a[1], .size = call.a[2]}}; }

// preadv2 with the offset -1 uses the file's own.
std::optional<std::uint64_t> offset_or_own(std::uint64_t offset) {
  return offset == ~std::uint64_t{0} ? std::nullopt : std::optional(offset);
}

} // namespace

std::int64_t call_read(Call &call) { return read_at(call, one_part(call), std::nullopt); }
std::int64_t call_write(Call &call) { return write_at(call, one_part(call), std::nullopt); }
std::int64_t call_pread64(Call &call) { return read_at(call, one_part(call), call.a[3]); }
std::int64_t call_pwrite64(Call &call) { return write_at(call, one_part(call), call.a[3]); }
std::int64_t call_readv(Call &call) {
  return read_at(call, parts_of(call, call.a[1], call.a[2]), std::nullopt);
}
std::int64_t call_writev(Call &call) {
  return write_at(call, parts_of(call, call.a[1], call.a[2]), std::nullopt);
}
std::int64_t call_preadv(Call &call) {
  return read_at(call, parts_of(call, call.a[1], call.a[2]), call.a[3]);
}
std::int64_t call_pwritev(Call &call) {
  return write_at(call, parts_of(call, call.a[1], call.a[2]), call.a[3]);
}
std::int64_t call_preadv2(Call &call) {
  return read_at(call, parts_of(call, call.a[1], call.a[2]), offset_or_own(call.a[3]));
}
std::int64_t call_pwritev2(Call &call) {
  return write_at(call, parts_of(call, call.a[1], call.a[2]), offset_or_own(call.a[3]));
}

std::int64_t call_sendfile(Call &call) {
  const FilePointer to = file_of(call, call.a[0]);
  const FilePointer from = file_of(call, call.a[1]);
  if (to == nullptr || from == nullptr || !writes(*to) || !reads(*from))
    return -EBADF;
  if (from->node() == nullptr || from->node()->kind != Node::Kind::file)
    return -EINVAL;
  std::uint64_t offset = 0;
  const bool own = call.a[2] == 0;
  if (!own && !call.kernel.space().get(call.a[2], offset))
    return -EFAULT;
  if (own)
    offset = static_cast<std::uint64_t>(from->seek(0, SEEK_CUR));
  std::vector<std::byte> buffer(std::min<std::uint64_t>(call.a[3], kCopy));
  const std::int64_t count = from->read_at(offset, buffer);
  if (count <= 0)
    return count;
  const std::int64_t written = to->write(std::span(buffer).first(static_cast<std::size_t>(count)));
  if (written > 0) {
    offset += static_cast<std::uint64_t>(written);
    if (own)
      from->seek(static_cast<std::int64_t>(offset), SEEK_SET);
    else if (!call.kernel.space().put(call.a[2], offset))
      return -EFAULT;
  }
  return settle(call, *to, written);
}

std::int64_t call_lseek(Call &call) {
  const FilePointer file = file_of(call, call.a[0]);
  if (file == nullptr)
    return -EBADF;
  return file->seek(static_cast<std::int64_t>(call.a[1]), static_cast<int>(call.a[2]));
}

std::int64_t call_close(Call &call) {
  if (!call.kernel.descriptors().close(static_cast<std::int32_t>(call.a[0])))
    return -EBADF;
  call.kernel.changed(); // the other end of a pipe may be waiting
  return 0;
}

std::int64_t call_dup(Call &call) {
  const FilePointer file = file_of(call, call.a[0]);
  return file == nullptr ? -EBADF : call.kernel.descriptors().add(file, false);
}

std::int64_t call_dup3(Call &call) {
  const FilePointer file = file_of(call, call.a[0]);
  const auto to = static_cast<std::int32_t>(call.a[1]);
  if (file == nullptr || to < 0 || to >= Descriptors::kLimit)
    return -EBADF;
  if (call.a[0] == call.a[1])
    return -EINVAL;
  call.kernel.descriptors().put(to, file, (call.a[2] & O_CLOEXEC) != 0);
  call.kernel.changed();
  return to;
}

std::int64_t call_fcntl(Call &call) {
  const FilePointer file = file_of(call, call.a[0]);
  const auto number = static_cast<std::int32_t>(call.a[0]);
  if (file == nullptr)
    return -EBADF;
  Descriptors &descriptors = call.kernel.descriptors();
  switch (call.a[1]) {
  case F_DUPFD:
  case F_DUPFD_CLOEXEC:
    if (call.a[2] >= Descriptors::kLimit)
      return -EINVAL;
    return descriptors.add(file, call.a[1] == F_DUPFD_CLOEXEC, static_cast<int>(call.a[2]));
  case F_GETFD:
    return descriptors.close_on_exec(number) ? FD_CLOEXEC : 0;
  case F_SETFD:
    descriptors.set_close_on_exec(number, (call.a[2] & FD_CLOEXEC) != 0);
    return 0;
  case F_GETFL:
    return file->flags;
  case F_SETFL: {
    constexpr int kChangeable = O_APPEND | O_NONBLOCK;
    file->flags = (file->flags & ~kChangeable) | (static_cast<int>(call.a[2]) & kChangeable);
    return 0;
  }
  case F_SETLK: // nobody else is there to lock
  case F_SETLKW:
  case F_OFD_SETLK:
  case F_OFD_SETLKW:
    return 0;
  case F_GETLK: {
    constexpr std::int16_t kUnlocked = F_UNLCK;
    return call.kernel.space().put(call.a[2], kUnlocked) ? 0 : -EFAULT;
  }
  case F_GETPIPE_SZ:
    return 65'536;
  default:
    return -EINVAL;
  }
}

std::int64_t call_ioctl(Call &call) {
  const FilePointer file = file_of(call, call.a[0]);
  if (file == nullptr)
    return -EBADF;
  const auto *stream = dynamic_cast<const StreamFile *>(file.get());
  if (call.a[1] == FIONREAD) {
    const auto *pipe = dynamic_cast<const PipeEnd *>(file.get());
    const auto count = static_cast<std::int32_t>(pipe == nullptr ? 0 : pipe->waiting());
    return call.kernel.space().put(call.a[2], count) ? 0 : -EFAULT;
  }
  if (stream == nullptr || !stream->terminal())
    return -ENOTTY;
  switch (call.a[1]) {
  case TCGETS: {
    constexpr std::array<std::uint8_t, 36> kPlain{};
    return call.kernel.space().put(call.a[2], kPlain) ? 0 : -EFAULT;
  }
  case TIOCGWINSZ: {
    constexpr std::array<std::uint16_t, 4> kSize = {24, 80, 0, 0};
    return call.kernel.space().put(call.a[2], kSize) ? 0 : -EFAULT;
  }
  default:
    return -ENOTTY;
  }
}

std::int64_t call_flock(Call &call) { return file_of(call, call.a[0]) == nullptr ? -EBADF : 0; }
std::int64_t call_sync(Call & /*call*/) { return 0; }
std::int64_t call_fsync(Call &call) { return file_of(call, call.a[0]) == nullptr ? -EBADF : 0; }
std::int64_t call_fdatasync(Call &call) { return call_fsync(call); }

std::int64_t call_ftruncate(Call &call) {
  const FilePointer file = file_of(call, call.a[0]);
  if (file == nullptr)
    return -EBADF;
  if (!writes(*file) || file->node() == nullptr || file->node()->kind != Node::Kind::file ||
      static_cast<std::int64_t>(call.a[1]) < 0)
    return -EINVAL;
  return file->node()->truncate(call.a[1]);
}

// Room that is asked for exists.
std::int64_t call_fallocate(Call &call) {
  const FilePointer file = file_of(call, call.a[0]);
  if (file == nullptr || !writes(*file))
    return -EBADF;
  const NodePointer node = file->node();
  if (node == nullptr || node->kind != Node::Kind::file)
    return -ENODEV;
  if (call.a[1] != 0)
    return -EOPNOTSUPP;
  const std::uint64_t end = call.a[2] + call.a[3];
  if (end < call.a[2])
    return -EINVAL;
  return end > node->size() ? node->truncate(end) : 0;
}

std::int64_t call_getdents64(Call &call) {
  const FilePointer file = file_of(call, call.a[0]);
  if (file == nullptr)
    return -EBADF;
  auto *folder = dynamic_cast<FolderFile *>(file.get());
  if (folder == nullptr)
    return -ENOTDIR;
  std::vector<std::byte> buffer(std::min<std::uint64_t>(call.a[2], kCopy));
  const std::int64_t count = folder->entries(buffer);
  if (count > 0 && !call.kernel.space().write(
                       call.a[1], std::span(buffer).first(static_cast<std::size_t>(count))))
    return -EFAULT;
  return count;
}

std::int64_t call_pipe2(Call &call) {
  const auto pipe = std::make_shared<Pipe>();
  const bool close_on_exec = (call.a[1] & O_CLOEXEC) != 0;
  const int nonblocking = static_cast<int>(call.a[1]) & O_NONBLOCK;
  Descriptors &descriptors = call.kernel.descriptors();
  const auto reader = std::make_shared<PipeEnd>(pipe, false);
  const auto writer = std::make_shared<PipeEnd>(pipe, true);
  reader->flags = O_RDONLY | nonblocking;
  writer->flags = O_WRONLY | nonblocking;
  const int from = descriptors.add(reader, close_on_exec);
  const int to = from < 0 ? from : descriptors.add(writer, close_on_exec);
  if (to < 0) {
    descriptors.close(from);
    return -EMFILE;
  }
  const std::array<std::int32_t, 2> both = {from, to};
  return call.kernel.space().put(call.a[0], both) ? 0 : -EFAULT;
}

std::int64_t call_eventfd2(Call &call) {
  const auto file =
      std::make_shared<EventFile>(call.a[0] & 0xFFFF'FFFF, (call.a[1] & EFD_SEMAPHORE) != 0);
  file->flags = O_RDWR | (static_cast<int>(call.a[1]) & O_NONBLOCK);
  return call.kernel.descriptors().add(file, (call.a[1] & EFD_CLOEXEC) != 0);
}

namespace {

// The deadline of a call with a timeout, fixed when it is first made. False: no time.
bool set_deadline(Call &call, std::uint64_t timeout) {
  if (call.thread.call_deadline)
    return true;
  call.thread.call_deadline = kNever;
  if (timeout == 0)
    return true;
  const std::optional<std::uint64_t> time = read_time(call, timeout);
  if (time)
    call.thread.call_deadline = deadline_in(call, *time);
  return time.has_value();
}

// While the call waits other signals may be let in.
bool set_mask(Call &call, std::uint64_t address) {
  if (address == 0 || call.thread.mask_to_restore)
    return true;
  std::uint64_t mask = 0;
  if (!call.kernel.space().get(address, mask))
    return false;
  call.thread.mask_to_restore = call.thread.signal_mask;
  call.thread.signal_mask = mask & ~(signal_bit(SIGKILL) | signal_bit(SIGSTOP));
  return true;
}

// Of a call that found nothing ready.
std::int64_t wait_or_give_up(Call &call) {
  if (call.kernel.signals().due(call.thread))
    return -EINTR;
  if (*call.thread.call_deadline <= call.kernel.now())
    return 0;
  return call.kernel.wait_for_change(call, *call.thread.call_deadline, false);
}

} // namespace

std::int64_t call_ppoll(Call &call) {
  const std::uint64_t count = call.a[1];
  if (count > Descriptors::kLimit)
    return -EINVAL;
  std::vector<pollfd> polls(count);
  if (!call.kernel.space().read(call.a[0], std::as_writable_bytes(std::span(polls))))
    return -EFAULT;
  if (!set_deadline(call, call.a[2]))
    return -EINVAL;
  if (!set_mask(call, call.a[3]))
    return -EFAULT;
  std::int64_t ready = 0;
  for (pollfd &poll : polls) {
    poll.revents = 0;
    if (poll.fd < 0)
      continue;
    const FilePointer file = call.kernel.descriptors().get(poll.fd);
    poll.revents = file == nullptr
                       ? static_cast<short>(POLLNVAL)
                       : static_cast<short>(file->ready() & (poll.events | POLLERR | POLLHUP));
    ready += poll.revents != 0 ? 1 : 0;
  }
  if (ready == 0)
    return wait_or_give_up(call);
  return call.kernel.space().write(call.a[0], std::as_bytes(std::span(polls))) ? ready : -EFAULT;
}

std::int64_t call_pselect6(Call &call) {
  const std::uint64_t count = call.a[0];
  if (count > Descriptors::kLimit)
    return -EINVAL;
  const std::size_t words = (count + 63) / 64;
  std::array<std::vector<std::uint64_t>, 3> wanted;
  std::array<std::vector<std::uint64_t>, 3> found;
  constexpr short kEvents[] = {POLLIN | POLLHUP, POLLOUT | POLLERR, 0};
  for (std::size_t set = 0; set < 3; ++set) {
    wanted[set].resize(words);
    found[set].resize(words);
    if (call.a[1 + set] != 0 &&
        !call.kernel.space().read(call.a[1 + set], std::as_writable_bytes(std::span(wanted[set]))))
      return -EFAULT;
  }
  if (!set_deadline(call, call.a[4]))
    return -EINVAL;
  std::array<std::uint64_t, 2> mask{}; // its address and size
  if (call.a[5] != 0 && (!call.kernel.space().get(call.a[5], mask) || !set_mask(call, mask[0])))
    return -EFAULT;
  std::int64_t ready = 0;
  for (std::uint64_t descriptor = 0; descriptor < count; ++descriptor) {
    const std::uint64_t bit = std::uint64_t{1} << descriptor % 64;
    for (std::size_t set = 0; set < 3; ++set) {
      if ((wanted[set][descriptor / 64] & bit) == 0)
        continue;
      const FilePointer file = file_of(call, descriptor);
      if (file == nullptr)
        return -EBADF;
      if ((file->ready() & kEvents[set]) == 0)
        continue;
      found[set][descriptor / 64] |= bit;
      ++ready;
    }
  }
  if (ready == 0) {
    const std::int64_t answer = wait_or_give_up(call);
    if (answer != 0)
      return answer;
  }
  for (std::size_t set = 0; set < 3; ++set)
    if (call.a[1 + set] != 0 &&
        !call.kernel.space().write(call.a[1 + set], std::as_bytes(std::span(found[set]))))
      return -EFAULT;
  return ready;
}

} // namespace tandem::machine::proxy
