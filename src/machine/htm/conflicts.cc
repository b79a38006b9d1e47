// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses: marks, conflicts, who gives way, kills.
#include "base/check.h"
#include "machine/htm/counters.h"
#include "machine/htm/transactional_memory.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace tandem::machine {

using State = HardwareTransaction::State;
using contention::Decision;

// A transaction as the policies see it.
struct TransactionalMemory::View {
  HardwareTransaction *transaction;
  const TransactionalMemory *memory;
  bool writes = false;

  [[nodiscard]] std::uint64_t identity() const { return transaction->handle; }
  [[nodiscard]] contention::Time started() const { return transaction->started; }
  [[nodiscard]] std::uint32_t restarts() const {
    return memory->mistake_ == Mistake::forget_restarts
               ? transaction->restarts % contention::kSizeMattersRestarts
               : transaction->restarts;
  }
  [[nodiscard]] std::uint64_t priority() const { return transaction->priority; }
  [[nodiscard]] std::uint64_t size() const { return transaction->size; }
  [[nodiscard]] bool writing() const { return writes; }
  [[nodiscard]] bool deferred_to(const View &other) const {
    return std::ranges::find(transaction->deferred, other.identity()) !=
           transaction->deferred.end();
  }
  void remember_deferring_to(const View &other) {
    transaction->deferred.push_back(other.identity());
  }
  // Eruption doubles it again and again: it stays at the largest number.
  void add_priority(std::uint64_t more) {
    std::uint64_t &priority = transaction->priority;
    priority = more > ~priority ? ~std::uint64_t{0} : priority + more;
  }
  // A suspended transaction does not wait.
  [[nodiscard]] std::optional<View> waits_for() const {
    if (transaction->waits_for == 0 || transaction->state != State::running)
      return std::nullopt;
    HardwareTransaction *holder = memory->of_handle(transaction->waits_for);
    return holder != nullptr ? std::optional(View{holder, memory}) : std::nullopt;
  }
};

namespace {

bool conflicts(ByteMask read, ByteMask written, ByteMask bytes, AccessMode mode) {
  return ((mode == AccessMode::read ? written : read | written) & bytes) != 0;
}

bool conflicts(const Marks::Entry &entry, ByteMask bytes, AccessMode mode) {
  return conflicts(entry.read, entry.write, bytes, mode);
}

// How many bytes they are; most often a run of them, for which no bits have to be counted.
unsigned count_of(ByteMask bytes) {
  if (bytes == 0)
    return 0;
  const int first = std::countr_zero(bytes);
  const auto run = static_cast<unsigned>(std::countr_one(bytes >> first));
  return bytes >> first >> (run - 1) == 1 ? run : static_cast<unsigned>(std::popcount(bytes));
}

// Whether the access adds nothing.
bool covers(const Marks::Entry &entry, ByteMask bytes, AccessMode mode) {
  const ByteMask have = mode == AccessMode::read    ? entry.read | entry.write
                        : mode == AccessMode::write ? entry.write
                                                    : entry.read & entry.write;
  return (bytes & ~have) == 0;
}

} // namespace

bool TransactionalMemory::allows(unsigned hart, std::uint64_t block, bool write) const {
  const HardwareTransaction *own = current_[hart];
  for (std::uint32_t at = marks_.head(block); at != Marks::kNone; at = marks_[at].next) {
    const Marks::Entry &entry = marks_[at];
    if (entry.block == block && (own == nullptr || entry.owner != own->slot) &&
        conflicts(entry, ~ByteMask{0}, write ? AccessMode::write : AccessMode::read))
      return false;
  }
  return true;
}

