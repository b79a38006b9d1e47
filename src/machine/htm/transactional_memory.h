// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hardware transactions of a machine: new values in place and conflicts found at the access, both
// at the granularity of bytes or lines, flat nesting, strong atomicity, suspension by handle. One
// registry of marks decides what conflicts are; it is complete whatever caches and protocol do.
//
// Who drives the harts calls everything but allows() in the order of the cycles of its
// steps: marks, states and priorities change nowhere else. A transaction that loses to another
// hart's step is killed `kill_delay` cycles later, when no hart has run past that (0: at once); its
// marks stand until then, and the access that won is tried again.
//
//   switch (memory.access(hart, address, 8, AccessMode::write)) ...
//
// For one thread. Source: MetaTM, sections 2 to 4.
#pragma once

#include "machine/bus/memory.h"
#include "machine/htm/history.h"
#include "machine/htm/host.h"
#include "machine/htm/marks.h"
#include "machine/htm/options.h"
#include "machine/htm/transaction.h"

#include <memory>
#include <optional>
#include <vector>

namespace tandem::machine {

// How an access went.
enum class Verdict : std::uint8_t {
  done,        // it may happen now
  waits,       // not now: the hart comes again at retry_at()
  rolled_back, // the hart's own transaction has restarted or is over
};

struct HtmCounters;

class TransactionalMemory {
public:
  TransactionalMemory(unsigned harts, Memory &memory, TransactionHost &host,
                      const HtmOptions &options);
  ~TransactionalMemory();
  TransactionalMemory(const TransactionalMemory &) = delete;
  TransactionalMemory &operator=(const TransactionalMemory &) = delete;

  [[nodiscard]] const HtmOptions &options() const { return options_; }
  void configure(const HtmOptions &options); // before anything has begun
  // The delay of kills that steps of the present event cause; 0: at once.
  void set_kill_delay(Cycle cycles) { kill_delay_ = cycles; }

  // --- for the hart ------------------------------------------------------------------------------
  // Of what it runs, waiting for its next attempt included; null.
  [[nodiscard]] HardwareTransaction *current(unsigned hart) const { return current_[hart]; }
  [[nodiscard]] unsigned depth(unsigned hart) const {
    const HardwareTransaction *own = current_[hart];
    return own != nullptr ? own->depth : 0;
  }
  // Whether bytes are marked by any other transaction than the one that this hart runs.
  [[nodiscard]] bool others_marked(unsigned hart) const;

  // A first or nested begin, or the next attempt, by the instruction at state.pc. The answer for
  // its `rd`. `place` is what the program says about where an outermost first begin is, 0 if
  // nothing.
  std::uint64_t begin(unsigned hart, const HartState &state, unsigned rd, std::uint64_t place,
                      BeganIn where);
  // Only inside. The outermost end commits; the result is then true.
  bool end(unsigned hart);
  // Undoes all. `own_code`: what xabort said. Causes io, call, csr, user are final.
  void abort(unsigned hart, AbortCause cause, std::uint64_t own_code = 0);

  // Suspends what the hart runs; its handle, 0 if there is nothing. `by_trap`: counted.
  std::uint64_t suspend(unsigned hart, bool by_trap);
  // Whether the handle names a suspended transaction; one that was begun in U, if `user`.
  [[nodiscard]] bool resumable(std::uint64_t handle, bool user) const;
  // Goes on with it on this hart, which runs none, or restarts it.
  void resume(unsigned hart, std::uint64_t handle);
  // Aborts and forgets it.
  void drop(std::uint64_t handle);
  // A trap from U: all that U runs on the hart or has suspended there is over (cause user).
  void abort_user(unsigned hart);

  // Whether a begin may be ahead of others: a transaction without marks conflicts with none.
  [[nodiscard]] bool begins_ahead() const { return live_ < kHtmLiveOfHart && history_ == nullptr; }
  // Marks an access that does not leave its block, before all others have come to its cycle, and
  // whose line the hart's L1 has, for that use, without marks that stand against it (allows()). Who
  // would meet the marks before that cycle needs the line first, and no hart runs past the loss of
  // one; what policies compare is as of the cycle of who asks. All marks of the block by then, till
  // the next call; null: nothing has changed, access() is to be asked at the access's cycle.
  const Marks::Entry *mark_ahead(unsigned hart, std::uint64_t address, unsigned size,
                                 AccessMode mode);

