// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the instructions of a hart work on: the architectural state first, then what is remembered.
// Inside hart/ only; everybody else sees hart.h.
//
// While handlers run, pc is where the slot is: pc = page + (ip - slots) * 2. Slow paths call sync()
// before anything that may look at the hart.
#pragma once

#include "machine/hart/code_cache.h"
#include "machine/hart/harts.h"
#include "machine/hart/host_float.h"
#include "machine/hart/touched.h"
#include "machine/hart/walks.h"
#include "machine/htm/transaction.h"
#include "machine/mmu/tlb.h"
#include "machine/mmu/walker.h"

#include <array>
#include <cstdint>

namespace tandem::machine {

// Why handlers returned.
enum class Leave : std::uint8_t {
  budget,
  trap,
  want,    // what is in HartTiming
  unwound, // as HartCore::unwound says
};

// An instruction that was not finished, and is no trap.
enum class Unwound : std::uint8_t {
  no,
  waits,       // it comes again at wait_until
  rolled_back, // the state is that of an earlier xbegin
};

// Which atomic access; all but `reserve` need the permission, and have the cause, of a store.
enum class AtomicKind : std::uint8_t { reserve, conditional, modify };

struct FetchEntry {
  std::uint64_t tag = kNoTag;
  CodePage *page = nullptr;
  std::uint64_t level = 0;
  // With timing: the translation outlives decoded code.
  std::uint64_t translated = kNoTag; // its tag
  std::uint64_t physical = 0;        // of the page
};

class TransactionalMemory;

// Bytes of a line that the transaction which a hart runs has marked, as far as is remembered.
struct Claimed {
  std::uint64_t line = kNoLine;
  std::uint64_t claims = 0; // HartCore::claims as it was
  ByteMask any = 0;         // in either set
  ByteMask written = 0;
};

struct HartCore {
  HartState state;

  // --- the burst ------------------------------------------------------------------------------
  const Slot *slots = nullptr;    // of the page in which the hart runs
  std::uint64_t page = 0;         // its virtual address
  std::uint64_t data_context = 0; // of quick accesses: tlb_context, or what no tag equals
  std::uint64_t tlb_context = 0;
  std::uint64_t fetch_context = 0;
  bool float_ready = false;   // FS is dirty; in a burst the host gathers the flags
  bool float_dynamic = false; // and frm is a mode of the host's, which it is in
  bool refetch = false;       // the last CSR write changed what code means: translate pc anew
  Leave leave = Leave::budget;
  bool in_burst = false;
  bool inside = false; // it runs a transaction
  bool asks = false;   // every access to data asks the transactional memory
  Unwound unwound = Unwound::no;
  bool watches_stack = false; // the burst's last instruction writes x2, which was:
  std::uint64_t stack_before = 0;
  Cycle wait_until = 0;     // the hart does nothing before that but take interrupts
  Trap trap{};              // with Leave::trap
  std::uint64_t target = 0; // of a jump that has left the page and its TLB
  std::uint64_t loaded = 0; // by load()
  std::int64_t left = 0;    // budget at the last sync()
  std::int64_t granted = 0; // budget at the begin of the burst
  Cycle begin = 0;          // cycle of the burst's first instruction

  std::array<FetchEntry, 256> fetch_tlb{};
  LargeRegions fetch_large;
  Tlb tlb;
  // An instruction that lies on two pages, and the two ends behind it.
  std::array<Slot, 3> cross{};
  std::uint32_t cross_word = 0;
  Handler cross_watched = nullptr; // as CodePage::watched
  std::uint64_t cross_line = 0;    // of its second half

  HartTiming timing;
  // With timing. Who runs no transaction, or another one, has none of those that are kept.
  std::array<Claimed, 64> claimed{};
  std::uint64_t claims = 1; // how often what is marked may have become less
  KeptWalks walks;          // with timing
  Touched touched;          // the same

