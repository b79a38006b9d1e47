// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one reader of JSON: every file in that language comes through here. A document that is none
// of ours, or would take more memory than any of them, is refused while it is read. Any thread.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace tandem {

// No format of ours comes near these: reports are eight levels deep; only histograms are lists of
// numbers, of at most 65.
inline constexpr std::size_t kMostJsonDepth = 64;
inline constexpr std::size_t kMostJsonNumbers = 4096;                // in a list
inline constexpr std::size_t kMostJsonMemory = std::size_t{1} << 30; // bytes, about

enum class JsonRoot : std::uint8_t { object, list };

namespace json_detail {

// `place:line:column: message`, where `read` bytes had been read when the mistake showed; columns
// count bytes from 1.
Error mistake_at(std::string_view text, const std::string &place, std::size_t read,
                 std::string_view message);

// Counts what a document takes while it is read.
class Limits {
public:
  explicit Limits(JsonRoot root) : root_(root) {}

  // False: beyond a limit, as mistake() says.
  bool value(std::size_t bytes, bool plain);
  bool open(JsonRoot kind);
  bool close();
  bool key(std::size_t bytes) { return spend(kKey + bytes); }
  bool refuse(std::string message);

  [[nodiscard]] const std::string &mistake() const { return mistake_; }

private:
  static constexpr std::size_t kValue = 32, kContainer = 80, kKey = 80; // about, with malloc's part
  bool spend(std::size_t bytes);

  JsonRoot root_;
  std::size_t depth_ = 0;
  std::size_t memory_ = 0;
  std::size_t plain_ = 0; // since the last value that is none
  std::string mistake_;
};

template <class Json> class Reader : public nlohmann::detail::json_sax_dom_parser<Json> {
  using Base = nlohmann::detail::json_sax_dom_parser<Json>;

public:
  Reader(Json &document, Limits &limits) : Base(document, false), limits_(limits) {}

  bool null() { return limits_.value(0, true) && Base::null(); }
  bool boolean(bool value) { return limits_.value(0, true) && Base::boolean(value); }
  bool number_integer(typename Json::number_integer_t value) {
    return limits_.value(0, true) && Base::number_integer(value);
  }
  bool number_unsigned(typename Json::number_unsigned_t value) {
    return limits_.value(0, true) && Base::number_unsigned(value);
  }
  bool number_float(typename Json::number_float_t value, const typename Json::string_t &text) {
    return limits_.value(0, true) && Base::number_float(value, text);
  }
  bool string(typename Json::string_t &value) {
    return limits_.value(value.size(), false) && Base::string(value);
  }
  bool start_object(std::size_t size) {
    return limits_.open(JsonRoot::object) && Base::start_object(size);
  }
  bool key(typename Json::string_t &name) { return limits_.key(name.size()) && Base::key(name); }
  bool end_object() { return limits_.close() && Base::end_object(); }
  bool start_array(std::size_t size) {
    return limits_.open(JsonRoot::list) && Base::start_array(size);
  }
  bool end_array() { return limits_.close() && Base::end_array(); }
  template <class Exception>
  bool parse_error(std::size_t position, const std::string &, const Exception &error) {
    at_ = position;
    std::string_view message = error.what();
    for (const std::string_view before : {"] ", " - "})
      if (const std::size_t found = message.find(before); found != std::string_view::npos)
        message.remove_prefix(found + before.size());
    return limits_.refuse("not JSON: " + std::string(message));
  }

  [[nodiscard]] std::size_t at() const { return at_; }

private:
  Limits &limits_;
  std::size_t at_ = 0; // bytes; 0: not known
};

} // namespace json_detail

// The document, whose root is of the kind `root`. Error: `place:line:column: not JSON: what`, or
// `place: what` where it is beyond a limit. A template, because nlohmann's types differ by macros.
template <class Json = nlohmann::json>
Result<Json> parse_json(std::string_view text, const std::string &place,
                        JsonRoot root = JsonRoot::object) {
  json_detail::Limits limits(root);
  Json document;
  json_detail::Reader<Json> reader(document, limits);
  if (Json::sax_parse(text.begin(), text.end(), &reader))
    return document;
  if (reader.at() != 0)
    return json_detail::mistake_at(text, place, reader.at(), limits.mistake());
  return Error{place + ": " + limits.mistake()};
}

} // namespace tandem
