// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/platform/boot.h"

#include "base/file.h"
#include "machine/platform/device_tree.h"
#include "machine/platform/map.h"

#include <algorithm>
#include <cstring>
#include <random>

namespace tandem::machine {
namespace {

constexpr std::uint64_t kTreeAlignment = 8;
constexpr std::uint64_t kLarge = std::uint64_t{2} << 20; // a page of 2 MB

// The header of a RISC-V Image. Source: the kernel's documentation, "Boot image header in RISC-V
// Linux".
struct ImageHeader {
  std::uint32_t code[2];
  std::uint64_t text_offset; // from the start of memory
  std::uint64_t image_size;  // with what is zero at the start
  std::uint64_t flags;
  std::uint32_t version;
  std::uint32_t reserved1;
  std::uint64_t reserved2;
  std::uint64_t magic;
  std::uint32_t magic2;
  std::uint32_t reserved3;
};
static_assert(sizeof(ImageHeader) == 64);
constexpr std::uint32_t kMagic2 = 0x0543'5352; // "RSC" 5

std::string megabytes(std::uint64_t bytes) {
  return fmt::format("{} MB", (bytes + (1 << 20) - 1) >> 20);
}

// Where the parts of what is loaded lie. Addresses are physical.
struct Layout {
  std::uint64_t start = 0; // of the kernel
  std::uint64_t end = 0;   // behind it
  std::uint64_t entry = 0;
  std::uint64_t top = 0; // what is free ends here
};

Error too_large(const std::string &path, std::uint64_t needs, const Board &board) {
  return Error{
      fmt::format("{}: does not fit: it needs {} of the machine's {}; use a larger --memory", path,
                  megabytes(needs), megabytes(board.options().memory))};
}

// Puts bytes at the end of what is free, aligned, and moves that end.
Result<std::uint64_t> put_at_top(Board &board, Layout &layout, const std::string &path,
                                 std::string_view bytes, std::uint64_t alignment) {
  if (layout.top < layout.end || layout.top - layout.end < bytes.size() + alignment)
    return too_large(path, layout.end - map::kMemory + bytes.size() + alignment, board);
  const std::uint64_t address = (layout.top - bytes.size()) & ~(alignment - 1);
  CHECK(board.memory().write(address, std::as_bytes(std::span(bytes))));
  layout.top = address;
  return address;
}

Result<Layout> put_image(Board &board, const std::string &path, const std::string &bytes) {
  ImageHeader header{};
  std::memcpy(&header, bytes.data(), sizeof header);
  const std::uint64_t size = std::max<std::uint64_t>(header.image_size, bytes.size());
  const std::uint64_t start =
      map::kMemory + (header.text_offset != 0 && header.text_offset % kLarge == 0
                          ? header.text_offset
                          : map::kStart - map::kMemory);
  if (!board.memory().contains(start, size))
    return too_large(path, start - map::kMemory + size, board);
  CHECK(board.memory().write(start, std::as_bytes(std::span(bytes))));
  return Layout{.start = start, .end = start + size, .entry = start};
}

// A segment whose physical address is no memory: everything is moved so that the lowest one lies
// where S-mode begins (a kernel's ELF file counts from 0).
Result<Layout> put_segments(Board &board, const ElfFile &file) {
  const std::uint64_t lowest =
      std::ranges::min_element(file.segments, {}, &ElfFile::Segment::physical)->physical;
  const std::uint64_t move = board.memory().contains(lowest) ? 0 : map::kStart - lowest;
  Layout layout{.start = lowest + move};
  bool entered = false;
  for (const ElfFile::Segment &segment : file.segments) {
    const std::uint64_t address = segment.physical + move;
    if (!board.memory().contains(address, segment.memory_size))
      return Error{
          fmt::format("{}: does not fit: it wants {} at {:#x}, memory is {} at {:#x}; link "
                      "it for {:#x} or use a larger --memory",
                      file.path, megabytes(segment.memory_size), address,
                      megabytes(board.options().memory), map::kMemory, map::kStart)};
    const std::string_view bytes =
        std::string_view(file.bytes).substr(segment.offset, segment.file_size);
    CHECK(board.memory().write(address, std::as_bytes(std::span(bytes))));
    layout.end = std::max(layout.end, address + segment.memory_size);
    if (file.entry >= segment.address && file.entry - segment.address < segment.memory_size) {
      layout.entry = address + (file.entry - segment.address);
      entered = true;
    } else if (!entered && file.entry >= address && file.entry - address < segment.memory_size) {
      layout.entry = file.entry;
      entered = true;
    }
  }
  if (!entered)
    return Error{
        fmt::format("{}: its entry {:#x} lies in none of its segments; the file is damaged",
                    file.path, file.entry)};
  return layout;
}

std::array<std::uint8_t, 32> random_bytes(std::uint64_t seed) {
  std::mt19937_64 numbers(seed);
  std::array<std::uint8_t, 32> bytes{};
  for (std::uint8_t &byte : bytes)
    byte = static_cast<std::uint8_t>(numbers());
  return bytes;
}

// Puts the tree (and what it tells of) in place and starts hart 0.
Status finish(Board &board, Layout layout, const BootOptions &options) {
  layout.top = map::kMemory + board.options().memory;
  // Of small machines the end, of others the end of the first 2 GB: kernels map the tree early.
  TreeOptions tree{.harts = board.options().harts,
                   .memory = board.options().memory,
                   .virtio_slots = board.virtio_slots(),
                   .uart_is_console = board.options().console == ConsoleKind::uart,
                   .arguments = options.arguments,
                   .random = random_bytes(options.seed)};
  if (!options.initrd.empty()) {
    const Result<std::string> initrd = read_file(options.initrd);
    if (!initrd)
      return initrd.error();
    // Below it the tree, which tells where it is.
    const Result<std::uint64_t> address =
        put_at_top(board, layout, options.initrd, *initrd, kPageBytes);
    if (!address)
      return address.error();
    tree.initrd = std::pair(*address, *address + initrd->size());
  }
  std::string blob;
  if (options.tree.empty()) {
    blob = make_device_tree(tree);
  } else {
    Result<std::string> own = read_file(options.tree);
    if (!own)
      return own.error();
    if (Status whole = check_device_tree(options.tree, *own); !whole)
      return whole;
    blob = *std::move(own);
  }
  const Result<std::uint64_t> address = put_at_top(
      board, layout, options.tree.empty() ? "the device tree" : options.tree, blob, kTreeAlignment);
  if (!address)
    return address.error();
  Sbi::start(board.harts()[0], layout.entry, *address);
  return Unit{};
}

} // namespace

Result<Symbols> load_kernel(Board &board, const BootOptions &options) {
  Result<std::string> bytes = read_file(options.kernel);
  if (!bytes)
    return bytes.error();
  Symbols symbols;
  Result<Layout> layout = Layout{};
  if (ElfFile::recognised(*bytes)) {
    Result<ElfFile> file = ElfFile::parse(options.kernel, *std::move(bytes));
    if (!file)
      return file.error();
    layout = put_segments(board, *file);
    symbols = std::move(file->symbols);
  } else {
    ImageHeader header{};
    if (bytes->size() >= sizeof header)
      std::memcpy(&header, bytes->data(), sizeof header);
    if (bytes->starts_with("\x1F\x8B"))
      return Error{fmt::format("{}: is compressed; unpack it with gunzip", options.kernel)};
    if (header.magic2 != kMagic2)
      return Error{fmt::format("{}: is neither a RISC-V kernel Image nor an ELF file; a kernel's "
                               "build leaves one in arch/riscv/boot/Image",
                               options.kernel)};
    layout = put_image(board, options.kernel, *bytes);
  }
  if (!layout)
    return layout.error();
  if (Status started = finish(board, *layout, options); !started)
    return started.error();
  return symbols;
}

Result<Symbols> load_bare(Board &board, const ElfFile &program, std::uint64_t seed) {
  Result<Layout> layout = put_segments(board, program);
  if (!layout)
    return layout.error();
  if (Status started = finish(board, *layout, {.kernel = program.path, .seed = seed}); !started)
    return started.error();
  return program.symbols;
}

} // namespace tandem::machine
