// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One record for every block of memory that was ever touched: what the memory side and the ghosts
// know of it. Pages of 16 blocks, found by hashing; a page is made when its first block is touched,
// so that a steady state, which touches no new page, allocates nothing.
//
// For one thread. References stay valid.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tandem::machine {

template <class Record> class BlockStore {
public:
  static constexpr std::size_t kPageBlocks = 16;

  // What untouched blocks hold.
  explicit BlockStore(const Record &fresh) : fresh_(fresh), buckets_(1024) {}

  Record &at(std::uint64_t block) {
    const std::uint64_t page = block / kPageBlocks;
    if (page != last_page_ || last_ == nullptr) {
      last_ = &find(page);
      last_page_ = page;
    }
    return last_->records[block % kPageBlocks];
  }

  [[nodiscard]] std::size_t pages() const { return pages_.size(); }

private:
  struct Page {
    std::uint64_t number = 0;
    std::array<Record, kPageBlocks> records;
  };

  static std::size_t hash(std::uint64_t page) {
    return static_cast<std::size_t>((page * 0x9e3779b97f4a7c15ULL) >> 20);
  }

  Page &find(std::uint64_t page) {
    for (std::size_t i = hash(page);; ++i) {
      Page *&bucket = buckets_[i & (buckets_.size() - 1)];
      if (bucket == nullptr)
        break;
      if (bucket->number == page)
        return *bucket;
    }
    return add(page);
  }

  Page &add(std::uint64_t page) {
    pages_.push_back(std::make_unique<Page>());
    Page &made = *pages_.back();
    made.number = page;
    made.records.fill(fresh_);
    if (pages_.size() * 2 > buckets_.size()) {
      buckets_.assign(buckets_.size() * 2, nullptr);
      for (const std::unique_ptr<Page> &each : pages_)
        place(*each);
    } else {
      place(made);
    }
    return made;
  }

  void place(Page &page) {
    std::size_t i = hash(page.number);
    while (buckets_[i & (buckets_.size() - 1)] != nullptr)
      ++i;
    buckets_[i & (buckets_.size() - 1)] = &page;
  }

  Record fresh_;
  std::vector<std::unique_ptr<Page>> pages_;
  std::vector<Page *> buckets_; // open addressing; a power of two, at most half full
  std::uint64_t last_page_ = 0;
  Page *last_ = nullptr;
};

} // namespace tandem::machine