// Fills holders_ with those whose marks stand against the access.
void TransactionalMemory::collect(HardwareTransaction *own, std::uint64_t block, ByteMask bytes,
                                  AccessMode mode) {
  holders_.clear();
  if (own != nullptr)
    settle_all(*own);
  for (std::uint32_t at = marks_.head(block); at != Marks::kNone; at = marks_[at].next) {
    const Marks::Entry &entry = marks_[at];
    if (entry.block != block || (own != nullptr && entry.owner == own->slot))
      continue;
    if (conflicts(entry, bytes, mode)) {
      settle(*slots_[entry.owner]);
      holders_.push_back({slots_[entry.owner].get(), (entry.write & bytes) != 0});
    } else if (conflicts(entry.released_read, entry.released_write, bytes, mode)) {
      ++counters_.saved_conflicts;
    }
  }
  // In an order that does not depend on who marked the block first.
  if (holders_.size() > 1)
    std::ranges::sort(holders_, {}, [](const Holder &each) { return each.transaction->handle; });
}

Verdict TransactionalMemory::access(unsigned hart, std::uint64_t address, unsigned size,
                                    AccessMode mode) {
  HardwareTransaction *own = current_[hart];
  if (own != nullptr && own->state != State::running)
    own = nullptr; // a trap's own access cannot come here
  const std::uint64_t block = address >> kMarkShift;
  const ByteMask bytes =
      options_.granularity == Granularity::line ? ~ByteMask{0} : bytes_of(address, size);
  collect(own, block, bytes, mode);
  if (!holders_.empty())
    if (const Verdict verdict = resolve(hart, own, mode); verdict != Verdict::done)
      return verdict;
  if (own != nullptr) {
    settle_stall(*own);
    std::uint32_t at = marks_.find(block, own->slot);
    grow(*own, mark(*own, at, block, bytes, mode));
  }
  if (mode != AccessMode::write)
    remember(HistoryEvent::Kind::read, own != nullptr ? own->handle : 0, hart, address, size);
  return Verdict::done;
}

const Marks::Entry *TransactionalMemory::mark_ahead(unsigned hart, std::uint64_t address,
                                                    unsigned size, AccessMode mode) {
  HardwareTransaction &own = *current_[hart];
  if (history_ != nullptr || own.stalled_since)
    return nullptr;
  const std::uint64_t block = address >> kMarkShift;
  const ByteMask bytes =
      options_.granularity == Granularity::line ? ~ByteMask{0} : bytes_of(address, size);
  std::uint32_t mine = Marks::kNone;
  bool released = false; // by others: counted at the access's cycle
  for (std::uint32_t at = marks_.head(block); at != Marks::kNone; at = marks_[at].next) {
    const Marks::Entry &entry = marks_[at];
    if (entry.block != block)
      continue;
    if (entry.owner == own.slot) {
      mine = at;
      continue;
    }
    CHECK(!conflicts(entry, bytes, mode), "hart {} has a line that {} has marked", hart,
          slots_[entry.owner]->handle);
    released |= (entry.released_read | entry.released_write) != 0;
  }
  if (mine != Marks::kNone && covers(marks_[mine], bytes, mode))
    return &marks_[mine];
  if (released)
    return nullptr;
  if (const unsigned added = mark(own, mine, block, bytes, mode); added != 0)
    own.ahead.push_back({host_->now(), added});
  return &marks_[mine];
}

// What is in the sets by now: before the present step, which is done in the turn of a hart.
void TransactionalMemory::settle(HardwareTransaction &other) const {
  const Cycle now = host_->now();
  while (other.settled < other.ahead.size()) {
    const HardwareTransaction::Ahead &next = other.ahead[other.settled];
    if (next.at > now || (next.at == now && other.hart >= turn_))
      return;
    grow(other, next.bytes);
    ++other.settled;
  }
  other.ahead.clear();
  other.settled = 0;
}

// Of what has come to its own next step.
void TransactionalMemory::settle_all(HardwareTransaction &own) {
  for (; own.settled < own.ahead.size(); ++own.settled)
    grow(own, own.ahead[own.settled].bytes);
  own.ahead.clear();
  own.settled = 0;
}

void TransactionalMemory::grow(HardwareTransaction &own, unsigned bytes) {
  own.size += bytes;
  own.priority += bytes != 0 && own.priority != ~std::uint64_t{0} ? 1 : 0;
}

