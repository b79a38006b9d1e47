// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The life of transactions: begin, end, abort, suspension. Conflicts are in conflicts.cc.
#include "machine/htm/transactional_memory.h"

#include "base/check.h"
#include "machine/htm/counters.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tandem::machine {

using State = HardwareTransaction::State;

TransactionalMemory::TransactionalMemory(unsigned harts, Memory &memory, TransactionHost &host,
                                         const HtmOptions &options)
    : memory_(&memory), host_(&host), current_(harts, nullptr), refusals_(harts),
      counts_(std::make_unique<HtmCounters>()), counters_(*counts_) {
  configure(options);
}

TransactionalMemory::~TransactionalMemory() = default;

void TransactionalMemory::count_live_stack() { ++counters_.live_stack_overwrites; }

void TransactionalMemory::configure(const HtmOptions &options) {
  CHECK(live_ == 0 && options.policy != contention::Policy::stall);
  options_ = options;
  random_.clear();
  for (std::size_t hart = 0; hart < current_.size(); ++hart)
    random_.emplace_back(0x9e3779b97f4a7c15U * (options.seed * current_.size() + hart + 1));
}

bool TransactionalMemory::others_marked(unsigned hart) const {
  if (marks_.live() == 0)
    return false;
  const HardwareTransaction *own = current_[hart];
  return own == nullptr || marks_.live() > own->blocks;
}

HardwareTransaction *TransactionalMemory::of_handle(std::uint64_t handle) const {
  if (handle == 0) // of slots that nobody uses
    return nullptr;
  for (const auto &transaction : slots_) // few
    if (transaction->handle == handle)
      return transaction.get();
  return nullptr;
}

HardwareTransaction &TransactionalMemory::make_transaction(unsigned hart) {
  HardwareTransaction *oldest = nullptr;
  unsigned of_hart = 0;
  for (const auto &other : slots_)
    if (live_ >= kHtmLiveOfHart && other && other->handle != 0 && other->hart == hart &&
        other->state == State::suspended) {
      ++of_hart;
      if (oldest == nullptr || other->started < oldest->started)
        oldest = other.get();
    }
  if (of_hart >= kHtmLiveOfHart)
    drop(oldest->handle);
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.push_back(nullptr);
  }
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  if (!slots_[slot])
    slots_[slot] = std::make_unique<HardwareTransaction>();
  HardwareTransaction &made = *slots_[slot];
  static_cast<TransactionState &>(made) = {};
  made.deferred.clear();
  made.ahead.clear();
  made.handle =
      host_->now() * current_.size() + hart + 1; // in the order of begins, whoever is ahead
  made.slot = slot;
  ++live_;
  return made;
}

void TransactionalMemory::destroy(HardwareTransaction &transaction) {
  free_slots_.push_back(transaction.slot);
  if (transaction.state != State::suspended)
    current_[transaction.hart] = nullptr;
  transaction.handle = 0;
  --live_;
}

std::uint64_t TransactionalMemory::begin(unsigned hart, const HartState &state, unsigned rd,
                                         std::uint64_t place, BeganIn where) {
  HardwareTransaction *own = current_[hart];
  if (own != nullptr && own->state == State::running) {
    ++own->depth;
    return 0;
  }
  std::uint64_t answer = 0;
  if (own == nullptr) {
    own = &make_transaction(hart);
    current_[hart] = own;
    own->hart = hart;
    RegisterCheckpoint &checkpoint = own->checkpoint;
    checkpoint.x = state.x;
    checkpoint.f = state.f;
    checkpoint.pc = state.pc;
    checkpoint.rd = static_cast<std::uint8_t>(rd);
    checkpoint.fflags = state.fflags;
    checkpoint.frm = state.frm;
    checkpoint.privilege = state.privilege;
    checkpoint.status = state.status & kCheckpointStatus;
    // A kernel begins in functions of its own: the place is where they were called from.
    own->site = place != 0 ? place : state.privilege == Privilege::user ? state.pc : state.x[1];
    own->counts = &counters_.sites[own->site];
    own->limit = state.stxlimit;
    own->started = host_->now();
    own->began_in = where;
    ++counters_.transactions;
    ++own->counts->transactions;
    counters_.begun_in_interrupts += where == BeganIn::interrupt ? 1 : 0;
    counters_.begun_in_system_calls += where == BeganIn::system_call ? 1 : 0;
  } else if (own->final_answer) {
    answer = ~own->answer + 1;
    destroy(*own);
    return answer;
  } else {
    answer = std::uint64_t{own->restarts} << 8 | own->answer;
    for (const Marks::Entry &entry : std::exchange(undone_, {}))
      undo(entry);
  }
  own->state = State::running;
  own->depth = 1;
  own->ran_on |= std::uint64_t{1} << (hart % 64);
  own->wait_until = host_->now(); // the begin of this attempt, while it runs
  remember(HistoryEvent::Kind::begin, own->handle, hart);
  return answer;
}

