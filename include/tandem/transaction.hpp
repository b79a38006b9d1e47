// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// transaction.h for C++17: lambdas, and variables whose accesses are transactional.
//
//     tandem::shared<long> balance;
//     long rest = tandem::transaction([&] { return balance -= 10; });
//
// !!! As transaction.h says: without tandem-c++ only tandem::shared (and tandem_read_*, ...) is
// !!! transactional in such a lambda. Plain writes to what it captures are not undone.
#pragma once

#include <tandem/transaction.h>

#include <cstdint>
#include <cstring>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace tandem {

namespace detail {

template <class Body, class Result> struct Call {
  Body &body;
  std::optional<Result> result = std::nullopt;
  static void run(void *self) noexcept {
    auto &call = *static_cast<Call *>(self);
    call.result.emplace(call.body());
  }
};
template <class Body> struct Call<Body, void> {
  Body &body;
  static void run(void *self) noexcept { static_cast<Call *>(self)->body(); }
};

// Exceptions do not cross the C library: they are carried around it.
template <class Body> struct Guarded {
  Body &body;
  std::exception_ptr thrown = nullptr;
  auto operator()() -> decltype(body()) {
    thrown = nullptr;
    if constexpr (std::is_void_v<decltype(body())>) {
      try {
        body();
      } catch (...) {
        thrown = std::current_exception();
      }
    } else {
      return body();
    }
  }
};

// Of a class with one call operator; null of others. In this ABI a pointer to a member function
// begins with the function's address, or, for a virtual one, with an odd number.
template <class Body, class = decltype(&Body::operator())> const void *section_of_call(int) {
  const auto call = &Body::operator();
  std::uintptr_t address = 0;
  static_assert(sizeof call >= sizeof address);
  std::memcpy(&address, &call, sizeof address);
  return address % 2 == 0 ? reinterpret_cast<const void *>(address) : nullptr;
}
template <class Body> const void *section_of_call(...) { return nullptr; }

// What profiles and messages name: the function that the user wrote, with its file and line, where
// `body` is one or calls one (a lambda, say), which is not virtual and not a template.
template <class Body> const void *section_of(const Body &body) {
  if constexpr (std::is_function_v<Body>) {
    return reinterpret_cast<const void *>(&body);
  } else if constexpr (std::is_pointer_v<Body> && std::is_function_v<std::remove_pointer_t<Body>>) {
    return reinterpret_cast<const void *>(body);
  } else {
    return section_of_call<Body>(0);
  }
}
template <class Body> const void *section_of(const Guarded<Body> &guarded) {
  return section_of(guarded.body);
}

template <class Body, class Result>
tandem_outcome run(Call<Body, Result> &call, const tandem_options *options) {
  const void *section = section_of(call.body);
  void (*const body)(void *) = Call<Body, Result>::run;
  return tandem_run_as(section != nullptr ? section : reinterpret_cast<const void *>(body), body,
                       &call, options);
}

} // namespace detail

// Runs `body` as a transaction and returns what it returns; its result must not refer to anything
// that an attempt made. A body that may be cancelled is for try_transaction. An exception that
// leaves it ends the process by std::terminate (see transaction_or_throw).
template <class Body>
auto transaction(Body &&body, const tandem_options *options = nullptr) -> decltype(body()) {
  using Result = decltype(body());
  detail::Call<Body, Result> call{body};
  if constexpr (std::is_void_v<Result>) {
    detail::run(call, options);
  } else {
    detail::run(call, options);
    return std::move(*call.result);
  }
}

// The same for a body that may cancel itself: whether it committed; or what it returned, nothing
// where it was cancelled.
template <class Body> auto try_transaction(Body &&body, const tandem_options *options = nullptr) {
  using Result = decltype(body());
  detail::Call<Body, Result> call{body};
  const bool committed = detail::run(call, options) == TANDEM_COMMITTED;
  if constexpr (std::is_void_v<Result>) {
    return committed;
  } else {
    if (!committed)
      call.result.reset();
    return std::move(call.result);
  }
}