  // Asks for an access that does not leave its block, by what the hart runs, or from outside.
  Verdict access(unsigned hart, std::uint64_t address, unsigned size, AccessMode mode);
  [[nodiscard]] Cycle retry_at() const { return retry_at_; }

  // The same before the caches give the block, where their protocol refuses: which of the harts
  // `among` have transactions that win, or are to be waited for, a bit for each. Nothing has
  // changed but what the policies remember. One of these follows, or none if the bits are 0:
  static constexpr std::uint64_t kAllHarts = ~std::uint64_t{0}; // asked at once, and perhaps again
  std::uint64_t refusing(unsigned hart, std::uint64_t address, unsigned size, AccessMode mode,
                         std::uint64_t among = kAllHarts);
  // The access is refused: what the hart runs gives way (rolled_back), or it comes again (waits).
  Verdict refused(unsigned hart);
  // It is, and the hart is not at it any more.
  void forget_refusal(unsigned hart) { refusals_[hart] = {}; }
  // It is not, by what refusing() was asked last: all that stand against it are over at once. The
  // harts that were rolled back.
  std::uint64_t prevail(unsigned hart);
  // Those of the harts `among` whose transactions conflict with the access by their marks, before
  // the contention policy decides; a bit for each.
  std::uint64_t claimants(unsigned hart, std::uint64_t address, unsigned size, AccessMode mode,
                          std::uint64_t among);
  // Whether a transaction of this hart has marked bytes of the block.
  [[nodiscard]] bool marked(unsigned hart, std::uint64_t block) const;
  // Whether no other transaction's marks stand against this hart's use of the whole line.
  [[nodiscard]] bool allows(unsigned hart, std::uint64_t block, bool write) const;
  // Memory is read or written by what is no hart's instruction: devices, kernels, page walks
  // (`walker`: of which hart, else kNoHart). It always wins, at once.
  void outside(std::uint64_t address, std::uint64_t size, bool write, unsigned walker = kNoHart);
  // Lines wholly in [low, high) leave the sets of what the hart runs, without being undone.
  // `address`: of low in physical memory; the range does not leave a page.
  void release(unsigned hart, std::uint64_t address, std::uint64_t size);
  void count_live_stack();

  // --- for who drives ----------------------------------------------------------------------------
  // Whose step the present one is: of the harts' steps of this cycle, those of lower ones are done.
  // 0: it comes before them all.
  void set_turn(unsigned hart) { turn_ = hart; }
  // Asked in each turn of a hart: inline where there is none.
  [[nodiscard]] Cycle next_kill() const { return kills_.empty() ? kNever : first_kill(); }
  // The next kill that may roll this hart back.
  [[nodiscard]] Cycle next_kill_of(unsigned hart) const {
    return kills_.empty() ? kNever : first_kill_of(hart);
  }
  // Does all that is due; the harts that were rolled back are or-ed into the result.
  std::uint64_t run_kills(Cycle now);

  [[nodiscard]] bool any_live() const { return live_ > 0; }
  // Whether harts have to look before their accesses.
  [[nodiscard]] bool wants_asking() const { return live_ > 0 || history_ != nullptr; }
  [[nodiscard]] bool any_marks() const { return marks_.live() > 0; }
  [[nodiscard]] const HtmCounters &counters() const { return *counts_; } // htm/counters.h

  // A line of this hart's that some transaction has marked leaves its caches: the cycles it costs.
  Cycle overflow(unsigned hart, std::uint64_t block);

