// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A process before its first transaction, and around fork.
#include "runtime/algorithms/automatic.h"
#include "runtime/library/hooks.h"
#include "runtime/linkage/calls.h"
#include "runtime/linkage/objects.h"
#include "runtime/transaction/steps.h"
#include "runtime/wait/wait.h"

namespace tandem::transaction {

namespace {
bool looks_up_calls = false; // hardware transactions cannot

__thread bool acquired_for_fork __attribute__((tls_model("initial-exec"))) = false;

// A thread without a mark takes the clock or locks before it finds that another one is serial
// (transaction/short.h, algorithms/norec.h). In the child it will never give them back.
void forget_what_others_tried() noexcept {
  const Thread *thread = current_thread;
  const Mode mode = thread != nullptr && thread->depth != 0 ? thread->mode : Mode::idle;
  std::atomic<std::uint64_t> &now = sync::global_clock.now;
  const std::uint64_t time = now.load(std::memory_order_relaxed);
  if ((time & 1) != 0 && !(mode == Mode::norec && norec::owns_clock(*thread)))
    now.store(time + 1, std::memory_order_relaxed);
  // The table is of locks, or empty, unless it has versions.
  const Algorithm algorithm = settings.algorithm;
  if (algorithm != Algorithm::eager && algorithm != Algorithm::lazy && mode != Mode::two_phase)
    two_phase::forget_all_locks();
}
} // namespace

void prepare_for_first(linkage::Objects &loaded) noexcept {
  loaded.keep_started();
  library::expect_waits(loaded);
  // In a name space of its own (dlmopen), say: these are the libraries that it has.
  if (linkage::started().empty())
    library::find_wrapped(loaded.all());
  looks_up_calls = settings.hardware &&
                   ((settings.special & kSpecialAdapt) != 0 || hardware::in_use()) &&
                   !linkage::decides_alone();
}

void prepare_first() noexcept {
  if (looks_up_calls)
    linkage::look_up_calls(linkage::started());
  library::expect_waits_of_started();
}

void prepare_fork() noexcept {
  if (current_thread != nullptr && current_thread->depth != 0) {
    leave_hardware(*current_thread);
    // One that is serial is what this waits for already.
    if (current_thread->coloured && !current_thread->serial_too) {
      serial::acquire(current_thread);
      acquired_for_fork = true;
    }
    _TANDEM_colours_before_fork();
    return;
  }
  // The word is not waited for while colours are held (irrevocable/colours.h).
  for (_TANDEM_colours_before_fork(); !serial::try_word(); _TANDEM_colours_before_fork()) {
    _TANDEM_colours_after_fork();
    serial::wait_until_free();
  }
  serial::wait_for_all(current_thread);
  acquired_for_fork = true;
}

void after_fork_in_parent() noexcept {
  if (acquired_for_fork)
    serial::release();
  acquired_for_fork = false;
  _TANDEM_colours_after_fork();
}

void after_fork_in_child() noexcept {
  forget_other_threads();
  hourglass::forget_other_threads();
  hardware::forget_other_threads();
  guarded_by::forget_other_threads();
  wait::forget_other_threads();
  forget_what_others_tried();
  profile::after_fork_in_child();
  automatic::forget_other_threads();
  // Whoever slept on the word is not in this process.
  const bool inside_serial = current_thread != nullptr && current_thread->depth != 0 &&
                             is_serial(*current_thread) &&
                             (!current_thread->coloured || current_thread->serial_too);
  serial::word.value.store(inside_serial ? serial::kHeld : serial::kFree,
                           std::memory_order_relaxed);
  acquired_for_fork = false;
}

} // namespace tandem::transaction
