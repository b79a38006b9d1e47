// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Floating-point instructions in a rounding mode that the host is not in: explicit ones, and RMM.
#include "machine/hart/away.h"
#include "machine/hart/core.h"
#include "machine/hart/float_compute.h"

namespace tandem::machine {

namespace {

constexpr unsigned kAway = 4; // RMM

// The result of `operation` in a mode of the host's, and what it raised.
template <typename Operation> auto under(unsigned mode, std::uint8_t &flags, Operation operation) {
  const host_float::Environment saved = host_float::save();
  host_float::set(mode);
  const auto result = operation();
  flags = host_float::flags();
  host_float::restore(saved);
  return result;
}

template <std::unsigned_integral Bits>
Bits round_exact(const away::Exact &value, std::uint8_t &flags) {
  if constexpr (sizeof(Bits) == 4)
    return away::to_single(value, flags);
  else
    return away::to_double(value, flags);
}

// `operation` on the host; where RMM may differ, that is where the result is inexact and finite,
// `exact` says what it is exactly.
template <std::unsigned_integral Bits, typename Operation, typename Exactly>
std::uint64_t rounded(HartCore *core, unsigned mode, Operation operation, Exactly exact) {
  using F = typename FloatOf<Bits>::Type;
  std::uint8_t flags = 0;
  const F value = under(mode == kAway ? 0 : mode, flags, operation);
  std::uint64_t result = canonical(value);
  if (mode == kAway && (flags & host_float::kInexact) != 0) {
    flags = 0;
    result = box(round_exact<Bits>(exact(), flags));
  }
  raise(core, flags);
  return result;
}

template <std::unsigned_integral Bits> Bits operand(const HartCore *core, unsigned reg) {
  if constexpr (sizeof(Bits) == 4)
    return unbox(core->state.f[reg]);
  else
    return core->state.f[reg];
}

template <std::unsigned_integral Bits> struct Operands {
  using F = typename FloatOf<Bits>::Type;
  Bits a, b, c;
  Operands(const HartCore *core, const Slot &slot)
      : a(operand<Bits>(core, slot.rs1)), b(operand<Bits>(core, slot.rs2)),
        c(operand<Bits>(core, slot.more & 31U)) {}
  static F number(Bits bits) { return std::bit_cast<F>(bits); }
};

enum class Two : std::uint8_t { add, subtract, multiply, divide };

template <std::unsigned_integral Bits>
std::uint64_t of_two(HartCore *core, unsigned mode, const Slot &slot, Two what) {
  const Operands<Bits> o(core, slot);
  const auto a = o.number(o.a);
  const auto b = o.number(o.b);
  const auto x = [&] { return away::from_bits(o.a); };
  const auto y = [&] { return away::from_bits(o.b); };
  switch (what) {
  case Two::add:
    return rounded<Bits>(core, mode, [=] { return a + b; }, [&] { return away::sum(x(), y()); });
  case Two::subtract:
    return rounded<Bits>(
        core, mode, [=] { return a - b; },
        [&] { return away::sum(x(), away::from_bits(o.b ^ kSignBit<Bits>)); });
  case Two::multiply:
    return rounded<Bits>(
        core, mode, [=] { return a * b; }, [&] { return away::product(x(), y()); });
  case Two::divide:
    return rounded<Bits>(
        core, mode, [=] { return a / b; }, [&] { return away::quotient(x(), y()); });
  }
  return 0;
}

// Roots are never half-way between two numbers: RMM is RNE.
template <std::unsigned_integral Bits>
std::uint64_t root(HartCore *core, unsigned mode, const Slot &slot) {
  const auto a = Operands<Bits>::number(operand<Bits>(core, slot.rs1));
  std::uint8_t flags = 0;
  const auto value = under(mode == kAway ? 0 : mode, flags, [=] { return square_root(a); });
  raise(core, flags);
  return canonical(value);
}

template <std::unsigned_integral Bits>
std::uint64_t fused_of(HartCore *core, unsigned mode, const Slot &slot, bool negate_product,
                       bool negate_addend) {
  const Operands<Bits> o(core, slot);
  const Bits a = o.a ^ (negate_product ? kSignBit<Bits> : 0);
  const Bits c = o.c ^ (negate_addend ? kSignBit<Bits> : 0);
  return rounded<Bits>(
      core, mode, [=] { return fused(o.number(a), o.number(o.b), o.number(c)); },
      [&] {
        const away::Exact product = away::product(away::from_bits(a), away::from_bits(o.b));
        // An inexact result has factors other than zero.
        return (c & ~kSignBit<Bits>) == 0 ? product : away::sum(product, away::from_bits(c));
      });
}

std::uint64_t narrowed(HartCore *core, unsigned mode, const Slot &slot) {
  const std::uint64_t a = core->state.f[slot.rs1];
  return rounded<std::uint32_t>(
      core, mode, [=] { return static_cast<float>(std::bit_cast<double>(a)); },
      [=] { return away::from_bits(a); });
}

template <std::unsigned_integral Bits>
std::uint64_t from_signed_of(HartCore *core, unsigned mode, std::int64_t value) {
  using F = typename FloatOf<Bits>::Type;
  return rounded<Bits>(
      core, mode, [=] { return from_signed<F>(value); },
      [=] {
        const auto bits = static_cast<std::uint64_t>(value);
        return away::from_integer(value < 0 ? -bits : bits, value < 0);
      });
}
template <std::unsigned_integral Bits>
std::uint64_t from_unsigned_of(HartCore *core, unsigned mode, std::uint64_t value) {
  using F = typename FloatOf<Bits>::Type;
  return rounded<Bits>(
      core, mode, [=] { return from_unsigned<F>(value); },
      [=] { return away::from_integer(value, false); });
}

// An integral number next to `value`, which is finite and below 2^52 in size.
double integral(double value, unsigned mode) {
  const double whole = static_cast<double>(static_cast<std::int64_t>(value));
  const double rest = std::fabs(value - whole); // exact
  const double away_from_zero = whole + (value < 0 ? -1.0 : 1.0);
  const bool odd = (static_cast<std::int64_t>(whole) & 1) != 0;
  switch (mode) {
  case 0:
    return rest > 0.5 || (rest == 0.5 && odd) ? away_from_zero : whole;
  case 2:
    return rest != 0 && value < 0 ? away_from_zero : whole;
  case 3:
    return rest != 0 && value > 0 ? away_from_zero : whole;
  case kAway:
    return rest >= 0.5 ? away_from_zero : whole;
  default:
    return whole;
  }
}

template <std::integral To>
std::uint64_t to_integer_of(HartCore *core, unsigned mode, double value) {
  std::uint8_t raised = 0;
  std::uint8_t unused = 0;
  const To result = under(0, unused, [&]() -> To {
    if (std::isnan(value)) {
      raised = host_float::kInvalid;
      return saturated<To>(false);
    }
    const double whole = std::fabs(value) < 4503599627370496.0 ? integral(value, mode) : value;
    if (!in_range<To>(whole)) {
      raised = host_float::kInvalid;
      return saturated<To>(value < 0);
    }
    raised = whole != value ? host_float::kInexact : std::uint8_t{0};
    return to_integer<To>(whole);
  });
  raise(core, raised);
  if constexpr (sizeof(To) == 4)
    return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(result)});
  else
    return static_cast<std::uint64_t>(result);
}

