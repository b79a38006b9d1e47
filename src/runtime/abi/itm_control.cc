// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Begin, commit, cancel and questions: the calls of the ABI that are not accesses.
#include "runtime/abi/itm.h"
#include "runtime/abi/itm_export.h"
#include "runtime/actions/actions.h"
#include "runtime/algorithms/norec.h"
#include "runtime/fatal.h"
#include "runtime/linkage/objects.h"
#include "runtime/memory/cell.h"
#include "runtime/settings/settings.h"
#include "runtime/thread/thread.h"
#include "runtime/transaction/describe.h"
#include "runtime/transaction/guarded.h"
#include "runtime/transaction/hardware.h"
#include "runtime/transaction/jump.h"
#include "runtime/transaction/transaction.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <pthread.h>
#include <tandem/abi.h>

using namespace tandem;

// Whether sections that are one instruction have to be counted.
extern "C" __attribute__((visibility("default"))) std::uint8_t _TANDEM_profiled;
std::uint8_t _TANDEM_profiled = 0;

namespace {

[[gnu::constructor]] void prepare_process() {
  read_settings();
  prepare_threads();
  transaction::describe_in_fatal_lines();
  memory::run_without_logs = transaction::run_without_logs;
  profile::prepare_process();
  _TANDEM_profiled = (settings.special & kSpecialProfile) != 0 ? 1 : 0;
  guarded::attach();
  hardware::adopt_settings();
  linkage::Objects loaded;
  transaction::prepare_for_first(loaded);
  if (const int error = pthread_atfork(transaction::prepare_fork, transaction::after_fork_in_parent,
                                       transaction::after_fork_in_child);
      error != 0)
    fatal("the runtime cannot start: %s", std::strerror(error));
}

} // namespace

// Returns twice, so it must save the registers before any compiled code changes them. An outermost
// transaction's go straight to the Thread, and the rest of begin returns to the caller by itself; a
// nested one's, and a thread's very first one's, go to the stack and from there to their place.
// Both begins are this, with other registers: the second argument stays in %rsi where there is one.
#if defined(__riscv)
#define TANDEM_BEGIN(THREAD, OUTERMOST, BUFFER, NESTED)                                            \
  __asm__("la.tls.ie t0, _TANDEM_thread_4\n\t"                                                     \
          "add t0, t0, tp\n\t"                                                                     \
          "ld t1, 0(t0)\n\t"                                                                       \
          "beqz t1, 1f\n\t"                                                                        \
          "lw t2, %c[depth](t1)\n\t"                                                               \
          "bnez t2, 1f\n\t"                                                                        \
          "addi t2, t1, %c[jump]\n\t"                                                              \
          "sd sp, %c[stack](t2)\n\t" TANDEM_EACH_SAVED(                                            \
              "sd", "fsd", "%c[saved]", "%c[floating]",                                            \
              "t2") "sd ra, %c[target](t2)\n\t"                                                    \
                    "mv " THREAD ", t1\n\t"                                                        \
                    "tail " OUTERMOST "\n"                                                         \
                    "1:\n\t" /* Keeps the stack aligned to 16 bytes at the call. */                \
                    "mv t1, sp\n\t"                                                                \
                    "addi sp, sp, -%c[room]\n\t"                                                   \
                    ".cfi_adjust_cfa_offset %c[room]\n\t"                                          \
                    "sd t1, %c[stack](sp)\n\t" TANDEM_EACH_SAVED(                                  \
                        "sd", "fsd", "%c[saved]", "%c[floating]",                                  \
                        "sp") "sd ra, %c[target](sp)\n\t"                                          \
                              "mv " BUFFER ", sp\n\t"                                              \
                              ".cfi_offset ra, %c[target]-%c[room]\n\t"                            \
                              "call " NESTED "\n\t"                                                \
                              "ld ra, %c[target](sp)\n\t"                                          \
                              "addi sp, sp, %c[room]\n\t"                                          \
                              ".cfi_adjust_cfa_offset -%c[room]\n\t"                               \
                              "ret"                                                                \
          :                                                                                        \
          : [depth] "i"(offsetof(Thread, depth)), [jump] "i"(offsetof(Thread, jump)),              \
            [stack] "i"(offsetof(JumpBuffer, stack)), [saved] "i"(offsetof(JumpBuffer, saved)),    \
            [floating] "i"(offsetof(JumpBuffer, floating)),                                        \
            [target] "i"(offsetof(JumpBuffer, target)),                                            \
            [room] "i"((sizeof(JumpBuffer) + 15) / 16 * 16))
