// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads one entry of a catalogue file: the keys that say what a function does. Private to the
// catalogue.
#pragma once

#include "base/toml.h"
#include "compiler/catalogue/catalogue.h"

#include <optional>
#include <string>
#include <string_view>

namespace tandem::catalogue_file {

inline constexpr const char *kEffectNames =
    "pure, thread-local, reads, tm-safe, deferrable or irrevocable";

std::optional<ExternalEffect> effect_from(std::string_view text);

// `place:line:column: message`.
Error mistake(const std::string &place, const toml::source_position &position,
              std::string_view message);

// What a function of `effect` does where the file says no more: the worst that the effect allows.
CatalogueEntry worst(ExternalEffect effect);

// The entry that `table` describes, for messages about `name`. `ignored` is a key that the caller
// reads itself. Error: the first mistake, with its place.
Result<CatalogueEntry> read_entry(std::string_view name, const toml::table &table,
                                  std::string_view ignored, const std::string &place);

} // namespace tandem::catalogue_file
