// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The address space of the one process: what is mapped where, and the Sv39 page tables in main
// memory that the harts walk. Pages come when they are touched. Addresses are virtual unless a name
// says otherwise; ranges are whole pages. For one thread.
//
// Invariant: a valid entry of the tables belongs to a mapping and grants no more than it does.
#pragma once

#include "machine/devices/dma.h"
#include "machine/proxy/frames.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace tandem::machine::proxy {

// What file mappings read, and write back.
class Backing {
public:
  virtual ~Backing() = default;
  // Bytes from `offset` on; fewer at the end of the file. The rest of `to` is left as it is.
  virtual void read_at(std::uint64_t offset, std::span<std::byte> to) = 0;
  virtual void write_at(std::uint64_t offset, std::span<const std::byte> from) = 0;
  [[nodiscard]] virtual std::uint64_t size() const = 0;
};

struct Protection {
  bool read = false;
  bool write = false;
  bool execute = false;
  bool operator==(const Protection &) const = default;
};

enum class Touch : std::uint8_t { read, write, execute };

// Why an access is not possible: what the signal tells.
enum class Fault : std::uint8_t { none, unmapped, forbidden, beyond_file, no_memory };

class AddressSpace {
public:
  static constexpr std::uint64_t kEnd = std::uint64_t{1} << 38; // of user addresses
  static constexpr std::uint64_t kLowest = 0x10000;             // as mmap_min_addr

  struct Mapping {
    std::uint64_t end = 0;
    Protection protection{};
    bool shared = false; // with the file
    std::shared_ptr<Backing> file{};
    std::uint64_t offset = 0; // in the file, of the mapping's first byte
    std::string name{};       // for people
  };

  // `flush` is called when entries of [start, start + size) have lost rights or validity.
  AddressSpace(Memory &memory, DmaPort &dma,
               std::function<void(std::uint64_t start, std::uint64_t size)> flush);

  // The value of satp.
  [[nodiscard]] std::uint64_t satp() const;

  // Maps [start, start + size), replacing what is there. Start and size are whole pages inside the
  // user's range.
  void map(std::uint64_t start, std::uint64_t size, Mapping mapping);
  void unmap(std::uint64_t start, std::uint64_t size);
  // False if part of the range is not mapped; then nothing has changed.
  bool protect(std::uint64_t start, std::uint64_t size, Protection protection);
  // Drops the pages of a range: anonymous ones are zero again, those of files are read again.
  void discard(std::uint64_t start, std::uint64_t size);
  // Writes changed pages of shared file mappings back.
  void synchronise(std::uint64_t start, std::uint64_t size);
  // Moves the pages and mapping of a range that is one mapping to a free range of the same size.
  void move(std::uint64_t from, std::uint64_t to, std::uint64_t size);

  // The highest free range of `size` bytes below the stack; none if there is none.
  [[nodiscard]] std::optional<std::uint64_t> find_free(std::uint64_t size) const;
  [[nodiscard]] bool is_free(std::uint64_t start, std::uint64_t size) const;
  [[nodiscard]] bool is_mapped(std::uint64_t start, std::uint64_t size) const;
  // The mapping that an address lies in, with its start; null if it lies in none.
  [[nodiscard]] const std::pair<const std::uint64_t, Mapping> *find(std::uint64_t address) const;
  [[nodiscard]] const std::map<std::uint64_t, Mapping> &mappings() const { return mappings_; }

  // Makes the page of `address` accessible, if it may be.
  Fault touch(std::uint64_t address, Touch touch);

  // Copies; pages come as if the program did it. False if a byte cannot be accessed; bytes before
  // it may have been copied.
  [[nodiscard]] bool read(std::uint64_t address, std::span<std::byte> to);
  [[nodiscard]] bool write(std::uint64_t address, std::span<const std::byte> from);
  template <typename T> [[nodiscard]] bool get(std::uint64_t address, T &value) {
    return read(address, std::as_writable_bytes(std::span(&value, 1)));
  }
  template <typename T> [[nodiscard]] bool put(std::uint64_t address, const T &value) {
    return write(address, std::as_bytes(std::span(&value, 1)));
  }
  // A string up to its zero, at most `limit` bytes; none if it is not readable or longer.
  [[nodiscard]] std::optional<std::string> string(std::uint64_t address, std::size_t limit = 4096);

  [[nodiscard]] const Frames &frames() const { return frames_; }

private:
  using Iterator = std::map<std::uint64_t, Mapping>::iterator;

  [[nodiscard]] std::optional<std::uint64_t> entry_address(std::uint64_t address, bool make);
  [[nodiscard]] std::uint64_t entry(std::uint64_t address);
  void set_entry(std::uint64_t entry_address, std::uint64_t value);
  void split(std::uint64_t at);
  void merge(std::uint64_t start, std::uint64_t end);
  void write_back(std::uint64_t page, const Mapping &mapping, std::uint64_t start,
                  std::uint64_t entry);
  void drop_pages(std::uint64_t start, std::uint64_t size);
  template <typename Action> void each_page(std::uint64_t start, std::uint64_t size, Action action);
  template <typename Copy>
  bool each_part(std::uint64_t address, std::uint64_t size, Touch touch, Copy copy);

  Memory *memory_;
  DmaPort *dma_;
  std::function<void(std::uint64_t, std::uint64_t)> flush_;
  Frames frames_;
  std::uint64_t root_;
  std::map<std::uint64_t, Mapping> mappings_; // by start; they do not overlap
};

} // namespace tandem::machine::proxy