  // --- for tests ---------------------------------------------------------------------------------
  // From now on everything is recorded; who drives must then ask for every access.
  void record(History *history) { history_ = history; }
  [[nodiscard]] bool recording() const { return history_ != nullptr; }
  void note_written(unsigned hart, std::uint64_t address, unsigned size);
  // Mistakes that the tests must find.
  enum class Mistake : std::uint8_t {
    none,
    undo_twice,        // values are undone, and once more when the next attempt begins
    lose_marks,        // at an overflow
    kill_too_early,    // a hart that has run ahead is killed at once
    suspended_wins,    // against its own hart's handler
    release_above,     // early release above the checkpointed sp (the hart's)
    keep_registers,    // an abort does not restore them (the hart's)
    keep_status,       // nor bits of sstatus (the hart's)
    keep_translations, // an abort leaves those that came of entries it has undone
    forget_restarts,   // policies see their number begin again at the tenth
  };
  void make(Mistake mistake) { mistake_ = mistake; }
  [[nodiscard]] Mistake mistake() const { return mistake_; }

private:
  struct Kill {
    Cycle at;
    std::uint64_t handle;
    std::uint32_t slot;
    std::uint32_t attempt;
    std::uint64_t winner_site;
    std::uint64_t seed; // of Polka
  };
  struct View;
  struct Holder {
    HardwareTransaction *transaction;
    bool wrote; // of the bytes that are asked for
  };
  enum class Cut : std::uint8_t { goes_on, loses, waits };
  // What the holders_ make of an access: whom it loses to, or whom it waits for.
  struct Judgement {
    HardwareTransaction *winner = nullptr;
    HardwareTransaction *awaited = nullptr;
    std::uint64_t harts = 0; // of all of these, a bit for each
  };

  struct Loss {
    std::uint64_t winner_site;
    std::uint64_t seed; // of Polka
  };
  struct Refusal {
    bool waits = false; // for one that has refused
    std::optional<Loss> loss{};
  };

  [[nodiscard]] Cycle first_kill() const;
  [[nodiscard]] Cycle first_kill_of(unsigned hart) const;
  HardwareTransaction &make_transaction(unsigned hart);
  void destroy(HardwareTransaction &transaction);
  HardwareTransaction *of_handle(std::uint64_t handle) const;
  void collect(HardwareTransaction *own, std::uint64_t block, ByteMask bytes, AccessMode mode);
  Judgement judge_all(unsigned hart, HardwareTransaction *own, AccessMode mode);
  Verdict resolve(unsigned hart, HardwareTransaction *own, AccessMode mode);
  Verdict give_way(HardwareTransaction &own, const Judgement &judgement);
  Verdict wait(HardwareTransaction &own);
  static Loss loss_to(const HardwareTransaction &own, const HardwareTransaction &winner);
  Cut judge(unsigned hart, HardwareTransaction *own, const Holder &against, AccessMode mode);
  Cut stall(HardwareTransaction &own, HardwareTransaction &holder, bool &closes);
  void kill(HardwareTransaction &loser, unsigned by_hart, const HardwareTransaction *winner,
            Cycle delay);
  void lose(HardwareTransaction &own, const Loss &loss);
  void abort_attempt(HardwareTransaction &loser, AbortCause cause, std::uint64_t own_code,
                     std::uint64_t winner_site, std::uint64_t seed);
  void undo(HardwareTransaction &transaction);
  void undo(const Marks::Entry &entry);
  unsigned mark(HardwareTransaction &own, std::uint32_t &at, std::uint64_t block, ByteMask bytes,
                AccessMode mode);
  static void grow(HardwareTransaction &own, unsigned bytes);
  void settle(HardwareTransaction &other) const;
  static void settle_all(HardwareTransaction &own);
  void unmark(HardwareTransaction &transaction);
  void roll_back(HardwareTransaction &transaction);
  void settle_stall(HardwareTransaction &own);
  void remember(HistoryEvent::Kind kind, std::uint64_t transaction, unsigned hart = 0,
                std::uint64_t address = 0, unsigned size = 0);

  HtmOptions options_;
  Memory *memory_;
  TransactionHost *host_;
  Marks marks_;
  std::vector<std::unique_ptr<HardwareTransaction>> slots_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<HardwareTransaction *> current_;
  std::vector<Refusal> refusals_; // that the access of each hart has met
  std::vector<contention::Xorshift> random_;
  std::vector<Holder> holders_; // of one access
  std::vector<Kill> kills_;
  std::size_t live_ = 0;
  Cycle kill_delay_ = 0;
  unsigned turn_ = 0;
  Cycle retry_at_ = 0;
  std::unique_ptr<HtmCounters> counts_;
  HtmCounters &counters_;
  History *history_ = nullptr;
  Mistake mistake_ = Mistake::none;
  std::vector<Marks::Entry> undone_; // with Mistake::undo_twice
};

} // namespace tandem::machine
