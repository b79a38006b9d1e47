// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/devices/disk_image.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tandem::machine {

DiskImage::DiskImage(std::byte *data, std::uint64_t size, bool read_only)
    : data_(data), size_(size), read_only_(read_only), changed_((size + kPage - 1) / kPage) {}

DiskImage::~DiskImage() { ::munmap(data_, size_); }

Result<std::unique_ptr<DiskImage>> DiskImage::open(const std::string &path, bool read_only) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return Error{fmt::format("{}: cannot be read: {}", path, std::strerror(errno))};
  struct stat about{};
  const bool known = ::fstat(file, &about) == 0;
  const auto size = static_cast<std::uint64_t>(about.st_size);
  std::string mistake;
  if (!known || !S_ISREG(about.st_mode))
    mistake = "is not a regular file";
  else if (size == 0 || size % kSector != 0)
    mistake = fmt::format("has {} bytes, which is not a whole number of sectors of {}; extend it "
                          "with truncate --size=%{}",
                          size, kSector, kSector);
  void *data = MAP_FAILED;
  if (mistake.empty()) {
    data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file, 0);
    if (data == MAP_FAILED)
      mistake = fmt::format("cannot be mapped: {}", std::strerror(errno));
  }
  ::close(file);
  if (!mistake.empty())
    return Error{fmt::format("{}: {}", path, mistake)};
  return std::unique_ptr<DiskImage>(new DiskImage(static_cast<std::byte *>(data), size, read_only));
}

Result<std::unique_ptr<DiskImage>> DiskImage::blank(std::uint64_t size) {
  CHECK(size > 0 && size % kSector == 0);
  void *data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED)
    return Error{fmt::format("no memory for a disk of {} bytes", size)};
  return std::unique_ptr<DiskImage>(new DiskImage(static_cast<std::byte *>(data), size, false));
}

std::span<std::byte> DiskImage::write(std::uint64_t offset, std::uint64_t count) {
  CHECK(contains(offset, count) && !read_only_);
  if (count > 0)
    for (std::uint64_t page = offset / kPage; page <= (offset + count - 1) / kPage; ++page)
      changed_[page] = 1;
  return {data_ + offset, count};
}

void DiskImage::fields(Archive &archive) {
  std::uint64_t size = size_;
  const std::size_t pages = changed_.size();
  archive(size, changed_);
  if (archive.failed() || size != size_ || changed_.size() != pages) {
    changed_.assign(pages, 0);
    archive.fail();
    return;
  }
  for (std::size_t page = 0; page < pages; ++page)
    if (changed_[page] != 0)
      archive.raw({data_ + page * kPage, std::min(kPage, size_ - page * kPage)});
}

} // namespace tandem::machine
