// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/proxy/load.h"

#include "machine/platform/map.h"

#include <algorithm>
#include <array>
#include <elf.h>
#include <utility>

namespace tandem::machine::proxy {
namespace {

constexpr std::uint64_t kPageMask = kPageBytes - 1;
// Where position independent programs are put: as Linux does without randomisation, two thirds of
// the way up.
constexpr std::uint64_t kBias = 0x2A'AAAA'A000;
// The stack ends below the pages at the end of the address space, which stay free but for the
// signal trampoline.
// Strings fill whole pieces of this size, so that places on the stack do not depend on the length
// of a path.
constexpr std::uint64_t kStringsBytes = 64 << 10;
constexpr std::uint64_t kStackEnd = AddressSpace::kEnd - 16 * kPageBytes;
constexpr std::uint64_t kStack = std::uint64_t{8} << 20;
// Letters of the ISA as AT_HWCAP has them: a, c, d, f, i, m; x, for what is not standard: the
// transactions.
constexpr std::uint64_t kCapabilities = 1U << ('a' - 'a') | 1U << ('c' - 'a') | 1U << ('d' - 'a') |
                                        1U << ('f' - 'a') | 1U << ('i' - 'a') | 1U << ('m' - 'a') |
                                        1U << ('x' - 'a');

Error does_not_fit(const ElfFile &program) {
  return Error{fmt::format("{}: does not fit into the machine's memory; use a larger --memory",
                           program.path)};
}

Status map_segments(Kernel &kernel, const ElfFile &program, std::uint64_t bias) {
  AddressSpace &space = kernel.space();
  // Written with all rights, then given its own: a page may be of two segments, and has then the
  // rights of both.
  std::map<std::uint64_t, Protection> pages;
  for (const ElfFile::Segment &segment : program.segments) {
    const std::uint64_t start = (segment.address + bias) & ~kPageMask;
    const std::uint64_t end =
        (segment.address + bias + segment.memory_size + kPageMask) & ~kPageMask;
    if (start < AddressSpace::kLowest || end > kStackEnd - kStack)
      return Error{
          fmt::format("{}: wants the addresses {:#x} to {:#x}, which are not for programs; "
                      "link it with the linker's default addresses",
                      program.path, start, end)};
    for (std::uint64_t page = start; page < end; page += kPageBytes) {
      // A mapping for each page of a segment of gigabytes would take for ever: whole ones below.
      Protection &rights = pages[page];
      rights.read |= segment.readable;
      rights.write |= segment.writable;
      rights.execute |= segment.executable;
    }
  }
  for (auto at = pages.begin(); at != pages.end();) {
    const std::uint64_t start = at->first;
    const Protection rights = at->second;
    std::uint64_t end = start;
    for (; at != pages.end() && at->first == end && at->second == rights; ++at)
      end += kPageBytes;
    space.map(start, end - start,
              {.protection = {.read = true, .write = true}, .name = program.path});
  }
  for (const ElfFile::Segment &segment : program.segments) {
    const std::string_view bytes =
        std::string_view(program.bytes).substr(segment.offset, segment.file_size);
    if (!space.write(segment.address + bias, std::as_bytes(std::span(bytes))))
      return does_not_fit(program);
  }
  for (auto at = pages.begin(); at != pages.end();) {
    const std::uint64_t start = at->first;
    const Protection rights = at->second;
    std::uint64_t end = start;
    for (; at != pages.end() && at->first == end && at->second == rights; ++at)
      end += kPageBytes;
    CHECK(space.protect(start, end - start, rights));
  }
  return Unit{};
}

// Grows downwards; nothing is aligned but by align().
class Stack {
public:
  Stack(AddressSpace &space, std::uint64_t top) : space_(&space), at_(top) {}