// The bytes that are new in the sets. `at`: the block's entry, made where there is none.
unsigned TransactionalMemory::mark(HardwareTransaction &own, std::uint32_t &at, std::uint64_t block,
                                   ByteMask bytes, AccessMode mode) {
  if (at == Marks::kNone) {
    at = marks_.add(block, own.slot, own.marks);
    ++own.blocks;
  }
  Marks::Entry &entry = marks_[at];
  const ByteMask before = entry.read | entry.write;
  if (mode != AccessMode::write)
    entry.read |= mode == AccessMode::read ? bytes & ~entry.write : bytes;
  if (mode != AccessMode::read) {
    if (const ByteMask fresh = bytes & ~entry.write; fresh != 0) {
      copy_bytes(entry.old.data(), memory_->host(block << kMarkShift), fresh);
      own.written_blocks += entry.write == 0 ? 1 : 0;
      own.written += count_of(fresh);
      entry.write |= bytes;
    }
  }
  return count_of((entry.read | entry.write) & ~before);
}

void TransactionalMemory::settle_stall(HardwareTransaction &own) {
  if (own.stalled_since) {
    counters_.stall_cycles += host_->now() - *own.stalled_since;
    own.stalled_since.reset();
  }
  own.waits_for = 0;
}

TransactionalMemory::Cut TransactionalMemory::stall(HardwareTransaction &own,
                                                    HardwareTransaction &holder, bool &closes) {
  const Cycle now = host_->now();
  const View requester{&own, this};
  const contention::Cycle cycle =
      contention::find_cycle(requester, View{&holder, this}, current_.size() * kHtmLiveOfHart);
  closes = cycle.closed;
  if (closes) {
    ++counters_.waits_in_cycles;
    return Cut::goes_on;
  }
  if (own.stalled_since && now - *own.stalled_since >= options_.stall_limit)
    return Cut::loses;
  return Cut::waits;
}

TransactionalMemory::Cut TransactionalMemory::judge(unsigned hart, HardwareTransaction *own,
                                                    const Holder &against, AccessMode mode) {
  HardwareTransaction &holder = *against.transaction;
  const bool same = holder.state == State::suspended && holder.hart == hart &&
                    mistake_ != Mistake::suspended_wins;
  const contention::Sides sides{.requester_outside = own == nullptr,
                                .same_thread = same,
                                .requester_doomed = own != nullptr && own->kill_pending,
                                .holder_doomed = holder.kill_pending};
  std::optional<Decision> decision = contention::rule_before_policy(sides);
  if (!decision) {
    bool closes = false;
    if (options_.stall)
      if (const Cut cut = stall(*own, holder, closes); cut != Cut::goes_on)
        return cut;
    View requester{own, this, mode != AccessMode::read};
    View other{&holder, this, against.wrote};
    decision = own->standing.decide(options_.policy, requester, other, own->losses);
  }
  // To stall means to restart here: the backoff is the wait.
  return *decision == Decision::abort_other ? Cut::goes_on : Cut::loses;
}

// Once the access loses, the rest is not asked any more: policies remember what they say.
TransactionalMemory::Judgement
TransactionalMemory::judge_all(unsigned hart, HardwareTransaction *own, AccessMode mode) {
  Judgement judgement;
  for (const Holder &holder : holders_) {
    const Cut cut = judge(hart, own, holder, mode);
    if (cut == Cut::goes_on)
      continue;
    judgement.harts |= std::uint64_t{1} << (holder.transaction->hart % 64);
    if (cut == Cut::loses) {
      judgement.winner = holder.transaction;
      break;
    }
    // The first that is waited for stands for all: each is looked at again when the access comes
    // again. Where they are asked one by one, it stays the same until all have answered.
    if (judgement.awaited == nullptr && !refusals_[hart].waits) {
      judgement.awaited = holder.transaction;
      own->waits_for = holder.transaction->handle;
    }
  }
  return judgement;
}

// What loses restarts; what is to wait comes again.
Verdict TransactionalMemory::give_way(HardwareTransaction &own, const Judgement &judgement) {
  if (judgement.winner != nullptr) {
    lose(own, loss_to(own, *judgement.winner));
    return Verdict::rolled_back;
  }
  return wait(own);
}

