// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A disk: a file of the host, changed in memory only. The file itself is never written, and costs
// no memory where it is not touched.
#pragma once

#include "base/result.h"
#include "machine/archive/archive.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tandem::machine {

class DiskImage {
public:
  static constexpr std::uint64_t kSector = 512;
  static constexpr std::uint64_t kPage = 4096;

  // Error: the file cannot be read, is empty, or is not whole sectors.
  static Result<std::unique_ptr<DiskImage>> open(const std::string &path, bool read_only);
  // A disk of zeros, of a multiple of kSector bytes.
  static Result<std::unique_ptr<DiskImage>> blank(std::uint64_t size);
  ~DiskImage();
  DiskImage(const DiskImage &) = delete;
  DiskImage &operator=(const DiskImage &) = delete;

  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] bool read_only() const { return read_only_; }

  // Whether bytes [offset, offset + count) exist.
  [[nodiscard]] bool contains(std::uint64_t offset, std::uint64_t count) const {
    return offset <= size_ && count <= size_ - offset;
  }
  // The bytes of a range that contains() holds for.
  [[nodiscard]] std::span<const std::byte> read(std::uint64_t offset, std::uint64_t count) const {
    return {data_ + offset, count};
  }
  // The same to write, once: the pages are noted as changed.
  [[nodiscard]] std::span<std::byte> write(std::uint64_t offset, std::uint64_t count);

  // The pages that were written; the file must be the same when they are read.
  void fields(Archive &archive);

private:
  DiskImage(std::byte *data, std::uint64_t size, bool read_only);

  std::byte *data_;
  std::uint64_t size_;
  bool read_only_;
  std::vector<std::uint8_t> changed_; // one a page
};

} // namespace tandem::machine
