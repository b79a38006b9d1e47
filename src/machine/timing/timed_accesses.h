// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Part of timed_cores.h: accesses to memory, from the hart that wants one to what it has waited
// for.
#pragma once

#include "machine/timing/timed_cores.h"

#include <bit>

namespace tandem::machine::timing {

constexpr RequestKind request_of(Want want) {
  switch (want) {
  case Want::fetch:
    return RequestKind::fetch;
  case Want::store:
    return RequestKind::store;
  case Want::atomic:
    return RequestKind::atomic;
  case Want::load_reserved:
    return RequestKind::load_reserved;
  case Want::store_conditional:
    return RequestKind::store_conditional;
  case Want::walk_update:
    return RequestKind::atomic;
  case Want::walk:
  case Want::load:
  case Want::transaction:
  case Want::drain:
  case Want::room:
  case Want::nothing:
  case Want::device:
  case Want::hint:
    break;
  }
  return RequestKind::load;
}

// How an access of a program's data meets transactions.
constexpr std::optional<AccessMode> mode_of(Want want) {
  switch (want) {
  case Want::load:
  case Want::load_reserved:
    return AccessMode::read;
  case Want::store:
    return AccessMode::write;
  case Want::atomic:
  case Want::store_conditional:
    return AccessMode::both;
  default:
    return std::nullopt;
  }
}

template <class P> void CoresOf<P>::access(unsigned number) {
  Core &core = cores_[number];
  Hart &hart = harts_[number];
  if (core.clock > system_.now())
    system_.skip_to(core.clock);
  const Want want = core.want;
  if (want == Want::store_conditional && hart.state().reservation != core.line)
    system_.cancel_reservation(number);
  core.done = false;
  core.since = core.clock;
  core.transactional = htm_.depth(number) > 0;
  accesses_ = true;
  const Outcome outcome =
      system_.access(number, {core.line, request_of(want), number, core.transactional});
  accesses_ = false;
  if (!outcome.hit) {
    core.state = State::missing;
    return;
  }
  core.want = Want::nothing;
  finish(number, outcome.done);
  const bool fetch = want == Want::fetch;
  const CacheConfiguration &l1 = fetch ? options_.configuration.l1i : options_.configuration.l1d;
  // A hit in the L1 is hidden; of any other the first cycle is the instruction's own.
  const Cycle waits = outcome.done.latency <= l1.latency ? 0 : outcome.done.latency - 1;
  missed(core, number, want, waits);
  // The first of two lines is not yet an instruction; nor is a fetch.
  core.clock += waits + (core.done ? 1 : 0) + pay(core, number);
  // It has moved its line up, where a store may leave to. Hits in the L1 are not seen by all modes.
  if (!fetch && outcome.done.latency > l1.latency)
    arm(number);
}

template <class P> void CoresOf<P>::missed(Core &core, unsigned number, Want want, Cycle waited) {
  HartCycles &cycles = cycles_[number];
  const bool walks = want == Want::walk || want == Want::walk_update;
  (want == Want::fetch   ? cycles.fetches
   : want == Want::load  ? cycles.loads
   : want == Want::store ? cycles.stores
   : walks               ? cycles.walks
                         : cycles.atomics) += waited;
  cycles.instructions += core.done ? 1 : 0;
  cycles.busy += core.done ? 1 : 0;
  count_system(number, waited + (core.done ? 1 : 0));
  if (timeline_)
    show_miss(core, number, want, waited);
  core.pc = harts_[number].state().pc;
}

// `core.pc` is still that of the instruction.
template <class P>
void CoresOf<P>::show_miss(const Core &core, unsigned number, Want want, Cycle waited) {
  const bool walks = want == Want::walk || want == Want::walk_update;
  const Spent what = want == Want::fetch   ? Spent::fetch
                     : want == Want::load  ? Spent::load
                     : want == Want::store ? Spent::store
                     : walks               ? Spent::walk
                                           : Spent::atomic;
  const Cycle until = core.since + waited;
  spend(number, what, core.since, until);
  if (core.done)
    spend(number, running(number), until, until + 1);
  if (want == Want::fetch || walks || waited == 0)
    return;
  timeline_->missed(number, {.line = core.line,
                             .virtual_ = core.touched.address,
                             .bytes = core.touched.bytes,
                             .pc = core.pc,
                             .writes = want != Want::load,
                             .waited = waited});
}

// The access has been performed. A store-conditional that has failed runs now, to say so.
template <class P> void CoresOf<P>::finish(unsigned number, const Completion &done) {
  Core &core = cores_[number];
  if (done.kind != RequestKind::store_conditional || done.succeeded || core.done)
    return;
  Hart &hart = harts_[number];
  if (hart.state().pc != core.pc || hart.state().activity != Activity::running)
    return;
  hart.break_reservation();
  clock_.now = system_.now();
  core.done = hart.run_granted(Want::store_conditional, core.line) == Granted::done;
  if (core.done)
    count_instruction();
}

// The instant at which the access happens: the instruction runs, if its hart is still at it.
template <class P> bool CoresOf<P>::perform(S &, unsigned number, const Request &request) {
  if ((request.tag & kStoreTag) != 0)
    return perform_store(number, request);
  if ((request.tag & kWindowTag) != 0)
    return true; // its bytes were read or written when it entered
  Core &core = cores_[number];
  Hart &hart = harts_[number];
  const bool there = hart.state().pc == core.pc && hart.state().activity == Activity::running;
  if (request.kind == RequestKind::fetch) {
    auto &fetched = hart.timing().fetched;
    if (there) {
      fetched[1] = fetched[0];
      fetched[0] = request.block;
    }
    if (core.state == State::missing) {
      core.state = State::ready;
      core.want = Want::nothing;
      core.clock = system_.now() + options_.configuration.l1i.latency - 1;
      missed(core, number, Want::fetch, core.clock - core.since);
    }
    return true;
  }
  if (!there)
    return false;
  clock_.now = system_.now();
  if (htm_.wants_asking())
    htm_.set_kill_delay(kill_delay());
  const Granted went = hart.run_granted(core.want, request.block);
  core.done = went == Granted::done;
  if (core.done)
    count_instruction();
  return hart.timing().used;
}

// Whether the hart is still at the access that it waits for.
template <class P> bool CoresOf<P>::still_there(unsigned number) const {
  const Core &core = cores_[number];
  const HartState &state = harts_[number].state();
  return state.pc == core.pc && state.activity == Activity::running &&
         core.transactional == (htm_.depth(number) > 0);
}

// What is no walk, no fetch and no store that an earlier instruction has left behind meets the
// transactions of others here. A request of an attempt that is over loses to all of them.
template <class P>
std::uint64_t CoresOf<P>::refusing(S &, unsigned number, const Request &request,
                                   std::uint64_t asked) {
  const Core &core = cores_[number];
  const std::optional<AccessMode> mode = mode_of(core.want);
  meets_transactions_ = htm_.any_marks() && mode && (request.tag & (kStoreTag | kWindowTag)) == 0 &&
                        request.kind != RequestKind::fetch && core.line == request.block;
  if (!meets_transactions_)
    return 0;
  clock_.now = system_.now();
  const std::uint64_t bytes = core.touched.bytes;
  const std::uint64_t address =
      (request.block << kLineShift) + static_cast<unsigned>(std::countr_zero(bytes));
  const auto size = static_cast<unsigned>(std::popcount(bytes));
  if (still_there(number))
    return htm_.refusing(number, address, size, *mode, asked);
  return core.transactional ? htm_.claimants(number, address, size, *mode, asked) : 0;
}

template <class P> void CoresOf<P>::refused(S &, unsigned number) {
  clock_.now = system_.now();
  if (!still_there(number))
    htm_.forget_refusal(number);
  else if (htm_.refused(number) == Verdict::waits)
    harts_[number].hold_until(htm_.retry_at());
}

// No hart has run past the snoop: what it takes from them, it takes at once.
template <class P> void CoresOf<P>::prevailed(S &, unsigned number) {
  if (!meets_transactions_ || !still_there(number))
    return;
  clock_.now = system_.now();
  rolled_back(htm_.prevail(number));
}

template <class P> void CoresOf<P>::complete(S &, unsigned number, const Completion &done) {
  if (done.kind == RequestKind::fetch || (done.tag & kStoreTag) != 0)
    return; // it went on when it was performed
  if ((done.tag & kWindowTag) != 0)
    return answered(number, done);
  Core &core = cores_[number];
  finish(number, done);
  core.state = State::ready;
  core.clock = system_.now() + pay(core, number);
  missed(core, number, std::exchange(core.want, Want::nothing),
         system_.now() - core.since - (core.done ? 1 : 0));
  // It may have been stopped while it waited.
  clock_.now = core.clock;
  if (!harts_[number].awake())
    core.state = State::idle;
}

} // namespace tandem::machine::timing