#define TANDEM_REGISTER(X86, RISCV) RISCV
#else
#define TANDEM_BEGIN(THREAD, OUTERMOST, BUFFER, NESTED)                                            \
  __asm__("movq _TANDEM_thread_4@gottpoff(%%rip), %%rax\n\t"                                       \
          "movq %%fs:(%%rax), %%" THREAD "\n\t"                                                    \
          "leaq 8(%%rsp), %%r9\n\t"                                                                \
          "movq (%%rsp), %%r8\n\t"                                                                 \
          "testq %%" THREAD ", %%" THREAD "\n\t"                                                   \
          "je 1f\n\t"                                                                              \
          "cmpl $0, %c[depth](%%" THREAD ")\n\t"                                                   \
          "jne 1f\n\t"                                                                             \
          "movq %%r9, %c[jump]+%c[stack](%%" THREAD ")\n\t"                                        \
          "movq %%rbx, %c[jump]+%c[rbx](%%" THREAD ")\n\t"                                         \
          "movq %%rbp, %c[jump]+%c[rbp](%%" THREAD ")\n\t"                                         \
          "movq %%r12, %c[jump]+%c[r12](%%" THREAD ")\n\t"                                         \
          "movq %%r13, %c[jump]+%c[r13](%%" THREAD ")\n\t"                                         \
          "movq %%r14, %c[jump]+%c[r14](%%" THREAD ")\n\t"                                         \
          "movq %%r15, %c[jump]+%c[r15](%%" THREAD ")\n\t"                                         \
          "movq %%r8, %c[jump]+%c[target](%%" THREAD ")\n\t"                                       \
          "jmp " OUTERMOST "\n"                                                                    \
          "1:\n\t" /* Keeps the stack aligned to 16 bytes at the call. */                          \
          "subq %[room], %%rsp\n\t"                                                                \
          ".cfi_adjust_cfa_offset %c[room]\n\t"                                                    \
          "movq %%r9, %c[stack](%%rsp)\n\t"                                                        \
          "movq %%rbx, %c[rbx](%%rsp)\n\t"                                                         \
          "movq %%rbp, %c[rbp](%%rsp)\n\t"                                                         \
          "movq %%r12, %c[r12](%%rsp)\n\t"                                                         \
          "movq %%r13, %c[r13](%%rsp)\n\t"                                                         \
          "movq %%r14, %c[r14](%%rsp)\n\t"                                                         \
          "movq %%r15, %c[r15](%%rsp)\n\t"                                                         \
          "movq %%r8, %c[target](%%rsp)\n\t"                                                       \
          "movq %%rsp, %%" BUFFER "\n\t"                                                           \
          "call " NESTED "\n\t"                                                                    \
          "addq %[room], %%rsp\n\t"                                                                \
          ".cfi_adjust_cfa_offset -%c[room]\n\t"                                                   \
          "ret"                                                                                    \
          :                                                                                        \
          : [depth] "i"(offsetof(Thread, depth)), [jump] "i"(offsetof(Thread, jump)),              \
            [stack] "i"(offsetof(JumpBuffer, stack)), [rbx] "i"(offsetof(JumpBuffer, rbx)),        \
            [rbp] "i"(offsetof(JumpBuffer, rbp)), [r12] "i"(offsetof(JumpBuffer, r12)),            \
            [r13] "i"(offsetof(JumpBuffer, r13)), [r14] "i"(offsetof(JumpBuffer, r14)),            \
            [r15] "i"(offsetof(JumpBuffer, r15)), [target] "i"(offsetof(JumpBuffer, target)),      \
            [room] "i"(sizeof(JumpBuffer) + 8))
#define TANDEM_REGISTER(X86, RISCV) X86
#endif

// `status`: as tandem_begin_outermost has it.
extern "C" [[gnu::naked, gnu::used]] std::uint32_t
tandem_begin_by_registers(std::uint32_t, std::uintptr_t, std::uint32_t /*status*/) {
  TANDEM_BEGIN(TANDEM_REGISTER("rsi", "a1"), "tandem_begin_outermost", TANDEM_REGISTER("rsi", "a1"),
               "tandem_begin");
}

