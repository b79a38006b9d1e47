// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decoded code, by physical page, shared by all harts of a machine. A page has a slot for each
// halfword; a slot is decoded when it is first run. Invariant: a decoded slot equals its bytes in
// memory. Pages with decoded slots are marked in Memory; no TLB lets anyone write them directly, so
// every store to one comes through code_written(). FENCE.I therefore has nothing to do.
//
// A slot may have the handler of a pair (pairs.def): it does the instruction and the next. Then the
// operands of the next slot are filled, even if that slot itself is not decoded yet.
//
// For one thread. At most kPages pages are kept (33 KB each), the oldest goes first.
#pragma once

#include "machine/bus/memory.h"
#include "machine/hart/timing.h"
#include "machine/isa/decode.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <vector>

namespace tandem::machine {

struct HartCore;
struct Slot;

// Handlers call each other in tail position and never return in between, so that ip, hart and
// budget stay in registers; this convention leaves no register to be saved. AddressSanitizer makes
// frames that it does not allow.
#if (defined(__x86_64__) || defined(__aarch64__)) && !__has_feature(address_sanitizer)
#define TANDEM_HANDLER_CALL __attribute__((preserve_none))
#else
#define TANDEM_HANDLER_CALL
#endif
using Handler = void(TANDEM_HANDLER_CALL *)(const Slot *ip, HartCore *hart, std::int64_t budget);

// A decoded instruction.
struct Slot {
  Handler handler;
  std::int32_t imm; // displacement of a near branch in bytes of slots; the bits of an illegal one
  std::uint8_t rd;  // x0 as kSink
  std::uint8_t rs1;
  std::uint8_t rs2;
  std::uint8_t more; // bits 4:0 rs3, 7:5 rm
};
static_assert(sizeof(Slot) == 16 || sizeof(void *) != 8);

// Bytes of slots for each byte of code.
inline constexpr std::ptrdiff_t kSlotScale = sizeof(Slot) / 2;

struct CodeSlots {
  static constexpr unsigned kSlots = kPageBytes / 2;
  // The two behind the last are where instructions of 2 and 4 bytes go on: in the next page.
  std::array<Slot, kSlots + 2> slots;
};
static_assert(std::is_standard_layout_v<CodeSlots>); // a pointer to the first slot is one to it

struct CodePage : CodeSlots {
  std::uint64_t physical = 0;
  // Of instructions that end in the line after theirs: what HandlerSet::two_lines goes on to.
  std::array<Handler, kPageBytes / kLineBytes> crossing{};
  // Of instructions that write x2, while that is watched: what HandlerSet::watched goes on to.
  std::unique_ptr<std::array<Handler, kSlots>> watched;
  bool marked = false;      // in Memory, as holding code
  std::uint32_t stores = 0; // to it since it was marked
};

// A set of handlers (handlers.inc).
struct HandlerSet {
  // Handlers that are no instruction's. two_lines: null where lines of code do not matter.
  Handler decode;
  Handler page_end;
  Handler cross;
  Handler two_lines;
  Handler watched;
  // Fills a slot from an instruction. `offset`: of the instruction in its page; branches that stay
  // in the page become near ones, none if `alone`: the slot is not in the array of its page.
  void (*fill_slot)(Slot &slot, const Instruction &instruction, std::uint64_t offset, bool alone);
  // The handler that does what two handlers do one after the other; null: there is none.
  Handler (*pair_of)(Handler first, Handler second);
  // Runs handlers from `ip` for `granted` instructions.
  void (*run)(const Slot *ip, HartCore *core);
};
extern const HandlerSet kPlainHandlers;
extern const HandlerSet kTimedHandlers;

class CodeCache final : public CodeObserver {
public:
  // 64 MB of slots: the code of a Linux kernel and its programs is 800 to 1,200 pages.
  static constexpr std::size_t kPages = 2000;
  // A page that is stored to that often without having been forgotten is taken for data.
  static constexpr std::uint32_t kStores = 64;

  // `withdraw(page)`: no hart may write that physical page directly; `forget()`: no hart keeps a
  // CodePage that it does not run in.
  CodeCache(Memory &memory, std::function<void(std::uint64_t)> withdraw,
            std::function<void()> forget);
  ~CodeCache() override;

  // The page of code at a physical address in main memory.
  CodePage &page(std::uint64_t physical);
  // Decodes the slot; `index` below kSlots - 1, or its instruction is compressed.
  void decode_slot(CodePage &page, unsigned index);
  void code_written(std::uint64_t address, std::uint64_t size) override;

  // All code is decoded anew, for this set. Between two runs of harts.
  void use(const HandlerSet &handlers);
  [[nodiscard]] const HandlerSet &handlers() const { return *handlers_; }
  // From now on instructions that write x2 say so: some hart releases early (stxctl).
  void watch_stack_pointer();
  [[nodiscard]] bool watches(const Instruction &instruction) const {
    return watch_ && instruction.rd == 2 && writes_x(instruction);
  }

private:
  void reset(CodePage &page);
  void mark(CodePage &page);
  void pair_up(CodePage &page, unsigned index, unsigned next);
  static bool writes_x(const Instruction &instruction);
  [[nodiscard]] bool in_two_lines(unsigned index, unsigned length) const;
  [[nodiscard]] Instruction instruction_at(const CodePage &page, unsigned index) const;

  Memory *memory_;
  const HandlerSet *handlers_ = &kPlainHandlers;
  bool watch_ = false;
  std::function<void(std::uint64_t)> withdraw_;
  std::function<void()> forget_;
  std::vector<CodePage *> by_page_; // of the memory's pages
  std::vector<std::unique_ptr<CodePage>> pages_;
  std::size_t oldest_ = 0;
};

} // namespace tandem::machine
