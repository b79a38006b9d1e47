// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/library/differential.h"

#include <clocale>
#include <csignal>
#include <cstdio>
#include <string>
#include <strings.h>
#include <tandem/transaction.h>
#include <unistd.h>

extern "C" {
std::size_t _ZGTt6strlen(const char *);
std::size_t _ZGTt7strnlen(const char *, std::size_t);
void *_ZGTt6memchr(const void *, int, std::size_t);
void *_ZGTt9rawmemchr(const void *, int);
void *_ZGTt7memrchr(const void *, int, std::size_t);
int _ZGTt6memcmp(const void *, const void *, std::size_t);
int _ZGTt4bcmp(const void *, const void *, std::size_t);
int _ZGTt10__memcmpeq(const void *, const void *, std::size_t);
int _ZGTt6strcmp(const char *, const char *);
int _ZGTt7strncmp(const char *, const char *, std::size_t);
int _ZGTt10strcasecmp(const char *, const char *);
int _ZGTt11strncasecmp(const char *, const char *, std::size_t);
char *_ZGTt6strchr(const char *, int);
char *_ZGTt5index(const char *, int);
char *_ZGTt9strchrnul(const char *, int);
char *_ZGTt7strrchr(const char *, int);
char *_ZGTt6rindex(const char *, int);
std::size_t _ZGTt6strspn(const char *, const char *);
std::size_t _ZGTt7strcspn(const char *, const char *);
char *_ZGTt7strpbrk(const char *, const char *);
char *_ZGTt6strstr(const char *, const char *);
char *_ZGTt10strcasestr(const char *, const char *);
void *_ZGTt6memmem(const void *, std::size_t, const void *, std::size_t);
char *_ZGTt8strtok_r(char *, const char *, char **);
char *_ZGTt10__strtok_r(char *, const char *, char **);
char *_ZGTt6strsep(char **, const char *);
void *_ZGTt6memcpy(void *, const void *, std::size_t);
void *_ZGTt7memmove(void *, const void *, std::size_t);
void *_ZGTt6memset(void *, int, std::size_t);
void *_ZGTt7mempcpy(void *, const void *, std::size_t);
void *_ZGTt7memccpy(void *, const void *, int, std::size_t);
void _ZGTt5bzero(void *, std::size_t);
void _ZGTt14explicit_bzero(void *, std::size_t);
void _ZGTt5bcopy(const void *, void *, std::size_t);
char *_ZGTt6strcpy(char *, const char *);
char *_ZGTt6stpcpy(char *, const char *);
char *_ZGTt8__stpcpy(char *, const char *);
char *_ZGTt7strncpy(char *, const char *, std::size_t);
char *_ZGTt7stpncpy(char *, const char *, std::size_t);
char *_ZGTt6strcat(char *, const char *);
char *_ZGTt7strncat(char *, const char *, std::size_t);
char *_ZGTt10strerror_r(int, char *, std::size_t);
int _ZGTt16__xpg_strerror_r(int, char *, std::size_t);
int __xpg_strerror_r(int, char *, std::size_t);
char *_ZGTt6strtok(char *, const char *);
int _ZGTt7strcoll(const char *, const char *);
int _ZGTt9strcoll_l(const char *, const char *, locale_t);
int _ZGTt10strverscmp(const char *, const char *);
std::size_t _ZGTt7strxfrm(char *, const char *, std::size_t);
std::size_t _ZGTt9strxfrm_l(char *, const char *, std::size_t, locale_t);
int _ZGTt12strcasecmp_l(const char *, const char *, locale_t);
int _ZGTt13strncasecmp_l(const char *, const char *, std::size_t, locale_t);
char *_ZGTt8strerror(int);
char *_ZGTt10strerror_l(int, locale_t);
char *_ZGTt9strsignal(int);
int __memcmpeq(const void *, const void *, std::size_t);
// C++ has these twice.
void *plain_memchr(const void *, int, std::size_t) __asm__("memchr");
void *plain_rawmemchr(const void *, int) __asm__("rawmemchr");
void *plain_memrchr(const void *, int, std::size_t) __asm__("memrchr");
char *plain_strchrnul(const char *, int) __asm__("strchrnul");

#define CHECKED(RETURNS, LENGTH, NAME, ...)                                                        \
  RETURNS NAME(__VA_ARGS__);                                                                       \
  RETURNS _ZGTt##LENGTH##NAME(__VA_ARGS__);
CHECKED(void *, 12, __memcpy_chk, void *, const void *, std::size_t, std::size_t)
CHECKED(void *, 13, __memmove_chk, void *, const void *, std::size_t, std::size_t)
CHECKED(void *, 12, __memset_chk, void *, int, std::size_t, std::size_t)
CHECKED(void *, 13, __mempcpy_chk, void *, const void *, std::size_t, std::size_t)
CHECKED(void, 20, __explicit_bzero_chk, void *, std::size_t, std::size_t)
CHECKED(char *, 12, __strcpy_chk, char *, const char *, std::size_t)
CHECKED(char *, 12, __stpcpy_chk, char *, const char *, std::size_t)
CHECKED(char *, 13, __strncpy_chk, char *, const char *, std::size_t, std::size_t)
CHECKED(char *, 13, __stpncpy_chk, char *, const char *, std::size_t, std::size_t)
CHECKED(char *, 12, __strcat_chk, char *, const char *, std::size_t)
CHECKED(char *, 13, __strncat_chk, char *, const char *, std::size_t, std::size_t)
}

