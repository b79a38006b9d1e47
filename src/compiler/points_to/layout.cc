// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/points_to/layout.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace tandem {
namespace {

std::uint64_t length(const Fold &fold) {
  return fold.end == kNoEnd ? kNoEnd : fold.end - fold.begin;
}

// One fold that tells no more offsets apart than the two do.
Fold join(const Fold &a, const Fold &b) {
  const std::uint64_t apart = std::max(a.begin, b.begin) - std::min(a.begin, b.begin);
  return {std::min(a.begin, b.begin), std::max(a.end, b.end),
          std::gcd(std::gcd(a.period, b.period), apart)};
}

// Makes the folds disjoint or nested, each nested one within the first period of the outer one, and
// orders them longest first: then applying each once, in order, folds an offset.
void normalise_folds(llvm::SmallVectorImpl<Fold> &folds) {
  for (bool again = true; again;) {
    again = false;
    std::sort(folds.begin(), folds.end(), [](const Fold &a, const Fold &b) {
      return std::tuple(length(b), a.begin, a.period) < std::tuple(length(a), b.begin, b.period);
    });
    for (std::size_t i = 0; i < folds.size() && !again; ++i)
      for (std::size_t j = i + 1; j < folds.size() && !again; ++j) {
        const Fold &outer = folds[i];
        Fold &inner = folds[j];
        if (inner.begin >= outer.end || outer.begin >= inner.end)
          continue;
        bool nested = inner.begin >= outer.begin;
        if (nested) {
          const std::uint64_t size = length(inner);
          inner.begin = outer.begin + (inner.begin - outer.begin) % outer.period;
          inner.end = saturating_add(inner.begin, size);
          nested = inner.end <= outer.begin + outer.period;
          if (nested && inner.period >= size) {
            folds.erase(folds.begin() + static_cast<std::ptrdiff_t>(j));
            again = true;
            break;
          }
        }
        if (nested)
          continue;
        const Fold joined = join(outer, inner);
        folds[i] = joined;
        folds.erase(folds.begin() + static_cast<std::ptrdiff_t>(j));
        again = true;
      }
  }
}

// The last offset that folds to `offset`.
std::uint64_t last(const Fold &fold, std::uint64_t offset) {
  return fold.end == kNoEnd ? kNoEnd : fold.end - 1 - (fold.end - 1 - offset) % fold.period;
}

std::uint64_t apply(llvm::ArrayRef<Fold> folds, std::uint64_t offset) {
  for (const Fold &fold : folds)
    if (fold.begin <= offset && offset < fold.end)
      offset = fold.begin + (offset - fold.begin) % fold.period;
  return offset;
}

} // namespace

std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) {
  return a > kNoEnd - b ? kNoEnd : a + b;
}

std::uint64_t Layout::fold(std::uint64_t offset) const { return apply(folds_, offset); }

std::uint64_t Layout::length_end(std::uint64_t offset) const {
  if (offset >= kNoEnd - 1) // no key of a map
    return kNoEnd;
  const auto [entry, fresh] = ends_.try_emplace(offset, kNoEnd);
  std::uint64_t &end = entry->second;
  if (!fresh || begins(offset))
    return end;
  if (const auto array = array_around(offset, 0))
    end = array->second;
  for (const Array &array : arrays_)
    if (array.begin <= offset && offset < array.end && (offset - array.begin) % array.stride == 0)
      end = std::max(end, array.end);
  for (const Fold &fold : folds_)
    if (fold.begin == offset)
      end = std::max(end, fold.end);
  return end;
}

bool Layout::begins(std::uint64_t offset) const {
  return offset == 0 ||
         llvm::any_of(begins_, [&](std::uint64_t begin) { return fold(begin) == offset; });
}

void Layout::add_begin(std::uint64_t offset) {
  if (offset == 0 || llvm::is_contained(begins_, offset))
    return;
  begins_.push_back(offset);
  ends_.clear();
}

std::optional<std::pair<std::uint64_t, std::uint64_t>>
Layout::array_around(std::uint64_t offset, std::uint64_t longer_than) const {
  const auto arrays = arrays_at(offset, longer_than);
  if (arrays.empty())
    return std::nullopt;
  std::pair around{arrays.front().begin, arrays.front().end};
  for (const Array &array : arrays)
    around = {std::min(around.first, array.begin), std::max(around.second, array.end)};
  return around;
}

