// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// System calls that take names of files.
#include "machine/proxy/calls.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tandem::machine::proxy {
namespace {

constexpr std::uint32_t kDevice = 1; // every file is on it
constexpr std::uint32_t kBlock = 4096;

// struct stat of riscv64 (asm-generic/stat.h).
struct Status64 {
  std::uint64_t device, number;
  std::uint32_t mode, links, user, group;
  std::uint64_t special, padding1;
  std::int64_t size;
  std::int32_t block, padding2;
  std::int64_t blocks;
  std::int64_t accessed, accessed_ns, modified, modified_ns, changed, changed_ns;
  std::uint32_t unused[2];
};
static_assert(sizeof(Status64) == 128);

std::uint32_t type_of(const Node &node) {
  switch (node.kind) {
  case Node::Kind::file:
    return S_IFREG;
  case Node::Kind::folder:
    return S_IFDIR;
  case Node::Kind::link:
    return S_IFLNK;
  default:
    return S_IFCHR;
  }
}

Status64 status_of(const Node &node) {
  Status64 status{};
  status.device = kDevice;
  status.number = node.number;
  status.mode = type_of(node) | node.mode;
  status.links = node.kind == Node::Kind::folder ? 2 : node.unlinked ? 0 : 1;
  status.user = status.group = kUserId;
  if (node.kind == Node::Kind::file)
    status.size = static_cast<std::int64_t>(node.size());
  else if (node.kind == Node::Kind::link)
    status.size = static_cast<std::int64_t>(node.target.size());
  status.block = kBlock;
  status.blocks = (status.size + 511) / 512;
  status.accessed = status.modified = status.changed = node.modified_ns / 1'000'000'000;
  status.accessed_ns = status.modified_ns = status.changed_ns = node.modified_ns % 1'000'000'000;
  return status;
}

Status64 status_of(const OpenFile &file) {
  if (const NodePointer node = file.node())
    return status_of(*node);
  Status64 status{};
  status.device = kDevice;
  status.mode = file.mode();
  status.links = 1;
  status.user = status.group = kUserId;
  status.block = kBlock;
  return status;
}

struct Path {
  Errno error = 0;
  NodePointer from{};
  std::string text{};
};

// A path in the program's memory, relative to the folder of a descriptor.
Path path_at(Call &call, std::uint64_t descriptor, std::uint64_t address) {
  std::optional<std::string> text = call.kernel.space().string(address);
  if (!text)
    return {.error = -EFAULT};
  Path path{.error = 0, .from = call.kernel.folder, .text = *std::move(text)};
  const auto number = static_cast<std::int32_t>(descriptor);
  if (number == AT_FDCWD || path.text.starts_with('/'))
    return path;
  const FilePointer file = call.kernel.descriptors().get(number);
  if (file == nullptr)
    return {.error = -EBADF};
  path.from = file->node();
  if (path.from == nullptr || (path.from->kind != Node::Kind::folder && !path.text.empty()))
    return {.error = -ENOTDIR};
  return path;
}

Tree::Found find(Call &call, std::uint64_t descriptor, std::uint64_t address, bool follow) {
  const Path path = path_at(call, descriptor, address);
  if (path.error != 0)
    return {.error = path.error};
  return call.kernel.tree().walk(path.from, path.text, follow);
}

// The same for something that must be there.
Tree::Found find_existing(Call &call, std::uint64_t descriptor, std::uint64_t address,
                          bool follow) {
  Tree::Found found = find(call, descriptor, address, follow);
  if (found.error == 0 && found.node == nullptr)
    found.error = -ENOENT;
  return found;
}

bool may_access(const Node &node, std::uint64_t mode) {
  const bool in_memory = !node.writable;
  if ((mode & W_OK) != 0 && (node.mode & 0222) == 0)
    return false;
  if ((mode & W_OK) != 0 && !in_memory && !node.host.empty())
    return ::access(node.host.c_str(), W_OK) == 0;
  return (mode & X_OK) == 0 || node.kind == Node::Kind::folder || (node.mode & 0111) != 0;
}

FilePointer open_node(Call &call, const NodePointer &node) {
  Kernel &kernel = call.kernel;
  const auto clock = [&kernel] { return kernel.realtime_ns(); };
  switch (node->kind) {
  case Node::Kind::folder:
    return std::make_shared<FolderFile>(node, kernel.tree());
  case Node::Kind::file:
    return std::make_shared<RegularFile>(node, clock);
  case Node::Kind::stream:
    return kernel.descriptors().get(node->stream);
  default:
    return std::make_shared<DeviceFile>(node, [&kernel] { return kernel.random(); });
  }
}

} // namespace

