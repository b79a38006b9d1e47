// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/proxy/threads.h"

#include "base/check.h"

#include <algorithm>

namespace tandem::machine::proxy {

Threads::Threads(Harts &harts, std::uint64_t satp)
    : harts_(&harts), satp_(satp), current_(harts.size(), nullptr) {}

Thread *Threads::add(Thread thread) {
  if (threads_.size() >= kLimit)
    return nullptr;
  thread.id = next_id_++;
  thread.state = Thread::State::blocked;
  const int id = thread.id;
  Thread &made = *(threads_[id] = std::make_unique<Thread>(thread));
  wake(made);
  return &made;
}

Thread *Threads::find(int id) {
  const auto found = threads_.find(id);
  return found == threads_.end() ? nullptr : found->second.get();
}

void Threads::load_registers(Thread &thread) {
  if (thread.state != Thread::State::running)
    return;
  HartState &state = (*harts_)[thread.hart].state();
  state.x = thread.x;
  state.f = thread.f;
  state.pc = thread.pc;
  (*harts_)[thread.hart].moved();
  if (state.fflags == thread.fflags && state.frm == thread.frm)
    return;
  state.fflags = thread.fflags;
  state.frm = thread.frm;
  (*harts_)[thread.hart].changed();
}

void Threads::store_registers(Thread &thread) {
  if (thread.state != Thread::State::running)
    return;
  (*harts_)[thread.hart].leave_user(); // its transaction ends, and its registers are the begin's
  const HartState &state = (*harts_)[thread.hart].state();
  thread.x = state.x;
  thread.f = state.f;
  thread.pc = state.pc;
  thread.fflags = state.fflags;
  thread.frm = state.frm;
}

void Threads::put_on(Thread &thread, unsigned hart) {
  CHECK(current_[hart] == nullptr && thread.state != Thread::State::running);
  current_[hart] = &thread;
  thread.state = Thread::State::running;
  thread.hart = hart;
  HartState &state = (*harts_)[hart].state();
  thread.since = harts_->clock().now;
  state.activity = Activity::running;
  state.reservation = kNoReservation;
  constexpr std::uint64_t kStatus = status::kUxl | status::kSxl | status::kFs | status::kSpie;
  if (state.satp != satp_ || state.privilege != Privilege::user || state.status != kStatus) {
    state.privilege = Privilege::user;
    state.status = kStatus;
    state.scounteren = 7; // cycle, time and instret for programs, as Linux gives them
    state.satp = satp_;
    (*harts_)[hart].changed();
  }
  ++switches_;
  load_registers(thread);
  // The hart that runs may have been granted more than its turn while nobody else could run.
  if (Hart *running = harts_->running(); running != nullptr)
    running->end_burst();
}

void Threads::take_off(Thread &thread) {
  CHECK(thread.state == Thread::State::running);
  store_registers(thread);
  thread.ran = ran(thread);
  current_[thread.hart] = nullptr;
  (*harts_)[thread.hart].stop();
}

// Another hart than the one that asks may be ahead of it.
Cycle Threads::ran(const Thread &thread) const {
  const Cycle now = harts_->clock().now;
  const bool more = thread.state == Thread::State::running && now > thread.since;
  return thread.ran + (more ? now - thread.since : 0);
}

Cycle Threads::all_ran() const {
  Cycle sum = ended_ran_;
  for (const auto &[id, thread] : threads_)
    sum += ran(*thread);
  return sum;
}

// A hart that is free gets the first ready thread that may run there.
void Threads::fill(unsigned hart) {
  const auto next =
      std::ranges::find_if(ready_, [&](const Thread *thread) { return allowed(*thread, hart); });
  if (next == ready_.end())
    return;
  Thread &thread = **next;
  ready_.erase(next);
  put_on(thread, hart);
}

// Where it last ran if that is free, else the first free hart, else the queue.
void Threads::place(Thread &thread) {
  if (current_[thread.hart] == nullptr && allowed(thread, thread.hart)) {
    put_on(thread, thread.hart);
    return;
  }
  for (unsigned hart = 0; hart < current_.size(); ++hart) {
    if (current_[hart] == nullptr && allowed(thread, hart)) {
      put_on(thread, hart);
      return;
    }
  }
  thread.state = Thread::State::ready;
  if (ready_.empty())
    turn_ends_ = harts_->clock().now + kTurn;
  ready_.push_back(&thread);
  // The hart that runs may have been granted more than is left of its turn.
  if (Hart *running = harts_->running(); running != nullptr)
    running->end_burst();
}

void Threads::block(Thread &thread, WaitKind wait, Cycle deadline, bool restartable) {
  take_off(thread);
  thread.state = Thread::State::blocked;
  thread.wait = wait;
  thread.restartable = restartable;
  thread.deadline = deadline;
  if (deadline != kNever)
    deadlines_.emplace(deadline, thread.id);
  fill(thread.hart);
}

void Threads::wake(Thread &thread) {
  if (thread.state != Thread::State::blocked)
    return;
  thread.wait = WaitKind::none;
  deadlines_.erase({thread.deadline, thread.id});
  thread.deadline = kNever;
  place(thread);
}

void Threads::wake_changes() {
  for (auto &[id, thread] : threads_)
    if (thread->state == Thread::State::blocked && thread->wait == WaitKind::change)
      wake(*thread);
}

void Threads::yield(Thread &thread) {
  const unsigned hart = thread.hart;
  if (std::ranges::none_of(ready_, [&](const Thread *other) { return allowed(*other, hart); }))
    return;
  take_off(thread);
  thread.state = Thread::State::ready;
  ready_.push_back(&thread);
  fill(hart);
}

void Threads::remove(Thread &thread) {
  const unsigned hart = thread.hart;
  if (thread.state == Thread::State::running) {
    take_off(thread);
    fill(hart);
  }
  ended_ran_ += thread.ran;
  std::erase(ready_, &thread);
  threads_.erase(thread.id);
}

void Threads::apply_affinity(Thread &thread) {
  if (thread.state != Thread::State::running || allowed(thread, thread.hart))
    return;
  const unsigned hart = thread.hart;
  take_off(thread);
  thread.state = Thread::State::blocked;
  fill(hart);
  place(thread);
}

Cycle Threads::next() const {
  const Cycle turn = ready_.empty() ? kNever : turn_ends_;
  return deadlines_.empty() ? turn : std::min(turn, deadlines_.begin()->first);
}

void Threads::run(Cycle now, const std::function<void(Thread &)> &expired) {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    Thread &thread = *find(deadlines_.begin()->second);
    expired(thread);
    wake(thread);
  }
  if (ready_.empty() || turn_ends_ > now)
    return;
  turn_ends_ = now + kTurn;
  for (Thread *thread : std::vector<Thread *>(current_))
    if (thread != nullptr)
      yield(*thread);
}

} // namespace tandem::machine::proxy
