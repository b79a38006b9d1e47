// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A hart and its transactions: when it asks before an access, what an abort restores, what traps
// suspend. docs/machine/metatm.md
#include "machine/hart/core.h"
#include "machine/htm/transactional_memory.h"

#include <algorithm>
#include <utility>

namespace tandem::machine {

// Without time, a hart that runs while others have marks asks for every access. With time the
// filters of its lines keep it from what they have marked.
void HartCore::update_asking() {
  asks = inside || htm->recording() || (timing.lines == nullptr && htm->others_marked(id));
  data_context = asks || timing.buffer.on() ? tlb_context | context::kNever : tlb_context;
}

bool HartCore::ask(std::uint64_t physical, unsigned size, AccessMode mode) {
  switch (htm->access(id, physical, size, mode)) {
  case Verdict::done:
    return true;
  case Verdict::waits:
    wait_until = htm->retry_at();
    unwound = Unwound::waits;
    return false;
  case Verdict::rolled_back:
    return false;
  }
  return false;
}

// Marks bytes of a line that is in the filters, if that may be done ahead of the other harts.
bool HartCore::claim(std::uint64_t physical, unsigned size, AccessMode mode, Want kind) {
  const std::uint64_t line = physical >> kLineShift;
  if (!timing.hits(id, line, kind))
    return false;
  const Marks::Entry *marks = htm->mark_ahead(id, physical, size, mode);
  if (marks == nullptr)
    return false;
  claimed[line % claimed.size()] = {line, claims, marks->read | marks->write, marks->write};
  return true;
}

// With timing: in a transaction what hits the L1 and meets no marks of others is done at once, and
// leaves its own; all else when it is granted.
bool HartCore::ask_granted(std::uint64_t physical, unsigned size, AccessMode mode, Want kind) {
  const std::uint64_t line = physical >> kLineShift;
  const bool granted = timing.granted == kind && timing.granted_line == line;
  if (inside && !granted && !claim(physical, size, mode, kind)) {
    timing.want = kind;
    timing.wanted = line;
    return false;
  }
  if (!timing.may(id, line, kind))
    return false;
  if (granted && htm->wants_asking() && !ask(physical, size, mode)) {
    timing.used = false;
    return false;
  }
  return true;
}

bool HartCore::transaction_step(bool ahead) {
  if (timing.lines == nullptr || timing.granted == Want::transaction)
    return true;
  if (!timing.drained())
    return false;
  if (ahead)
    return true;
  timing.want = Want::transaction;
  return false;
}

// What a transaction may not do: it is over, and its xbegin says why. Or, on the paper's machine,
// the instruction is illegal.
bool HartCore::refuse(AbortCause cause) {
  if (!transaction_step())
    return false;
  if ((state.stxctl & stxctl::kRefusalsTrap) != 0) {
    constexpr const char *kRules[] = {"an access to a device inside a transaction",
                                      "ecall or wfi inside a transaction",
                                      "a write of a control register inside a transaction"};
    rule = kRules[unsigned(cause) - unsigned(AbortCause::io)];
    trap = {Exception::illegal_instruction, word_at(slots + (state.pc & ~kPageMask) / 2)};
    tell_broken_rule();
    return false;
  }
  htm->abort(id, cause);
  return false;
}

bool HartCore::begins_ahead() const { return htm->begins_ahead() || alone(); }

bool HartCore::ends_ahead() const { return depth() > 1 || alone(); }

bool HartCore::alone() const {
  return timing.lines != nullptr && clock->now < timing.lines->alone_until(id);
}

std::uint64_t HartCore::begin_transaction(unsigned rd, std::uint64_t place) {
  fold_flags();
  state.reservation = kNoReservation;
  const BeganIn where = trapped_from.empty() ? BeganIn::elsewhere : trapped_from.back();
  const std::uint64_t answer = htm->begin(id, state, rd, place, where);
  inside = htm->depth(id) > 0;
  ++claims;
  update_asking();
  return answer;
}

bool HartCore::end_transaction() {
  if (!htm->end(id))
    return false;
  inside = false;
  state.reservation = kNoReservation;
  update_asking();
  if (const Cycle cost = htm->options().commit_cycles; cost > 0) {
    wait_until = clock->now + 1 + cost;
    end_burst();
  }
  return true;
}

bool HartCore::has_transaction() const { return htm->current(id) != nullptr; }

unsigned HartCore::depth() const { return htm->depth(id); }

void HartCore::abort_transaction(std::uint64_t code) {
  htm->abort(id, AbortCause::software, code >= kFirstOwnCode ? code : 0);
}

void HartCore::drop_transaction(std::uint64_t handle) { htm->drop(handle); }

bool HartCore::may_resume(std::uint64_t handle) const {
  return htm->resumable(handle, state.privilege == Privilege::user);
}

std::uint64_t HartCore::suspend_transaction(bool by_trap) {
  const std::uint64_t handle = htm->suspend(id, by_trap);
  if (!inside) // it waited for its next attempt, and does so when it is resumed
    wait_until = 0;
  inside = false;
  update_asking();
  return handle;
}

bool HartCore::resume_transaction(std::uint64_t handle) {
  state.reservation = kNoReservation;
  htm->resume(id, handle);
  inside = htm->depth(id) > 0;
  ++claims;
  update_asking();
  return inside;
}

void HartCore::roll_back(const RegisterCheckpoint &to, std::uint64_t pc, Cycle until) {
  fold_flags();
  if (htm->mistake() != TransactionalMemory::Mistake::keep_registers) {
    state.x = to.x;
    state.f = to.f;
  }
  state.fflags = to.fflags;
  state.frm = to.frm;
  state.privilege = to.privilege;
  if (htm->mistake() != TransactionalMemory::Mistake::keep_status)
    state.status = (state.status & ~kCheckpointStatus) | to.status;
  state.pc = pc;
  state.reservation = kNoReservation;
  wait_until = in_burst && until > clock->now ? until + 1 : until; // behind its own cycle
  inside = false;
  timing.first_part = kNoLine;
  update_asking();
  update_contexts();
  update_float();
  if (in_burst)
    unwound = Unwound::rolled_back;
}

// What a trap does to the transaction that it interrupts. `stxh` and `stxsp` tell the handler.
void HartCore::leave_for_trap(bool to_machine, std::uint64_t cause) {
  std::uint64_t handle = 0;
  std::uint64_t guard = state.x[2];
  if (htm->any_live()) [[unlikely]] {
    if (state.privilege == Privilege::user && cause != unsigned(Exception::ecall_user))
      htm->abort_user(id);
    unwound = Unwound::no;
    guard = state.x[2];
    if (const HardwareTransaction *own = htm->current(id); own != nullptr) {
      handle = own->handle;
      const std::uint64_t begun = own->checkpoint.x[2];
      if (own->checkpoint.privilege != Privilege::user && begun < guard) {
        guard = begun;
        htm->count_live_stack();
      }
      suspend_transaction(true);
    }
  }
  if (to_machine)
    return;
  state.stxh = handle;
  state.stxsp = guard;
  const bool from_user = state.privilege == Privilege::user;
  BeganIn where = from_user || trapped_from.empty() ? BeganIn::elsewhere : trapped_from.back();
  if ((cause & kInterruptBit) != 0)
    where = BeganIn::interrupt;
  else if (cause == unsigned(Exception::ecall_user))
    where = BeganIn::system_call;
  if (from_user)
    trapped_from.clear();
  trapped_from.push_back(where);
}

// Decoded code says what writes the stack pointer once a hart asks for early release.
void HartCore::update_release() {
  if ((state.stxctl & stxctl::kEarlyRelease) != 0)
    code->watch_stack_pointer();
}

// Lines wholly below a risen stack pointer leave the sets, but never what lay above it at the
// begin: a restart needs that as it was. A larger step is a change of stacks.
void HartCore::release_stack() {
  watches_stack = false;
  ++claims;
  constexpr std::uint64_t kLargestStep = 16 << 10; // bytes
  const std::uint64_t now = state.x[2];
  if (!releases() || now <= stack_before || now - stack_before > kLargestStep)
    return;
  const std::uint64_t begun = htm->current(id)->checkpoint.x[2];
  const bool above = htm->mistake() == TransactionalMemory::Mistake::release_above;
  const std::uint64_t end = (above ? now : std::min(now, begun)) & ~(kLineBytes - 1);
  for (std::uint64_t at = (stack_before + kLineBytes - 1) & ~(kLineBytes - 1); at < end;
       at += kLineBytes)
    if (const auto place = self->translate(at); place && memory->contains(*place))
      htm->release(id, *place, kLineBytes);
}

std::uint64_t HartCore::transaction_status() const {
  const HardwareTransaction *own = htm->current(id);
  if (own == nullptr)
    return 0;
  const bool waits = own->state == HardwareTransaction::State::waiting;
  return (own->depth & 0xffU) | (own->answer & 0xff) << 8 | (waits ? 1U << 16 : 0U) |
         std::uint64_t{own->restarts} << 32;
}

} // namespace tandem::machine
