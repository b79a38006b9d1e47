// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/devices/plic.h"

#include "base/check.h"

#include <bit>
#include <utility>

namespace tandem::machine {
namespace {

constexpr std::uint64_t kPending = 0x1000;
constexpr std::uint64_t kEnable = 0x2000;
constexpr std::uint64_t kEnableStride = 0x80;
constexpr std::uint64_t kContext = 0x20'0000;
constexpr std::uint64_t kContextStride = 0x1000;
constexpr std::uint32_t kPriorities = 7;

// Half `word` of 64 bits, replaced.
void set_word(std::uint64_t &bits, std::uint64_t word, std::uint64_t value) {
  const unsigned shift = word == 0 ? 0 : 32;
  bits = (bits & ~(std::uint64_t{0xFFFF'FFFF} << shift)) | (value << shift);
}
std::uint64_t word_of(std::uint64_t bits, std::uint64_t word) {
  return word < 2 ? (bits >> (32 * word)) & 0xFFFF'FFFF : 0;
}

} // namespace

Plic::Plic(unsigned contexts, std::function<void(unsigned, bool)> external)
    : external_(std::move(external)), contexts_(contexts) {}

bool Plic::load(std::uint64_t offset, unsigned size, std::uint64_t &value) {
  if (size != 4)
    return false;
  value = 0; // what is reserved reads as zero
  if (offset < kPending) {
    if (offset / 4 < kSources)
      value = priority_[offset / 4];
  } else if (offset < kEnable) {
    value = word_of(pending_, (offset - kPending) / 4);
  } else if (offset < kContext) {
    const std::uint64_t context = (offset - kEnable) / kEnableStride;
    if (context < contexts_.size())
      value = word_of(contexts_[context].enabled, (offset - kEnable) % kEnableStride / 4);
  } else {
    const std::uint64_t context = (offset - kContext) / kContextStride;
    const std::uint64_t place = (offset - kContext) % kContextStride;
    if (context < contexts_.size() && place == 0)
      value = contexts_[context].threshold;
    else if (context < contexts_.size() && place == 4)
      value = claim(static_cast<unsigned>(context));
  }
  return true;
}

bool Plic::store(std::uint64_t offset, unsigned size, std::uint64_t value) {
  if (size != 4)
    return false;
  value &= 0xFFFF'FFFF;
  if (offset < kPending) {
    if (offset >= 4 && offset / 4 < kSources)
      priority_[offset / 4] = static_cast<std::uint32_t>(value) & kPriorities;
  } else if (offset >= kEnable && offset < kContext) {
    const std::uint64_t context = (offset - kEnable) / kEnableStride;
    const std::uint64_t word = (offset - kEnable) % kEnableStride / 4;
    if (context < contexts_.size() && word < 2) {
      set_word(contexts_[context].enabled, word, value);
      contexts_[context].enabled &= ~std::uint64_t{1};
    }
  } else if (offset >= kContext) {
    const std::uint64_t context = (offset - kContext) / kContextStride;
    const std::uint64_t place = (offset - kContext) % kContextStride;
    if (context < contexts_.size() && place == 0)
      contexts_[context].threshold = static_cast<std::uint32_t>(value) & kPriorities;
    else if (context < contexts_.size() && place == 4)
      complete(static_cast<unsigned>(context), value);
  }
  update();
  return true;
}

void Plic::set_level(unsigned source, bool level) {
  CHECK(source > 0 && source < kSources, "source {}", source);
  const std::uint64_t bit = std::uint64_t{1} << source;
  if (((level_ & bit) != 0) == level)
    return;
  level_ ^= bit;
  forward();
  update();
}

// Gateways: a level that is high asks once, until the handler has completed it.
void Plic::forward() { pending_ |= level_ & ~serving_; }

// The pending source of the highest priority that the context enables; the lowest number of equals,
// 0 for none.
unsigned Plic::best(const Context &context) const {
  unsigned found = 0;
  std::uint32_t priority = 0;
  for (std::uint64_t set = pending_ & context.enabled; set != 0; set &= set - 1) {
    const auto source = static_cast<unsigned>(std::countr_zero(set));
    if (priority_[source] > priority) {
      found = source;
      priority = priority_[source];
    }
  }
  return found;
}

// A claim does not look at the threshold.
std::uint32_t Plic::claim(unsigned context) {
  const unsigned source = best(contexts_[context]);
  if (source == 0)
    return 0;
  pending_ &= ~(std::uint64_t{1} << source);
  serving_ |= std::uint64_t{1} << source;
  ++claims_;
  update();
  return source;
}

// Ignored for a source that the context does not enable.
void Plic::complete(unsigned context, std::uint64_t source) {
  if (source >= kSources || (contexts_[context].enabled >> source & 1) == 0)
    return;
  serving_ &= ~(std::uint64_t{1} << source);
  forward();
}

void Plic::update() {
  for (unsigned index = 0; index < contexts_.size(); ++index) {
    Context &context = contexts_[index];
    const bool line = priority_[best(context)] > context.threshold;
    if (line == context.line)
      continue;
    context.line = line;
    external_(index, line);
  }
}

void Plic::fields(Archive &archive) {
  const std::size_t contexts = contexts_.size();
  archive(priority_, level_, pending_, serving_, contexts_, claims_);
  if (contexts_.size() != contexts) {
    contexts_.resize(contexts);
    archive.fail();
  }
}

} // namespace tandem::machine