extern "C" [[gnu::naked, gnu::used]] std::uint32_t
tandem_begin_section_by_registers(std::uint32_t, const tandem_section *, std::uintptr_t,
                                  std::uint32_t /*status*/) {
  TANDEM_BEGIN(TANDEM_REGISTER("rdx", "a2"), "tandem_begin_section", TANDEM_REGISTER("rdx", "a2"),
               "tandem_begin_section_nested");
}

// The processor saves the registers of a transaction that it runs. Where it does not, or no longer,
// they are as they were when the jump below is made; the arguments beyond what the callers know are
// there to have the same registers. Not instrumented by sanitizers, whose calls would be inside.
#define TANDEM_QUICK [[clang::no_sanitize("thread", "address", "undefined")]]

// The ways of those that find the thread otherwise than its last such transaction left it.
extern "C" [[gnu::noinline]] TANDEM_QUICK std::uint32_t
begin_unprepared(std::uint32_t properties, std::uintptr_t, std::uint32_t) {
  std::uint32_t status = hardware::kStarted;
  Thread *thread = current_thread;
  std::uint8_t slot = kNoSlot;
  const auto place = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  if (thread != nullptr && transaction::prepare_quickly(*thread, properties, place, slot))
    if (const std::uint32_t actions =
            transaction::begin_quickly(*thread, properties, place, slot, status);
        actions != 0)
      return actions;
  [[clang::musttail]] return tandem_begin_by_registers(properties, 0, status);
}

extern "C" [[gnu::noinline]] TANDEM_QUICK std::uint32_t
begin_section_unprepared(std::uint32_t properties, const tandem_section *section, std::uintptr_t,
                         std::uint32_t) {
  std::uint32_t status = hardware::kStarted;
  Thread *thread = current_thread;
  std::uint8_t slot = kDescribedSlot;
  if (thread != nullptr && section->section_class == TANDEM_CLASS_PURE &&
      section->abi_version == TANDEM_ABI_VERSION &&
      transaction::prepare_quickly(*thread, properties, reinterpret_cast<std::uintptr_t>(section),
                                   slot)) {
    thread->descriptor = section;
    if (const std::uint32_t actions = transaction::begin_quickly(
            *thread, properties, reinterpret_cast<std::uintptr_t>(section), slot, status);
        actions != 0)
      return actions;
  }
  [[clang::musttail]] return tandem_begin_section_by_registers(properties, section, 0, status);
}

TANDEM_ITM TANDEM_QUICK std::uint32_t
begin_transaction(std::uint32_t properties, std::uintptr_t,
                  std::uint32_t) __asm__("_ITM_beginTransaction");
std::uint32_t begin_transaction(std::uint32_t properties, std::uintptr_t, std::uint32_t) {
  std::uint32_t status = hardware::kStarted;
  if (*hardware::not_now.load(std::memory_order_relaxed) == 0) [[unlikely]] {
    Thread *thread = current_thread;
    if (!transaction::begins_quickly(thread, properties)) [[unlikely]]
      [[clang::musttail]] return begin_unprepared(properties, 0, status);
    if (const std::uint32_t actions = transaction::begin_quickly(
            *thread, properties, reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)),
            kNoSlot, status);
        actions != 0)
      return actions;
  }
  [[clang::musttail]] return tandem_begin_by_registers(properties, 0, status);
}

TANDEM_ITM TANDEM_QUICK std::uint32_t begin_section(std::uint32_t properties,
                                                    const tandem_section *section, std::uintptr_t,
                                                    std::uint32_t) __asm__("_TANDEM_begin");
std::uint32_t begin_section(std::uint32_t properties, const tandem_section *section, std::uintptr_t,
                            std::uint32_t) {
  std::uint32_t status = hardware::kStarted;
  if (*hardware::not_now.load(std::memory_order_relaxed) == 0) [[unlikely]] {
    Thread *thread = current_thread;
    if (!transaction::begins_quickly(thread, properties) ||
        section->section_class != TANDEM_CLASS_PURE || section->abi_version != TANDEM_ABI_VERSION)
        [[unlikely]]
      [[clang::musttail]] return begin_section_unprepared(properties, section, 0, status);
    thread->descriptor = section;
    if (const std::uint32_t actions = transaction::begin_quickly(
            *thread, properties, reinterpret_cast<std::uintptr_t>(section), kDescribedSlot, status);
        actions != 0)
      return actions;
  }
  [[clang::musttail]] return tandem_begin_section_by_registers(properties, section, 0, status);
}

