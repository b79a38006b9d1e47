// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Result<T>: a value, or the user's mistake as one lower-case line with its place and a remedy.
#pragma once

#include "base/check.h"

#include <string>
#include <utility>
#include <variant>

namespace tandem {

// A mistake of the user: `message` is one line without a newline, written for her; where it has a
// place, it starts with it (`file:line:column: ...`). Programs print it after their name and exit
// with 2.
struct Error {
  std::string message;
};

// Exit status of every program of Tandem for a user's mistake.
inline constexpr int kUsageStatus = 2;

template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool ok() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }

  [[nodiscard]] T &value() & {
    CHECK(ok(), "{}", std::get<1>(state_).message);
    return std::get<0>(state_);
  }
  [[nodiscard]] const T &value() const & {
    CHECK(ok(), "{}", std::get<1>(state_).message);
    return std::get<0>(state_);
  }
  [[nodiscard]] T &&value() && {
    CHECK(ok(), "{}", std::get<1>(state_).message);
    return std::get<0>(std::move(state_));
  }
  [[nodiscard]] const Error &error() const {
    CHECK(!ok());
    return std::get<1>(state_);
  }
  T &operator*() & { return value(); }
  const T &operator*() const & { return value(); }
  T *operator->() { return &value(); }
  const T *operator->() const { return &value(); }

private:
  std::variant<T, Error> state_;
};

// A Result without a value.
struct Unit {};
using Status = Result<Unit>;

} // namespace tandem
