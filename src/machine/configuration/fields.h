// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fields of a configuration: one table for reading, checking, writing and documenting.
#pragma once

#include "machine/configuration/configuration.h"

#include <functional>
#include <optional>
#include <span>
#include <variant>

namespace tandem::machine {

// A number, with the range that makes sense; `scale` is the factor between what is written and what
// is kept (provision_percent = 2.5 is kept as 25 permille). Only a scale other than 1 allows
// fractions.
struct NumberField {
  std::function<std::uint32_t &(Configuration &)> member;
  std::uint32_t least;
  std::uint32_t most; // both as written
  std::uint32_t scale = 1;
};

struct FlagField {
  std::function<bool &(Configuration &)> member;
};

struct TextField {
  std::function<std::string &(Configuration &)> member;
};

// One of a few words.
struct ChoiceField {
  std::vector<std::string_view> words;
  std::function<std::uint32_t(const Configuration &)> get; // index into words
  std::function<void(Configuration &, std::uint32_t)> set;
};

struct Field {
  std::string_view section; // "" for the top
  std::string_view name;
  std::string_view unit; // "" where there is none
  std::string_view meaning;
  std::variant<NumberField, FlagField, TextField, ChoiceField> kind;
};

// In the order of a file. Sections are contiguous, the top comes first.
std::span<const Field> configuration_fields();

// The value as TOML.
std::string field_value(const Field &field, const Configuration &configuration);

// What does not fit together, as one line without place, and the field to blame. None: all is well.
struct Inconsistency {
  std::string_view section;
  std::string_view name;
  std::string text;
};
std::optional<Inconsistency> inconsistency(const Configuration &configuration);

} // namespace tandem::machine
