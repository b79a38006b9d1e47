// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// System calls that tell about the system, the user and limits.
#include "machine/proxy/calls.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <linux/prctl.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>

namespace tandem::machine::proxy {
namespace {

constexpr std::uint64_t kStack = std::uint64_t{8} << 20;

struct Limit {
  std::uint64_t soft;
  std::uint64_t hard;
};

Limit limit_of(std::uint64_t resource) {
  switch (resource) {
  case RLIMIT_STACK:
    return {.soft = kStack, .hard = RLIM_INFINITY};
  case RLIMIT_NOFILE:
    return {.soft = Descriptors::kLimit, .hard = Descriptors::kLimit};
  case RLIMIT_CORE:
    return {.soft = 0, .hard = 0};
  case RLIMIT_NPROC:
    return {.soft = Threads::kLimit, .hard = Threads::kLimit};
  default:
    return {.soft = RLIM_INFINITY, .hard = RLIM_INFINITY};
  }
}

} // namespace

std::int64_t call_uname(Call &call) {
  std::array<std::array<char, 65>, 6> names{};
  const auto set = [&names](std::size_t index, const char *text) {
    std::strncpy(names[index].data(), text, names[index].size() - 1);
  };
  set(0, "Linux");
  set(1, "tandem");
  set(2, "6.1.0");
  set(3, "#1 tandem machine exec");
  set(4, "riscv64");
  set(5, "(none)");
  return call.kernel.space().put(call.a[0], names) ? 0 : -EFAULT;
}

std::int64_t call_sysinfo(Call &call) {
  struct Information { // struct sysinfo of 64-bit machines
    std::int64_t uptime;
    std::array<std::uint64_t, 3> loads;
    std::uint64_t total, free, shared, buffer, swap, free_swap;
    std::uint16_t processes, padding;
    std::uint32_t padding2;
    std::uint64_t high, free_high;
    std::uint32_t unit;
    std::uint32_t padding3;
  };
  static_assert(sizeof(Information) == 112);
  const Frames &frames = call.kernel.space().frames();
  Information information{};
  information.uptime = static_cast<std::int64_t>(call.kernel.now() / 1'000'000'000);
  information.total = frames.total() * kPageBytes;
  information.free = (frames.total() - frames.in_use()) * kPageBytes;
  information.processes = static_cast<std::uint16_t>(call.kernel.threads().size());
  information.unit = 1;
  return call.kernel.space().put(call.a[0], information) ? 0 : -EFAULT;
}

std::int64_t call_getrlimit(Call &call) {
  if (call.a[0] >= RLIM_NLIMITS)
    return -EINVAL;
  return call.kernel.space().put(call.a[1], limit_of(call.a[0])) ? 0 : -EFAULT;
}

// Limits are what they are.
std::int64_t call_setrlimit(Call &call) { return call.a[0] < RLIM_NLIMITS ? 0 : -EINVAL; }

std::int64_t call_prlimit64(Call &call) {
  if (call.a[1] >= RLIM_NLIMITS)
    return -EINVAL;
  if (call.a[0] != 0 && call.a[0] != Kernel::kProcess)
    return -ESRCH;
  return call.a[3] == 0 || call.kernel.space().put(call.a[3], limit_of(call.a[1])) ? 0 : -EFAULT;
}

std::int64_t call_getrusage(Call &call) {
  const Cycle ran = call.a[0] == RUSAGE_THREAD ? call.kernel.threads().ran(call.thread)
                                               : call.kernel.threads().all_ran();
  std::array<std::uint64_t, 18> usage{};
  usage[0] = ran / 1'000'000'000;
  usage[1] = ran % 1'000'000'000 / 1000;
  usage[4] = call.kernel.space().frames().in_use() * kPageBytes / 1024; // ru_maxrss, kilobytes
  usage[6 + 2] = call.kernel.faults();                                  // ru_minflt
  return call.kernel.space().put(call.a[1], usage) ? 0 : -EFAULT;
}

std::int64_t call_umask(Call &call) {
  const std::uint32_t before = call.kernel.creation_mask;
  call.kernel.creation_mask = static_cast<std::uint32_t>(call.a[0]) & 0777;
  return before;
}

std::int64_t call_prctl(Call &call) {
  switch (call.a[0]) {
  case PR_SET_NAME: {
    std::array<char, 16> name{};
    for (std::size_t index = 0; index < name.size() - 1; ++index) {
      if (!call.kernel.space().get(call.a[1] + index, name[index]))
        return -EFAULT;
      if (name[index] == '\0')
        break;
    }
    call.kernel.name = name.data();
    return 0;
  }
  case PR_GET_NAME: {
    std::array<char, 16> name{};
    call.kernel.name.copy(name.data(), name.size() - 1);
    return call.kernel.space().put(call.a[1], name) ? 0 : -EFAULT;
  }
  case PR_SET_DUMPABLE:
  case PR_SET_PDEATHSIG:
  case PR_SET_NO_NEW_PRIVS:
  case PR_SET_TIMERSLACK:
  case PR_SET_THP_DISABLE:
    return 0;
  case PR_GET_DUMPABLE:
    return 1;
  default:
    return -EINVAL;
  }
}

std::int64_t call_getuid(Call & /*call*/) { return kUserId; }
std::int64_t call_geteuid(Call & /*call*/) { return kUserId; }
std::int64_t call_getgid(Call & /*call*/) { return kUserId; }
std::int64_t call_getegid(Call & /*call*/) { return kUserId; }
std::int64_t call_getgroups(Call & /*call*/) { return 0; }

std::int64_t call_getrandom(Call &call) {
  const std::uint64_t size = std::min<std::uint64_t>(call.a[1], 1U << 20);
  std::vector<std::uint8_t> bytes(size);
  for (std::uint8_t &byte : bytes)
    byte = static_cast<std::uint8_t>(call.kernel.random());
  if (!call.kernel.space().write(call.a[0], std::as_bytes(std::span(bytes))))
    return -EFAULT;
  return static_cast<std::int64_t>(size);
}

} // namespace tandem::machine::proxy
