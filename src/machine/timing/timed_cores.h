// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TimedCores for one protocol: the client of its System. Included by one file for each protocol.
#pragma once

#include "machine/hart/touched.h"
#include "machine/htm/transactional_memory.h"
#include "machine/simulation/entry.h"
#include "machine/timed/system.h"
#include "machine/timing/timing.h"
#include "machine/timing/window.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>

namespace tandem::machine::timing {

template <class P> class CoresOf final : public TimedCores, public HartLines {
public:
  using S = System<P, CoresOf>;

  CoresOf(const TimingOptions &options, Harts &harts, Clock &clock, Agenda *agenda)
      : options_(options), harts_(harts), htm_(harts.transactions()), clock_(clock),
        agenda_(agenda),
        system_(options.configuration, simulation::config_of<P>(options.configuration),
                {.seed = options.seed, .check_values = options.check_values}, *this),
        cycles_(harts.size()),
        windows_(options.configuration.hart.model == CoreModel::window ? harts.size() : 0) {
    // A store of a window is seen before its core has asked for the line.
    options_.lockstep = options_.lockstep || windowed();
    begin_cores();
    HtmOptions htm = options.configuration.htm;
    htm.seed = options.seed;
    htm_.configure(htm);
    options_.call_cycles = std::max(options_.call_cycles, system_.issue_cycles());
    options_.device_cycles = std::max(options_.device_cycles, system_.issue_cycles());
    if (options.timeline)
      timeline_.emplace(harts.size());
    harts.on_hint([this](Hart &hart, unsigned number) { take_hint(number, hart); });
    if (options.mode != Mode::functional)
      enter(options.mode);
  }
  ~CoresOf() override {
    harts_.use_timing(nullptr);
    harts_.on_hint(nullptr);
  }

  // --- Driver ----------------------------------------------------------------------------------
  [[nodiscard]] bool drives() const override { return wanted_ != Mode::functional || timed(); }
  CoresEnd run(std::uint64_t instructions, Schedule &schedule) override {
    stop_ = false;
    left_ = instructions;
    if (!timed())
      enter(wanted_);
    // Somebody may have started harts since the last run.
    for (unsigned number = 0; number < cores_.size(); ++number)
      if (cores_[number].state == State::idle &&
          harts_[number].state().activity == Activity::running) {
        cores_[number].state = State::ready;
        cores_[number].clock = now();
      }
    const CoresEnd end = loop();
    schedule.instructions += instructions - left_;
    schedule.round = now();
    clock_.now = now();
    return end;
  }
  void request_stop() override { stop_ = true; }
  [[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> counts() const override;

  // --- TimedCores ------------------------------------------------------------------------------
  void heard_access(std::uint64_t address, std::uint64_t bytes, bool write) override;
  bool when_settled(std::function<void(Cycle at)> call) override;
  void change_mode(Mode mode) override;
  [[nodiscard]] Mode mode() const override { return mode_; }
  RunResult result() override;
  [[nodiscard]] const std::vector<HartCycles> &harts() const override { return cycles_; }
  [[nodiscard]] const std::map<unsigned, RegionCounts> &regions() const override {
    return regions_;
  }
  [[nodiscard]] const Timeline *timeline() override {
    if (timeline_ && timed())
      timeline_->finish(now());
    return timeline_ ? &*timeline_ : nullptr;
  }

  // --- the client of the system ------------------------------------------------------------------
  void step(S &, unsigned) {}
  bool perform(S &, unsigned number, const Request &request);
  void complete(S &, unsigned number, const Completion &done);
  // The first marked line of an attempt that leaves costs the set-up of what holds it from then on;
  // that it lies in memory is paid by the access that fetches it again.
  void evicted(S &, unsigned number, std::uint64_t block) {
    if (htm_.any_marks())
      cores_[number].overflow += htm_.overflow(number, block);
  }
  void lost(S &, unsigned number, std::uint64_t block);
  // Of protocols that refuse: what a hart's access meets at the harts that are asked.
  std::uint64_t refusing(S &, unsigned number, const Request &request, std::uint64_t asked);
  void refused(S &, unsigned number);
  void prevailed(S &, unsigned number);
  bool marked(S &, unsigned number, std::uint64_t block) { return htm_.marked(number, block); }
  void device_done(S &, const DeviceAccess &done);

  // --- HartLines ---------------------------------------------------------------------------------
  LineEntry find(unsigned hart, std::uint64_t line, bool code) override {
    if ((htm_.recording() || windowed()) && !code)
      return {};
    Quick found = system_.quick(hart, line, code);
    if (htm_.any_marks()) { // of bytes, which permissions know nothing of
      found.readable = found.readable && htm_.allows(hart, line, false);
      found.writable = found.writable && htm_.allows(hart, line, true);
    }
    LineEntry entry;
    entry.readable = found.readable ? line : kNoLine;
    entry.writable = found.writable ? line : kNoLine;
    entry.stamp = found.stamp != nullptr ? found.stamp : &no_order_;
    entry.clock = found.clock != nullptr ? found.clock : &no_order_;
    return entry;
  }

  [[nodiscard]] Cycle alone_until(unsigned number) const override;

private:
  enum class State : std::uint8_t {
    idle,     // the hart is stopped, or waits for an interrupt
    ready,    // it goes on at `clock`
    missing,  // until complete(), or perform() of a fetch
    draining, // until stores have left its buffer, or the oldest of its window is done
  };
  struct Core {
    State state = State::idle;
    Cycle clock = 0;
    Want want = Want::nothing; // at `clock`
    bool serves = false;       // at `clock`: an exception for the environment
    std::uint64_t line = kNoLine;
    std::uint64_t pc = 0;       // of the instruction that wants, or is under way
    Touched touched{};          // by it
    bool transactional = false; // the access under way was begun in a transaction
    bool done = false;          // the instruction whose access is under way has run
    Cycle since = 0;
    Cycle overflow = 0;                 // that its transaction still has to pay for
    Cycle drain_at = kNever;            // when a store may leave its buffer, an access its window
    std::uint64_t drain_line = kNoLine; // that is being fetched for one
    std::uint32_t newest_store = 0;     // that a cycle was planned for
    bool serializing = false;           // its next instruction waits for the window to be empty
    unsigned entered = 0;               // instructions, in the cycle that begins at `clock`
    Spent entered_as = Spent::user;     // the first of them
    // Whether it concerns all harts: none runs past its cycle.
    [[nodiscard]] bool meets_all() const {
      return serves || want == Want::device || want == Want::hint;
    }
  };

  // What a window needs of an instruction, by its word.
  struct Decoded {
    std::uint32_t word = 0;    // 0 is illegal
    bool serializing = true;   // it waits for the window to be empty
    bool integer_only = false; // it is no floating-point one
    Entering shape{};
  };

  [[nodiscard]] bool timed() const { return mode_ != Mode::functional; }
  [[nodiscard]] Cycle now() const;
  [[nodiscard]] Cycle timed_cycles() const { return before_ + (timed() ? now() - entered_ : 0); }
  void enter(Mode mode);
  void count_anew(Cycle at);
  void leave();
  void drain();
  void notice(Cycle at);
  CoresEnd loop();
  [[nodiscard]] Cycle next_turn(unsigned number) const;
  [[nodiscard]] int choose(Cycle &at);
  [[nodiscard]] Cycle bound(unsigned number) const;
  void turn(unsigned number, Cycle at);
  void burst(unsigned number);
  void transact(unsigned number);
  void after(unsigned number, const Ran &ran);
  void run_kills(Cycle at);
  void rolled_back(std::uint64_t harts);
  // Until everybody has noticed what is performed now.
  [[nodiscard]] Cycle kill_delay() const {
    if (htm_.mistake() == TransactionalMemory::Mistake::kill_too_early)
      return 0;
    return std::max<Cycle>(accesses_ ? system_.issue_cycles() : system_.step_cycles(), 1);
  }
  void wait_for_service(unsigned number, Cycle cycles);
  void access(unsigned number);
  void arm(unsigned number);
  void arm_for_new(unsigned number);
  static void arm_at(Core &core, Cycle at) { core.drain_at = std::min(core.drain_at, at); }
  [[nodiscard]] std::uint32_t next_store(unsigned number);
  void drain_store(unsigned number);
  bool perform_store(unsigned number, const Request &request);
  void went(unsigned number, Cycle at);
  void flush_stores(Cycle at);
  void serve(unsigned number);
  [[nodiscard]] bool windowed() const { return !windows_.empty(); }
  void begin_cores();
  void enter_window(unsigned number);
  void end_cycle(unsigned number);
  // Whether nobody's loads and stores may run before they are performed: transactions would not see
  // them.
  [[nodiscard]] bool in_order(unsigned number) const {
    return htm_.depth(number) > 0 || htm_.any_marks() || htm_.recording();
  }
  [[nodiscard]] bool enter_one(unsigned number);
  [[nodiscard]] const Decoded &decoded(std::uint32_t word);
  void wants(unsigned number);
  void enters(unsigned number, Entering entering, std::uint64_t pc);
  void arm_window(unsigned number, Cycle at);
  void stall(unsigned number);
  void oldest_known(unsigned number);
  void send_window(unsigned number);
  void answered(unsigned number, const Completion &done);
  void empty_windows();
  Cycle pay(Core &core, unsigned number) {
    const Cycle cost = std::exchange(core.overflow, 0);
    cycles_[number].waits += cost;
    count_system(number, cost);
    return cost;
  }
  void missed(Core &core, unsigned number, Want want, Cycle waited);
  void show_miss(const Core &core, unsigned number, Want want, Cycle waited);
  void finish(unsigned number, const Completion &done);
  [[nodiscard]] bool still_there(unsigned number) const;
  void take_hint(unsigned number, Hart &hart);
  void region(unsigned number, bool begins);
  void post_devices();
  void spend(unsigned number, Spent what, Cycle from, Cycle to) {
    if (timeline_)
      timeline_->spend(number, what, from, to);
  }
  [[nodiscard]] Spent running(unsigned number) {
    return harts_[number].state().privilege == Privilege::user ? Spent::user : Spent::system;
  }
  void count_system(unsigned number, Cycle cycles) {
    if (harts_[number].state().privilege != Privilege::user)
      cycles_[number].system += cycles;
  }
  void count_instruction() { left_ -= left_ > 0 ? 1 : 0; }

  TimingOptions options_;
  Harts &harts_;
  TransactionalMemory &htm_;
  Clock &clock_;
  Agenda *agenda_;
  S system_;
  std::vector<Core> cores_;
  std::vector<HartCycles> cycles_;
  std::vector<Window> windows_; // of each hart; none where cores run in order
  std::vector<Decoded> decoded_ = std::vector<Decoded>(windowed() ? kDecoded : 0);
  Cycle issue_ = 1; // from an access to the first that others may see of it; as enter() finds it
  Mode mode_ = Mode::functional;
  Cycle entered_ = 0; // the present stay in modes that have time
  Cycle before_ = 0;  // cycles of those before it
  Mode wanted_ = Mode::functional;
  bool stop_ = false;
  bool meets_transactions_ = false; // the access that refusing() was asked about
  bool accesses_ = false;           // inside access(): what is performed is a hart's own step
  std::uint64_t left_ = 0;          // instructions
  std::uint64_t no_order_ = 0;
  static constexpr std::uint32_t kStoreTag = 1U << 31;  // of a store from a buffer, and its number
  static constexpr std::uint32_t kWindowTag = 1U << 30; // of an access of a window, and its slot
  static constexpr std::size_t kDecoded = 4096;         // instructions
  static constexpr Cycle kFine = 64;                    // cycles of a burst with a timeline
  static constexpr std::uint32_t kHalf = 1U << 31;      // of all numbers: the past
  static constexpr unsigned kDevicesUnderWay = 8;       // virtio's DMA; no source says how many
  std::deque<DeviceAccess> device_queue_;
  unsigned devices_under_way_ = 0;
  // Accesses of devices are numbered as they were heard; from `settled_` on, which are done.
  std::uint32_t heard_ = 0;
  std::uint32_t settled_ = 0;
  std::deque<bool> done_;
  struct Settling {
    std::uint32_t last; // the number after the last that it waits for
    std::function<void(Cycle at)> call;
  };
  std::deque<Settling> settling_;
  std::optional<Timeline> timeline_;
  std::map<unsigned, RegionCounts> regions_;
  std::map<unsigned, std::vector<std::pair<std::string, std::uint64_t>>> open_; // regions
};

// The furthest that anything has come.
template <class P> Cycle CoresOf<P>::now() const {
  Cycle latest = system_.now();
  for (const Core &core : cores_)
    latest = std::max(latest, core.clock);
  return latest;
}

template <class P> void CoresOf<P>::enter(Mode mode) {
  const Cycle at = std::max(now(), clock_.now);
  if (!timed()) {
    harts_.use_timing(this, options_.configuration.hart.store_buffer);
    // The caches are as they were left; time has passed.
    if (at > system_.now())
      system_.skip_to(at);
    begin_cores();
    entered_ = at;
    if (timeline_)
      timeline_->begin(at);
  }
  if (options_.only_timing && mode == Mode::timing)
    count_anew(at);
  mode_ = wanted_ = mode;
  system_.fast_forward(mode == Mode::warming);
  htm_.set_kill_delay(std::max<Cycle>(system_.issue_cycles(), 1));
  issue_ = std::max<Cycle>(system_.issue_cycles(), 1);
  notice(at);
}

template <class P> void CoresOf<P>::count_anew(Cycle at) {
  options_.only_timing = false;
  system_.reset_statistics();
  cycles_.assign(cycles_.size(), HartCycles{});
  for (auto &hart : harts_)
    hart->timing().loads = hart->timing().stores = hart->timing().fetches = 0;
  before_ = 0;
  entered_ = at;
}

template <class P> void CoresOf<P>::leave() {
  clock_.now = now();
  if (timeline_)
    timeline_->finish(clock_.now);
  before_ = timed_cycles();
  harts_.use_timing(nullptr);
  htm_.run_kills(kNever);
  htm_.set_kill_delay(0);
  mode_ = Mode::functional;
}

// Until nothing is under way, in the memory system and in windows. What is performed meanwhile runs
// its instruction.
template <class P> void CoresOf<P>::drain() {
  for (unsigned number = 0; number < cores_.size(); ++number)
    end_cycle(number);
  flush_stores(now());
  post_devices();
  for (;;) {
    const auto core = std::ranges::min_element(cores_, {}, &Core::drain_at);
    if (windowed() && core->drain_at < system_.next_event())
      send_window(static_cast<unsigned>(core - cores_.begin()));
    else if (!system_.idle())
      system_.run(1);
    else
      break;
    post_devices();
  }
  empty_windows();
}

// Without time a device's access leaves the caches as they are.
template <class P>
void CoresOf<P>::heard_access(std::uint64_t address, std::uint64_t bytes, bool write) {
  const Access access = write ? Access::store : Access::load;
  const std::uint64_t last = (address + bytes - 1) >> kLineShift;
  for (std::uint64_t line = address >> kLineShift; timed() && line <= last; ++line)
    device_queue_.push_back({.block = line, .access = access, .tag = heard_++});
}

template <class P> bool CoresOf<P>::when_settled(std::function<void(Cycle at)> call) {
  if (heard_ == settled_)
    return false;
  settling_.push_back({heard_, std::move(call)});
  return true;
}

// Harts may have run as far as an event's effects take to reach them.
template <class P> void CoresOf<P>::device_done(S &, const DeviceAccess &done) {
  --devices_under_way_;
  const std::uint32_t place = done.tag - settled_;
  if (done_.size() <= place)
    done_.resize(place + 1);
  done_[place] = true;
  for (; !done_.empty() && done_.front(); ++settled_)
    done_.pop_front();
  while (!settling_.empty() && settling_.front().last - settled_ - 1 >= kHalf) {
    const Settling over = std::move(settling_.front());
    settling_.pop_front();
    over.call(system_.now() + std::max<Cycle>(system_.step_cycles(), 1));
  }
}

template <class P> void CoresOf<P>::post_devices() {
  while (!device_queue_.empty() && devices_under_way_ < kDevicesUnderWay) {
    const DeviceAccess next = device_queue_.front();
    device_queue_.pop_front();
    ++devices_under_way_;
    system_.device(next.block, next.access, next.tag);
  }
}

template <class P> void CoresOf<P>::change_mode(Mode mode) {
  wanted_ = mode;
  if (harts_.running() != nullptr)
    harts_.running()->end_burst();
}

// After anything that may have started, stopped or woken harts.
template <class P> void CoresOf<P>::notice(Cycle at) {
  clock_.now = at;
  for (unsigned number = 0; number < cores_.size(); ++number) {
    Core &core = cores_[number];
    const bool runs = harts_[number].awake();
    if (core.state == State::idle && runs) {
      core.state = State::ready;
      core.clock = std::max(core.clock, at);
    } else if ((core.state == State::ready || core.state == State::draining) && !runs) {
      end_cycle(number);
      core.state = State::idle;
      core.want = Want::nothing;
      core.serves = false;
    }
  }
}

// When a hart is to take a turn next.
template <class P> Cycle CoresOf<P>::next_turn(unsigned number) const {
  const Core &core = cores_[number];
  if (core.state == State::ready)
    return std::min(core.drain_at, core.clock);
  if (core.state == State::idle && harts_[number].state().activity == Activity::waiting)
    return std::min(core.drain_at, std::max(harts_[number].timer(), core.clock));
  return core.drain_at;
}

// The hart that is next and when; -1: none.
template <class P> int CoresOf<P>::choose(Cycle &at) {
  int best = -1;
  at = kNever;
  for (unsigned number = 0; number < cores_.size(); ++number) {
    if (const Cycle when = next_turn(number); when < at) {
      at = when;
      best = static_cast<int>(number);
    }
  }
  return best;
}

// Before which cycle a hart must stop. Others issue no earlier than at their clocks; what concerns
// all happens at its cycle, in the order of harts.
template <class P> Cycle CoresOf<P>::bound(unsigned number) const {
  const Core &self = cores_[number];
  if (options_.lockstep)
    return self.clock + 1; // kills come at the begin of a cycle
  Cycle least = std::min(system_.horizon(number), self.drain_at);
  for (unsigned other = 0; other < cores_.size(); ++other) {
    const Core &core = cores_[other];
    if (other == number)
      continue;
    if (core.drain_at != kNever)
      least = std::min(least, core.drain_at + issue_);
    if (core.state == State::ready)
      least = std::min(least, core.meets_all() ? core.clock + (number < other ? 1 : 0)
                                               : core.clock + issue_);
    else if (core.state == State::idle && harts_[other].state().activity == Activity::waiting)
      if (const Cycle timer = harts_[other].timer(); timer != kNever)
        least = std::min(least, std::max(timer, core.clock) + issue_);
  }
  least = least > kNever - options_.too_far ? kNever : least + options_.too_far;
  least = std::min(least, htm_.next_kill_of(number));
  return agenda_ != nullptr ? std::min(least, agenda_->next()) : least;
}

// Steps of others come no earlier than those that are planned: the hart that runs plans none before
// its own cycle.
template <class P> Cycle CoresOf<P>::alone_until(unsigned number) const {
  if (windowed())
    return 0;
  Cycle least = std::min({system_.next_event(), htm_.next_kill(), cores_[number].drain_at});
  if (agenda_ != nullptr)
    least = std::min(least, agenda_->next());
  for (unsigned other = 0; other < cores_.size(); ++other)
    if (const Cycle next = next_turn(other); other != number && next != kNever)
      least = std::min(least, next + (number < other ? 1 : 0));
  return least;
}

template <class P> CoresEnd CoresOf<P>::loop() {
  while (left_ > 0) {
    if (stop_)
      return CoresEnd::asked;
    if (wanted_ != mode_) {
      drain();
      if (wanted_ == Mode::functional) {
        leave();
        return CoresEnd::limit;
      }
      enter(wanted_);
    }
    post_devices();
    Cycle at = kNever;
    const int number = choose(at);
    const Cycle event = system_.next_event();
    const Cycle due = agenda_ != nullptr ? agenda_->next() : kNever;
    if (const Cycle kill = htm_.next_kill();
        kill != kNever && kill <= at && kill < event && kill < due) {
      run_kills(kill);
    } else if (due != kNever && due <= std::min(at, event)) {
      // What is late was made due in the past, by something that has just happened.
      const Cycle when = std::max(due, system_.now());
      system_.skip_to(when);
      clock_.now = when;
      flush_stores(when);
      agenda_->run(when);
      notice(when);
    } else if (event <= at) {
      if (event == kNever) {
        if (system_.pending() != 0)
          throw ProtocolFailure(fmt::format("{}: nothing happens any more, cycle {}\n{}", P::kName,
                                            now(), system_.stuck()));
        return CoresEnd::deadlock;
      }
      system_.run(1);
    } else {
      htm_.set_turn(static_cast<unsigned>(number));
      turn(static_cast<unsigned>(number), at);
      htm_.set_turn(0);
    }
  }
  return CoresEnd::limit;
}

template <class P> void CoresOf<P>::turn(unsigned number, Cycle at) {
  Core &core = cores_[number];
  if (core.drain_at <= at && core.entered == 0)
    return windowed() ? send_window(number) : drain_store(number);
  Hart &hart = harts_[number];
  if (core.state == State::idle) { // its timer
    core.clock = std::max(hart.timer(), core.clock);
    clock_.now = core.clock;
    core.state = State::ready;
    if (!hart.awake()) {
      core.state = State::idle;
      ++core.clock;
    }
    return;
  }
  // Another thread may have come to the hart meanwhile.
  if (core.pc != hart.state().pc) {
    core.want = Want::nothing;
    core.serves = false;
  }
  if (core.meets_all())
    serve(number);
  else if (core.want == Want::transaction)
    transact(number);
  else if (core.want != Want::nothing)
    access(number);
  else if (windowed())
    enter_window(number);
  else
    burst(number);
}

template <class P> void CoresOf<P>::burst(unsigned number) {
  Core &core = cores_[number];
  Hart &hart = harts_[number];
  clock_.now = core.clock;
  const Cycle end = bound(number);
  CHECK(end > core.clock, "hart {} at {} cannot go on", number, core.clock);
  // What is seen of U and S is as fine as bursts are; what happens does not depend on their length.
  const Cycle most = timeline_ ? std::min(end - core.clock, kFine) : end - core.clock;
  const Spent runs = running(number);
  const Ran ran = hart.run_timed(std::min(left_, most));
  spend(number, runs, core.clock, core.clock + ran.cycles);
  after(number, ran);
}

// A step of a transaction: the same, but a single one and at its cycle.
template <class P> void CoresOf<P>::transact(unsigned number) {
  Core &core = cores_[number];
  if (core.clock > system_.now())
    system_.skip_to(core.clock);
  clock_.now = core.clock;
  core.want = Want::nothing;
  const Spent runs = running(number);
  const Ran ran = harts_[number].run_transaction();
  spend(number, runs, core.clock, core.clock + ran.cycles);
  after(number, ran);
}

// What is due at `at` before the harts' steps of that cycle: transactions that lost to others.
template <class P> void CoresOf<P>::run_kills(Cycle at) {
  if (at > system_.now())
    system_.skip_to(at);
  clock_.now = at;
  rolled_back(htm_.run_kills(at));
}

// What these harts wanted next is over.
template <class P> void CoresOf<P>::rolled_back(std::uint64_t harts) {
  for (unsigned number = 0; number < cores_.size(); ++number)
    if ((harts >> (number % 64) & 1) != 0 && cores_[number].state == State::ready) {
      cores_[number].want = Want::nothing;
      cores_[number].serves = false;
    }
}

// Keeps the time of what a hart has run, and what it wants next.
template <class P> void CoresOf<P>::after(unsigned number, const Ran &ran) {
  Core &core = cores_[number];
  Hart &hart = harts_[number];
  const std::uint64_t instructions = std::min(left_, ran.cycles - ran.waited);
  left_ -= instructions;
  cycles_[number].instructions += ran.cycles - ran.waited;
  cycles_[number].busy += ran.cycles - ran.waited;
  cycles_[number].waits += ran.waited;
  cycles_[number].system += ran.system;
  core.clock += ran.cycles;
  core.pc = hart.state().pc;
  switch (ran.stop) {
  case Stop::wants:
    core.want = hart.timing().want;
    core.line = hart.timing().wanted;
    core.touched = last_touched(hart);
    if (core.want == Want::device)
      wait_for_service(number, options_.device_cycles);
    else if (core.want == Want::hint)
      wait_for_service(number, system_.issue_cycles());
    else if (core.want == Want::drain || core.want == Want::room) {
      core.state = State::draining;
      core.since = core.clock;
    }
    break;
  case Stop::trap:
    core.serves = true;
    wait_for_service(number, options_.call_cycles);
    break;
  case Stop::waiting:
  case Stop::stopped:
    core.state = State::idle;
    break;
  case Stop::budget:
  case Stop::asked:
    break;
  }
  arm_for_new(number);
}

template <class P> void CoresOf<P>::wait_for_service(unsigned number, Cycle cycles) {
  Core &core = cores_[number];
  spend(number, Spent::service, core.clock, core.clock + cycles);
  core.clock += cycles;
  cycles_[number].service += cycles;
  count_system(number, cycles);
}

// Runs at its cycle, when no hart has run past it.
template <class P> void CoresOf<P>::serve(unsigned number) {
  Core &core = cores_[number];
  Hart &hart = harts_[number];
  const Cycle at = core.clock;
  if (at > system_.now())
    system_.skip_to(at);
  clock_.now = at;
  const bool serves = std::exchange(core.serves, false);
  const Want want = std::exchange(core.want, Want::nothing);
  if (serves) {
    count_instruction();
    flush_stores(at);
    hart.serve_trap();
  } else {
    const unsigned told = hart.timing().hint;
    switch (hart.run_granted(want, kNoLine)) {
    case Granted::done:
      count_instruction();
      if (want == Want::hint)
        take_hint(told, hart);
      break;
    case Granted::trap:
      count_instruction();
      flush_stores(at);
      hart.serve_trap();
      break;
    case Granted::wants:
      break;
    }
  }
  notice(at);
}

template <class P>
std::unique_ptr<TimedCores> make(const TimingOptions &options, Harts &harts, Clock &clock,
                                 Agenda *agenda) {
  return std::make_unique<CoresOf<P>>(options, harts, clock, agenda);
}

} // namespace tandem::machine::timing

#include "machine/timing/timed_accesses.h"
#include "machine/timing/timed_counts.h"
#include "machine/timing/timed_stores.h"
#include "machine/timing/timed_window.h"
