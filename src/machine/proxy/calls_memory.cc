// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// System calls about memory.
#include "machine/proxy/calls.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <sys/mman.h>

namespace tandem::machine::proxy {
namespace {

constexpr std::uint64_t kPageMask = kPageBytes - 1;

constexpr std::uint64_t round_up(std::uint64_t bytes) { return (bytes + kPageMask) & ~kPageMask; }

Protection protection_of(std::uint64_t bits) {
  return {.read = (bits & PROT_READ) != 0,
          .write = (bits & PROT_WRITE) != 0,
          .execute = (bits & PROT_EXEC) != 0};
}

// Whether whole pages from `start` on are inside the user's range; `size` is rounded up.
bool valid_range(std::uint64_t start, std::uint64_t &size) {
  if (start % kPageBytes != 0 || size > AddressSpace::kEnd)
    return false;
  size = round_up(size);
  return start <= AddressSpace::kEnd && size <= AddressSpace::kEnd - start;
}

// Where a new mapping goes; an error where it cannot.
std::int64_t choose_place(Call &call, std::uint64_t hint, std::uint64_t size, std::uint64_t flags) {
  AddressSpace &space = call.kernel.space();
  if ((flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) != 0) {
    if (hint % kPageBytes != 0 || hint > AddressSpace::kEnd || size > AddressSpace::kEnd - hint)
      return hint % kPageBytes != 0 ? -EINVAL : -ENOMEM;
    if (hint < AddressSpace::kLowest)
      return -EPERM;
    if ((flags & MAP_FIXED_NOREPLACE) != 0 && !space.is_free(hint, size))
      return -EEXIST;
    return static_cast<std::int64_t>(hint);
  }
  hint &= ~kPageMask;
  if (hint >= AddressSpace::kLowest && hint <= AddressSpace::kEnd - size &&
      space.is_free(hint, size))
    return static_cast<std::int64_t>(hint);
  const std::optional<std::uint64_t> found = space.find_free(size);
  return found ? static_cast<std::int64_t>(*found) : -ENOMEM;
}

} // namespace

std::int64_t call_brk(Call &call) {
  Kernel &kernel = call.kernel;
  const std::uint64_t wanted = call.a[0];
  if (wanted < kernel.break_start || wanted > AddressSpace::kEnd)
    return static_cast<std::int64_t>(kernel.break_end);
  const std::uint64_t old = round_up(kernel.break_end);
  const std::uint64_t end = round_up(wanted);
  if (end > old) {
    if (!kernel.space().is_free(old, end - old))
      return static_cast<std::int64_t>(kernel.break_end);
    kernel.space().map(old, end - old,
                       {.protection = {.read = true, .write = true}, .name = "[heap]"});
  } else if (end < old) {
    kernel.space().unmap(end, old - end);
  }
  kernel.break_end = wanted;
  return static_cast<std::int64_t>(wanted);
}

std::int64_t call_mmap(Call &call) {
  const auto [hint, length, protection, flags, descriptor, offset] = call.a;
  const std::uint64_t type = flags & MAP_TYPE;
  if (length == 0 || (type != MAP_PRIVATE && type != MAP_SHARED && type != MAP_SHARED_VALIDATE))
    return -EINVAL;
  if (length > AddressSpace::kEnd)
    return -ENOMEM;
  AddressSpace::Mapping mapping{.protection = protection_of(protection),
                                .shared = type != MAP_PRIVATE};
  if ((flags & MAP_ANONYMOUS) == 0) {
    if (offset % kPageBytes != 0 || offset > std::uint64_t{1} << 48)
      return -EINVAL;
    const FilePointer file = call.kernel.descriptors().get(static_cast<int>(descriptor));
    if (file == nullptr)
      return -EBADF;
    const NodePointer node = file->node();
    if (node != nullptr && node->kind == Node::Kind::zero) {
      mapping.shared = false; // memory of one's own
    } else if (node == nullptr || node->kind != Node::Kind::file) {
      return -ENODEV;
    } else {
      const int access = file->flags & O_ACCMODE;
      if (access == O_WRONLY || (mapping.shared && mapping.protection.write && access != O_RDWR))
        return -EACCES;
      mapping.file = node;
      mapping.offset = offset;
      mapping.name = Tree::path_of(*node);
    }
  }
  const std::uint64_t size = round_up(length);
  const std::int64_t place = choose_place(call, hint, size, flags);
  if (place >= 0)
    call.kernel.space().map(static_cast<std::uint64_t>(place), size, std::move(mapping));
  return place;
}

std::int64_t call_munmap(Call &call) {
  std::uint64_t size = call.a[1];
  if (size == 0 || !valid_range(call.a[0], size))
    return -EINVAL;
  call.kernel.space().unmap(call.a[0], size);
  return 0;
}

std::int64_t call_mprotect(Call &call) {
  std::uint64_t size = call.a[1];
  if (!valid_range(call.a[0], size))
    return call.a[0] % kPageBytes != 0 ? -EINVAL : -ENOMEM;
  if (size == 0)
    return 0;
  return call.kernel.space().protect(call.a[0], size, protection_of(call.a[2])) ? 0 : -ENOMEM;
}

std::int64_t call_mremap(Call &call) {
  AddressSpace &space = call.kernel.space();
  const std::uint64_t from = call.a[0];
  std::uint64_t old_size = call.a[1];
  std::uint64_t new_size = call.a[2];
  const std::uint64_t flags = call.a[3];
  constexpr std::uint64_t kKnown = MREMAP_MAYMOVE | MREMAP_FIXED;
  if (!valid_range(from, old_size) || old_size == 0 || new_size == 0 || (flags & ~kKnown) != 0)
    return -EINVAL;
  if (new_size > AddressSpace::kEnd)
    return -ENOMEM;
  new_size = round_up(new_size);
  const auto *found = space.find(from);
  if (found == nullptr || found->second.end - from < old_size)
    return -EFAULT;
  if ((flags & MREMAP_FIXED) == 0 && new_size <= old_size) {
    if (new_size < old_size)
      space.unmap(from + new_size, old_size - new_size);
    return static_cast<std::int64_t>(from);
  }
  AddressSpace::Mapping more = found->second;
  more.offset += from - found->first + old_size;
  const std::uint64_t grown = new_size > old_size ? new_size - old_size : 0;
  if ((flags & MREMAP_FIXED) == 0 && from + new_size <= AddressSpace::kEnd &&
      space.is_free(from + old_size, grown)) {
    space.map(from + old_size, grown, std::move(more));
    return static_cast<std::int64_t>(from);
  }
  if ((flags & MREMAP_MAYMOVE) == 0)
    return (flags & MREMAP_FIXED) != 0 ? -EINVAL : -ENOMEM;
  std::uint64_t to = call.a[4];
  if ((flags & MREMAP_FIXED) != 0) {
    if (!valid_range(to, new_size) || to < AddressSpace::kLowest ||
        (to < from + old_size && from < to + new_size))
      return -EINVAL;
    space.unmap(to, new_size);
    if (new_size < old_size) {
      space.unmap(from + new_size, old_size - new_size);
      old_size = new_size;
    }
  } else {
    const std::optional<std::uint64_t> place = space.find_free(new_size);
    if (!place)
      return -ENOMEM;
    to = *place;
  }
  space.move(from, to, old_size);
  if (grown > 0)
    space.map(to + old_size, grown, std::move(more));
  return static_cast<std::int64_t>(to);
}

std::int64_t call_madvise(Call &call) {
  std::uint64_t size = call.a[1];
  if (!valid_range(call.a[0], size))
    return -EINVAL;
  switch (call.a[2]) {
  case MADV_DONTNEED:
    if (!call.kernel.space().is_mapped(call.a[0], size))
      return -ENOMEM;
    call.kernel.space().discard(call.a[0], size);
    return 0;
  case MADV_NORMAL:
  case MADV_RANDOM:
  case MADV_SEQUENTIAL:
  case MADV_WILLNEED:
  case MADV_FREE: // pages that may be dropped are kept
  case MADV_HUGEPAGE:
  case MADV_NOHUGEPAGE:
  case MADV_DONTDUMP:
  case MADV_DODUMP:
  case MADV_DONTFORK:
  case MADV_DOFORK:
  case MADV_COLD:
    return 0;
  default:
    return -EINVAL;
  }
}

std::int64_t call_msync(Call &call) {
  std::uint64_t size = call.a[1];
  if (!valid_range(call.a[0], size))
    return -EINVAL;
  if (!call.kernel.space().is_mapped(call.a[0], size))
    return -ENOMEM;
  call.kernel.space().synchronise(call.a[0], size);
  return 0;
}

// Nothing is ever paged out.
std::int64_t call_mlock(Call & /*call*/) { return 0; }
std::int64_t call_munlock(Call & /*call*/) { return 0; }
std::int64_t call_mlockall(Call & /*call*/) { return 0; }
std::int64_t call_munlockall(Call & /*call*/) { return 0; }

std::int64_t call_mincore(Call &call) {
  std::uint64_t size = call.a[1];
  if (!valid_range(call.a[0], size))
    return -EINVAL;
  if (!call.kernel.space().is_mapped(call.a[0], size))
    return -ENOMEM;
  constexpr std::uint8_t kThere = 1;
  for (std::uint64_t page = 0; page < size / kPageBytes; ++page)
    if (!call.kernel.space().put(call.a[2] + page, kThere))
      return -EFAULT;
  return 0;
}

// Memory is sequentially consistent here, and system calls are between instructions: every barrier
// has happened.
std::int64_t call_membarrier(Call &call) {
  constexpr std::uint64_t kCommands =
      MEMBARRIER_CMD_GLOBAL | MEMBARRIER_CMD_GLOBAL_EXPEDITED |
      MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED | MEMBARRIER_CMD_PRIVATE_EXPEDITED |
      MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED | MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE |
      MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE;
  if (call.a[0] == MEMBARRIER_CMD_QUERY)
    return static_cast<std::int64_t>(kCommands);
  if (call.a[1] != 0 || (call.a[0] & (call.a[0] - 1)) != 0 || (call.a[0] & ~kCommands) != 0)
    return -EINVAL;
  return 0;
}

// Decoded code follows memory.
std::int64_t call_riscv_flush_icache(Call & /*call*/) { return 0; }

} // namespace tandem::machine::proxy
