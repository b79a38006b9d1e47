// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Saving and restoring as one description: a class names its fields once,
//
//   void fields(Archive &archive) { archive(level_, pending_, queue_); }
//
// and the archive writes them, or reads them into place. The bytes are little-endian and have no
// padding; containers are preceded by their number of elements. What is read may be anything: an
// archive that ends early or holds numbers too large fails, and then every further value is left as
// it is. For one thread.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tandem::machine {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they are");

class Archive {
public:
  // Appends to `out`, which outlives the archive.
  static Archive writer(std::string &out) { return Archive(&out, {}); }
  // Reads from `in`, which outlives the archive.
  static Archive reader(std::string_view in) { return Archive(nullptr, in); }

  [[nodiscard]] bool saving() const { return out_ != nullptr; }
  [[nodiscard]] bool failed() const { return failed_; }
  // For what fields() itself finds wrong in values it has read.
  void fail() { failed_ = true; }
  // Bytes not read yet.
  [[nodiscard]] std::size_t left() const { return in_.size(); }

  // Values in order: numbers, enumerations, booleans, strings, containers and optionals of these,
  // pairs, and everything with fields().
  template <typename... Values> void operator()(Values &...values) { (one(values), ...); }

  // As many bytes as `data` has.
  void raw(std::span<std::byte> data) {
    if (failed_ || data.empty())
      return;
    if (out_ != nullptr) {
      out_->append(reinterpret_cast<const char *>(data.data()), data.size());
      return;
    }
    if (data.size() > in_.size()) {
      failed_ = true;
      return;
    }
    std::memcpy(data.data(), in_.data(), data.size());
    in_.remove_prefix(data.size());
  }

private:
  Archive(std::string *out, std::string_view in) : out_(out), in_(in) {}

  template <typename T> void one(T &value) {
    if constexpr (requires { value.fields(*this); }) {
      value.fields(*this);
    } else if constexpr (std::is_same_v<T, bool>) {
      std::uint8_t byte = value ? 1 : 0;
      number(byte);
      value = byte != 0;
    } else {
      static_assert(std::is_integral_v<T> || std::is_enum_v<T>);
      number(value);
    }
  }
  template <typename T> void number(T &value) {
    T read = value;
    raw(std::as_writable_bytes(std::span(&read, 1)));
    if (!failed_)
      value = read;
  }
  template <typename T, std::size_t n> void one(std::array<T, n> &values) {
    for (T &value : values)
      one(value);
  }
  template <typename A, typename B> void one(std::pair<A, B> &values) {
    one(values.first);
    one(values.second);
  }
  void one(std::vector<bool> &) = delete;
  template <typename T> void one(std::vector<T> &values) { sequence(values); }
  template <typename T> void one(std::deque<T> &values) { sequence(values); }
  void one(std::string &value) { sequence(value); }

  // An element takes at least a byte, so that a wrong count allocates no more than what was read.
  template <typename Container> void sequence(Container &values) {
    std::uint64_t count = values.size();
    number(count);
    if (failed_)
      return;
    if (out_ == nullptr) {
      if (count > in_.size()) {
        failed_ = true;
        return;
      }
      values.clear();
      values.resize(count);
    }
    if constexpr (sizeof(typename Container::value_type) == 1 && requires { values.data(); }) {
      raw(std::as_writable_bytes(std::span(values.data(), values.size())));
    } else {
      for (auto &value : values)
        one(value);
    }
  }
  template <typename T> void one(std::optional<T> &value) {
    bool has = value.has_value();
    one(has);
    if (failed_)
      return;
    if (has && !value)
      value.emplace();
    if (!has)
      value.reset();
    if (value)
      one(*value);
  }
  template <typename K, typename V> void one(std::map<K, V> &values) {
    std::vector<std::pair<K, V>> list(values.begin(), values.end());
    sequence(list);
    if (failed_ || out_ != nullptr)
      return;
    values.clear();
    values.insert(list.begin(), list.end());
  }

  std::string *out_;
  std::string_view in_;
  bool failed_ = false;
};

} // namespace tandem::machine