double single_of(const HartCore *core, const Slot &slot) {
  const std::uint32_t bits = unbox(core->state.f[slot.rs1]);
  return is_nan(bits) ? std::numeric_limits<double>::quiet_NaN()
                      : static_cast<double>(std::bit_cast<float>(bits));
}
double double_of(const HartCore *core, const Slot &slot) {
  return std::bit_cast<double>(core->state.f[slot.rs1]);
}

// Results for f registers; false: not one of those.
template <std::unsigned_integral Bits>
bool arithmetic(HartCore *core, Opcode single_opcode, const Slot &slot, unsigned mode,
                std::uint64_t &result) {
  switch (single_opcode) {
  case Opcode::fadd_s:
    result = of_two<Bits>(core, mode, slot, Two::add);
    return true;
  case Opcode::fsub_s:
    result = of_two<Bits>(core, mode, slot, Two::subtract);
    return true;
  case Opcode::fmul_s:
    result = of_two<Bits>(core, mode, slot, Two::multiply);
    return true;
  case Opcode::fdiv_s:
    result = of_two<Bits>(core, mode, slot, Two::divide);
    return true;
  case Opcode::fsqrt_s:
    result = root<Bits>(core, mode, slot);
    return true;
  case Opcode::fmadd_s:
    result = fused_of<Bits>(core, mode, slot, false, false);
    return true;
  case Opcode::fmsub_s:
    result = fused_of<Bits>(core, mode, slot, false, true);
    return true;
  case Opcode::fnmsub_s:
    result = fused_of<Bits>(core, mode, slot, true, false);
    return true;
  case Opcode::fnmadd_s:
    result = fused_of<Bits>(core, mode, slot, true, true);
    return true;
  default:
    return false;
  }
}

