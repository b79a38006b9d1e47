// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Character classes and the order of bytes.
#include "runtime/library/differential.h"

#include <arpa/inet.h>
#include <cctype>
#include <climits>
#include <cstdio>
#include <vector>

extern "C" {
int _ITM_inTransaction();
std::uint16_t _ITM_RU2(const std::uint16_t *address);
std::uint32_t _ITM_RU4(const std::uint32_t *address);
void _ITM_WU4(std::uint32_t *address, std::uint32_t value);
}

namespace tandem::library {
namespace {

// These have no wrappers: a transaction calls the functions themselves, and looks into the tables
// of the classes as into any memory.
constexpr std::size_t kNumbers = 300;

// By barriers in a transaction, as compilers make of the same code.
struct Access {
  bool in_transactions;
  [[nodiscard]] bool plain() const { return !in_transactions || _ITM_inTransaction() == 0; }
  [[nodiscard]] std::uint16_t load(const std::uint16_t *from) const {
    return plain() ? *from : _ITM_RU2(from);
  }
  [[nodiscard]] std::uint32_t load(const std::uint32_t *from) const {
    return plain() ? *from : _ITM_RU4(from);
  }
  void store(std::uint32_t *to, std::uint32_t value) const {
    if (plain())
      *to = value;
    else
      _ITM_WU4(to, value);
  }
};

// function(access, number), of each of `numbers`, which the region has.
template <class Function>
void on_each(const char *name, const std::vector<std::uint32_t> &numbers, Function function) {
  ASSERT_LE(numbers.size(), kNumbers);
  const SecondThread second;
  const std::string before(Region::kBytes, '\x5a');
  std::string content = before;
  std::memcpy(content.data(), numbers.data(), numbers.size() * sizeof(std::uint32_t));
  const auto call = [&](Access access, Region &region) {
    auto *number = reinterpret_cast<std::uint32_t *>(region.begin());
    long sum = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const auto result = static_cast<std::uint32_t>(function(access, access.load(number + i)));
      access.store(number + kNumbers + i, result);
      sum += result;
    }
    return sum;
  };
  for (std::uint64_t i = 0; i < 4; ++i)
    differential(name, Access{false}, Access{true}, before, content, seed() + i, call);
}

// EOF and every unsigned char.
std::vector<std::uint32_t> characters() {
  std::vector<std::uint32_t> all = {static_cast<std::uint32_t>(EOF)};
  for (std::uint32_t character = 0; character <= UCHAR_MAX; ++character)
    all.push_back(character);
  return all;
}

#define ON_CHARACTERS(NAME)                                                                        \
  on_each(#NAME, characters(),                                                                     \
          [](Access, std::uint32_t character) { return (NAME)(static_cast<int>(character)); })

TEST(characters, classes) {
  ON_CHARACTERS(isalnum);
  ON_CHARACTERS(isalpha);
  ON_CHARACTERS(isascii);
  ON_CHARACTERS(isblank);
  ON_CHARACTERS(iscntrl);
  ON_CHARACTERS(isdigit);
  ON_CHARACTERS(isgraph);
  ON_CHARACTERS(islower);
  ON_CHARACTERS(isprint);
  ON_CHARACTERS(ispunct);
  ON_CHARACTERS(isspace);
  ON_CHARACTERS(isupper);
  ON_CHARACTERS(isxdigit);
}

TEST(characters, cases) {
  ON_CHARACTERS(tolower);
  ON_CHARACTERS(toupper);
  ON_CHARACTERS(toascii);
}

// As the macros and inline functions of ctype.h look into them.
TEST(characters, tables) {
  on_each("__ctype_b_loc", characters(), [](Access access, std::uint32_t character) {
    return access.load(*__ctype_b_loc() + static_cast<int>(character));
  });
  const auto of = [](auto table) {
    return [table](Access access, std::uint32_t character) {
      const __int32_t *entry = *table() + static_cast<int>(character);
      return access.load(reinterpret_cast<const std::uint32_t *>(entry));
    };
  };
  on_each("__ctype_tolower_loc", characters(), of(__ctype_tolower_loc));
  on_each("__ctype_toupper_loc", characters(), of(__ctype_toupper_loc));
}

TEST(the_order_of_bytes, htons_and_relatives) {
  std::vector<std::uint32_t> numbers = {
      0, 1, 0xff, 0x100, 0x1234, 0xffff, 0x10000, 0x12345678, 0x7fffffff, 0x80000000, 0xffffffff};
  Random random(seed());
  while (numbers.size() < kNumbers)
    numbers.push_back(static_cast<std::uint32_t>(random.below(std::uint64_t{1} << 32)));
  on_each("htonl", numbers, [](Access, std::uint32_t number) { return (htonl)(number); });
  on_each("ntohl", numbers, [](Access, std::uint32_t number) { return (ntohl)(number); });
  on_each("htons", numbers,
          [](Access, std::uint32_t number) { return (htons)(static_cast<std::uint16_t>(number)); });
  on_each("ntohs", numbers,
          [](Access, std::uint32_t number) { return (ntohs)(static_cast<std::uint16_t>(number)); });
}

} // namespace
} // namespace tandem::library