std::int64_t call_openat(Call &call) {
  const auto flags = static_cast<int>(call.a[2]);
  const bool creates = (flags & O_CREAT) != 0;
  const bool exclusive = creates && (flags & O_EXCL) != 0;
  Tree::Found found = find(call, call.a[0], call.a[1], (flags & O_NOFOLLOW) == 0 && !exclusive);
  if (found.error != 0)
    return found.error;
  if (found.node != nullptr && exclusive)
    return -EEXIST;
  if (found.node == nullptr) {
    if (!creates)
      return -ENOENT;
    const auto mode = static_cast<std::uint32_t>(call.a[3]) & ~call.kernel.creation_mask;
    if (const Errno error = call.kernel.tree().make_file(found, mode, found.node); error != 0)
      return error;
  } else {
    Node &node = *found.node;
    const int access = flags & O_ACCMODE;
    if (node.kind == Node::Kind::link)
      return -ELOOP;
    if (node.kind == Node::Kind::folder && (access != O_RDONLY || creates))
      return -EISDIR;
    if (node.kind != Node::Kind::folder && (flags & O_DIRECTORY) != 0)
      return -ENOTDIR;
    if (access != O_RDONLY && !may_access(node, W_OK))
      return -EACCES;
    if (node.kind == Node::Kind::file && !node.generate) {
      if (const Errno error = node.open_host(access != O_RDONLY); error != 0 && !node.host.empty())
        return error;
      if ((flags & O_TRUNC) != 0 && access != O_RDONLY)
        if (const Errno error = node.truncate(0); error != 0)
          return error;
    }
  }
  const FilePointer file = open_node(call, found.node);
  if (file == nullptr)
    return -ENXIO;
  if (found.node->kind != Node::Kind::stream)
    file->flags = flags & (O_ACCMODE | O_APPEND | O_NONBLOCK);
  return call.kernel.descriptors().add(file, (flags & O_CLOEXEC) != 0);
}

std::int64_t call_faccessat(Call &call) {
  const Tree::Found found = find_existing(call, call.a[0], call.a[1], true);
  if (found.error != 0)
    return found.error;
  return may_access(*found.node, call.a[2]) ? 0 : -EACCES;
}

std::int64_t call_newfstatat(Call &call) {
  const auto [descriptor, path, result, flags, unused1, unused2] = call.a;
  if ((flags & AT_EMPTY_PATH) != 0) {
    const std::optional<std::string> text = call.kernel.space().string(path);
    if (text && text->empty()) {
      if (static_cast<std::int32_t>(descriptor) == AT_FDCWD)
        return call.kernel.space().put(result, status_of(*call.kernel.folder)) ? 0 : -EFAULT;
      Call same = call;
      same.a[1] = result;
      return call_fstat(same);
    }
  }
  const Tree::Found found =
      find_existing(call, descriptor, path, (flags & AT_SYMLINK_NOFOLLOW) == 0);
  if (found.error != 0)
    return found.error;
  return call.kernel.space().put(result, status_of(*found.node)) ? 0 : -EFAULT;
}

std::int64_t call_fstat(Call &call) {
  const FilePointer file = call.kernel.descriptors().get(static_cast<int>(call.a[0]));
  if (file == nullptr)
    return -EBADF;
  return call.kernel.space().put(call.a[1], status_of(*file)) ? 0 : -EFAULT;
}

