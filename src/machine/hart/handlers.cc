// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interpreter: a handler for each instruction and length, in tail calls from one to the next.
// What the instructions do is in semantics_*.inc; here is how they reach registers and memory, and
// which handler a decoded instruction gets.
#include "machine/hart/core.h"
#include "machine/hart/float_compute.h"

#include <array>
#include <cstring>
#include <map>
#include <type_traits>

namespace tandem::machine {

namespace {

#define TANDEM_TAIL [[clang::musttail]] return
#define SEMANTICS(name)                                                                            \
  template <unsigned Length>                                                                       \
  TANDEM_HANDLER_CALL void do_##name(const Slot *ip, HartCore *h, std::int64_t budget)

#define U(value) static_cast<std::uint64_t>(value)
#define X1 h->state.x[ip->rs1]
#define X2 h->state.x[ip->rs2]
#define S1 static_cast<std::int64_t>(X1)
#define S2 static_cast<std::int64_t>(X2)
#define W1 static_cast<std::uint32_t>(X1)
#define W2 static_cast<std::uint32_t>(X2)
#define X1W static_cast<std::int32_t>(X1)
#define RD h->state.x[ip->rd]
#define F_RD h->state.f[ip->rd]
#define IMM U(std::int64_t{ip->imm})
#define SHIFT unsigned(ip->imm)
#define PC h->pc_of(ip)
#define EXTEND(value) static_cast<std::uint64_t>(static_cast<std::int64_t>(value))
#define WORD(value) EXTEND(static_cast<std::int32_t>(value))
#define EXTEND_RESULT(type, value) (sizeof(type) == 4 ? WORD(value) : U(value))

#define NEXT                                                                                       \
  do {                                                                                             \
    ip += Length / 2;                                                                              \
    if (--budget == 0) [[unlikely]]                                                                \
      TANDEM_TAIL stop(ip, h, budget);                                                             \
    TANDEM_TAIL ip->handler(ip, h, budget);                                                        \
  } while (false)

#define BRANCH_NEAR                                                                                \
  do {                                                                                             \
    ip = reinterpret_cast<const Slot *>(reinterpret_cast<const char *>(ip) + ip->imm);             \
    if (--budget == 0) [[unlikely]]                                                                \
      TANDEM_TAIL stop(ip, h, budget);                                                             \
    TANDEM_TAIL ip->handler(ip, h, budget);                                                        \
  } while (false)

#define GO_TO(address)                                                                             \
  do {                                                                                             \
    const std::uint64_t to_ = address;                                                             \
    const FetchEntry &entry_ = h->fetch_tlb[to_ >> kPageShift & 255];                              \
    if (entry_.tag == ((to_ & kPageMask) | h->fetch_context)) [[likely]] {                         \
      h->page = to_ & kPageMask;                                                                   \
      h->slots = entry_.page->slots.data();                                                        \
      ip = h->slots + ((to_ & ~kPageMask) >> 1);                                                   \
      TANDEM_TAIL ip->handler(ip, h, budget);                                                      \
    }                                                                                              \
    h->target = to_;                                                                               \
    TANDEM_TAIL go_far(ip, h, budget);                                                             \
  } while (false)

#define JUMP(address)                                                                              \
  do {                                                                                             \
    const std::uint64_t where_ = address;                                                          \
    if (--budget == 0) [[unlikely]] {                                                              \
      h->target = where_;                                                                          \
      TANDEM_TAIL stop_at_target(ip, h, budget);                                                   \
    }                                                                                              \
    GO_TO(where_);                                                                                 \
  } while (false)

#define SAME_AS(name) TANDEM_TAIL do_##name<Length>(ip, h, budget)
#define SYNC h->sync(ip, budget)
#define AFTER_SLOW budget = h->left
#define RAISE(why, value)                                                                          \
  do {                                                                                             \
    h->trap = {why, value};                                                                        \
    TANDEM_TAIL raised(ip, h, budget);                                                             \
  } while (false)
#define ILLEGAL TANDEM_TAIL illegal(ip, h, budget)

// The four kinds of instructions that pairs are made of (pairs.def): each is a struct with what it
// does, and a handler. What a TLB has not is done by a second handler, slow_NAME, so that the first
// needs no frame.
#define COMPUTES(name, result)                                                                     \
  struct Op_##name {                                                                               \
    static constexpr Kind kKind = Kind::computes;                                                  \
    template <unsigned Length> static bool run(const Slot *ip, HartCore *h) {                      \
      RD = result;                                                                                 \
      return true;                                                                                 \
    }                                                                                              \
  };                                                                                               \
  SEMANTICS(name) {                                                                                \
    Op_##name::run<Length>(ip, h);                                                                 \
    NEXT;                                                                                          \
  }

#define LOADS(name, type, address, ...)                                                            \
  template <unsigned Length>                                                                       \
  [[gnu::noinline, gnu::cold]] TANDEM_HANDLER_CALL void slow_##name(const Slot *ip, HartCore *h,   \
                                                                    std::int64_t budget) {         \
    SYNC;                                                                                          \
    if (!h->load(address, sizeof(type)))                                                           \
      TANDEM_TAIL raised(ip, h, budget);                                                           \
    AFTER_SLOW;                                                                                    \
    const type value = static_cast<type>(h->loaded);                                               \
    __VA_ARGS__;                                                                                   \
    NEXT;                                                                                          \
  }                                                                                                \
  struct Op_##name {                                                                               \
    static constexpr Kind kKind = Kind::accesses;                                                  \
    template <unsigned Length> static constexpr Handler kSlow = slow_##name<Length>;               \
    template <unsigned Length> static bool run(const Slot *ip, HartCore *h) {                      \
      type value;                                                                                  \
      if (!quick_load(h, address, value)) [[unlikely]]                                             \
        return false;                                                                              \
      __VA_ARGS__;                                                                                 \
      return true;                                                                                 \
    }                                                                                              \
  };                                                                                               \
  SEMANTICS(name) {                                                                                \
    if (!Op_##name::run<Length>(ip, h)) [[unlikely]]                                               \
      TANDEM_TAIL slow_##name<Length>(ip, h, budget);                                              \
    NEXT;                                                                                          \
  }

#define STORES(name, type, address, data)                                                          \
  template <unsigned Length>                                                                       \
  [[gnu::noinline, gnu::cold]] TANDEM_HANDLER_CALL void slow_##name(const Slot *ip, HartCore *h,   \
                                                                    std::int64_t budget) {         \
    SYNC;                                                                                          \
    if (!h->store(address, sizeof(type), static_cast<type>(data)))                                 \
      TANDEM_TAIL raised(ip, h, budget);                                                           \
    AFTER_SLOW;                                                                                    \
    NEXT;                                                                                          \
  }                                                                                                \
  struct Op_##name {                                                                               \
    static constexpr Kind kKind = Kind::accesses;                                                  \
    template <unsigned Length> static constexpr Handler kSlow = slow_##name<Length>;               \
    template <unsigned Length> static bool run(const Slot *ip, HartCore *h) {                      \
      return quick_store(h, address, static_cast<type>(data));                                     \
    }                                                                                              \
  };                                                                                               \
  SEMANTICS(name) {                                                                                \
    if (!Op_##name::run<Length>(ip, h)) [[unlikely]]                                               \
      TANDEM_TAIL slow_##name<Length>(ip, h, budget);                                              \
    NEXT;                                                                                          \
  }

#define BRANCHES(name, condition)                                                                  \
  struct Op_##name##_near {                                                                        \
    static constexpr Kind kKind = Kind::branches;                                                  \
    template <unsigned Length> static bool run(const Slot *ip, HartCore *h) {                      \
      (void)ip;                                                                                    \
      (void)h;                                                                                     \
      return condition;                                                                            \
    }                                                                                              \
  };                                                                                               \
  SEMANTICS(name) {                                                                                \
    if (condition)                                                                                 \
      JUMP(PC + IMM);                                                                              \
    NEXT;                                                                                          \
  }                                                                                                \
  SEMANTICS(name##_near) {                                                                         \
    if (condition)                                                                                 \
      BRANCH_NEAR;                                                                                 \
    NEXT;                                                                                          \
  }

