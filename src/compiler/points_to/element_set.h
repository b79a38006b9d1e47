// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sparse set of small numbers that is mostly united with others and looked through. Its words lie
// side by side in one block of memory: sets of the points-to analysis grow by a few elements at a
// time, ten thousands of times, and lists of words (llvm::SparseBitVector) spend half of that
// in the allocator and in waiting for memory.
#pragma once

#include <algorithm>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

namespace tandem {

// Invariant: the words' indices ascend, and no word is zero.
class ElementSet {
  struct Word {
    std::uint32_t index; // of elements index * kBits to index * kBits + kBits - 1
    std::uint64_t bits;
    auto operator<=>(const Word &) const = default;
  };
  static constexpr std::uint32_t kBits = 64;

public:
  // In ascending order. Invalid once the set changes.
  class iterator {
  public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = std::uint32_t;
    using difference_type = std::ptrdiff_t;
    using pointer = const std::uint32_t *;
    using reference = std::uint32_t;

    iterator() = default;
    iterator(const Word *at, const Word *end)
        : at_(at), end_(end), left_(at == end ? 0 : at->bits) {}

    std::uint32_t operator*() const {
      return at_->index * kBits + static_cast<std::uint32_t>(std::countr_zero(left_));
    }
    iterator &operator++() {
      left_ &= left_ - 1;
      if (left_ == 0 && ++at_ != end_)
        left_ = at_->bits;
      return *this;
    }
    iterator operator++(int) {
      const iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const iterator &other) const {
      return at_ == other.at_ && left_ == other.left_;
    }

  private:
    const Word *at_ = nullptr;
    const Word *end_ = nullptr;
    std::uint64_t left_ = 0; // bits of *at_ from here on
  };

  [[nodiscard]] iterator begin() const { return {words_.data(), words_.data() + words_.size()}; }
  [[nodiscard]] iterator end() const {
    return {words_.data() + words_.size(), words_.data() + words_.size()};
  }
  [[nodiscard]] bool empty() const { return words_.empty(); }
  [[nodiscard]] std::size_t count() const {
    std::size_t sum = 0;
    for (const Word &word : words_)
      sum += static_cast<std::size_t>(std::popcount(word.bits));
    return sum;
  }
  // The smallest element. The set is not empty.
  [[nodiscard]] std::uint32_t first() const { return *begin(); }
  [[nodiscard]] bool test(std::uint32_t element) const {
    const auto at = find(element / kBits);
    return at != words_.end() && at->index == element / kBits && (at->bits & bit(element)) != 0;
  }

  void clear() { words_ = {}; } // the memory too
  // Result: whether the element is new.
  bool insert(std::uint32_t element) {
    const std::uint32_t index = element / kBits;
    const auto at = words_.begin() + (find(index) - words_.cbegin());
    if (at == words_.end() || at->index != index) {
      words_.insert(at, {index, bit(element)});
      return true;
    }
    const std::uint64_t before = at->bits;
    at->bits |= bit(element);
    return at->bits != before;
  }
  // Result: whether the element was there.
  bool erase(std::uint32_t element) {
    const auto at = words_.begin() + (find(element / kBits) - words_.cbegin());
    if (at == words_.end() || at->index != element / kBits || (at->bits & bit(element)) == 0)
      return false;
    at->bits &= ~bit(element);
    if (at->bits == 0)
      words_.erase(at);
    return true;
  }
  // Adds all of `other`. Result: whether one is new.
  bool unite(const ElementSet &other) {
    std::size_t missing = 0; // words
    bool changed = false;
    auto own = words_.begin();
    for (const Word &word : other.words_) {
      while (own != words_.end() && own->index < word.index)
        ++own;
      if (own == words_.end() || own->index != word.index) {
        ++missing;
        continue;
      }
      changed |= (word.bits & ~own->bits) != 0;
      own->bits |= word.bits;
    }
    if (missing == 0)
      return changed;
    // From the back, so that every word moves once.
    std::size_t from = words_.size();
    words_.resize(words_.size() + missing);
    std::size_t to = words_.size();
    for (std::size_t rest = other.words_.size(); rest != 0 && to != from; --rest) {
      const Word &word = other.words_[rest - 1];
      while (from != 0 && words_[from - 1].index > word.index)
        words_[--to] = words_[--from];
      if (from != 0 && words_[from - 1].index == word.index)
        words_[--to] = words_[--from];
      else
        words_[--to] = word;
    }
    return true;
  }
  // Removes what is not in `other`. Result: whether anything was.
  bool intersect(const ElementSet &other) {
    auto theirs = other.words_.begin();
    auto kept = words_.begin();
    bool changed = false;
    for (const Word word : words_) {
      while (theirs != other.words_.end() && theirs->index < word.index)
        ++theirs;
      const bool both = theirs != other.words_.end() && theirs->index == word.index;
      const std::uint64_t bits = both ? theirs->bits & word.bits : 0;
      changed |= bits != word.bits;
      if (bits != 0)
        *kept++ = {word.index, bits};
    }
    words_.erase(kept, words_.end());
    return changed;
  }
  [[nodiscard]] bool intersects(const ElementSet &other) const {
    auto theirs = other.words_.begin();
    for (const Word &word : words_) {
      while (theirs != other.words_.end() && theirs->index < word.index)
        ++theirs;
      if (theirs == other.words_.end())
        return false;
      if (theirs->index == word.index && (theirs->bits & word.bits) != 0)
        return true;
    }
    return false;
  }
  // What is not in `other`.
  [[nodiscard]] ElementSet without(const ElementSet &other) const {
    ElementSet rest;
    auto theirs = other.words_.begin();
    for (const Word &word : words_) {
      while (theirs != other.words_.end() && theirs->index < word.index)
        ++theirs;
      const bool both = theirs != other.words_.end() && theirs->index == word.index;
      if (const std::uint64_t bits = both ? word.bits & ~theirs->bits : word.bits; bits != 0)
        rest.words_.push_back({word.index, bits});
    }
    return rest;
  }

  auto operator<=>(const ElementSet &) const = default; // some order

private:
  static std::uint64_t bit(std::uint32_t element) { return std::uint64_t{1} << (element % kBits); }
  // The first word that is not below `index`.
  [[nodiscard]] std::vector<Word>::const_iterator find(std::uint32_t index) const {
    if (words_.empty() || words_.back().index < index)
      return words_.end();
    return std::lower_bound(
        words_.begin(), words_.end(), index,
        [](const Word &word, std::uint32_t wanted) { return word.index < wanted; });
  }

  std::vector<Word> words_;
};

} // namespace tandem