  // --- the rest -------------------------------------------------------------------------------
  unsigned id = 0;
  bool machine_mode = false;
  Hart *self = nullptr;
  Harts *harts = nullptr;
  Bus *bus = nullptr;
  Memory *memory = nullptr;
  CodeCache *code = nullptr;
  TransactionalMemory *htm = nullptr;
  const char *rule = nullptr;        // that an illegal instruction has broken, of transactions
  std::vector<BeganIn> trapped_from; // handlers that this hart is in, the innermost last
  Clock *clock = nullptr;
  HartEnvironment *environment = nullptr;
  std::uint64_t intercept_user = 0;
  std::uint64_t intercept_supervisor = 0;
  AddressSpaces spaces;
  WalkContext data_walk;
  WalkContext fetch_walk;
  bool data_translated = false;
  bool fetch_translated = false;
  bool asked = false; // end_burst()

  // Where a slot's instruction is.
  [[nodiscard]] std::uint64_t pc_of(const Slot *ip) const {
    const auto bytes =
        reinterpret_cast<std::uintptr_t>(ip) - reinterpret_cast<std::uintptr_t>(slots);
    return page + bytes / kSlotScale;
  }

  // State, clock and counters as they are before the instruction at `ip`.
  void sync(const Slot *ip, std::int64_t budget) {
    state.pc = pc_of(ip);
    left = budget;
    clock->now = begin + static_cast<Cycle>(granted - budget);
  }
  // The present instruction is the last of the burst. `left` must be in sync.
  void end_burst() {
    if (left > 1) {
      granted -= left - 1;
      left = 1;
    }
  }
  [[nodiscard]] std::uint64_t retired() const { // before the present instruction
    return state.instret + (in_burst ? static_cast<std::uint64_t>(granted - left) : 0);
  }

  // Memory (memory_access.cc). False: `trap` says why. In sync; device accesses may end the burst.
  bool load(std::uint64_t address, unsigned size); // the value is in `loaded`
  bool store(std::uint64_t address, unsigned size, std::uint64_t value);
  // The host's address of an aligned access of LR, SC, AMO; null: `trap` says why.
  std::byte *atomic(std::uint64_t address, unsigned size, AtomicKind kind);
  void atomic_written(const std::byte *place, unsigned size);
  [[nodiscard]] std::uint64_t physical_of(const std::byte *place) const {
    return memory->base() + static_cast<std::uint64_t>(place - memory->bytes().data());
  }
  // Where an access is: the bytes in its first page, and those in a second.
  struct Places {
    std::uint64_t at[2] = {0, 0}; // physical
    unsigned first = 0;           // bytes in the first page
    unsigned size = 0;
    [[nodiscard]] bool crosses() const { return first < size; }
  };
  // Both pages translated before anything is done. False: `trap` says why, or timing what is
  // wanted.
  bool find_places(std::uint64_t address, unsigned size, AccessKind kind, Places &found);
  // Whether all of it is main memory; else `trap` says where not.
  bool in_memory(std::uint64_t address, const Places &places, AccessKind kind);
  // An access to what is no memory, by `call`, which says whether a device took it.
  template <typename Call>
  bool at_device(std::uint64_t address, const Places &places, AccessKind kind, Call call);
  // The parts of an access to memory, in order: at the end of a page, or of a line inside one.
  struct Part {
    std::uint64_t address; // physical
    unsigned offset;       // in the access
    unsigned size;
  };
  static unsigned split(const Places &places, Part (&parts)[2]);
  bool ask_for_parts(const Places &places, AccessMode mode);
  void note_parts(const Places &places);
  // Whether stores wait in the buffer: with timing, not where each access is asked for.
  [[nodiscard]] bool buffers() const;
  // With timing, a part at a time. False: something is wanted.
  bool load_in_parts(std::uint64_t address, const Places &places);
  bool store_in_parts(std::uint64_t address, const Places &places, std::uint64_t value);
  void touch(std::uint64_t address, std::uint64_t place, unsigned size) {
    touched = {address, ((std::uint64_t{1} << size) - 1) << place % kLineBytes};
  }
  // A walk over the page tables; with timing through the L1, an entry at a time. False: `trap` says
  // why, or timing what is wanted.
  bool walk(const WalkContext &context, std::uint64_t address, AccessKind kind, Translation &found);
  // With timing: the step that was wanted, now that its line may be used. False: none was wanted.
  bool walk_step(std::uint64_t line, bool update);
  // Translates; fills the TLB where that is main memory. False: `trap` says why.
  bool physical(std::uint64_t address, AccessKind kind, std::uint64_t &to);