Verdict TransactionalMemory::wait(HardwareTransaction &own) {
  const Cycle now = host_->now();
  if (!own.stalled_since) {
    own.stalled_since = now;
    ++counters_.stalls;
  }
  retry_at_ = now + options_.retry_cycles;
  return Verdict::waits;
}

// All or nothing: holders are killed only if the requester beats every one.
Verdict TransactionalMemory::resolve(unsigned hart, HardwareTransaction *own, AccessMode mode) {
  const Judgement judgement = judge_all(hart, own, mode);
  if (judgement.harts != 0)
    return give_way(*own, judgement);
  if (own != nullptr)
    own->losses = 0;
  retry_at_ = 0;
  for (const Holder &holder : holders_)
    kill(*holder.transaction, hart, own, kill_delay_);
  return retry_at_ > host_->now() ? Verdict::waits : Verdict::done;
}

std::uint64_t TransactionalMemory::claimants(unsigned hart, std::uint64_t address, unsigned size,
                                             AccessMode mode, std::uint64_t among) {
  const std::uint64_t saved = counters_.saved_conflicts;
  collect(current_[hart], address >> kMarkShift,
          options_.granularity == Granularity::line ? ~ByteMask{0} : bytes_of(address, size), mode);
  counters_.saved_conflicts = saved; // they count when an access happens
  std::erase_if(holders_, [among](const Holder &holder) {
    return (among >> (holder.transaction->hart % 64) & 1) == 0;
  });
  std::uint64_t harts = 0;
  for (const Holder &holder : holders_)
    harts |= std::uint64_t{1} << (holder.transaction->hart % 64);
  return harts;
}

std::uint64_t TransactionalMemory::refusing(unsigned hart, std::uint64_t address, unsigned size,
                                            AccessMode mode, std::uint64_t among) {
  if (among == kAllHarts)
    forget_refusal(hart);
  if (claimants(hart, address, size, mode, among) == 0)
    return 0;
  HardwareTransaction *own = current_[hart];
  const Judgement judgement =
      judge_all(hart, own != nullptr && own->state == State::running ? own : nullptr, mode);
  Refusal &refusal = refusals_[hart];
  refusal.waits |= judgement.awaited != nullptr;
  if (judgement.winner != nullptr)
    refusal.loss = loss_to(*own, *judgement.winner);
  return judgement.harts;
}

Verdict TransactionalMemory::refused(unsigned hart) {
  HardwareTransaction &own = *current_[hart];
  const std::optional<Loss> loss = std::exchange(refusals_[hart], {}).loss;
  if (!loss)
    return wait(own);
  lose(own, *loss);
  return Verdict::rolled_back;
}

std::uint64_t TransactionalMemory::prevail(unsigned hart) {
  HardwareTransaction *own = current_[hart];
  std::uint64_t harts = 0;
  for (const Holder &holder : holders_) {
    if (holder.transaction->kill_pending)
      continue; // it is over anyway, when its kill arrives
    if (holder.transaction->state != State::suspended)
      harts |= std::uint64_t{1} << (holder.transaction->hart % 64);
    if (own != nullptr)
      own->losses = 0;
    kill(*holder.transaction, hart, own, 0);
  }
  holders_.clear();
  return harts;
}

bool TransactionalMemory::marked(unsigned hart, std::uint64_t block) const {
  for (std::uint32_t at = marks_.head(block); at != Marks::kNone; at = marks_[at].next)
    if (marks_[at].block == block && slots_[marks_[at].owner]->hart == hart &&
        (marks_[at].read | marks_[at].write) != 0)
      return true;
  return false;
}

TransactionalMemory::Loss TransactionalMemory::loss_to(const HardwareTransaction &own,
                                                       const HardwareTransaction &winner) {
  return {winner.site, contention::polka_seed(own.priority, winner.priority)};
}

void TransactionalMemory::lose(HardwareTransaction &own, const Loss &loss) {
  ++own.losses;
  ++counters_.by_transactions;
  abort_attempt(own, AbortCause::conflict, 0, loss.winner_site, loss.seed);
}

