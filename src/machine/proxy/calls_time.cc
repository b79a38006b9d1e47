// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// System calls about time. A cycle is a nanosecond.
#include "machine/proxy/calls.h"

#include <algorithm>
#include <cerrno>
#include <ctime>

namespace tandem::machine::proxy {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

struct Time {
  std::int64_t seconds;
  std::int64_t rest; // ns or us
};

Time time_of(std::uint64_t ns) {
  return {.seconds = static_cast<std::int64_t>(ns / kSecond),
          .rest = static_cast<std::int64_t>(ns % kSecond)};
}

// What a clock shows, in ns; none if there is no such clock.
std::optional<std::uint64_t> read_clock(Call &call, std::uint64_t clock) {
  switch (clock) {
  case CLOCK_REALTIME:
  case CLOCK_REALTIME_COARSE:
  case CLOCK_TAI:
    return static_cast<std::uint64_t>(call.kernel.realtime_ns());
  case CLOCK_MONOTONIC:
  case CLOCK_MONOTONIC_RAW:
  case CLOCK_MONOTONIC_COARSE:
  case CLOCK_BOOTTIME:
    return call.kernel.now();
  case CLOCK_THREAD_CPUTIME_ID:
    return call.kernel.threads().ran(call.thread);
  case CLOCK_PROCESS_CPUTIME_ID:
    return call.kernel.threads().all_ran();
  default:
    return std::nullopt;
  }
}

std::int64_t sleep_until(Call &call, Cycle deadline) {
  if (deadline <= call.kernel.now())
    return 0;
  call.kernel.threads().block(call.thread, WaitKind::sleep, deadline, false);
  return kBlocked;
}

struct Interval { // struct itimerval, in us
  Time interval;
  Time value;
};

Interval current_timer(Call &call) {
  const Kernel &kernel = call.kernel;
  const Cycle left = kernel.alarm_at == kNever ? 0 : kernel.alarm_at - kernel.now();
  const auto in_us = [](Cycle ns) {
    return Time{.seconds = static_cast<std::int64_t>(ns / kSecond),
                .rest = static_cast<std::int64_t>(ns % kSecond / 1000)};
  };
  return {.interval = in_us(kernel.alarm_interval), .value = in_us(left)};
}

} // namespace

std::optional<std::uint64_t> read_time(Call &call, std::uint64_t address) {
  Time time{};
  if (!call.kernel.space().get(address, time) || time.seconds < 0 || time.rest < 0 ||
      time.rest >= static_cast<std::int64_t>(kSecond))
    return std::nullopt;
  constexpr std::int64_t kLongest = 1LL << 33; // seconds; beyond is for ever
  return static_cast<std::uint64_t>(std::min(time.seconds, kLongest)) * kSecond +
         static_cast<std::uint64_t>(time.rest);
}

Cycle deadline_in(Call &call, std::uint64_t ns) { return call.kernel.now() + ns; }

std::int64_t call_clock_gettime(Call &call) {
  const std::optional<std::uint64_t> ns = read_clock(call, call.a[0]);
  if (!ns)
    return -EINVAL;
  return call.kernel.space().put(call.a[1], time_of(*ns)) ? 0 : -EFAULT;
}

std::int64_t call_clock_getres(Call &call) {
  if (!read_clock(call, call.a[0]))
    return -EINVAL;
  const Time one{.seconds = 0, .rest = 1};
  return call.a[1] == 0 || call.kernel.space().put(call.a[1], one) ? 0 : -EFAULT;
}

std::int64_t call_gettimeofday(Call &call) {
  Time time = time_of(static_cast<std::uint64_t>(call.kernel.realtime_ns()));
  time.rest /= 1000;
  return call.a[0] == 0 || call.kernel.space().put(call.a[0], time) ? 0 : -EFAULT;
}

std::int64_t call_nanosleep(Call &call) {
  const std::optional<std::uint64_t> time = read_time(call, call.a[0]);
  return time ? sleep_until(call, deadline_in(call, *time)) : -EINVAL;
}

std::int64_t call_clock_nanosleep(Call &call) {
  const std::optional<std::uint64_t> time = read_time(call, call.a[2]);
  if (!time || !read_clock(call, call.a[0]))
    return -EINVAL;
  if ((call.a[1] & TIMER_ABSTIME) == 0)
    return sleep_until(call, deadline_in(call, *time));
  const std::uint64_t epoch =
      call.a[0] == CLOCK_REALTIME ? Kernel::kEpoch * kSecond : std::uint64_t{0};
  return sleep_until(call, *time - std::min(*time, epoch));
}

std::int64_t call_getitimer(Call &call) {
  if (call.a[0] != 0) // ITIMER_REAL
    return -EINVAL;
  return call.kernel.space().put(call.a[1], current_timer(call)) ? 0 : -EFAULT;
}

std::int64_t call_setitimer(Call &call) {
  Interval fresh{};
  if (call.a[0] != 0)
    return -EINVAL;
  if (call.a[2] != 0 && !call.kernel.space().put(call.a[2], current_timer(call)))
    return -EFAULT;
  if (!call.kernel.space().get(call.a[1], fresh))
    return -EFAULT;
  const auto valid = [](const Time &time) {
    return time.seconds >= 0 && time.seconds < 1LL << 33 && time.rest >= 0 && time.rest < 1'000'000;
  };
  if (!valid(fresh.interval) || !valid(fresh.value))
    return -EINVAL;
  const auto in_ns = [](const Time &time) {
    return static_cast<std::uint64_t>(time.seconds) * kSecond +
           static_cast<std::uint64_t>(time.rest) * 1000;
  };
  const std::uint64_t first = in_ns(fresh.value);
  call.kernel.alarm_at = first == 0 ? kNever : call.kernel.now() + first;
  call.kernel.alarm_interval = in_ns(fresh.interval);
  return 0;
}

// In ticks of 10 ms.
std::int64_t call_times(Call &call) {
  const std::array<std::uint64_t, 4> ticks = {call.kernel.threads().all_ran() / 10'000'000, 0, 0,
                                              0};
  if (call.a[0] != 0 && !call.kernel.space().put(call.a[0], ticks))
    return -EFAULT;
  return static_cast<std::int64_t>(call.kernel.now() / 10'000'000);
}

} // namespace tandem::machine::proxy