  // The slot at `pc`, translated; null: `trap` says why. Makes its page the present one.
  const Slot *fetch(std::uint64_t pc);
  const Slot *cross_page(std::uint64_t pc);
  void decode_slot(const Slot *ip);
  // `slots` is the array of a CodePage.
  [[nodiscard]] CodePage *present_page() const {
    return static_cast<CodePage *>(reinterpret_cast<CodeSlots *>(const_cast<Slot *>(slots)));
  }
  // The line of code that a slot of the present page is in.
  [[nodiscard]] std::uint64_t line_of(std::uint64_t index) const {
    return (present_page()->physical + 2 * index) >> kLineShift;
  }
  void tell_hint(unsigned number);
  void tell_broken_rule(); // and forgets it
  // The bits of the instruction at a slot of the present page.
  [[nodiscard]] std::uint32_t word_at(const Slot *ip);

  // What follows from the state (context.cc): contexts, readiness of floats.
  void update_contexts();
  void update_float();
  void make_float_dirty();
  void begin_float(); // the host's environment becomes the guest's
  void end_float();   // and its flags go to the state
  void flush_all();
  void forget_code(); // no CodePage is kept; translations are
  void fence(const FenceRange &range);

  // Transactions (transactions.cc). In sync. False: look at unwound, timing.want, trap.
  [[nodiscard]] bool has_transaction() const;
  void update_asking();
  bool ask(std::uint64_t physical, unsigned size, AccessMode mode);
  bool ask_granted(std::uint64_t physical, unsigned size, AccessMode mode, Want kind);
  bool claim(std::uint64_t physical, unsigned size, AccessMode mode, Want kind);
  bool refuse(AbortCause cause);
  // Whether the machine may change a transaction's state now; `ahead`: before all others have come
  // to this cycle.
  bool transaction_step(bool ahead = false);
  [[nodiscard]] bool begins_ahead() const;
  [[nodiscard]] bool ends_ahead() const;
  [[nodiscard]] bool alone() const; // till behind this cycle
  std::uint64_t begin_transaction(unsigned rd, std::uint64_t place);
  bool end_transaction();
  std::uint64_t suspend_transaction(bool by_trap); // the handle
  void abort_transaction(std::uint64_t code);      // as xabort
  void drop_transaction(std::uint64_t handle);
  [[nodiscard]] bool may_resume(std::uint64_t handle) const;
  [[nodiscard]] unsigned depth() const;
  bool resume_transaction(std::uint64_t handle); // false: rolled back
  void roll_back(const RegisterCheckpoint &to, std::uint64_t pc, Cycle until);
  void leave_for_trap(bool to_machine, std::uint64_t cause);
  [[nodiscard]] std::uint64_t transaction_status() const;
  void release_stack();
  void update_release(); // after a change of stxctl
  [[nodiscard]] bool releases() const {
    return inside && (state.stxctl & stxctl::kEarlyRelease) != 0;
  }
  bool broke(const char *which) { // false
    rule = which;
    return false;
  }

  // CSRs (csr.cc). False: illegal.
  bool csr_accessible(unsigned number, bool write) const;
  [[nodiscard]] std::uint64_t read_csr(unsigned number) const;
  void write_csr(unsigned number, std::uint64_t value);

  // Interrupts and traps (interrupts.cc).
  [[nodiscard]] std::uint64_t pending() const; // mip
  [[nodiscard]] bool interrupt_due() const { return due() != 0; }
  [[nodiscard]] std::uint64_t due() const; // what is to be taken now
  void take_interrupt();
  void take(const Trap &cause);
  void enter(std::uint64_t cause, std::uint64_t value, bool to_machine);
  bool return_from(bool machine); // sret, mret; false: illegal

  // The flags that the host has gathered, into state.fflags.
  void fold_flags() {
    if (float_ready && in_burst)
      state.fflags |= host_float::take_flags();
  }
};

// Every floating-point instruction with an explicit or unusual rounding mode (float.cc).
// False: illegal. Registers and flags are set.
bool run_rounded(HartCore *core, Opcode opcode, const Slot &slot, unsigned rm);

} // namespace tandem::machine
