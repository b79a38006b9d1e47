// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ChampSim's traces: a record for each instruction of one core, as its tracers write them (struct
// input_instr of its inc/trace_instruction.h).
#include "machine/trace/inputs.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <fmt/format.h>

namespace tandem::machine::trace {
namespace {

// Little-endian, 64 bytes; memory operands and registers that are 0 are not there.
struct Instruction {
  std::uint64_t ip;
  std::uint8_t is_branch;
  std::uint8_t branch_taken;
  std::array<std::uint8_t, 2> writes_registers;
  std::array<std::uint8_t, 4> reads_registers;
  std::array<std::uint64_t, 2> writes;
  std::array<std::uint64_t, 4> reads;
};
static_assert(sizeof(Instruction) == 64);

// Registers that most instructions name: a load's value is not what they wait for.
constexpr std::array<std::uint8_t, 3> kSpecial = {6, 25, 26}; // stack pointer, flags, IP

bool uses_result(const Instruction &load, const Instruction &next) {
  return std::ranges::any_of(load.writes_registers, [&](std::uint8_t made) {
    return made != 0 && std::ranges::find(kSpecial, made) == kSpecial.end() &&
           std::ranges::find(next.reads_registers, made) != next.reads_registers.end();
  });
}

class ChampSimTrace : public ForeignTrace {
public:
  explicit ChampSimTrace(Input input) : input_(std::move(input)) {
    more_ = take(next_);
    if (!more_ && error_.empty())
      error_ = input_.name() + ": is empty";
  }

  bool next(TracedAccess &access) override {
    while (ready_.empty()) {
      if (!more_ || !error_.empty())
        return false;
      const Instruction now = next_;
      more_ = take(next_);
      if (!error_.empty())
        return false;
      add(now, more_ && uses_result(now, next_));
    }
    access = ready_.front();
    ready_.pop_front();
    return true;
  }

private:
  bool take(Instruction &instruction) {
    std::array<char, sizeof(Instruction)> bytes{};
    const std::size_t count = input_.read(bytes, error_);
    if (count != 0 && count != bytes.size() && error_.empty())
      error_ = fmt::format("{}: ends within record {}; records have {} bytes", input_.name(),
                           records_, bytes.size());
    if (count != bytes.size() || !error_.empty())
      return false;
    std::memcpy(&instruction, bytes.data(), bytes.size());
    if (instruction.is_branch > 1 || instruction.branch_taken > 1) {
      error_ =
          fmt::format("{}: record {} is no instruction of ChampSim (its flags of a branch are "
                      "{} and {}): is it a trace of another kind?",
                      input_.name(), records_, instruction.is_branch, instruction.branch_taken);
      return false;
    }
    ++records_;
    return true;
  }

  void add(const Instruction &instruction, bool dependent) {
    ++time_;
    if (const std::uint64_t block = instruction.ip / 64; block != fetched_) {
      fetched_ = block;
      ready_.push_back({time_, 0, {block, 0, RequestKind::fetch, false}});
    }
    bool first = true;
    const auto access = [&](std::uint64_t address, RequestKind kind) {
      if (address == 0)
        return;
      // The instructions between two accesses; of several accesses of one, all but the first have
      // none.
      ready_.push_back(
          {time_,
           0,
           {address / 64, first ? gap_ : 0, kind, kind == RequestKind::load && dependent}});
      first = false;
    };
    for (const std::uint64_t address : instruction.reads)
      access(address, RequestKind::load);
    for (const std::uint64_t address : instruction.writes)
      access(address, RequestKind::store);
    gap_ = first ? gap_ + 1 : 0;
  }

  Input input_;
  Instruction next_{};
  bool more_ = false;
  std::deque<TracedAccess> ready_;
  std::uint64_t records_ = 0;
  std::uint64_t time_ = 0; // instructions
  std::uint64_t fetched_ = ~std::uint64_t{0};
  std::uint32_t gap_ = 0;
};

} // namespace

std::unique_ptr<ForeignTrace> champsim(Input input) {
  return std::make_unique<ChampSimTrace>(std::move(input));
}

} // namespace tandem::machine::trace