// `retry_at_` becomes the latest cycle at which all of them are gone.
void TransactionalMemory::kill(HardwareTransaction &loser, unsigned by_hart,
                               const HardwareTransaction *winner, Cycle delay) {
  const Cycle now = host_->now();
  const bool own_suspended = loser.state == State::suspended && loser.hart == by_hart;
  if (loser.kill_pending) {
    for (const Kill &kill : kills_)
      if (kill.handle == loser.handle && kill.attempt == loser.attempt)
        retry_at_ = std::max({retry_at_, kill.at, now + 1}); // it may be due in this very cycle
    return;
  }
  ++(own_suspended       ? counters_.by_newer
     : winner != nullptr ? counters_.by_transactions
                         : counters_.by_accesses);
  const std::uint64_t site = winner != nullptr ? winner->site : 0;
  const std::uint64_t seed =
      winner != nullptr ? contention::polka_seed(loser.priority, winner->priority) : 1;
  if (delay == 0 || own_suspended) {
    abort_attempt(loser, AbortCause::conflict, 0, site, seed);
    return;
  }
  loser.kill_pending = true;
  kills_.push_back({now + delay, loser.handle, loser.slot, loser.attempt, site, seed});
  retry_at_ = std::max(retry_at_, now + delay);
}

Cycle TransactionalMemory::first_kill() const {
  Cycle next = kNever;
  for (const Kill &kill : kills_)
    next = std::min(next, kill.at);
  return next;
}

Cycle TransactionalMemory::first_kill_of(unsigned hart) const {
  Cycle next = kNever;
  for (const Kill &kill : kills_)
    if (const HardwareTransaction &loser = *slots_[kill.slot];
        loser.handle == kill.handle && loser.hart == hart)
      next = std::min(next, kill.at);
  return next;
}

std::uint64_t TransactionalMemory::run_kills(Cycle now) {
  std::uint64_t harts = 0;
  for (std::size_t i = 0; i < kills_.size();) {
    if (kills_[i].at > now) {
      ++i;
      continue;
    }
    const Kill kill = kills_[i];
    kills_.erase(kills_.begin() + static_cast<std::ptrdiff_t>(i));
    HardwareTransaction &loser = *slots_[kill.slot];
    if (loser.handle != kill.handle || loser.attempt != kill.attempt)
      continue; // it has committed or restarted
    if (loser.state != State::suspended)
      harts |= std::uint64_t{1} << (loser.hart % 64);
    abort_attempt(loser, AbortCause::conflict, 0, kill.winner_site, kill.seed);
  }
  return harts;
}

void TransactionalMemory::outside(std::uint64_t address, std::uint64_t size, bool write,
                                  unsigned walker) {
  HardwareTransaction *own = walker != kNoHart ? current_[walker] : nullptr;
  for (std::uint64_t block = address >> kMarkShift; block << kMarkShift < address + size; ++block) {
    const std::uint64_t low = std::max(address, block << kMarkShift);
    const std::uint64_t high = std::min(address + size, (block + 1) << kMarkShift);
    const ByteMask bytes = options_.granularity == Granularity::line
                               ? ~ByteMask{0}
                               : bytes_of(low, static_cast<unsigned>(high - low));
    collect(nullptr, block, bytes, write ? AccessMode::write : AccessMode::read);
    for (const Holder &holder : holders_) {
      if (holder.transaction == own) {
        own->walked = true;
        continue;
      }
      ++counters_.by_accesses;
      abort_attempt(*holder.transaction, AbortCause::conflict, 0, 0, 1);
    }
  }
}

Cycle TransactionalMemory::overflow(unsigned hart, std::uint64_t block) {
  Cycle cost = 0;
  for (std::uint32_t at = marks_.head(block); at != Marks::kNone; at = marks_[at].next) {
    Marks::Entry &entry = marks_[at];
    if (entry.block != block)
      continue;
    HardwareTransaction &owner = *slots_[entry.owner];
    if (owner.hart != hart)
      continue;
    if (mistake_ == Mistake::lose_marks)
      entry.read = entry.write = 0;
    if (!owner.overflowed) {
      owner.overflowed = true;
      ++counters_.overflows;
      cost += options_.overflow_cycles;
    }
  }
  return cost;
}

} // namespace tandem::machine