bool Layout::is_in_element(const Array &part, const Array &whole) {
  if (part.begin < whole.begin || part.end > whole.end)
    return false;
  const std::uint64_t before = (part.begin - whole.begin) % whole.stride;
  return saturating_add(before, part.end - part.begin) <= whole.stride;
}

llvm::SmallVector<Layout::Array, 2> Layout::arrays_at(std::uint64_t offset,
                                                      std::uint64_t longer_than) const {
  llvm::SmallVector<Array, 2> found;
  std::size_t innermost = 0;
  for (const Array &array : arrays_) {
    if (array.begin > offset)
      break;
    if (offset >= array.end || (array.end != kNoEnd && array.end - array.begin <= longer_than))
      continue;
    found.push_back(array);
    if (array.end - array.begin < found[innermost].end - found[innermost].begin)
      innermost = found.size() - 1;
  }
  if (found.size() > 1) {
    const Array inner = found[innermost];
    llvm::erase_if(
        found, [&](const Array &array) { return array != inner && is_in_element(inner, array); });
  }
  return found;
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> Layout::ranges(std::uint64_t offset,
                                                                    std::uint64_t size) const {
  const bool unknown = size == PointsToAnalysis::kUnknownSize;
  const std::uint64_t end =
      std::max(unknown ? length_end(offset) : saturating_add(offset, size), offset + 1);
  // An access that goes on beyond the element that it begins in touches the next ones.
  for (const Fold &fold : folds_) {
    if (offset < fold.begin || offset >= fold.end)
      continue;
    const std::uint64_t element_end = fold.begin + fold.period;
    if (end <= element_end)
      continue;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> parts{{fold.begin, element_end}};
    if (fold.end < end) // and may leave the array
      parts.emplace_back(fold.end, unknown ? end : saturating_add(fold.end, size));
    return parts;
  }
  return {{offset, end}};
}

std::optional<llvm::SmallVector<std::uint64_t, 4>> Layout::below(std::uint64_t offset,
                                                                 std::uint64_t distance) const {
  constexpr std::size_t kMost = 64;
  constexpr std::uint64_t kFar = kNoEnd / 4;
  if (offset > kFar || distance > kFar ||
      llvm::any_of(folds_, [&](const Fold &fold) { return fold.period > kFar; }))
    return std::nullopt;
  llvm::SmallVector<std::int64_t, 8> ends{static_cast<std::int64_t>(offset) -
                                          static_cast<std::int64_t>(distance)};
  for (const Fold &fold : llvm::reverse(folds_)) { // the innermost first
    if (offset < fold.begin || fold.end <= offset)
      continue;
    const std::size_t before = ends.size();
    for (std::size_t i = 0; i < before; ++i) {
      // Add periods until the result is in the fold: more of them give the same folded offset.
      std::int64_t end = ends[i];
      while (end < static_cast<std::int64_t>(fold.begin)) {
        end += static_cast<std::int64_t>(fold.period);
        if (end + static_cast<std::int64_t>(distance) >= 0 &&
            static_cast<std::uint64_t>(end + static_cast<std::int64_t>(distance)) > fold.end)
          break; // one past the end it may still have been
        if (!llvm::is_contained(ends, end))
          ends.push_back(end);
        if (ends.size() > kMost)
          return std::nullopt;
      }
    }
  }
  llvm::SmallVector<std::uint64_t, 4> found;
  for (const std::int64_t end : ends)
    if (end >= 0)
      if (const std::uint64_t at = fold(static_cast<std::uint64_t>(end));
          !llvm::is_contained(found, at))
        found.push_back(at);
  return found;
}

bool Layout::add_array(std::uint64_t begin, std::uint64_t size, std::uint64_t stride) {
  Array array{begin, saturating_add(begin, size), stride};
  // Where it leaves the element that it begins in, it may begin in the last one.
  for (const Fold &fold : folds_)
    if (fold.begin <= begin && begin < fold.end && array.end > fold.begin + fold.period)
      array.end = std::max(array.end, saturating_add(last(fold, begin), size));
  Array *const at = std::lower_bound(arrays_.begin(), arrays_.end(), array);
  if (at != arrays_.end() && *at == array)
    return false;
  const bool widens = llvm::any_of(arrays_, [&](const Array &other) {
    return other.begin < array.end && array.begin < other.end && !is_in_element(array, other) &&
           !is_in_element(other, array);
  });
  arrays_.insert(at, array);
  ends_.clear();
  return widens;
}

std::optional<Fold> Layout::free_fold(std::uint64_t offset) const {
  const auto array = array_around(offset, 1);
  const std::uint64_t end = array ? length_end(offset) : 0;
  return array && end > array->second ? std::optional(Fold{array->first, end, 1}) : std::nullopt;
}

bool Layout::index(std::uint64_t offset, std::uint64_t stride, bool downwards, bool free) {
  if (stride == 0)
    return false;
  if (free)
    if (const std::optional<Fold> fold = free_fold(offset))
      return add_folds(*fold);
  llvm::SmallVector<Fold, 2> folds;
  for (const Array &array : arrays_at(offset, stride))
    folds.push_back({array.begin + (offset - array.begin) % stride, array.end, stride});
  if (folds.empty()) {
    backward_ |= downwards;
    folds.push_back({downwards ? offset % stride : offset, kNoEnd, stride});
  }
  return add_folds(folds);
}

bool Layout::identify(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t period = b - a;
  if (period == 1)
    if (const std::optional<Fold> fold = free_fold(a))
      return add_folds(*fold);
  llvm::SmallVector<Fold, 2> folds;
  for (const Array &array : arrays_at(a, period))
    if (b < array.end)
      folds.push_back({array.begin + (a - array.begin) % period, array.end, period});
  if (folds.empty())
    folds.push_back({backward_ ? a % period : a, kNoEnd, period});
  return add_folds(folds);
}

bool Layout::walk(std::uint64_t offset, std::uint64_t stride) {
  return add_folds(Fold{offset, kNoEnd, stride});
}

bool Layout::collapse() {
  arrays_.clear();
  ends_.clear();
  return add_folds(Fold{0, kNoEnd, 1});
}

bool Layout::add_folds(llvm::ArrayRef<Fold> folds) {
  const auto before = folds_;
  llvm::append_range(folds_, folds);
  normalise_folds(folds_);
  if (folds_ == before)
    return false;
  fold_arrays();
  return true;
}

void Layout::fold_arrays() {
  ends_.clear();
  for (Array &array : arrays_) {
    // What folds around the array moves it; one that leaves a fold begins where its begin is now.
    for (const Fold &fold : folds_) {
      if (array.begin < fold.begin || fold.end <= array.begin)
        continue;
      const std::uint64_t size = array.end == kNoEnd ? kNoEnd : array.end - array.begin;
      const bool leaves = array.end > fold.end;
      if (!leaves && fold.period < size)
        continue;
      array.begin = fold.begin + (array.begin - fold.begin) % fold.period;
      if (!leaves)
        array.end = saturating_add(array.begin, size);
    }
  }
  llvm::sort(arrays_);
  arrays_.erase(std::unique(arrays_.begin(), arrays_.end()), arrays_.end());
}

bool Layout::merge(const Layout &other, std::uint64_t displacement) {
  for (const std::uint64_t begin : other.begins_)
    add_begin(saturating_add(begin, displacement));
  if (!other.arrays_.empty()) {
    ends_.clear();
    auto moved = other.arrays_; // which are in order still
    for (Array &array : moved)
      array = {saturating_add(array.begin, displacement), saturating_add(array.end, displacement),
               array.stride};
    const auto own = std::move(arrays_);
    arrays_.clear();
    std::merge(own.begin(), own.end(), moved.begin(), moved.end(), std::back_inserter(arrays_));
    arrays_.erase(std::unique(arrays_.begin(), arrays_.end()), arrays_.end());
  }
  const auto before = folds_;
  for (Fold fold : other.folds_) {
    fold.begin = saturating_add(fold.begin, displacement);
    fold.end = saturating_add(fold.end, displacement);
    if (other.backward_ && displacement != 0 && fold.end == kNoEnd)
      fold.begin %= fold.period; // it reached down to the node's begin, wherever that was
    folds_.push_back(fold);
  }
  backward_ |= other.backward_;
  normalise_folds(folds_);
  fold_arrays();
  return folds_ != before;
}

} // namespace tandem
