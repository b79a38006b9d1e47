/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Tandem for C++17 and later: all of tandem.h, and lambdas that run atomically.
 *
 * !!! Without tandem-c++, tandem::atomic and tandem_atomic are not instrumented: they run one at a
 * !!! time, and beside no transaction, under what is one lock of the process. Transactions that run
 * !!! beside each other, with any compiler, are tandem::transaction (tandem/transaction.hpp), whose
 * !!! accesses to shared data are explicit.
 */
#pragma once

#include <tandem/tandem.h>

#if __cplusplus < 201703L
#error "tandem/tandem.hpp needs C++17; tandem/tandem.h is for older programs"
#endif

#include <utility>

#if !defined(TANDEM_SEQUENTIAL) && !defined(__TANDEM__)
#include <tandem/stock.hpp>
#endif

#if defined(TANDEM_SEQUENTIAL) || !defined(__TANDEM__)
#define TANDEM_LAMBDA_
#elif defined(__TANDEM_OPTIMISED__)
#define TANDEM_LAMBDA_ __attribute__((noinline, annotate("tandem.lambda.optimised")))
#else
#define TANDEM_LAMBDA_ __attribute__((noinline, annotate("tandem.lambda")))
#endif

namespace tandem {

// Runs `body` as one atomic section and returns what it returns:
//
//     const long rest = tandem::atomic([&] { return account.balance -= amount; });
//
// An exception that leaves it is passed on; the effects up to there hold. Without tandem-c++, link
// with -ltandem: then it runs serially (stock.hpp).
template <typename Body> TANDEM_LAMBDA_ decltype(auto) atomic(Body &&body) {
#if !defined(TANDEM_SEQUENTIAL) && !defined(__TANDEM__)
  const stock::Block block;
#endif
  return std::forward<Body>(body)();
}

} // namespace tandem

#undef TANDEM_LAMBDA_
