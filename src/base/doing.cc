// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/doing.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>

namespace tandem {
namespace {

constexpr std::size_t kMostDepth = 16; // deeper ones are counted and not kept
constexpr std::size_t kMostBytes = 255;

std::array<std::array<char, kMostBytes + 1>, kMostDepth> texts;
// Texts in use. Written by one thread; a handler reads it behind the text, which is why the
// compiler must not move the two.
std::atomic<std::size_t> depth = 0;

} // namespace

Doing::Doing(std::string_view what) noexcept {
  const std::size_t at = depth.load();
  if (at < kMostDepth) {
    const std::size_t bytes = std::min(what.size(), kMostBytes);
    std::memcpy(texts[at].data(), what.data(), bytes);
    texts[at][bytes] = '\0';
  }
  depth.store(at + 1);
}

Doing::~Doing() { depth.store(depth.load() - 1); }

const char *doing() noexcept {
  const std::size_t at = std::min(depth.load(), kMostDepth);
  return at == 0 ? "" : texts[at - 1].data();
}

} // namespace tandem
