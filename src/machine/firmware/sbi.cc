// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/firmware/sbi.h"

#include <algorithm>
#include <bit>

namespace tandem::machine {
namespace {

enum ExtensionId : std::uint64_t {
  legacy_set_timer = 0,
  legacy_putchar = 1,
  legacy_getchar = 2,
  legacy_clear_ipi = 3,
  legacy_send_ipi = 4,
  legacy_fence_i = 5,
  legacy_sfence_vma = 6,
  legacy_sfence_vma_asid = 7,
  legacy_shutdown = 8,
  id_base = 0x10,
  id_time = 0x5449'4D45,
  id_ipi = 0x73'5049,
  id_rfence = 0x5246'4E43,
  id_hsm = 0x48'534D,
  id_srst = 0x5352'5354,
};

enum ErrorCode : std::int8_t {
  ok = 0,
  not_supported = -2,
  invalid_parameter = -3,
  already_available = -6,
};

constexpr std::int64_t kVersion = 1 << 24;     // 1.0
constexpr std::int64_t kImplementation = 0x7A; // a number that nobody was given
constexpr std::size_t kTyped = 64;
constexpr std::uint64_t kAllHarts = ~std::uint64_t{0};

enum Argument : std::uint8_t { a0 = 10, a1, a2, a3, a4, a5, a6, a7 };

// A start and a size as the calls have them: nothing at all, or all ones, is every address.
FenceRange range_of(std::uint64_t start, std::uint64_t size) {
  if ((start == 0 && size == 0) || size == ~std::uint64_t{0})
    return {};
  return {.start = start, .size = size};
}

} // namespace

Sbi::Sbi(Harts &harts, ConsoleSink &sink, std::function<void(SystemReset)> reset)
    : harts_(&harts), sink_(&sink), reset_(std::move(reset)), suspended_(harts.size()) {}

HartEnvironment::Action Sbi::trap(Hart &hart, const Trap &trap) {
  if (trap.cause != Exception::ecall_supervisor)
    return Action::deliver;
  HartState &state = hart.state();
  const Registers x = state.x;
  suspended_[hart.id()] = 0;
  state.pc += 4;
  const Extension extension = count(x[a7]);
  if (extension == Extension::legacy) {
    state.x[a0] = static_cast<std::uint64_t>(legacy_call(hart, x));
    return Action::resume;
  }
  const Answer answer = call(hart, x);
  state.x[a0] = static_cast<std::uint64_t>(answer.error);
  state.x[a1] = static_cast<std::uint64_t>(answer.value);
  return Action::resume;
}

Sbi::Extension Sbi::count(std::uint64_t extension) {
  const Extension which = extension <= legacy_shutdown ? Extension::legacy
                          : extension == id_base       ? Extension::base
                          : extension == id_time       ? Extension::time
                          : extension == id_ipi        ? Extension::ipi
                          : extension == id_rfence     ? Extension::rfence
                          : extension == id_hsm        ? Extension::hsm
                          : extension == id_srst       ? Extension::srst
                                                       : Extension::unknown;
  ++calls_[which];
  return which;
}

Sbi::Answer Sbi::call(Hart &hart, const Registers &x) {
  switch (x[a7]) {
  case id_base:
    return base_call(x[a6], x[a0]);
  case id_time:
    if (x[a6] != 0)
      return {.error = not_supported};
    hart.set_timer(x[a0]);
    return {};
  case id_ipi:
    return x[a6] == 0 ? send_ipi(x[a0], x[a1]) : Answer{.error = not_supported};
  case id_rfence:
    return remote_fence(x);
  case id_hsm:
    return hart_state_call(hart, x);
  case id_srst:
    return x[a6] == 0 ? system_reset(x) : Answer{.error = not_supported};
  default:
    return {.error = not_supported};
  }
}

Sbi::Answer Sbi::base_call(std::uint64_t function, std::uint64_t argument) const {
  switch (function) {
  case 0:
    return {.value = kVersion};
  case 1:
    return {.value = kImplementation};
  case 2: // version of the implementation
    return {.value = 1};
  case 3: {
    constexpr std::uint64_t kThere[] = {id_base, id_time, id_ipi, id_rfence, id_hsm, id_srst};
    const bool there =
        argument <= legacy_shutdown || std::ranges::find(kThere, argument) != std::end(kThere);
    return {.value = there ? 1 : 0};
  }
  case 4: // mvendorid, marchid, mimpid: a processor that is nobody's
  case 5:
  case 6:
    return {};
  default:
    return {.error = not_supported};
  }
}

std::optional<std::vector<unsigned>> Sbi::targets(std::uint64_t mask, std::uint64_t first) const {
  std::vector<unsigned> found;
  if (first == kAllHarts) {
    for (unsigned hart = 0; hart < harts_->size(); ++hart)
      found.push_back(hart);
    return found;
  }
  for (; mask != 0; mask &= mask - 1) {
    const std::uint64_t hart = first + static_cast<unsigned>(std::countr_zero(mask));
    if (hart < first || hart >= harts_->size())
      return std::nullopt;
    found.push_back(static_cast<unsigned>(hart));
  }
  return found;
}

Sbi::Answer Sbi::send_ipi(std::uint64_t mask, std::uint64_t first) {
  const auto harts = targets(mask, first);
  if (!harts)
    return {.error = invalid_parameter};
  for (const unsigned hart : *harts)
    (*harts_)[hart].set_software(true);
  return {};
}

Sbi::Answer Sbi::remote_fence(const Registers &x) {
  if (x[a6] > 2)
    return {.error = not_supported}; // those of hypervisors
  const auto harts = targets(x[a0], x[a1]);
  if (!harts)
    return {.error = invalid_parameter};
  FenceRange range = range_of(x[a2], x[a3]);
  if (x[a6] == 2)
    range.asid = static_cast<std::uint16_t>(x[a4]);
  for (const unsigned hart : *harts) {
    if (x[a6] == 0)
      (*harts_)[hart].fence_i();
    else
      (*harts_)[hart].sfence_vma(range);
  }
  return {};
}

void Sbi::start(Hart &hart, std::uint64_t pc, std::uint64_t opaque) {
  constexpr std::uint64_t kAll = 7; // cycle, time, instret
  hart.start(pc, hart.id(), opaque);
  hart.state().scounteren = kAll;
  hart.changed();
}

Sbi::Answer Sbi::hart_state_call(Hart &hart, const Registers &x) {
  enum State : std::uint8_t { started = 0, stopped = 1, suspended = 4 };
  switch (x[a6]) {
  case 0: { // start
    if (x[a0] >= harts_->size())
      return {.error = invalid_parameter};
    Hart &other = (*harts_)[static_cast<unsigned>(x[a0])];
    if (other.state().activity != Activity::stopped)
      return {.error = already_available};
    if (!harts_->bus().memory().contains(x[a1], 2) || x[a1] % 2 != 0)
      return {.error = -5}; // invalid address
    start(other, x[a1], x[a2]);
    return {};
  }
  case 1: // stop
    hart.stop();
    return {};
  case 2: { // status
    if (x[a0] >= harts_->size())
      return {.error = invalid_parameter};
    const Activity activity = (*harts_)[static_cast<unsigned>(x[a0])].state().activity;
    if (activity == Activity::stopped)
      return {.value = stopped};
    return {.value = activity == Activity::waiting && suspended_[x[a0]] != 0 ? suspended : started};
  }
  case 3: // suspend: retentive ones only
    if (x[a0] == 0x8000'0000)
      return {.error = not_supported};
    if ((x[a0] & 0xFFFF'FFFF) != 0)
      return {.error = invalid_parameter};
    suspended_[hart.id()] = 1;
    hart.wait();
    return {};
  default:
    return {.error = not_supported};
  }
}

Sbi::Answer Sbi::system_reset(const Registers &x) {
  if (x[a0] > 2 || x[a1] > 1)
    return {.error = invalid_parameter};
  reset_(x[a1] == 1   ? SystemReset::failure
         : x[a0] == 0 ? SystemReset::shutdown
                      : SystemReset::reboot);
  return {};
}

// A legacy mask of harts lies in the caller's memory; no address means all.
std::int64_t Sbi::legacy_call(Hart &hart, const Registers &x) {
  switch (x[a7]) {
  case legacy_set_timer:
    hart.set_timer(x[a0]);
    return 0;
  case legacy_putchar:
    sink_->output(static_cast<std::uint8_t>(x[a0]));
    return 0;
  case legacy_getchar: {
    polled_ = true;
    if (typed_.empty())
      return -1;
    const std::uint8_t byte = typed_.front();
    typed_.pop_front();
    return byte;
  }
  case legacy_clear_ipi: {
    const bool pending = (hart.state().ip & bit(Interrupt::supervisor_software)) != 0;
    hart.set_software(false);
    return pending ? 1 : 0;
  }
  case legacy_shutdown:
    reset_(SystemReset::shutdown);
    return 0;
  default:
    break;
  }
  std::uint64_t mask = 0;
  const bool all = x[a0] == 0;
  if (!all && !hart.read_virtual(x[a0], std::as_writable_bytes(std::span(&mask, 1))))
    return invalid_parameter;
  const std::uint64_t first = all ? kAllHarts : 0;
  if (x[a7] == legacy_send_ipi)
    return send_ipi(mask, first).error;
  Registers fence = x;
  fence[a0] = mask;
  fence[a1] = first;
  fence[a2] = x[a1];
  fence[a3] = x[a2];
  fence[a4] = x[a3];
  fence[a6] = x[a7] - legacy_fence_i;
  return remote_fence(fence).error;
}

bool Sbi::receive(std::uint8_t byte) {
  if (typed_.size() >= kTyped)
    return false;
  typed_.push_back(byte);
  return true;
}

void Sbi::fields(Archive &archive) {
  const std::size_t harts = suspended_.size();
  archive(typed_, polled_, suspended_, calls_);
  if (suspended_.size() != harts) {
    suspended_.resize(harts);
    archive.fail();
  }
}

} // namespace tandem::machine