std::int64_t call_statx(Call &call) {
  const auto [descriptor, path, flags, mask, result, unused] = call.a;
  Status64 status{};
  const std::optional<std::string> text = call.kernel.space().string(path);
  const FilePointer file = call.kernel.descriptors().get(static_cast<int>(descriptor));
  if ((flags & AT_EMPTY_PATH) != 0 && text && text->empty() && file != nullptr) {
    status = status_of(*file);
  } else {
    const Tree::Found found =
        find_existing(call, descriptor, path, (flags & AT_SYMLINK_NOFOLLOW) == 0);
    if (found.error != 0)
      return found.error;
    status = status_of(*found.node);
  }
  struct statx x{};
  x.stx_mask = STATX_BASIC_STATS;
  x.stx_blksize = kBlock;
  x.stx_nlink = status.links;
  x.stx_uid = x.stx_gid = kUserId;
  x.stx_mode = static_cast<std::uint16_t>(status.mode);
  x.stx_ino = status.number;
  x.stx_size = static_cast<std::uint64_t>(status.size);
  x.stx_blocks = static_cast<std::uint64_t>(status.blocks);
  x.stx_atime.tv_sec = x.stx_mtime.tv_sec = x.stx_ctime.tv_sec = status.modified;
  x.stx_atime.tv_nsec = x.stx_mtime.tv_nsec = x.stx_ctime.tv_nsec =
      static_cast<std::uint32_t>(status.modified_ns);
  x.stx_dev_minor = kDevice;
  return call.kernel.space().put(result, x) ? 0 : -EFAULT;
}

std::int64_t call_readlinkat(Call &call) {
  const Tree::Found found = find_existing(call, call.a[0], call.a[1], false);
  if (found.error != 0)
    return found.error;
  if (found.node->kind != Node::Kind::link)
    return -EINVAL;
  const std::string &target = found.node->target;
  const std::size_t size = std::min<std::size_t>(target.size(), call.a[3]);
  if (size == 0)
    return -EINVAL;
  return call.kernel.space().write(call.a[2], std::as_bytes(std::span(target)).first(size))
             ? static_cast<std::int64_t>(size)
             : -EFAULT;
}

std::int64_t call_mkdirat(Call &call) {
  const Tree::Found found = find(call, call.a[0], call.a[1], false);
  if (found.error != 0)
    return found.error;
  if (found.node != nullptr)
    return -EEXIST;
  return call.kernel.tree().make_folder(found, static_cast<std::uint32_t>(call.a[2]) &
                                                   ~call.kernel.creation_mask);
}

std::int64_t call_unlinkat(Call &call) {
  const Tree::Found found = find_existing(call, call.a[0], call.a[1], false);
  if (found.error != 0)
    return found.error;
  return call.kernel.tree().remove(found, (call.a[2] & AT_REMOVEDIR) != 0);
}

std::int64_t call_symlinkat(Call &call) {
  const std::optional<std::string> target = call.kernel.space().string(call.a[0]);
  if (!target)
    return -EFAULT;
  const Tree::Found found = find(call, call.a[1], call.a[2], false);
  if (found.error != 0)
    return found.error;
  return found.node != nullptr ? -EEXIST : call.kernel.tree().make_link(found, *target);
}

std::int64_t call_linkat(Call &call) {
  const Tree::Found from =
      find_existing(call, call.a[0], call.a[1], (call.a[4] & AT_SYMLINK_FOLLOW) != 0);
  if (from.error != 0)
    return from.error;
  const Tree::Found to = find(call, call.a[2], call.a[3], false);
  if (to.error != 0)
    return to.error;
  return to.node != nullptr ? -EEXIST : call.kernel.tree().hard_link(from.node, to);
}

std::int64_t call_renameat2(Call &call) {
  const Tree::Found from = find_existing(call, call.a[0], call.a[1], false);
  if (from.error != 0)
    return from.error;
  const Tree::Found to = find(call, call.a[2], call.a[3], false);
  if (to.error != 0)
    return to.error;
  if ((call.a[4] & ~std::uint64_t{RENAME_NOREPLACE}) != 0)
    return -EINVAL;
  return call.kernel.tree().rename(from, to, (call.a[4] & RENAME_NOREPLACE) == 0);
}

std::int64_t call_truncate(Call &call) {
  const Tree::Found found =
      find_existing(call, static_cast<std::uint64_t>(AT_FDCWD), call.a[0], true);
  if (found.error != 0)
    return found.error;
  if (found.node->kind != Node::Kind::file)
    return found.node->kind == Node::Kind::folder ? -EISDIR : -EINVAL;
  return may_access(*found.node, W_OK) ? found.node->truncate(call.a[1]) : -EACCES;
}