bool TransactionalMemory::end(unsigned hart) {
  HardwareTransaction &own = *current_[hart];
  CHECK(own.state == State::running && own.depth > 0);
  if (--own.depth > 0)
    return false;
  settle_all(own);
  remember(HistoryEvent::Kind::commit, own.handle, hart);
  const Cycle took = host_->now() - own.wait_until;
  counters_.cycles += took;
  ++counters_.commits;
  HtmSite &site = *own.counts;
  site.cycles += took;
  ++site.commits;
  site.retries.add(own.restarts);
  site.read_blocks.add(own.blocks);
  site.written_blocks.add(own.written_blocks);
  counters_.bytes.add(own.size);
  counters_.written_bytes.add(own.written);
  counters_.blocks.add(own.blocks);
  counters_.written_blocks.add(own.written_blocks);
  settle_stall(own);
  marks_.drop(own.marks);
  destroy(own);
  return true;
}

void TransactionalMemory::abort(unsigned hart, AbortCause cause, std::uint64_t own_code) {
  HardwareTransaction &own = *current_[hart];
  abort_attempt(own, cause, own_code, 0, 0);
}

std::uint64_t TransactionalMemory::suspend(unsigned hart, bool by_trap) {
  HardwareTransaction *own = current_[hart];
  if (own == nullptr)
    return 0;
  own->was_waiting = own->state == State::waiting;
  if (by_trap && !std::exchange(own->interrupted, true))
    ++counters_.interrupted;
  settle_stall(*own);
  own->state = State::suspended;
  current_[hart] = nullptr;
  for (std::uint32_t at = own->marks; at != Marks::kNone; at = marks_[at].next_of_owner)
    host_->withdraw(hart, marks_[at].block);
  return own->handle;
}

bool TransactionalMemory::resumable(std::uint64_t handle, bool user) const {
  const HardwareTransaction *found = of_handle(handle);
  return found != nullptr && found->state == State::suspended &&
         (!user || found->checkpoint.privilege == Privilege::user);
}

void TransactionalMemory::resume(unsigned hart, std::uint64_t handle) {
  HardwareTransaction &found = *of_handle(handle);
  CHECK(current_[hart] == nullptr && found.state == State::suspended);
  current_[hart] = &found;
  if (found.hart != hart) // its own marks are nobody else's there now
    for (std::uint32_t at = found.marks; at != Marks::kNone; at = marks_[at].next_of_owner)
      host_->withdraw(found.hart, marks_[at].block);
  found.hart = hart;
  found.ran_on |= std::uint64_t{1} << (hart % 64);
  if (found.was_waiting || found.must_restart) {
    // An abort while it was suspended is paid for now.
    if (found.must_restart)
      found.wait_until = std::max(found.wait_until, host_->now() + options_.abort_cycles);
    found.must_restart = false;
    found.state = State::waiting;
    roll_back(found);
    return;
  }
  found.state = State::running;
}

void TransactionalMemory::drop(std::uint64_t handle) {
  HardwareTransaction &found = *of_handle(handle);
  if (!found.must_restart && !found.was_waiting)
    undo(found);
  remember(HistoryEvent::Kind::abort, found.handle);
  unmark(found);
  destroy(found);
}

void TransactionalMemory::abort_user(unsigned hart) {
  HardwareTransaction *own = current_[hart];
  if (own != nullptr && own->checkpoint.privilege == Privilege::user) {
    abort_attempt(*own, AbortCause::user, 0, 0, 0);
    // It is over at once: the hart goes on behind the xbegin, with the answer.
    RegisterCheckpoint after = own->checkpoint;
    after.x[after.rd] = ~std::uint64_t{unsigned(AbortCause::user)} + 1;
    host_->roll_back(hart, after, after.pc + 4, 0);
    destroy(*own);
  }
  for (std::size_t i = 0; live_ > 0 && i < slots_.size(); ++i) {
    const HardwareTransaction *other = slots_[i].get();
    if (other->handle != 0 && other->state == State::suspended && other->hart == hart &&
        other->checkpoint.privilege == Privilege::user)
      drop(other->handle);
  }
}

namespace {

bool is_final(AbortCause cause) {
  return cause == AbortCause::io || cause == AbortCause::call || cause == AbortCause::csr ||
         cause == AbortCause::user;
}

} // namespace