  std::uint64_t push(std::span<const std::byte> bytes) {
    at_ -= bytes.size();
    ok_ = ok_ && space_->write(at_, bytes);
    return at_;
  }
  std::uint64_t push(const std::string &text) {
    return push(std::as_bytes(std::span(text.c_str(), text.size() + 1)));
  }
  void align(std::uint64_t to) { at_ &= ~(to - 1); }
  [[nodiscard]] std::uint64_t at() const { return at_; }
  [[nodiscard]] bool ok() const { return ok_; }

private:
  AddressSpace *space_;
  std::uint64_t at_;
  bool ok_ = true;
};

// Argument count, arguments, environment, auxiliary vector. Gives the stack pointer.
Result<std::uint64_t> fill_stack(Kernel &kernel, const ElfFile &program, std::uint64_t bias) {
  Stack stack(kernel.space(), kStackEnd - 16);
  std::array<std::uint64_t, 2> random{};
  for (std::uint64_t &number : random)
    number = kernel.random();
  const std::uint64_t name = stack.push(program.path);
  std::vector<std::uint64_t> words;
  std::vector<std::uint64_t> environment;
  words.push_back(kernel.options().arguments.size());
  for (const std::string &argument : kernel.options().arguments)
    words.push_back(stack.push(argument));
  words.push_back(0);
  for (const std::string &variable : kernel.options().environment)
    words.push_back(stack.push(variable));
  words.push_back(0);
  stack.align(kStringsBytes);
  const std::uint64_t bytes = stack.push(std::as_bytes(std::span(random)));
  std::uint64_t headers = 0; // where the program headers lie in memory
  for (const ElfFile::Segment &segment : program.segments)
    if (program.headers >= segment.offset && program.headers - segment.offset < segment.file_size)
      headers = segment.address + bias + (program.headers - segment.offset);
  const std::pair<std::uint64_t, std::uint64_t> vector[] = {
      {AT_HWCAP, kCapabilities},
      {AT_PAGESZ, kPageBytes},
      {AT_CLKTCK, 100},
      {AT_PHDR, headers},
      {AT_PHENT, program.header_size},
      {AT_PHNUM, program.header_count},
      {AT_BASE, 0},
      {AT_FLAGS, 0},
      {AT_ENTRY, program.entry + bias},
      {AT_UID, kUserId},
      {AT_EUID, kUserId},
      {AT_GID, kUserId},
      {AT_EGID, kUserId},
      {AT_SECURE, 0},
      {AT_RANDOM, bytes},
      {AT_EXECFN, name},
      {AT_NULL, 0},
  };
  for (const auto &[type, value] : vector) {
    words.push_back(type);
    words.push_back(value);
  }
  if (words.size() % 2 != 0) {
    // The count is to be aligned to 16: what is missing goes behind everything.
    stack.push(std::as_bytes(std::span(&words[0], 1)));
  }
  stack.push(std::as_bytes(std::span(words)));
  if (!stack.ok())
    return does_not_fit(program);
  return stack.at();
}

} // namespace

bool is_bare(const ElfFile &program) {
  return !program.relocatable && program.interpreter.empty() && program.lowest() >= map::kMemory &&
         program.lowest() < map::kMemory + (1ULL << 32);
}

std::uint64_t bias_of(const ElfFile &program) {
  return program.relocatable ? kBias - (program.lowest() & ~kPageMask) : 0;
}

Status load_program(Kernel &kernel, const ElfFile &program) {
  if (!program.interpreter.empty())
    return Error{fmt::format("{}: is dynamically linked (by {}); the proxy kernel runs static "
                             "programs: link it with -static",
                             program.path, program.interpreter)};
  const std::uint64_t bias = bias_of(program);
  std::uint64_t total = 0;
  for (const ElfFile::Segment &segment : program.segments)
    total += segment.memory_size;
  if (total > kernel.space().frames().total() * kPageBytes)
    return does_not_fit(program);
  if (Status mapped = map_segments(kernel, program, bias); !mapped)
    return mapped;
  kernel.break_start = kernel.break_end = (program.highest() + bias + kPageMask) & ~kPageMask;
  kernel.name = program.path.substr(program.path.rfind('/') + 1).substr(0, 15);
  kernel.space().map(kStackEnd - kStack, kStack,
                     {.protection = {.read = true, .write = true}, .name = "[stack]"});
  const Result<std::uint64_t> sp = fill_stack(kernel, program, bias);
  if (!sp)
    return sp.error();
  Thread first;
  first.pc = program.entry + bias;
  first.x[2] = *sp;
  CHECK(kernel.threads().add(first) != nullptr);
  return Unit{};
}

} // namespace tandem::machine::proxy
