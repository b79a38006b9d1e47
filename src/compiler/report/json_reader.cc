// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/report/json_reader.h"

#include <cmath>

namespace tandem {
namespace {

// What stands where a mistake has been: no field, no element, no text.
const nlohmann::json &nothing() {
  static const nlohmann::json value;
  return value;
}

} // namespace

void JsonReader::fail(const std::string &message) const {
  if (!failed())
    mistake_->message = fmt::format("{}: {}", pointer_.empty() ? "/" : pointer_, message);
}

bool JsonReader::expect(bool holds, const char *what) const {
  if (!holds)
    fail(fmt::format("must be {}, not {}", what, node_->is_null() ? "null" : node_->type_name()));
  return holds;
}

bool JsonReader::has(const char *key) const { return node_->is_object() && node_->contains(key); }

JsonReader JsonReader::field(const char *key) const {
  const std::string pointer = pointer_ + "/" + key;
  if (failed() || !expect(node_->is_object(), "an object"))
    return {nothing(), pointer, mistake_};
  const auto found = node_->find(key);
  if (found == node_->end()) {
    const JsonReader missing(nothing(), pointer, mistake_);
    missing.fail("is missing");
    return missing;
  }
  return {*found, pointer, mistake_};
}

std::string JsonReader::text() const {
  if (failed() || !expect(node_->is_string(), "a string"))
    return {};
  return node_->get<std::string>();
}

bool JsonReader::truth() const {
  return !failed() && expect(node_->is_boolean(), "true or false") && node_->get<bool>();
}

double JsonReader::amount() const {
  if (failed() || !expect(node_->is_number(), "a number"))
    return 0;
  const double value = node_->get<double>();
  if (std::isfinite(value) && value >= 0)
    return value;
  fail(fmt::format("must be a finite number from 0 on, not {}", value));
  return 0;
}

std::uint64_t JsonReader::count(std::uint64_t most) const {
  if (failed() || !expect(node_->is_number(), "a whole number"))
    return 0;
  if (node_->is_number_unsigned() && node_->get<std::uint64_t>() <= most)
    return node_->get<std::uint64_t>();
  fail(fmt::format("must be a whole number from 0 to {}, not {}", most, node_->dump()));
  return 0;
}

std::vector<std::string> JsonReader::texts() const {
  std::vector<std::string> texts;
  each([&](const JsonReader &element) { texts.push_back(element.text()); });
  return texts;
}

} // namespace tandem