// The single's opcode of a double's arithmetic, which is the same but for the width.
Opcode single_of(Opcode opcode, bool &is_double) {
  is_double = true;
  switch (opcode) {
  case Opcode::fadd_d:
    return Opcode::fadd_s;
  case Opcode::fsub_d:
    return Opcode::fsub_s;
  case Opcode::fmul_d:
    return Opcode::fmul_s;
  case Opcode::fdiv_d:
    return Opcode::fdiv_s;
  case Opcode::fsqrt_d:
    return Opcode::fsqrt_s;
  case Opcode::fmadd_d:
    return Opcode::fmadd_s;
  case Opcode::fmsub_d:
    return Opcode::fmsub_s;
  case Opcode::fnmsub_d:
    return Opcode::fnmsub_s;
  case Opcode::fnmadd_d:
    return Opcode::fnmadd_s;
  default:
    is_double = false;
    return opcode;
  }
}

// Conversions to floating point.
std::uint64_t converted(HartCore *core, Opcode opcode, const Slot &slot, unsigned mode) {
  const std::uint64_t x = core->state.x[slot.rs1];
  const auto as_signed = static_cast<std::int64_t>(x);
  const auto word = static_cast<std::int32_t>(x);
  const auto unsigned_word = static_cast<std::uint32_t>(x);
  switch (opcode) {
  case Opcode::fcvt_s_w:
    return from_signed_of<std::uint32_t>(core, mode, word);
  case Opcode::fcvt_s_wu:
    return from_signed_of<std::uint32_t>(core, mode, unsigned_word);
  case Opcode::fcvt_s_l:
    return from_signed_of<std::uint32_t>(core, mode, as_signed);
  case Opcode::fcvt_s_lu:
    return from_unsigned_of<std::uint32_t>(core, mode, x);
  case Opcode::fcvt_d_w:
    return from_signed_of<std::uint64_t>(core, mode, word);
  case Opcode::fcvt_d_wu:
    return from_signed_of<std::uint64_t>(core, mode, unsigned_word);
  case Opcode::fcvt_d_l:
    return from_signed_of<std::uint64_t>(core, mode, as_signed);
  case Opcode::fcvt_d_lu:
    return from_unsigned_of<std::uint64_t>(core, mode, x);
  case Opcode::fcvt_s_d:
    return narrowed(core, mode, slot);
  case Opcode::fcvt_d_s:
    return widen(core, unbox(core->state.f[slot.rs1]));
  default:
    CHECK(false, "opcode {} does not round", unsigned(opcode));
    return 0;
  }
}

// Conversions to integers; false: not one of those.
bool to_integers(HartCore *core, Opcode opcode, const Slot &slot, unsigned mode) {
  std::uint64_t &to = core->state.x[slot.rd];
  switch (opcode) {
  case Opcode::fcvt_w_s:
    to = to_integer_of<std::int32_t>(core, mode, single_of(core, slot));
    return true;
  case Opcode::fcvt_wu_s:
    to = to_integer_of<std::uint32_t>(core, mode, single_of(core, slot));
    return true;
  case Opcode::fcvt_l_s:
    to = to_integer_of<std::int64_t>(core, mode, single_of(core, slot));
    return true;
  case Opcode::fcvt_lu_s:
    to = to_integer_of<std::uint64_t>(core, mode, single_of(core, slot));
    return true;
  case Opcode::fcvt_w_d:
    to = to_integer_of<std::int32_t>(core, mode, double_of(core, slot));
    return true;
  case Opcode::fcvt_wu_d:
    to = to_integer_of<std::uint32_t>(core, mode, double_of(core, slot));
    return true;
  case Opcode::fcvt_l_d:
    to = to_integer_of<std::int64_t>(core, mode, double_of(core, slot));
    return true;
  case Opcode::fcvt_lu_d:
    to = to_integer_of<std::uint64_t>(core, mode, double_of(core, slot));
    return true;
  default:
    return false;
  }
}

} // namespace

bool run_rounded(HartCore *core, Opcode opcode, const Slot &slot, unsigned rm) {
  const unsigned mode = rm == 7 ? core->state.frm : rm;
  if ((core->state.status & status::kFs) == 0 || mode > kAway)
    return false;
  core->make_float_dirty();
  if (to_integers(core, opcode, slot, mode))
    return true;
  bool is_double = false;
  const Opcode single = single_of(opcode, is_double);
  std::uint64_t result = 0;
  if (!(is_double ? arithmetic<std::uint64_t>(core, single, slot, mode, result)
                  : arithmetic<std::uint32_t>(core, single, slot, mode, result)))
    result = converted(core, opcode, slot, mode);
  core->state.f[slot.rd] = result;
  return true;
}

} // namespace tandem::machine