// A section that tandem-cc made one instruction: called where _TANDEM_profiled is set.
TANDEM_ITM void _TANDEM_count(const tandem_section *section) {
  Thread &thread = this_thread();
  // Inside of a transaction it is a part of that one's execution.
  if (thread.depth == 0 ? has_counters(thread) && profile::is_measured_next(thread, *section)
                        : is_profiled(thread))
    profile::count_single(thread, *section);
}

TANDEM_ITM void _ITM_commitTransaction() {
  if (hardware::quick.load(std::memory_order_relaxed) && transaction::commit_hardware_quickly())
      [[unlikely]]
    return;
  Thread *thread = current_thread;
  if (thread == nullptr || thread->depth == 0) [[unlikely]]
    fatal("a transaction is committed by a thread that is in none");
  transaction::commit(*thread);
}

// The transaction ends because an exception leaves it. Where it restarts instead, the exception is
// undone as any that is under way.
TANDEM_ITM void _ITM_commitTransactionEH(void *) {
  transaction::commit(transaction::expect_transaction("_ITM_commitTransactionEH"));
}

TANDEM_ITM [[noreturn]] void _ITM_abortTransaction(std::uint32_t reason) {
  Thread &thread = transaction::expect_transaction("_ITM_abortTransaction");
  if ((reason & itm::kUserAbort) == 0)
    fatal("_ITM_abortTransaction: the reason %#x is none that a program may give", reason);
  transaction::cancel(thread, (reason & itm::kOuterAbort) != 0);
}

// The only state that the ABI has is serial and irrevocable.
TANDEM_ITM void _ITM_changeTransactionMode(std::uint32_t) {
  transaction::become_irrevocable(transaction::expect_transaction("_ITM_changeTransactionMode"),
                                  profile::SerialCause::requested);
}

TANDEM_ITM std::uint32_t _ITM_inTransaction() {
  const Thread *thread = current_thread;
  if (thread == nullptr || thread->depth == 0)
    return itm::kOutside;
  return thread->mode == Mode::direct ? itm::kIrrevocable : itm::kRetryable;
}

TANDEM_ITM std::uint64_t _ITM_getTransactionId() {
  const Thread *thread = current_thread;
  if (thread == nullptr || thread->depth == 0)
    return itm::kNoTransaction;
  return transaction::identity(*thread);
}

TANDEM_ITM void _ITM_addUserCommitAction(void (*function)(void *), std::uint64_t resuming,
                                         void *argument) {
  Thread &thread = transaction::expect_transaction("_ITM_addUserCommitAction");
  if (resuming != itm::kNoTransaction)
    fatal("_ITM_addUserCommitAction: resuming a transaction is not supported");
  actions::add(thread, UserAction{function, argument, true});
}

TANDEM_ITM void _ITM_addUserUndoAction(void (*function)(void *), void *argument) {
  Thread &thread = transaction::expect_transaction("_ITM_addUserUndoAction");
  transaction::leave_hardware(thread); // whose abort would undo this too
  actions::add(thread, UserAction{function, argument, false});
  norec::join(thread); // who is serial, or forks, waits for what is to be undone
}

// Consistency for memory that the program no longer cares about costs aborts, not correctness.
TANDEM_ITM void _ITM_dropReferences(void *, std::size_t) {}

TANDEM_ITM int _ITM_versionCompatible(int version) { return version == itm::kVersion ? 1 : 0; }

TANDEM_ITM const char *_ITM_libraryVersion() { return "Tandem's libitm, ABI 0.90"; }

struct _ITM_srcLocation {
  std::uint32_t reserved_1;
  std::uint32_t flags;
  std::uint32_t reserved_2;
  std::uint32_t reserved_3;
  const char *source;
};

TANDEM_ITM [[noreturn]] void _ITM_error(const _ITM_srcLocation *where, int code) {
  fatal("error %d of transactional memory at %s", code,
        where != nullptr && where->source != nullptr ? where->source : "an unknown place");
}
