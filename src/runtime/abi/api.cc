// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// include/tandem/transaction.h: the library's own interface.
#include "runtime/abi/itm.h"
#include "runtime/abi/itm_export.h"
#include "runtime/actions/actions.h"
#include "runtime/algorithms/barriers.h"
#include "runtime/algorithms/norec.h"
#include "runtime/algorithms/orec.h"
#include "runtime/fatal.h"
#include "runtime/settings/settings.h"
#include "runtime/thread/thread.h"
#include "runtime/transaction/hardware.h"
#include "runtime/transaction/transaction.h"
#include "runtime/wait/wait.h"

#include <cstdlib>
#include <cstring>
#include <tandem/transaction.h>

using namespace tandem;

TANDEM_ITM std::uint32_t _ITM_beginTransaction(std::uint32_t, ...) __attribute__((returns_twice));
TANDEM_ITM void _ITM_commitTransaction();
TANDEM_ITM [[noreturn]] void _ITM_abortTransaction(std::uint32_t);
TANDEM_ITM void *_ITM_malloc(std::size_t);
TANDEM_ITM void _ITM_free(void *);

static_assert(static_cast<int>(contention::Policy::polite) == TANDEM_POLICY_POLITE);
static_assert(static_cast<int>(contention::Policy::karma) == TANDEM_POLICY_KARMA);
static_assert(static_cast<int>(contention::Policy::eruption) == TANDEM_POLICY_ERUPTION);
static_assert(static_cast<int>(contention::Policy::kindergarten) == TANDEM_POLICY_KINDERGARTEN);
static_assert(static_cast<int>(contention::Policy::timestamp) == TANDEM_POLICY_TIMESTAMP);
static_assert(static_cast<int>(contention::Policy::polka) == TANDEM_POLICY_POLKA);
static_assert(static_cast<int>(contention::Policy::size_matters) == TANDEM_POLICY_SIZE_MATTERS);
static_assert(static_cast<int>(contention::Policy::stall) == TANDEM_POLICY_STALL);
static_assert(static_cast<int>(contention::Backoff::none) == TANDEM_BACKOFF_NONE);
static_assert(static_cast<int>(contention::Backoff::linear) == TANDEM_BACKOFF_LINEAR);
static_assert(static_cast<int>(contention::Backoff::exponential) == TANDEM_BACKOFF_EXPONENTIAL);
static_assert(static_cast<int>(contention::Backoff::random) == TANDEM_BACKOFF_RANDOM);
static_assert(static_cast<int>(contention::Backoff::square) == TANDEM_BACKOFF_SQUARE);