enum class Kind : std::uint8_t { computes, accesses, branches };

#define ATOMIC(type, place, address, writes)                                                       \
  const std::uint64_t place##_at = address;                                                        \
  std::byte *place = quick_place<type>(h, place##_at, writes);                                     \
  if (place == nullptr) [[unlikely]] {                                                             \
    SYNC;                                                                                          \
    place = h->atomic(place##_at, sizeof(type), writes);                                           \
    if (place == nullptr)                                                                          \
      TANDEM_TAIL raised(ip, h, budget);                                                           \
  }
#define ATOMIC_WRITTEN(type, place) h->atomic_written(place, sizeof(type))
#define RESERVATION(place) (h->physical_of(place) / kReservationBytes)

#define S_BITS(reg) unbox(h->state.f[ip->reg])
#define Fs1 std::bit_cast<float>(S_BITS(rs1))
#define Fs2 std::bit_cast<float>(S_BITS(rs2))
#define Fs3 std::bit_cast<float>(unbox(h->state.f[ip->more & 31]))
#define Fd1 std::bit_cast<double>(h->state.f[ip->rs1])
#define Fd2 std::bit_cast<double>(h->state.f[ip->rs2])
#define Fd3 std::bit_cast<double>(h->state.f[ip->more & 31])
#define FS_RESULT(value) F_RD = canonical(value)
#define FD_RESULT(value) F_RD = canonical(value)
#define COMPUTE(value) F_RD = value
#define FLOAT_READ                                                                                 \
  if (!h->float_ready && (h->state.status & status::kFs) == 0) [[unlikely]]                        \
  ILLEGAL
#define FLOAT_DIRTY                                                                                \
  if (!h->float_ready) [[unlikely]]                                                                \
  h->make_float_dirty()
#define FLOAT_ANY                                                                                  \
  FLOAT_READ;                                                                                      \
  FLOAT_DIRTY
#define FLOAT_DYNAMIC(name)                                                                        \
  if (!h->float_dynamic) [[unlikely]] {                                                            \
    SYNC;                                                                                          \
    if (!run_rounded(h, Opcode::name, *ip, 7))                                                     \
      ILLEGAL;                                                                                     \
    NEXT;                                                                                          \
  }

// --- ends of a burst ------------------------------------------------------------------------

// `ip` is the next instruction.
[[gnu::noinline, gnu::cold]] TANDEM_HANDLER_CALL void stop(const Slot *ip, HartCore *h,
                                                           std::int64_t budget) {
  h->sync(ip, budget);
  h->leave = Leave::budget;
}

[[gnu::noinline, gnu::cold]] TANDEM_HANDLER_CALL void stop_at_target(const Slot *ip, HartCore *h,
                                                                     std::int64_t budget) {
  h->sync(ip, budget);
  h->state.pc = h->target;
  h->leave = Leave::budget;
}

// The instruction at `ip` traps; it takes its cycle.
[[gnu::noinline, gnu::cold]] TANDEM_HANDLER_CALL void raised(const Slot *ip, HartCore *h,
                                                             std::int64_t budget) {
  h->sync(ip, budget - 1);
  h->leave = Leave::trap;
}

[[gnu::noinline, gnu::cold]] TANDEM_HANDLER_CALL void illegal(const Slot *ip, HartCore *h,
                                                              std::int64_t budget) {
  h->sync(ip, budget);
  // The word itself, which not every slot keeps; it was fetched, so it can be read.
  h->trap = {Exception::illegal_instruction, h->word_at(ip)};
  TANDEM_TAIL raised(ip, h, budget);
}

// On at h->target, which the TLB of fetches has not. A fault is the target's own.
[[gnu::noinline, gnu::cold]] TANDEM_HANDLER_CALL void go_far(const Slot *ip, HartCore *h,
                                                             std::int64_t budget) {
  const std::uint64_t target = h->target;
  h->sync(ip, budget);
  h->state.pc = target;
  ip = h->fetch(target);
  if (ip == nullptr) {
    h->left = budget - 1;
    h->clock->now += 1;
    h->leave = Leave::trap;
    return;
  }
  TANDEM_TAIL ip->handler(ip, h, budget);
}

// --- slots that are no instruction -------------------------------------------------------------

[[gnu::noinline, gnu::cold]] TANDEM_HANDLER_CALL void decode_here(const Slot *ip, HartCore *h,
                                                                  std::int64_t budget) {
  h->decode_slot(ip);
  TANDEM_TAIL ip->handler(ip, h, budget);
}

TANDEM_HANDLER_CALL void page_end(const Slot *ip, HartCore *h, std::int64_t budget) { GO_TO(PC); }

[[gnu::noinline, gnu::cold]] TANDEM_HANDLER_CALL void cross(const Slot *ip, HartCore *h,
                                                            std::int64_t budget) {
  h->sync(ip, budget);
  const Slot *crossing = h->cross_page(h->state.pc);
  if (crossing == nullptr)
    TANDEM_TAIL raised(ip, h, budget);
  ip = crossing;
  TANDEM_TAIL ip->handler(ip, h, budget);
}

// --- memory ------------------------------------------------------------------------------------

template <typename T> bool wants(std::uint64_t tag, const HartCore *h, std::uint64_t address) {
  return ((address & (kPageMask | (sizeof(T) - 1))) | h->data_context) == tag;
}

template <typename T> bool quick_load(HartCore *h, std::uint64_t address, T &value) {
  const TlbEntry &entry = h->tlb.at(address);
  if (!wants<T>(entry.read_tag, h, address))
    return false;
  std::memcpy(&value, reinterpret_cast<const void *>(address + entry.addend), sizeof value);
  return true;
}

template <typename T> bool quick_store(HartCore *h, std::uint64_t address, T value) {
  const TlbEntry &entry = h->tlb.at(address);
  if (!wants<T>(entry.write_tag, h, address))
    return false;
  std::memcpy(reinterpret_cast<void *>(address + entry.addend), &value, sizeof value);
  return true;
}

template <typename T> std::byte *quick_place(HartCore *h, std::uint64_t address, bool writes) {
  const TlbEntry &entry = h->tlb.at(address);
  if (!wants<T>(writes ? entry.write_tag : entry.read_tag, h, address))
    return nullptr;
  return reinterpret_cast<std::byte *>(address + entry.addend);
}

#include "machine/hart/semantics_a.inc"
#include "machine/hart/semantics_fd.inc"
#include "machine/hart/semantics_i.inc"
#include "machine/hart/semantics_m.inc"
#include "machine/hart/semantics_system.inc"

// --- pairs ---------------------------------------------------------------------------------------

// Two instructions that often follow each other, by one handler at the first one's slot. Each does
// what it does alone, with its own operands, budget and traps; the second's slot is for who jumps
// there.
template <class First, class Second, unsigned Length1, unsigned Length2>
TANDEM_HANDLER_CALL void do_pair(const Slot *ip, HartCore *h, std::int64_t budget) {
  if (!First::template run<Length1>(ip, h)) [[unlikely]] {
    if constexpr (First::kKind == Kind::accesses)
      TANDEM_TAIL First::template kSlow<Length1>(ip, h, budget);
  }
  ip += Length1 / 2;
  if (--budget == 0) [[unlikely]]
    TANDEM_TAIL stop(ip, h, budget);
  constexpr unsigned Length = Length2;
  if constexpr (Second::kKind == Kind::branches) {
    if (Second::template run<Length>(ip, h))
      BRANCH_NEAR;
  } else if (!Second::template run<Length>(ip, h)) [[unlikely]] {
    if constexpr (Second::kKind == Kind::accesses)
      TANDEM_TAIL Second::template kSlow<Length>(ip, h, budget);
  }
  NEXT;
}

struct PairRow {
  Handler first, second, both;
};

constexpr PairRow kPairs[] = {
#define TANDEM_PAIR_ROW(a, b, length1, length2)                                                    \
  {do_##a<length1>, do_##b<length2>, do_pair<Op_##a, Op_##b, length1, length2>},
#define TANDEM_INSTRUCTION_PAIR(a, b)                                                              \
  TANDEM_PAIR_ROW(a, b, 2, 2)                                                                      \
  TANDEM_PAIR_ROW(a, b, 2, 4) TANDEM_PAIR_ROW(a, b, 4, 2) TANDEM_PAIR_ROW(a, b, 4, 4)
#include "machine/hart/pairs.def"
};

// --- which handler ------------------------------------------------------------------------------

struct Pair {
  Handler of_2;
  Handler of_4;
  [[nodiscard]] Handler get(unsigned length) const { return length == 2 ? of_2 : of_4; }
};
#define TANDEM_PAIR_OF(name)                                                                       \
  Pair { do_##name<2>, do_##name<4> }

constexpr std::array<Pair, kBaseOpcodes> kHandlers = {
    TANDEM_PAIR_OF(illegal),
#define TANDEM_INSTRUCTION(identifier, ...) TANDEM_PAIR_OF(identifier),
#include "machine/isa/instructions.def"
};

// The handler of a branch or jump that stays in its page.
Pair near(Opcode opcode) {
  switch (opcode) {
  case Opcode::beq:
    return TANDEM_PAIR_OF(beq_near);
  case Opcode::bne:
    return TANDEM_PAIR_OF(bne_near);
  case Opcode::blt:
    return TANDEM_PAIR_OF(blt_near);
  case Opcode::bge:
    return TANDEM_PAIR_OF(bge_near);
  case Opcode::bltu:
    return TANDEM_PAIR_OF(bltu_near);
  case Opcode::bgeu:
    return TANDEM_PAIR_OF(bgeu_near);
  default:
    return TANDEM_PAIR_OF(jal_near);
  }
}

bool writes_float(Format format) {
  switch (format) {
  case Format::float_load:
  case Format::float_r:
  case Format::float_r_rm:
  case Format::float_r4:
  case Format::float_rr_rm:
  case Format::float_rr_exact:
  case Format::int_to_float:
  case Format::int_to_float_rm:
  case Format::int_to_float_exact:
    return true;
  default:
    return false;
  }
}

// Whether the handler of the operation is for this rounding mode; others are run_rounded()'s.
bool has_handler_for(Format format, unsigned rm) {
  switch (format) {
  case Format::float_r_rm:
  case Format::float_r4:
  case Format::float_rr_rm:
  case Format::int_to_float_rm:
    return rm == 7; // dynamic
  case Format::float_to_int_rm:
    return rm == 1; // towards zero
  case Format::float_rr_exact:
  case Format::int_to_float_exact:
    return rm != 7; // dynamic may be a reserved mode
  default:
    return true;
  }
}

bool only_computes(Format format) {
  return format == Format::r || format == Format::i || format == Format::u ||
         format == Format::shift5 || format == Format::shift6;
}

// Forms with handlers of their own; null: none.
Handler special(const Instruction &i, Slot &slot) {
  switch (i.opcode) {
  case Opcode::addi:
    if (i.rs1 == 0)
      return TANDEM_PAIR_OF(load_immediate).get(i.length);
    return i.imm == 0 ? TANDEM_PAIR_OF(move).get(i.length) : nullptr;
  case Opcode::lui:
    return TANDEM_PAIR_OF(load_immediate).get(i.length);
  case Opcode::add:
    if (i.rs1 != 0)
      return nullptr;
    slot.rs1 = i.rs2;
    return TANDEM_PAIR_OF(move).get(i.length);
  case Opcode::jalr:
    return i.rd == 0 ? TANDEM_PAIR_OF(jump_register).get(i.length) : nullptr;
  case Opcode::jal:
    return i.rd == 0 ? TANDEM_PAIR_OF(jump).get(i.length) : nullptr;
  default:
    return nullptr;
  }
}

} // namespace

const Handler kDecodeHandler = decode_here;
const Handler kPageEndHandler = page_end;
const Handler kCrossHandler = cross;

void fill_slot(Slot &slot, const Instruction &i, std::uint64_t offset, bool alone) {
  slot.imm = static_cast<std::int32_t>(i.imm);
  slot.rd = i.rd;
  slot.rs1 = i.rs1;
  slot.rs2 = i.rs2;
  slot.more = static_cast<std::uint8_t>(i.rs3 | i.rm << 5);
  slot.handler = kHandlers[unsigned(i.opcode)].get(i.length);
  if (i.opcode == Opcode::illegal)
    return;
  const Format format = row_of(i.opcode).format;
  if (!writes_float(format) && i.rd == 0)
    slot.rd = kSink;
  if (only_computes(format) && i.rd == 0) {
    slot.handler = TANDEM_PAIR_OF(nothing).get(i.length);
    return;
  }
  if ((format == Format::b || format == Format::j) && !alone &&
      offset + static_cast<std::uint64_t>(i.imm) < kPageBytes) {
    slot.imm = static_cast<std::int32_t>(i.imm * kSlotScale);
    slot.handler = i.opcode == Opcode::jal && i.rd == 0 ? TANDEM_PAIR_OF(jump_near).get(i.length)
                                                        : near(i.opcode).get(i.length);
    return;
  }
  if (const Handler own = special(i, slot))
    slot.handler = own;
  if (!has_handler_for(format, i.rm)) {
    slot.handler = TANDEM_PAIR_OF(rounded).get(i.length);
    slot.imm = static_cast<std::int32_t>(i.opcode);
  }
}

Handler pair_handler(Handler first, Handler second) {
  static const auto pairs = [] {
    std::map<std::pair<Handler, Handler>, Handler> found;
    for (const PairRow &row : kPairs)
      found.emplace(std::pair(row.first, row.second), row.both);
    return found;
  }();
  const auto found = pairs.find({first, second});
  return found != pairs.end() ? found->second : nullptr;
}

void run_handlers(const Slot *ip, HartCore *core) { ip->handler(ip, core, core->granted); }

} // namespace tandem::machine