namespace tandem::library {
namespace {

// Two texts, the second of which may end with the region; few letters, so that they often agree.
struct Texts {
  explicit Texts(Random &random) {
    length = random.below(random.one_in(8) ? 600 : 24);
    other_length = random.one_in(2) ? length : random.below(40);
    place = random.below(64);
    other_place = random.one_in(2) ? Region::kBytes - other_length - 1 : 1200 + random.below(64);
    const std::uint64_t letters = random.one_in(3) ? 1 : 4;
    const auto letter = [&] {
      return random.one_in(40) ? static_cast<char>(random.below(256))
                               : "aAbB"[random.below(letters)];
    };
    before.resize(Region::kBytes);
    for (char &byte : before)
      byte = letter();
    content = before;
    for (std::size_t i = 0; i < length; ++i)
      content[place + i] = static_cast<char>(letter() | 1);
    content[place + length] = '\0';
    for (std::size_t i = 0; i < other_length; ++i)
      content[other_place + i] =
          random.one_in(12) || i >= length ? static_cast<char>(letter() | 1) : content[place + i];
    content[other_place + other_length] = '\0';
    most = random.one_in(3) ? random.below(8) : random.below(700);
    wanted = random.one_in(6) ? 0 : letter();
  }

  std::size_t length;
  std::size_t other_length;
  std::size_t place;
  std::size_t other_place;
  std::size_t most;
  int wanted;
  std::string before;
  std::string content;
};

constexpr std::uint64_t kCases = 60;

template <class Function, class Call>
void on_texts(const char *name, Function plain, Function wrapper, const Call &call) {
  const SecondThread second;
  for (std::uint64_t i = 0; i < kCases && !testing::Test::HasFailure(); ++i) {
    Random random(seed() + i * 7919);
    const Texts texts(random);
    differential(name, plain, wrapper, texts.before, texts.content, i,
                 [&](Function function, Region &region) {
                   return call(function, region, region.begin() + texts.place,
                               region.begin() + texts.other_place, texts);
                 });
  }
}

#define ON_TEXTS(LENGTH, NAME, CALL) ON_TEXTS_OF(LENGTH, NAME, NAME, CALL)
#define ON_TEXTS_OF(LENGTH, NAME, PLAIN, CALL)                                                     \
  TEST(strings, NAME) {                                                                            \
    on_texts(#NAME, static_cast<decltype(&_ZGTt##LENGTH##NAME)>(PLAIN), _ZGTt##LENGTH##NAME,       \
             [](auto f, [[maybe_unused]] Region &region, [[maybe_unused]] char *a,                 \
                [[maybe_unused]] char *b, [[maybe_unused]] const Texts &texts) -> long CALL);      \
  }

ON_TEXTS(6, strlen, { return static_cast<long>(f(a) * 1000 + f(b)); })
ON_TEXTS(7, strnlen, { return static_cast<long>(f(a, texts.most) * 1000 + f(b, texts.most)); })
ON_TEXTS_OF(6, memchr, plain_memchr, {
  // At most to the end of the region.
  return offset(region, f(a, texts.wanted, texts.most)) * 10000 +
         offset(region, f(b, texts.wanted, static_cast<std::size_t>(region.end() - b)));
})
ON_TEXTS_OF(9, rawmemchr, plain_rawmemchr, { return offset(region, f(b, 0)); })
ON_TEXTS_OF(7, memrchr, plain_memrchr, {
  return offset(region, f(b, texts.wanted, static_cast<std::size_t>(region.end() - b)));
})
ON_TEXTS(6, memcmp, { return sign(f(a, b, texts.other_length + 1)); })
ON_TEXTS(4, bcmp, { return f(a, b, texts.other_length + 1) != 0; })
ON_TEXTS(10, __memcmpeq, { return f(a, b, texts.other_length + 1) != 0; })
ON_TEXTS(6, strcmp, { return sign(f(a, b)) * 3 + sign(f(b, a)); })
ON_TEXTS(7, strncmp, { return sign(f(a, b, texts.most)) * 3 + sign(f(b, a, texts.most)); })
ON_TEXTS(10, strcasecmp, { return sign(f(a, b)) * 3 + sign(f(b, a)); })
ON_TEXTS(11, strncasecmp, { return sign(f(a, b, texts.most)); })
ON_TEXTS_OF(9, strchrnul, plain_strchrnul, { return offset(region, f(b, texts.wanted)); })
ON_TEXTS(6, strspn, { return static_cast<long>(f(a, "aA") * 1000 + f(b, a)); })
ON_TEXTS(7, strcspn, { return static_cast<long>(f(a, "B\xff") * 1000 + f(b, a)); })
ON_TEXTS(16, __xpg_strerror_r, { return f(texts.wanted, a, texts.most); })
ON_TEXTS(7, strncpy, { return offset(region, f(a, b, texts.most)); })
ON_TEXTS(7, stpncpy, { return offset(region, f(a, b, texts.most)); })
ON_TEXTS(6, memcpy, { return offset(region, f(a, b, texts.other_length)); })
ON_TEXTS(7, memmove, { return offset(region, f(a, a + texts.length / 2, texts.most)); })
ON_TEXTS(6, memset, { return offset(region, f(b, texts.wanted, texts.other_length + 1)); })
ON_TEXTS(7, mempcpy, { return offset(region, f(a, b, texts.other_length)); })
ON_TEXTS(7, memccpy, { return offset(region, f(a, b, texts.wanted, texts.other_length + 1)); })
ON_TEXTS(5, bzero, {
  f(b, texts.other_length + 1);
  return 0;
})
ON_TEXTS(14, explicit_bzero, {
  f(b, texts.other_length + 1);
  return 0;
})
ON_TEXTS(5, bcopy, {
  f(a, a + texts.length / 3, texts.most);
  return 0;
})
ON_TEXTS(6, strcpy, {
  return offset(region, f(b, a + texts.length - std::min(texts.length, texts.other_length)));
})
ON_TEXTS(6, stpcpy, { return offset(region, f(a, b)); })
ON_TEXTS(8, __stpcpy, { return offset(region, f(a, b)); })
ON_TEXTS(6, strcat, { return offset(region, f(a, b)); })
ON_TEXTS(7, strncat, { return offset(region, f(a, b, texts.most)); })
ON_TEXTS(6, memmem, { return offset(region, f(a, texts.length, b, texts.other_length % 4)); })

const locale_t utf8 = newlocale(LC_ALL_MASK, "C.UTF-8", nullptr);
ON_TEXTS(7, strcoll, { return sign(f(a, b)) * 3 + sign(f(b, a)); })
ON_TEXTS(9, strcoll_l, { return sign(f(a, b, utf8)) * 3 + sign(f(b, a, utf8)); })
ON_TEXTS(10, strverscmp, {
  // Numbers, of which some have leading zeros.
  return sign(f(a, b)) * 9 + sign(f("v1.9", "v1.10")) * 3 + sign(f("0.07", "0.1"));
})
ON_TEXTS(7, strxfrm, { return static_cast<long>(f(a, b, texts.most)); })
ON_TEXTS(9, strxfrm_l, {
  // None, or the result does not fit, just fits, or leaves a byte.
  const std::size_t room = texts.length % 4 == 0 ? 0 : texts.other_length + texts.length % 4 - 1;
  return static_cast<long>(f(a, b, room, utf8));
})
ON_TEXTS(12, strcasecmp_l, { return sign(f(a, b, utf8)) * 3 + sign(f(b, a, utf8)); })
ON_TEXTS(13, strncasecmp_l, { return sign(f(a, b, texts.most, utf8)); })

// These give back what they got, const or not.
#define ON_TEXTS_AS(LENGTH, NAME, TYPE, CALL)                                                      \
  TEST(strings, NAME) {                                                                            \
    using Function = TYPE;                                                                         \
    on_texts(#NAME, static_cast<Function>([](const char *text, auto what) {                        \
               return const_cast<char *>(NAME(text, what));                                        \
             }),                                                                                   \
             static_cast<Function>(_ZGTt##LENGTH##NAME),                                           \
             [](Function f, Region & region, [[maybe_unused]] char *a, [[maybe_unused]] char *b,   \
                [[maybe_unused]] const Texts &texts) -> long CALL);                                \
  }
using FindByte = char *(*)(const char *, int);
using FindText = char *(*)(const char *, const char *);
ON_TEXTS_AS(6, strchr, FindByte, { return offset(region, f(b, texts.wanted)); })
ON_TEXTS_AS(5, index, FindByte, { return offset(region, f(b, texts.wanted)); })
ON_TEXTS_AS(7, strrchr, FindByte, { return offset(region, f(b, texts.wanted)); })
ON_TEXTS_AS(6, rindex, FindByte, { return offset(region, f(b, texts.wanted)); })
ON_TEXTS_AS(7, strpbrk, FindText, { return offset(region, f(b, "B\x07")); })
ON_TEXTS_AS(6, strstr, FindText,
            { return offset(region, f(a, b)) * 10000 + offset(region, f(b, "aa")); })
ON_TEXTS_AS(10, strcasestr, FindText, { return offset(region, f(b, "Aa")); })

// A loop over all tokens; the variable lies in the region.
ON_TEXTS(8, strtok_r, {
  char **rest = reinterpret_cast<char **>(region.begin() + 3000);
  long all = 0;
  for (char *token = f(b, "bB", rest); token != nullptr; token = f(nullptr, "bB", rest))
    all = all * 31 + offset(region, token);
  return all;
})
ON_TEXTS(10, __strtok_r, {
  char **rest = reinterpret_cast<char **>(region.begin() + 3001); // misaligned
  return offset(region, f(b, "a", rest));
})
TEST(strings, strsep) {
  using Function = char *(*)(char **, const char *);
  on_texts("strsep", static_cast<Function>(strsep), static_cast<Function>(_ZGTt6strsep),
           [](Function f, Region &region, char *, char *b, const Texts &) -> long {
             long all = 0;
             char *rest = b; // a local variable
             while (char *token = f(&rest, "bB"))
               all = all * 31 + offset(region, token);
             return all;
           });
}

ON_TEXTS(12, __memcpy_chk, { return offset(region, f(a, b, texts.other_length, 4000)); })
ON_TEXTS(13, __memmove_chk, { return offset(region, f(a, a + 3, texts.most, 4000)); })
ON_TEXTS(12, __memset_chk, { return offset(region, f(a, texts.wanted, texts.most, 4000)); })
ON_TEXTS(13, __mempcpy_chk, { return offset(region, f(a, b, texts.other_length, 4000)); })
ON_TEXTS(20, __explicit_bzero_chk, {
  f(b, texts.other_length, 4000);
  return 0;
})
ON_TEXTS(12, __strcpy_chk, { return offset(region, f(a, b, texts.other_length + 1)); })
ON_TEXTS(12, __stpcpy_chk, { return offset(region, f(a, b, texts.other_length + 1)); })
ON_TEXTS(13, __strncpy_chk, { return offset(region, f(a, b, texts.most, texts.most)); })
ON_TEXTS(13, __stpncpy_chk, { return offset(region, f(a, b, texts.most, 4000)); })
ON_TEXTS(12, __strcat_chk,
         { return offset(region, f(a, b, texts.length + texts.other_length + 1)); })
ON_TEXTS(13, __strncat_chk, { return offset(region, f(a, b, texts.most, 4000)); })

TEST(strings, strerror_r) {
  const SecondThread second;
  char plain[64];
  static char wrapper[64];
  for (const int error : {ENOENT, 0, 12345}) {
    const std::string expected = strerror_r(error, plain, sizeof plain);
    const char *volatile got = nullptr;
    atomically([&] { got = _ZGTt10strerror_r(error, wrapper, sizeof wrapper); });
    EXPECT_EQ(expected, std::string(got));
  }
}

ON_TEXTS(6, strtok, {
  long all = 0;
  for (char *token = f(b, "bB"); token != nullptr; token = f(nullptr, "bB"))
    all = all * 31 + offset(region, token);
  return all;
})

// The content of a token, which may be what the transaction has written; "." if there is none.
std::string content_of(const char *token) {
  std::string content = token == nullptr ? "." : "";
  for (; token != nullptr; ++token) {
    const auto byte =
        static_cast<char>(tandem_read_u8(reinterpret_cast<const std::uint8_t *>(token)));
    if (byte == '\0')
      break;
    content += byte;
  }
  return content;
}

// Where strtok goes on is one place for code in transactions and outside.
TEST(strtok, goes_on_across_the_borders_of_transactions) {
  const SecondThread second;
  static char text[24];
  static std::string got;
  const auto first = [] { got = content_of(_ZGTt6strtok(text, "-")); };
  const auto next = [] { got += content_of(_ZGTt6strtok(nullptr, "-")); };
  const auto next_plain = [] { got += content_of(std::strtok(nullptr, "-")); };

  std::strcpy(text, "a-bc--def-"); // begun inside
  atomically(first);
  EXPECT_EQ(std::memcmp(text, "a\0bc--def-", 11), 0) << "nothing else has changed";
  next_plain();
  next_plain();
  next_plain();
  EXPECT_EQ(got, "abcdef.");

  std::strcpy(text, "a-bc"); // to the end of the text, which the next call finds
  atomically([&] {
    first();
    next();
  });
  next_plain();
  EXPECT_EQ(got, "abc.");

  std::strcpy(text, "a-bc--def-"); // begun outside
  got = content_of(std::strtok(text, "-"));
  atomically([&] {
    got.resize(1);
    next();
    EXPECT_EQ(tandem_in_transaction(), TANDEM_IRREVOCABLE);
    next();
  });
  next_plain();
  EXPECT_EQ(got, "abcdef.");

  std::strcpy(text, "a-bc--def-"); // irrevocable in the middle
  atomically([&] {
    first();
    tandem_become_irrevocable();
    next();
  });
  next_plain();
  EXPECT_EQ(got, "abcdef");

  std::strcpy(text, "a-bc--def-"); // all in one: nothing makes it irrevocable
  atomically(
      [&] {
        first();
        for (int i = 0; i < 4; ++i)
          next();
        EXPECT_EQ(tandem_in_transaction(), TANDEM_REVOCABLE);
      },
      true);
  EXPECT_EQ(got, "abcdef..");
}

TEST(strtok, is_undone) {
  const SecondThread second;
  static char text[24];
  static char outside[8];
  static std::string got;
  std::strcpy(text, "a-bc--def-");
  std::strcpy(outside, "x-y");
  EXPECT_STREQ(std::strtok(outside, "-"), "x");
  EXPECT_FALSE(atomically(
      [] {
        _ZGTt6strtok(text, "-");
        undo();
      },
      true));
  EXPECT_STREQ(text, "a-bc--def-");
  EXPECT_STREQ(std::strtok(nullptr, "-"), "y") << "as if it had not been";

  atomically(
      [] {
        got = content_of(_ZGTt6strtok(text, "-"));
        EXPECT_FALSE(atomically(
            [] {
              EXPECT_EQ(content_of(_ZGTt6strtok(nullptr, "-")), "bc");
              undo();
            },
            true));
        got += content_of(_ZGTt6strtok(nullptr, "-"));
        while (_ZGTt6strtok(nullptr, "-") != nullptr) {
        }
      },
      true);
  EXPECT_EQ(got, "abc");
}

TEST(strtok, may_leave_a_text_of_a_frame_that_is_gone) {
  const SecondThread second;
  static char first;
  const auto split = [](std::size_t depth) __attribute__((noinline)) {
    char text[4096];
    std::memset(text, 'x', sizeof text);
    text[depth + 1] = '-';
    text[sizeof text - 1] = '\0';
    first = *_ZGTt6strtok(text + depth, "-");
  };
  for (std::size_t depth = 0; depth < 4000; depth += 16)
    atomically([&] { split(depth); });
  EXPECT_EQ(first, 'x');
}

// What these return is the C library's: the same texts, and only numbers that have none of their
// own need a transaction that is not undone.
TEST(strings, strerror_and_strsignal) {
  const SecondThread second;
  errno = kErrorBefore;
  for (const int number : {0, ENOENT, SIGTERM}) {
    static const char *error;
    static const char *translated;
    static const char *signal;
    EXPECT_FALSE(atomically(
        [&] {
          error = _ZGTt8strerror(number);
          translated = _ZGTt10strerror_l(number, utf8);
          signal = number == ENOENT ? nullptr : _ZGTt9strsignal(number == 0 ? SIGHUP : number);
          EXPECT_EQ(tandem_in_transaction(), TANDEM_REVOCABLE);
          // Inside: hardware undoes plain writes as well.
          EXPECT_EQ(error, std::strerror(number));
          EXPECT_EQ(translated, strerror_l(number, utf8));
          if (signal != nullptr)
            EXPECT_EQ(signal, strsignal(number == 0 ? SIGHUP : number));
          undo();
        },
        true));
  }
  for (const int number : {-1, 12345, 77777}) {
    static std::string error;
    static std::string translated;
    static std::string signal;
    atomically([&] {
      error = _ZGTt8strerror(number);
      EXPECT_EQ(tandem_in_transaction(), TANDEM_IRREVOCABLE);
      translated = _ZGTt10strerror_l(number, utf8);
      signal = _ZGTt9strsignal(number);
    });
    EXPECT_EQ(error, std::strerror(number));
    EXPECT_EQ(translated, strerror_l(number, utf8));
    EXPECT_EQ(signal, strsignal(number));
  }
  for (const auto make_text : {+[](int number) { return _ZGTt10strerror_l(number, utf8); },
                               +[](int number) { return _ZGTt9strsignal(number); }})
    atomically([&] {
      make_text(4321);
      EXPECT_EQ(tandem_in_transaction(), TANDEM_IRREVOCABLE);
    });
  EXPECT_EQ(errno, kErrorBefore);
}

TEST(strings_death, an_overflow_ends_the_process_as_it_does_outside) {
  const SecondThread second;
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  static char small[8];
  EXPECT_DEATH(atomically([] { _ZGTt12__strcpy_chk(small, "much too long", sizeof small); }),
               "buffer overflow detected");
}

} // namespace
} // namespace tandem::library
