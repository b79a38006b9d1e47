// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layout: which offsets of an object are told apart. Arrays are where pointer arithmetic stays
// within; folds are offsets that count as one, because an index is not known.
#pragma once

#include "compiler/points_to/points_to.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace tandem {

inline constexpr std::uint64_t kNoEnd = std::numeric_limits<std::uint64_t>::max();

// `a + b`, kNoEnd where either is or the sum is too large.
std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b);

class Layout {
public:
  [[nodiscard]] std::uint64_t fold(std::uint64_t offset) const;
  [[nodiscard]] llvm::ArrayRef<Fold> folds() const { return folds_; } // longest first
  // Where an access of unknown length from a folded offset on ends: with the array there, or an
  // array or a fold in which an element begins there; kNoEnd where an object begins there, or
  // there is no array.
  [[nodiscard]] std::uint64_t length_end(std::uint64_t offset) const;

  // Begin and end of the array of more than `longer_than` bytes that `offset` lies in: of the
  // innermost one, with those that overlap it and are not arrays of what it is a part of.
  [[nodiscard]] std::optional<std::pair<std::uint64_t, std::uint64_t>>
  array_around(std::uint64_t offset, std::uint64_t longer_than) const;
  // Folded byte ranges [begin, end) that an access of `size` bytes at a folded offset touches;
  // PointsToAnalysis::kUnknownSize: everything up to length_end.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, std::uint64_t>>
  ranges(std::uint64_t offset, std::uint64_t size) const;

  // The offsets that a pointer at `offset` may have after `distance` is subtracted. A folded offset
  // stands for itself plus any number of periods of each fold that contains it. The results are
  // folded; offsets below 0 are left out; nullopt if there are too many.
  [[nodiscard]] std::optional<llvm::SmallVector<std::uint64_t, 4>>
  below(std::uint64_t offset, std::uint64_t distance) const;

  // `stride`: bytes of an element. Returns whether pointers may go further than before: where it
  // overlaps others otherwise than by lying in their elements.
  bool add_array(std::uint64_t begin, std::uint64_t size, std::uint64_t stride);
  // These return whether offsets fold that did not before.
  // A pointer at `offset` moves by unknown multiples of `stride`, perhaps downwards.
  // `free`: by bytes that the text counts in no array. At an array's begin they may be those of the
  // record, or of what else begins there.
  bool index(std::uint64_t offset, std::uint64_t stride, bool downwards, bool free = false);
  // Offsets a < b are the same: so is everything that far apart from there on.
  bool identify(std::uint64_t a, std::uint64_t b);
  // A pointer walks on from `offset`, whatever arrays it comes to.
  bool walk(std::uint64_t offset, std::uint64_t stride);
  bool collapse();
  bool add_folds(llvm::ArrayRef<Fold> folds);
  // Takes over the layout of what lies at `displacement` in this one.
  bool merge(const Layout &other, std::uint64_t displacement);

  // An object begins at `offset`; one does at 0 in any case.
  void add_begin(std::uint64_t offset);
  // A pointer into it was moved downwards by a constant: it may move on.
  void set_backward() { backward_ = true; }

private:
  struct Array {
    std::uint64_t begin;
    std::uint64_t end;
    std::uint64_t stride;
    auto operator<=>(const Array &) const = default;
  };
  // Whether `part` lies within an element of `whole`.
  static bool is_in_element(const Array &part, const Array &whole);
  // The innermost array of more than `longer_than` bytes that `offset` lies in, and those that
  // contain `offset` and have it in no element: a pointer there may be one to an element of each.
  [[nodiscard]] llvm::SmallVector<Array, 2> arrays_at(std::uint64_t offset,
                                                      std::uint64_t longer_than) const;
  void fold_arrays();
  // What bytes that are counted from `offset`, an array's begin, may be, if not those of the array
  // alone.
  [[nodiscard]] std::optional<Fold> free_fold(std::uint64_t offset) const;
  [[nodiscard]] bool begins(std::uint64_t offset) const;

  llvm::SmallVector<Fold, 0>
      folds_; // disjoint or nested, each in the first period of its outer one
  llvm::SmallVector<Array, 0> arrays_;                                // sorted
  mutable llvm::SmallDenseMap<std::uint64_t, std::uint64_t, 1> ends_; // of lengths, as asked for
  llvm::SmallVector<std::uint64_t, 0> begins_;                        // of objects, but at 0
  bool backward_ = false;
};

} // namespace tandem