void TransactionalMemory::abort_attempt(HardwareTransaction &loser, AbortCause cause,
                                        std::uint64_t own_code, std::uint64_t winner_site,
                                        std::uint64_t seed) {
  const Cycle now = host_->now();
  HtmSite &site = *loser.counts;
  settle_stall(loser);
  if (loser.state != State::waiting) {
    ++counters_.causes[unsigned(cause)];
    ++site.causes[unsigned(cause)];
    if (cause == AbortCause::conflict)
      ++counters_.pairs[{loser.site, winner_site}];
    undo(loser);
    remember(HistoryEvent::Kind::abort, loser.handle, loser.hart);
    ++counters_.restarts;
    ++site.restarts;
    if (!std::exchange(loser.restarted_once, true))
      ++counters_.unique_restarts;
    site.lost_cycles += now - loser.wait_until;
  }
  settle_all(loser);
  unmark(loser);
  ++loser.attempt;
  loser.depth = 0;
  loser.kill_pending = false;
  ++loser.restarts;
  loser.answer = own_code != 0 ? own_code : unsigned(cause);
  loser.final_answer = is_final(cause);
  if (!loser.final_answer && loser.limit != 0 && loser.restarts >= loser.limit) {
    loser.final_answer = true;
    loser.answer = unsigned(AbortCause::limit);
    ++counters_.causes[unsigned(AbortCause::limit)];
    ++site.causes[unsigned(AbortCause::limit)];
  }
  Cycle wait = options_.abort_cycles;
  if (!loser.final_answer) {
    contention::Xorshift &random = random_[loser.hart];
    const std::uint64_t pause =
        seed != 0 && options_.policy == contention::Policy::polka
            ? contention::delay(options_.backoff, loser.waits, seed, random, kHtmExponentCeiling)
            : contention::delay(
                  options_.backoff, loser.waits,
                  options_.backoff == contention::Backoff::none ? 1 : contention::seed_of(random),
                  random, kHtmExponentCeiling);
    ++loser.waits;
    ++counters_.backoffs;
    counters_.backoff_cycles += pause;
    wait += pause;
  } else {
    ++counters_.fallbacks;
    ++site.fallbacks;
  }
  site.wait_cycles += wait;
  loser.wait_until = now + wait;
  if (loser.state == State::suspended) {
    loser.must_restart = true;
    return;
  }
  loser.state = State::waiting;
  roll_back(loser);
}

// What the hart has to do with it: `loser` is its current one.
void TransactionalMemory::roll_back(HardwareTransaction &loser) {
  if (std::exchange(loser.walked, false) && mistake_ != Mistake::keep_translations)
    for (unsigned hart = 0; hart < current_.size(); ++hart)
      if ((loser.ran_on >> (hart % 64) & 1) != 0)
        host_->forget_translations(hart);
  // A final answer is given by the same xbegin, which then begins nothing.
  host_->roll_back(loser.hart, loser.checkpoint, loser.checkpoint.pc, loser.wait_until);
}

void TransactionalMemory::undo(const Marks::Entry &entry) {
  const std::uint64_t address = entry.block << kMarkShift;
  std::byte *place = memory_->host(address);
  copy_bytes(place, entry.old.data(), entry.write);
  if (memory_->holds_code(address))
    memory_->written(address, kMarkBytes);
}

void TransactionalMemory::undo(HardwareTransaction &transaction) {
  for (std::uint32_t at = transaction.marks; at != Marks::kNone; at = marks_[at].next_of_owner) {
    if (marks_[at].write == 0)
      continue;
    undo(marks_[at]);
    if (mistake_ == Mistake::undo_twice)
      undone_.push_back(marks_[at]);
  }
}

void TransactionalMemory::unmark(HardwareTransaction &transaction) {
  marks_.drop(transaction.marks);
  transaction.marks = Marks::kNone;
  transaction.size = transaction.written = 0;
  transaction.blocks = transaction.written_blocks = 0;
  transaction.overflowed = false;
}

void TransactionalMemory::release(unsigned hart, std::uint64_t address, std::uint64_t size) {
  HardwareTransaction *own = current_[hart];
  if (own == nullptr || own->state != State::running)
    return;
  settle_all(*own);
  for (std::uint64_t block = (address + kMarkBytes - 1) >> kMarkShift;
       (block + 1) << kMarkShift <= address + size; ++block) {
    const std::uint32_t at = marks_.find(block, own->slot);
    if (at == Marks::kNone)
      continue;
    Marks::Entry &entry = marks_[at];
    const auto freed = static_cast<unsigned>(std::popcount(entry.read | entry.write));
    counters_.released_bytes += freed;
    own->size -= freed;
    own->written -= static_cast<unsigned>(std::popcount(entry.write));
    own->written_blocks -= entry.write != 0 ? 1 : 0;
    entry.released_read |= entry.read;
    entry.released_write |= entry.write;
    entry.read = entry.write = 0;
    remember(HistoryEvent::Kind::release, own->handle, hart, block << kMarkShift, kMarkBytes);
  }
}

void TransactionalMemory::remember(HistoryEvent::Kind kind, std::uint64_t transaction,
                                   unsigned hart, std::uint64_t address, unsigned size) {
  if (history_ == nullptr)
    return;
  HistoryEvent event{.kind = kind,
                     .size = static_cast<std::uint8_t>(size),
                     .hart = hart,
                     .transaction = transaction,
                     .address = address};
  if (kind == HistoryEvent::Kind::read || kind == HistoryEvent::Kind::write)
    std::memcpy(&event.value, memory_->host(address), std::min<std::size_t>(size, 8));
  history_->push_back(event);
}

void TransactionalMemory::note_written(unsigned hart, std::uint64_t address, unsigned size) {
  const HardwareTransaction *own = current_[hart];
  remember(HistoryEvent::Kind::write, own != nullptr ? own->handle : 0, hart, address, size);
}

} // namespace tandem::machine