namespace {

constexpr std::size_t kMostClosureBytes = 65536;

void check(const tandem_options &options, const char *call) noexcept {
  if (options.policy < TANDEM_POLICY_DEFAULT || options.policy > TANDEM_POLICY_STALL)
    fatal("%s: there is no policy %d", call, options.policy);
  if (options.backoff < TANDEM_BACKOFF_DEFAULT || options.backoff > TANDEM_BACKOFF_SQUARE)
    fatal("%s: there is no back-off %d", call, options.backoff);
}

void add_choices(Thread &thread, const tandem_options &options) noexcept {
  if (options.policy != TANDEM_POLICY_DEFAULT)
    thread.policy = static_cast<contention::Policy>(options.policy);
  if (options.backoff != TANDEM_BACKOFF_DEFAULT)
    thread.backoff = static_cast<contention::Backoff>(options.backoff);
  if (options.serialise_after != 0)
    thread.serialise_after = options.serialise_after;
}

// Of the thread's next transactions.
void choose(Thread &thread, const tandem_options *options) noexcept {
  thread.policy = settings.policy;
  thread.backoff = settings.backoff;
  thread.serialise_after = settings.serialise_after;
  add_choices(thread, thread.chosen);
  if (options != nullptr)
    add_choices(thread, *options);
}

// A transaction that had `options` has ended; transactions that gcc compiled have none.
void end_choices(const tandem_options *options) noexcept {
  Thread &thread = *current_thread;
  if (thread.depth != 0)
    return;
  thread.section = 0;
  if (options != nullptr)
    choose(thread, nullptr);
}

void add_action(void (*function)(void *), const void *argument, std::size_t bytes, bool on_commit,
                const char *call) noexcept {
  Thread &thread = transaction::expect_transaction(call);
  if (!on_commit)
    transaction::leave_hardware(thread); // whose abort would undo this too
  void *given = const_cast<void *>(argument);
  if (bytes > kMostClosureBytes)
    fatal("%s: a closure of %zu bytes; the most is %zu", call, bytes, kMostClosureBytes);
  if (bytes != 0) {
    given = std::malloc(bytes);
    if (given == nullptr)
      fatal("%s: no memory for a closure of %zu bytes", call, bytes);
    // Freed after the function has run, whichever way the transaction ends.
    actions::add(thread, AllocationAction{given, std::free, bytes, true});
    // Other memory may be shared, or what the transaction itself has written, and not yet in place.
    const auto address = reinterpret_cast<std::uintptr_t>(argument);
    if (address >= thread.stack_low && address < thread.stack_high)
      std::memcpy(given, argument, bytes);
    else
      thread.barriers->read_bytes(given, argument, bytes, &thread);
    actions::add(thread, AllocationAction{given, std::free, 0, false});
  }
  actions::add(thread, UserAction{function, given, on_commit});
  if (!on_commit)
    norec::join(thread); // who is serial, or forks, waits for what is to be undone
}

// Outside of transactions the thread's own are those of its last one.
const Barriers &barriers_of(const Thread *thread) noexcept {
  return thread == nullptr || thread->depth == 0 ? direct_barriers : *thread->barriers;
}

} // namespace

// The body's frames are below this one: what it does to its own variables needs no undoing.
TANDEM_ITM [[gnu::noinline]] tandem_outcome tandem_run_as(const void *section, void (*body)(void *),
                                                          void *argument,
                                                          const tandem_options *options) {
  Thread &thread = this_thread();
  if (thread.depth == 0) {
    if (options != nullptr) {
      check(*options, "tandem_run");
      choose(thread, options);
    }
    // As a return address would be: one past the place.
    thread.section = reinterpret_cast<std::uintptr_t>(section) + 1;
  }
  const bool irrevocable = options != nullptr && options->irrevocable != 0;
  const std::uint32_t properties =
      itm::kInstrumentedCode | (irrevocable ? itm::kDoesGoIrrevocable : 0);
  if ((_ITM_beginTransaction(properties) & itm::kAbort) != 0) {
    end_choices(options);
    return TANDEM_CANCELLED;
  }
  body(argument);
  _ITM_commitTransaction();
  end_choices(options);
  return TANDEM_COMMITTED;
}

TANDEM_ITM tandem_outcome tandem_run(void (*body)(void *), void *argument,
                                     const tandem_options *options) {
  return tandem_run_as(reinterpret_cast<const void *>(body), body, argument, options);
}

TANDEM_ITM tandem_options tandem_choose(const tandem_options *options) {
  Thread &thread = this_thread();
  if (thread.depth != 0)
    fatal("tandem_choose: inside a transaction, which goes on as it has begun");
  const tandem_options wanted =
      options != nullptr ? *options : tandem_options TANDEM_DEFAULT_OPTIONS;
  check(wanted, "tandem_choose");
  if (wanted.irrevocable != 0)
    fatal("tandem_choose: `irrevocable` is for one section, by tandem_run");
  const tandem_options before = thread.chosen;
  thread.chosen = wanted;
  choose(thread, nullptr);
  return before;
}

TANDEM_ITM tandem_state tandem_in_transaction() {
  const Thread *thread = current_thread;
  if (thread == nullptr || thread->depth == 0)
    return TANDEM_OUTSIDE;
  return thread->mode == Mode::direct ? TANDEM_IRREVOCABLE : TANDEM_REVOCABLE;
}

