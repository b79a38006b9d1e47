// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// library.h for C++17: plain functions on copies of their arguments, by type.
//
//     double mean = tandem::marshal([](const double *values, int *calls) { ... return sum / 100; },
//                                   tandem::in(values, 100), tandem::in_out(calls));
#pragma once

#include <tandem/library.h>

#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace tandem {

// `count` objects at `memory`, for marshal(). T is const where they are only read.
template <class T> struct argument {
  static_assert(std::is_trivially_copyable_v<T>, "the objects are copied as bytes");
  static_assert(alignof(T) <= alignof(std::max_align_t), "a copy is aligned as malloc aligns");
  T *memory;
  std::size_t count;
  int direction;
  [[nodiscard]] tandem_argument plain() const noexcept {
    return {const_cast<std::remove_const_t<T> *>(memory), count * sizeof(T), direction};
  }
};
template <class T> argument<const T> in(const T *memory, std::size_t count) noexcept {
  return {memory, count, TANDEM_IN};
}
template <class T> argument<T> out(T *memory, std::size_t count) noexcept {
  return {memory, count, TANDEM_OUT};
}
template <class T> argument<T> in_out(T *memory, std::size_t count) noexcept {
  return {memory, count, TANDEM_IN_OUT};
}
template <class T> argument<const T> in(const T &object) noexcept {
  return {&object, 1, TANDEM_IN};
}
template <class T> argument<T> out(T &object) noexcept { return {&object, 1, TANDEM_OUT}; }
template <class T> argument<T> in_out(T &object) noexcept { return {&object, 1, TANDEM_IN_OUT}; }

namespace detail {

struct NoResult {};

// What tandem_marshal calls: memory is the function, its result, then the arguments.
template <class Function, class Result, class... T> struct Marshalled {
  template <std::size_t... I>
  static void call(void *const *memory, std::index_sequence<I...>) noexcept {
    auto &function = *static_cast<Function *>(memory[0]);
    if constexpr (std::is_same_v<Result, NoResult>)
      function(static_cast<T *>(memory[I + 2])...);
    else
      ::new (memory[1]) Result(function(static_cast<T *>(memory[I + 2])...));
  }
  static void run(void *const *memory) noexcept { call(memory, std::index_sequence_for<T...>()); }
};

} // namespace detail

// function(pointers to copies) as tandem_marshal calls it; returns what the function returns. A
// closure is copied too: it captures values and nothing by reference. An exception that leaves the
// function ends the process.
template <class Function, class... T> auto marshal(Function function, argument<T>... arguments) {
  using Returned = std::invoke_result_t<Function &, T *...>;
  constexpr bool kReturns = !std::is_void_v<Returned>;
  using Result = std::conditional_t<kReturns, std::remove_cv_t<Returned>, detail::NoResult>;
  static_assert(!std::is_reference_v<Returned>, "the result must not refer to a copy");
  static_assert(std::is_trivially_copyable_v<Function>, "the closure is copied as bytes");
  static_assert(std::is_trivially_copyable_v<Result>, "the result is copied as bytes");
  static_assert(alignof(Function) <= alignof(std::max_align_t) &&
                    alignof(Result) <= alignof(std::max_align_t),
                "a copy is aligned as malloc aligns");
  static_assert(sizeof...(T) + 2 <= TANDEM_MOST_ARGUMENTS, "too many arguments");
  alignas(Result) unsigned char result[sizeof(Result)];
  const tandem_argument all[] = {{&function, sizeof function, TANDEM_IN},
                                 {result, kReturns ? sizeof result : 0, TANDEM_OUT},
                                 arguments.plain()...};
  tandem_marshal(detail::Marshalled<Function, Result, T...>::run, all, sizeof...(T) + 2);
  if constexpr (kReturns)
    return *std::launder(reinterpret_cast<Result *>(result));
}

} // namespace tandem
