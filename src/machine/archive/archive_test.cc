// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/archive/archive.h"

#include <gtest/gtest.h>

namespace tandem::machine {
namespace {

enum class Colour : std::uint8_t { red = 3, blue = 7 };

struct Inner {
  std::uint16_t number = 0;
  std::string name;
  void fields(Archive &archive) { archive(number, name); }
  bool operator==(const Inner &) const = default;
};

struct Outer {
  bool flag = false;
  Colour colour = Colour::red;
  std::array<std::uint32_t, 3> numbers{};
  std::deque<std::uint8_t> bytes;
  std::vector<Inner> inner;
  std::optional<std::uint64_t> perhaps;
  std::map<std::uint64_t, std::string> names;
  void fields(Archive &archive) { archive(flag, colour, numbers, bytes, inner, perhaps, names); }
  bool operator==(const Outer &) const = default;
};

Outer sample() {
  return {.flag = true,
          .colour = Colour::blue,
          .numbers = {1, 0xFFFF'FFFF, 3},
          .bytes = {9, 8, 7},
          .inner = {{.number = 5, .name = "five"}, {.number = 6, .name = ""}},
          .perhaps = 1ULL << 40,
          .names = {{4, "four"}, {2, "two"}}};
}

std::string saved(Outer value) {
  std::string out;
  Archive archive = Archive::writer(out);
  archive(value);
  return out;
}

TEST(Archive, ReadsWhatItWrote) {
  const std::string bytes = saved(sample());
  Archive archive = Archive::reader(bytes);
  Outer read;
  archive(read);
  EXPECT_FALSE(archive.failed());
  EXPECT_EQ(archive.left(), 0U);
  EXPECT_EQ(read, sample());
  read = sample();
  read.perhaps.reset();
  const std::string without = saved(read);
  Archive again = Archive::reader(without);
  Outer other = sample();
  again(other);
  EXPECT_EQ(other, read);
}

TEST(Archive, EveryPrefixFails) {
  const std::string bytes = saved(sample());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Archive archive = Archive::reader(std::string_view(bytes).substr(0, size));
    Outer read;
    archive(read);
    EXPECT_TRUE(archive.failed()) << size;
  }
}

TEST(Archive, ACountThatIsTooLargeAllocatesNothing) {
  const std::string bytes(8, '\xFF');
  Archive archive = Archive::reader(bytes);
  std::vector<std::uint64_t> values{1, 2};
  archive(values);
  EXPECT_TRUE(archive.failed());
  EXPECT_EQ(values.size(), 2U);
}

} // namespace
} // namespace tandem::machine