TANDEM_ITM [[noreturn]] void tandem_cancel() {
  transaction::cancel(transaction::expect_transaction("tandem_cancel"), false);
}
TANDEM_ITM [[noreturn]] void tandem_cancel_all() {
  transaction::cancel(transaction::expect_transaction("tandem_cancel_all"), true);
}
TANDEM_ITM [[noreturn]] void tandem_retry() {
  transaction::retry(transaction::expect_transaction("tandem_retry"), 0);
}
TANDEM_ITM void tandem_become_irrevocable() {
  transaction::become_irrevocable(transaction::expect_transaction("tandem_become_irrevocable"),
                                  profile::SerialCause::requested);
}

TANDEM_ITM void tandem_on_commit(void (*function)(void *), const void *argument,
                                 std::size_t bytes) {
  add_action(function, argument, bytes, true, "tandem_on_commit");
}
TANDEM_ITM void tandem_on_abort(void (*function)(void *), const void *argument, std::size_t bytes) {
  add_action(function, argument, bytes, false, "tandem_on_abort");
}

TANDEM_ITM void *tandem_malloc(std::size_t bytes) {
  return tandem_in_transaction() == TANDEM_OUTSIDE ? std::malloc(bytes) : _ITM_malloc(bytes);
}
TANDEM_ITM void tandem_free(void *memory) {
  if (tandem_in_transaction() == TANDEM_OUTSIDE)
    std::free(memory);
  else
    _ITM_free(memory);
}

// NOLINTBEGIN(bugprone-macro-parentheses): the arguments are parts of names
#define TANDEM_API_ACCESS(BITS, WIDTH)                                                             \
  TANDEM_ITM std::uint##BITS##_t tandem_read_u##BITS(const std::uint##BITS##_t *address) {         \
    Thread *thread = current_thread;                                                               \
    if (thread != nullptr && thread->mode == Mode::norec)                                          \
      return read_word<norec::Norec>(address, thread);                                             \
    return barriers_of(thread).WIDTH.read(address, thread);                                        \
  }                                                                                                \
  TANDEM_ITM void tandem_write_u##BITS(std::uint##BITS##_t *address, std::uint##BITS##_t value) {  \
    Thread *thread = current_thread;                                                               \
    if (thread != nullptr && thread->mode == Mode::norec)                                          \
      return write_word<norec::Norec>(address, value, thread);                                     \
    barriers_of(thread).WIDTH.write(address, value, thread);                                       \
  }
TANDEM_API_ACCESS(8, u1)
TANDEM_API_ACCESS(16, u2)
TANDEM_API_ACCESS(32, u4)
TANDEM_API_ACCESS(64, u8)
// NOLINTEND(bugprone-macro-parentheses)

TANDEM_ITM void tandem_read_bytes(void *to, const void *from, std::size_t bytes) {
  Thread *thread = current_thread;
  barriers_of(thread).read_bytes(to, from, bytes, thread);
}
TANDEM_ITM void tandem_write_bytes(void *to, const void *from, std::size_t bytes) {
  Thread *thread = current_thread;
  barriers_of(thread).write_bytes(to, from, bytes, thread);
}

TANDEM_ITM [[noreturn]] void tandem_wait(tandem_condition *condition) {
  Thread &thread = transaction::expect_transaction("tandem_wait");
  // Read, so that a signal since the transaction's snapshot is a change.
  tandem_read_u64(&condition->generation);
  const auto address = reinterpret_cast<std::uintptr_t>(&condition->generation);
  transaction::retry(thread, wait::bit_of(orec::stripe_of(address)));
}
TANDEM_ITM void tandem_signal(tandem_condition *condition) {
  transaction::expect_transaction("tandem_signal");
  tandem_write_u64(&condition->generation, tandem_read_u64(&condition->generation) + 1);
}

TANDEM_ITM void tandem_get_statistics(tandem_statistics *statistics) {
  *statistics = {};
  const std::size_t end = marks_end.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < end; ++i) {
    const Thread &thread = thread_of(i);
    statistics->attempts += thread.transactions.load() - thread.nested.load();
    statistics->restarts += thread.undone.load();
    statistics->cancels += thread.cancelled.load();
    statistics->serialisations += thread.serialised.load();
    statistics->retries += thread.retried.load();
  }
}