// For a body that returns nothing and may throw: it commits what it did up to there, then the
// exception goes on.
template <class Body>
void transaction_or_throw(Body &&body, const tandem_options *options = nullptr) {
  detail::Guarded<Body> guarded{body, nullptr};
  transaction(guarded, options);
  if (guarded.thrown)
    std::rethrow_exception(guarded.thrown);
}

// Undone, and again when something that it has read may have changed, unless `condition` holds.
inline void require(bool condition) {
  if (!condition)
    tandem_retry();
}

// Calls `function` after the outermost transaction has committed; a copy of it is kept.
template <class Function> void on_commit(const Function &function) {
  static_assert(std::is_trivially_copyable_v<Function>, "the closure is copied as bytes");
  tandem_on_commit([](void *copy) { (*static_cast<Function *>(copy))(); }, &function,
                   sizeof function);
}
template <class Function> void on_abort(const Function &function) {
  static_assert(std::is_trivially_copyable_v<Function>, "the closure is copied as bytes");
  tandem_on_abort([](void *copy) { (*static_cast<Function *>(copy))(); }, &function,
                  sizeof function);
}

// A variable that transactions share. Reading and assigning are transactional inside a transaction
// and plain outside, where nobody else may be using it.
template <class T> class shared {
  static_assert(std::is_trivially_copyable_v<T>, "a transaction copies values as bytes");

public:
  shared() = default;
  shared(T value) : value_(value) {}
  shared(const shared &other) : value_(other.get()) {}
  shared &operator=(const shared &other) {
    set(other.get());
    return *this;
  }
  shared &operator=(T value) {
    set(value);
    return *this;
  }

  [[nodiscard]] T get() const {
    T value;
    if constexpr (fits<std::uint64_t>)
      read_as<std::uint64_t>(value, tandem_read_u64);
    else if constexpr (fits<std::uint32_t>)
      read_as<std::uint32_t>(value, tandem_read_u32);
    else if constexpr (fits<std::uint16_t>)
      read_as<std::uint16_t>(value, tandem_read_u16);
    else if constexpr (fits<std::uint8_t>)
      read_as<std::uint8_t>(value, tandem_read_u8);
    else
      tandem_read_bytes(&value, &value_, sizeof value);
    return value;
  }
  void set(T value) {
    if constexpr (fits<std::uint64_t>)
      write_as<std::uint64_t>(value, tandem_write_u64);
    else if constexpr (fits<std::uint32_t>)
      write_as<std::uint32_t>(value, tandem_write_u32);
    else if constexpr (fits<std::uint16_t>)
      write_as<std::uint16_t>(value, tandem_write_u16);
    else if constexpr (fits<std::uint8_t>)
      write_as<std::uint8_t>(value, tandem_write_u8);
    else
      tandem_write_bytes(&value_, &value, sizeof value);
  }

  operator T() const { return get(); }
  T operator->() const { return get(); }
  template <class U> T operator+=(const U &other) { return change(get() + other); }
  template <class U> T operator-=(const U &other) { return change(get() - other); }
  T operator++() { return change(get() + 1); }
  T operator--() { return change(get() - 1); }
  T operator++(int) {
    T before = get();
    set(static_cast<T>(before + 1));
    return before;
  }
  T operator--(int) {
    T before = get();
    set(static_cast<T>(before - 1));
    return before;
  }

private:
  template <class U> static constexpr bool fits = sizeof(T) == sizeof(U);

  template <class Value> T change(const Value &value) {
    const T changed = static_cast<T>(value);
    set(changed);
    return changed;
  }
  template <class U> void read_as(T &value, U (*read)(const U *)) const {
    const U bits = read(reinterpret_cast<const U *>(&value_));
    std::memcpy(&value, &bits, sizeof bits);
  }
  template <class U> void write_as(const T &value, void (*write)(U *, U)) {
    U bits;
    std::memcpy(&bits, &value, sizeof bits);
    write(reinterpret_cast<U *>(&value_), bits);
  }

  T value_;
};

// A condition variable for transactions (tandem_wait, tandem_signal).
class condition {
public:
  [[noreturn]] void wait() { tandem_wait(&condition_); }
  void signal() { tandem_signal(&condition_); }

private:
  tandem_condition condition_{};
};

} // namespace tandem
