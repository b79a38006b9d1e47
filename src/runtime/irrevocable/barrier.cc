// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/irrevocable/barrier.h"

#include <cerrno>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tandem::barrier {

constinit std::atomic<Kernel> kernel{Kernel::unknown};

namespace {

bool call(int command) noexcept {
  const int saved = errno;
  const bool done = ::syscall(SYS_membarrier, command, 0, 0) == 0;
  errno = saved;
  return done;
}

} // namespace

void prepare() noexcept {
  if (kernel.load(std::memory_order_relaxed) == Kernel::unknown)
    kernel.store(call(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) ? Kernel::able : Kernel::unable,
                 std::memory_order_relaxed);
}

bool everywhere() noexcept {
  prepare();
  return kernel.load(std::memory_order_relaxed) == Kernel::able &&
         call(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

} // namespace tandem::barrier
