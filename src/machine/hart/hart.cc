// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/hart/hart.h"

#include "machine/hart/core.h"
#include "machine/htm/transactional_memory.h"
#include "machine/isa/csr.h"

#include <algorithm>
#include <cstring>

namespace tandem::machine {

Hart::Hart(unsigned id, Harts &harts, Bus &bus, CodeCache &code, Clock &clock,
           const HartOptions &options)
    : core_(std::make_unique<HartCore>()) {
  HartCore &c = *core_;
  c.id = id;
  c.machine_mode = options.machine_mode;
  c.self = this;
  c.harts = &harts;
  c.bus = &bus;
  c.memory = &bus.memory();
  c.code = &code;
  c.htm = &harts.transactions();
  c.clock = &clock;
  if (options.machine_mode) {
    c.state.privilege = Privilege::machine;
    c.state.activity = Activity::running;
  }
  changed();
}

Hart::~Hart() = default;

unsigned Hart::id() const { return core_->id; }
const HartState &Hart::state() const { return core_->state; }
HartState &Hart::state() { return core_->state; }

void Hart::moved() { core_->timing.first_part = kNoLine; }

void Hart::changed() {
  moved();
  core_->flush_all();
  core_->update_contexts();
  core_->update_float();
  core_->update_release();
  end_burst();
}

namespace {

// As many instructions as may run before something has to be looked at.
std::uint64_t until_timer(const HartCore &c, const Hart &hart, std::uint64_t cycles) {
  const Cycle at = hart.timer();
  return at > c.clock->now ? std::min(cycles, at - c.clock->now) : cycles;
}

// Runs handlers; counts what they did. Returns the cycles.
std::uint64_t burst(HartCore &c, std::uint64_t cycles) {
  c.begin = c.clock->now;
  c.granted = static_cast<std::int64_t>(std::min<std::uint64_t>(cycles, 1U << 30));
  c.left = c.granted;
  c.leave = Leave::budget;
  if (c.asks || c.htm->wants_asking()) [[unlikely]]
    c.update_asking();
  const Slot *ip = c.fetch(c.state.pc);
  if (ip == nullptr) {
    const bool wants = c.timing.want != Want::nothing;
    c.left = wants ? c.granted : c.granted - 1;
    c.leave = wants ? Leave::want : Leave::trap;
  } else if (c.timing.integer_only) {
    c.in_burst = true;
    c.code->handlers().run(ip, &c);
    c.in_burst = false;
  } else {
    const host_float::Scope scope;
    c.in_burst = true;
    c.begin_float();
    c.code->handlers().run(ip, &c);
    c.end_float();
    c.in_burst = false;
  }
  const auto ran = static_cast<std::uint64_t>(c.granted - c.left);
  c.clock->now = c.begin + ran;
  const bool retired_all =
      c.leave != Leave::trap && (c.leave != Leave::unwound || c.unwound != Unwound::rolled_back);
  c.state.instret += ran - (retired_all ? 0 : 1);
  c.unwound = Unwound::no;
  if (c.watches_stack) [[unlikely]]
    c.release_stack();
  return ran;
}

// Whether a run of so many cycles ends here, and why.
bool ends(const HartCore &c, Hart &hart, std::uint64_t cycles, Ran &ran) {
  if (!hart.awake())
    ran.stop = c.state.activity == Activity::waiting ? Stop::waiting : Stop::stopped;
  else if (c.asked || ran.cycles == cycles)
    ran.stop = c.asked ? Stop::asked : Stop::budget;
  else
    return false;
  return true;
}

// Lets cycles pass in which a transaction keeps the hart waiting; it still takes interrupts. False:
// it does not wait.
bool let_pass(HartCore &c, const Hart &hart, std::uint64_t cycles, Ran &ran) {
  const Cycle now = c.clock->now;
  if (c.wait_until <= now) [[likely]]
    return false;
  const std::uint64_t waits =
      until_timer(c, hart, std::min(cycles - ran.cycles, c.wait_until - now));
  c.clock->now += waits;
  ran.cycles += waits;
  ran.waited += waits;
  ran.system += c.state.privilege != Privilege::user ? waits : 0;
  return true;
}

bool intercepts(const HartCore &c) {
  const std::uint64_t masks[4] = {c.intercept_user, c.intercept_supervisor, 0, 0};
  return (masks[unsigned(c.state.privilege)] & bit(c.trap.cause)) != 0;
}

void trapped(HartCore &c) {
  const Trap cause = c.trap;
  if (c.state.privilege == Privilege::user && c.htm->any_live() &&
      cause.cause != Exception::ecall_user) [[unlikely]]
    c.self->leave_user();
  if (intercepts(c) && c.environment->trap(*c.self, cause) == HartEnvironment::Action::resume)
    return;
  c.take(cause);
}

} // namespace

Ran Hart::run(std::uint64_t cycles) {
  HartCore &c = *core_;
  c.asked = false;
  c.harts->running_ = this;
  Ran ran{0, Stop::budget};
  while (!ends(c, *this, cycles, ran)) {
    if (c.interrupt_due())
      c.take_interrupt();
    if (let_pass(c, *this, cycles, ran))
      continue;
    ran.cycles += burst(c, until_timer(c, *this, cycles - ran.cycles));
    if (c.leave == Leave::trap)
      trapped(c);
  }
  c.asked = false;
  c.harts->running_ = nullptr;
  return ran;
}

Ran Hart::run_timed(std::uint64_t cycles) {
  HartCore &c = *core_;
  c.asked = false;
  c.harts->running_ = this;
  Ran ran{0, Stop::budget};
  while (!ends(c, *this, cycles, ran)) {
    if (c.interrupt_due()) {
      if (c.has_transaction()) {
        c.timing.want = Want::transaction;
        ran.stop = Stop::wants;
        break;
      }
      c.timing.first_part = kNoLine;
      c.take_interrupt();
    }
    if (let_pass(c, *this, cycles, ran))
      continue;
    // What was fetched is for one instruction, even if the line has gone since.
    const bool fetched = c.timing.fetched[0] != kNoLine;
    c.timing.want = Want::nothing;
    const bool system = c.state.privilege != Privilege::user;
    const std::uint64_t did = burst(c, until_timer(c, *this, fetched ? 1 : cycles - ran.cycles));
    ran.cycles += did;
    ran.system += system ? did : 0;
    if (fetched && did > 0) {
      c.timing.fetched = {kNoLine, kNoLine};
      c.timing.leave_line();
    }
    if (c.leave == Leave::want) {
      ran.stop = Stop::wants;
      break;
    }
    if (c.leave != Leave::trap)
      continue;
    c.timing.first_part = kNoLine;
    const bool drains = intercepts(c) && !c.timing.drained();
    if (intercepts(c) && !drains) {
      --ran.cycles; // it takes the time that serving it takes
      ran.system -= system ? 1 : 0;
      --c.clock->now;
      ran.stop = Stop::trap;
      break;
    }
    if (drains || c.has_transaction()) { // it comes again, as a step of its own
      --ran.cycles;
      ran.system -= system ? 1 : 0;
      --c.clock->now;
      c.timing.want = drains ? Want::drain : Want::transaction;
      ran.stop = Stop::wants;
      break;
    }
    c.take(c.trap);
  }
  c.asked = false;
  c.harts->running_ = nullptr;
  return ran;
}

std::optional<std::uint32_t> Hart::next_word() {
  HartCore &c = *core_;
  c.timing.want = Want::nothing;
  if (c.wait_until > c.clock->now)
    return std::nullopt;
  if (c.interrupt_due()) {
    if (c.has_transaction())
      return std::nullopt;
    c.timing.first_part = kNoLine;
    c.take_interrupt();
  }
  const Slot *ip = c.fetch(c.state.pc);
  if (ip == nullptr)
    return std::nullopt;
  const std::uint64_t offset = c.state.pc & ~kPageMask;
  std::uint16_t low = 0;
  std::memcpy(&low, c.memory->host(c.present_page()->physical + offset), sizeof low);
  if (offset < kPageBytes - sizeof low || is_compressed(low))
    return c.word_at(ip);
  return c.cross_page(c.state.pc) != nullptr ? std::optional(c.cross_word) : std::nullopt;
}

Granted Hart::run_granted(Want kind, std::uint64_t line) {
  HartCore &c = *core_;
  HartTiming &timing = c.timing;
  if (kind == Want::walk || kind == Want::walk_update) {
    // A step of the walk; the instruction is tried again.
    timing.used = c.walk_step(line, kind == Want::walk_update);
    return Granted::wants;
  }
  const bool serves = kind == Want::device || kind == Want::hint;
  timing.granted = serves ? Want::nothing : kind;
  timing.device_granted = serves;
  timing.granted_line = line;
  timing.used = false;
  timing.want = Want::nothing;
  c.asked = false;
  c.harts->running_ = this;
  const std::uint64_t ran = burst(c, 1);
  c.asked = false;
  c.harts->running_ = nullptr;
  timing.granted = Want::nothing;
  timing.device_granted = false;
  timing.granted_line = kNoLine;
  if (c.leave == Leave::trap)
    return Granted::trap;
  if (c.leave == Leave::want || c.leave == Leave::unwound)
    return Granted::wants;
  CHECK(ran == 1);
  if (timing.fetched[0] != kNoLine) {
    timing.fetched = {kNoLine, kNoLine};
    timing.leave_line();
  }
  return Granted::done;
}

Ran Hart::run_transaction() {
  HartCore &c = *core_;
  Ran ran{0, Stop::budget};
  c.timing.want = Want::nothing;
  c.asked = false;
  c.harts->running_ = this;
  if (c.interrupt_due()) {
    c.timing.first_part = kNoLine;
    c.take_interrupt();
  } else {
    c.timing.granted = Want::transaction;
    const bool system = c.state.privilege != Privilege::user;
    ran.cycles = burst(c, 1);
    ran.system = system ? ran.cycles : 0;
    c.timing.granted = Want::nothing;
    if (ran.cycles > 0 && c.timing.fetched[0] != kNoLine) {
      c.timing.fetched = {kNoLine, kNoLine};
      c.timing.leave_line();
    }
    if (c.leave == Leave::want) {
      ran.stop = Stop::wants;
    } else if (c.leave == Leave::trap) {
      c.timing.first_part = kNoLine;
      if (intercepts(c)) {
        ran = {0, Stop::trap};
        --c.clock->now;
      } else {
        c.take(c.trap);
      }
    }
  }
  c.asked = false;
  c.harts->running_ = nullptr;
  return ran;
}

void Hart::hold_until(Cycle at) { core_->wait_until = at; }

void Hart::leave_user() { core_->htm->abort_user(core_->id); }

void Hart::serve_trap() {
  HartCore &c = *core_;
  c.harts->running_ = this;
  trapped(c);
  c.asked = false;
  c.harts->running_ = nullptr;
}

Touched last_touched(Hart &hart) { return hart.core().touched; }

HartTiming &Hart::timing() { return core_->timing; }

void Hart::start(std::uint64_t pc, std::uint64_t a0, std::uint64_t a1) {
  HartState &s = core_->state;
  CHECK(s.activity == Activity::stopped, "hart {}", id());
  s.pc = pc;
  s.x[10] = a0;
  s.x[11] = a1;
  s.privilege = Privilege::supervisor;
  s.status &= ~(status::kSie | status::kMprv);
  s.satp = 0;
  s.activity = Activity::running;
  changed();
  if (core_->harts->running() != nullptr)
    core_->harts->running()->end_burst(); // it may have believed to be alone
}

void Hart::stop() {
  core_->state.activity = Activity::stopped;
  end_burst();
}

void Hart::wait() {
  core_->state.activity = Activity::waiting;
  end_burst();
}

namespace {

// After a line has changed: whoever runs must come back if it, or who sleeps, has to look.
void line_changed(HartCore &c) {
  Hart *running = c.harts->running();
  if (running == nullptr)
    return;
  if (running == c.self ? c.interrupt_due() : c.state.activity == Activity::waiting)
    running->end_burst();
}

void set_line(HartCore &c, Interrupt line, bool level) {
  c.state.ip = level ? c.state.ip | bit(line) : c.state.ip & ~bit(line);
  line_changed(c);
}

} // namespace

void Hart::set_external(bool level) { set_line(*core_, Interrupt::supervisor_external, level); }
void Hart::set_software(bool level) { set_line(*core_, Interrupt::supervisor_software, level); }
void Hart::set_timer(std::uint64_t ticks) {
  core_->state.stimecmp = ticks;
  if (core_->harts->running() != nullptr)
    core_->harts->running()->end_burst(); // it may have been running towards the old one
}

void Hart::fence_i() {}
void Hart::sfence_vma(const FenceRange &range) { core_->fence(range); }
void Hart::break_reservation() { core_->state.reservation = kNoReservation; }

void Hart::end_burst() {
  core_->asked = true;
  if (core_->in_burst)
    core_->end_burst();
}

bool Hart::awake() {
  HartState &s = core_->state;
  if (s.activity == Activity::waiting && (core_->pending() & s.ie) != 0)
    s.activity = Activity::running;
  return s.activity == Activity::running;
}

Cycle Hart::timer() const {
  const HartState &s = core_->state;
  const bool enabled = (s.ie & bit(Interrupt::supervisor_timer)) != 0;
  return enabled ? core_->clock->cycle_of(s.stimecmp) : kNever;
}

void Hart::intercept(HartEnvironment *environment, std::uint64_t from_user,
                     std::uint64_t from_supervisor) {
  CHECK(environment != nullptr || (from_user | from_supervisor) == 0);
  core_->environment = environment;
  core_->intercept_user = from_user;
  core_->intercept_supervisor = from_supervisor;
}

std::optional<std::uint64_t> Hart::translate(std::uint64_t address) const {
  const HartCore &c = *core_;
  if (!c.data_translated)
    return address;
  // As whoever the page is for, and loads of pages that are only for execution too.
  for (const bool user : {false, true}) {
    Walk walk({c.state.satp, user, false, true}, address, AccessKind::load);
    while (walk.state() == Walk::State::wants_entry) {
      std::uint64_t entry = 0;
      if (!c.memory->peek(walk.address(), std::as_writable_bytes(std::span(&entry, 1))))
        return std::nullopt;
      walk.feed(entry);
    }
    if (walk.state() != Walk::State::page_fault)
      return walk.physical();
  }
  return std::nullopt;
}

bool Hart::read_virtual(std::uint64_t address, std::span<std::byte> to) const {
  while (!to.empty()) {
    const std::uint64_t room = kPageBytes - (address & (kPageBytes - 1));
    const auto part = to.first(std::min<std::size_t>(to.size(), room));
    const auto place = translate(address);
    if (!place || !core_->memory->peek(*place, part))
      return false;
    address += part.size();
    to = to.subspan(part.size());
  }
  return true;
}

bool Hart::write_virtual(std::uint64_t address, std::span<const std::byte> from) {
  while (!from.empty()) {
    const std::uint64_t room = kPageBytes - (address & (kPageBytes - 1));
    const auto part = from.first(std::min<std::size_t>(from.size(), room));
    const auto place = translate(address);
    if (!place || !core_->memory->write(*place, part))
      return false;
    address += part.size();
    from = from.subspan(part.size());
  }
  return true;
}

std::optional<std::uint64_t> Hart::csr(unsigned number) const {
  if (find_csr(number) == nullptr)
    return std::nullopt;
  return core_->read_csr(number);
}

} // namespace tandem::machine
