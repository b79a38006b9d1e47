// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads typed fields out of a parsed JSON document and remembers the first that is wrong, with its
// JSON pointer (RFC 6901). After a mistake every further read gives an empty value, so callers read
// straight on and ask failed() once. Private to the report.
#pragma once

#include "base/result.h"

#include <array>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

namespace tandem {

// What all JsonReaders of one document share: the first mistake, as `/pointer: message`.
struct JsonMistake {
  std::optional<std::string> message;
};

class JsonReader {
public:
  // `document` and `mistake` outlive the reader.
  JsonReader(const nlohmann::json &document, JsonMistake &mistake)
      : node_(&document), mistake_(&mistake) {}

  [[nodiscard]] bool failed() const { return mistake_->message.has_value(); }
  // Notes a mistake at this place unless there is one already.
  void fail(const std::string &message) const;

  [[nodiscard]] bool has(const char *key) const;
  // The field `key` of this object; a mistake if this is no object or has no such field.
  [[nodiscard]] JsonReader field(const char *key) const;

  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool truth() const;
  // A number that is finite and not negative.
  [[nodiscard]] double amount() const;
  // A whole number from 0 to `most`.
  [[nodiscard]] std::uint64_t
  count(std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) const;

  // Calls `visit(JsonReader)` for each element of this array.
  template <typename Visit> void each(Visit visit) const {
    if (failed() || !expect(node_->is_array(), "a list"))
      return;
    for (std::size_t index = 0; index < node_->size() && !failed(); ++index)
      visit(JsonReader((*node_)[index], pointer_ + "/" + std::to_string(index), mistake_));
  }

  [[nodiscard]] std::vector<std::string> texts() const;

  // For fields that may be absent: their value, else the empty one.
  [[nodiscard]] bool truth_or_false(const char *key) const {
    return has(key) && field(key).truth();
  }
  [[nodiscard]] std::vector<std::string> texts_or_none(const char *key) const {
    return has(key) ? field(key).texts() : std::vector<std::string>();
  }
  template <typename Visit> void each_if_any(const char *key, Visit visit) const {
    if (has(key))
      field(key).each(visit);
  }

  // One of `values`, by the name that to_string gives it.
  template <typename Enum, std::size_t size>
  [[nodiscard]] Enum one_of(const std::array<Enum, size> &values) const {
    const std::string name = text();
    std::string names;
    for (const Enum value : values) {
      if (name == to_string(value))
        return value;
      names += (names.empty() ? "" : ", ") + std::string(to_string(value));
    }
    fail(fmt::format("'{}' is none of {}", name, names));
    return values.front();
  }

private:
  JsonReader(const nlohmann::json &node, std::string pointer, JsonMistake *mistake)
      : node_(&node), pointer_(std::move(pointer)), mistake_(mistake) {}
  bool expect(bool holds, const char *what) const;

  const nlohmann::json *node_;
  std::string pointer_;
  JsonMistake *mistake_;
};

} // namespace tandem