std::int64_t call_chdir(Call &call) {
  const Tree::Found found =
      find_existing(call, static_cast<std::uint64_t>(AT_FDCWD), call.a[0], true);
  if (found.error != 0)
    return found.error;
  if (found.node->kind != Node::Kind::folder)
    return -ENOTDIR;
  call.kernel.folder = found.node;
  return 0;
}

std::int64_t call_fchdir(Call &call) {
  const FilePointer file = call.kernel.descriptors().get(static_cast<int>(call.a[0]));
  if (file == nullptr)
    return -EBADF;
  if (file->node() == nullptr || file->node()->kind != Node::Kind::folder)
    return -ENOTDIR;
  call.kernel.folder = file->node();
  return 0;
}

std::int64_t call_getcwd(Call &call) {
  const std::string path = Tree::path_of(*call.kernel.folder);
  if (path.size() + 1 > call.a[1])
    return -ERANGE;
  return call.kernel.space().write(call.a[0],
                                   std::as_bytes(std::span(path.c_str(), path.size() + 1)))
             ? static_cast<std::int64_t>(path.size() + 1)
             : -EFAULT;
}

std::int64_t call_fchmodat(Call &call) {
  const Tree::Found found = find_existing(call, call.a[0], call.a[1], true);
  if (found.error != 0)
    return found.error;
  if (found.node->writable && !found.node->host.empty() &&
      ::chmod(found.node->host.c_str(), call.a[2] & 0777) != 0)
    return -errno;
  found.node->mode = call.a[2] & 0777;
  return 0;
}

std::int64_t call_fchmod(Call &call) {
  const FilePointer file = call.kernel.descriptors().get(static_cast<int>(call.a[0]));
  if (file == nullptr)
    return -EBADF;
  const NodePointer node = file->node();
  if (node == nullptr)
    return 0;
  if (node->writable && !node->host.empty() && ::chmod(node->host.c_str(), call.a[1] & 0777) != 0)
    return -errno;
  node->mode = call.a[1] & 0777;
  return 0;
}

// There is one user, who owns everything.
std::int64_t call_fchownat(Call &call) {
  return find_existing(call, call.a[0], call.a[1], true).error;
}
std::int64_t call_fchown(Call &call) {
  return call.kernel.descriptors().get(static_cast<int>(call.a[0])) == nullptr ? -EBADF : 0;
}

std::int64_t call_utimensat(Call &call) {
  NodePointer node;
  if (call.a[1] == 0) {
    const FilePointer file = call.kernel.descriptors().get(static_cast<int>(call.a[0]));
    if (file == nullptr)
      return -EBADF;
    node = file->node();
  } else {
    const Tree::Found found =
        find_existing(call, call.a[0], call.a[1], (call.a[3] & AT_SYMLINK_NOFOLLOW) == 0);
    if (found.error != 0)
      return found.error;
    node = found.node;
  }
  std::array<std::int64_t, 4> times{}; // accessed, modified; only the second is kept
  if (call.a[2] != 0 && !call.kernel.space().get(call.a[2], times))
    return -EFAULT;
  if (node == nullptr || times[3] == UTIME_OMIT)
    return 0;
  const bool now = call.a[2] == 0 || times[3] == UTIME_NOW;
  node->modified_ns = now ? call.kernel.realtime_ns() : times[2] * 1'000'000'000 + times[3];
  return 0;
}

std::int64_t call_statfs(Call &call) {
  const Tree::Found found =
      find_existing(call, static_cast<std::uint64_t>(AT_FDCWD), call.a[0], true);
  if (found.error != 0)
    return found.error;
  Call same = call;
  same.a[0] = 0;
  return call_fstatfs(same);
}

// As a file system in memory of 1 GB.
std::int64_t call_fstatfs(Call &call) {
  constexpr std::uint64_t kTmpfs = 0x0102'1994;
  constexpr std::uint64_t kBlocks = (1U << 30) / kBlock;
  const std::array<std::uint64_t, 15> status = {kTmpfs,  kBlock, kBlocks, kBlocks, kBlocks, kBlocks,
                                                kBlocks, 0,      255,     kBlock,  0};
  return call.kernel.space().put(call.a[1], status) ? 0 : -EFAULT;
}

} // namespace tandem::machine::proxy
