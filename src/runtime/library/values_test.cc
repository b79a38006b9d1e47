// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers, formatted text, sorting, memory, the time.
#include "runtime/library/differential.h"

#include <algorithm>
#include <cinttypes>
#include <clocale>
#include <cstdarg>
#include <cstdio>
#include <cwchar>
#include <malloc.h>
#include <sys/time.h>
#include <vector>

#define BOTH(RETURNS, LENGTH, NAME, ...)                                                           \
  RETURNS plain_##NAME(__VA_ARGS__) __asm__(#NAME);                                                \
  RETURNS _ZGTt##LENGTH##NAME(__VA_ARGS__);
extern "C" {
BOTH(long, 6, strtol, const char *, char **, int)
BOTH(long long, 7, strtoll, const char *, char **, int)
BOTH(unsigned long, 7, strtoul, const char *, char **, int)
BOTH(unsigned long long, 8, strtoull, const char *, char **, int)
BOTH(std::intmax_t, 9, strtoimax, const char *, char **, int)
BOTH(std::uintmax_t, 9, strtoumax, const char *, char **, int)
BOTH(long long, 6, strtoq, const char *, char **, int)
BOTH(unsigned long long, 7, strtouq, const char *, char **, int)
BOTH(double, 6, strtod, const char *, char **)
BOTH(float, 6, strtof, const char *, char **)
BOTH(long double, 7, strtold, const char *, char **)
BOTH(int, 4, atoi, const char *)
BOTH(long, 4, atol, const char *)
BOTH(long long, 5, atoll, const char *)
BOTH(double, 4, atof, const char *)
BOTH(int, 8, snprintf, char *, std::size_t, const char *, ...)
BOTH(int, 7, sprintf, char *, const char *, ...)
BOTH(int, 9, vsnprintf, char *, std::size_t, const char *, va_list)
BOTH(int, 8, vsprintf, char *, const char *, va_list)
BOTH(int, 8, asprintf, char **, const char *, ...)
BOTH(int, 9, vasprintf, char **, const char *, va_list)
BOTH(int, 14, __snprintf_chk, char *, std::size_t, int, std::size_t, const char *, ...)
BOTH(int, 13, __sprintf_chk, char *, int, std::size_t, const char *, ...)
BOTH(int, 15, __vsnprintf_chk, char *, std::size_t, int, std::size_t, const char *, va_list)
BOTH(int, 14, __vsprintf_chk, char *, int, std::size_t, const char *, va_list)
BOTH(int, 14, __asprintf_chk, char **, int, const char *, ...)
BOTH(int, 15, __vasprintf_chk, char **, int, const char *, va_list)
BOTH(void, 5, qsort, void *, std::size_t, std::size_t, int (*)(const void *, const void *))
BOTH(void *, 7, bsearch, const void *, const void *, std::size_t, std::size_t,
     int (*)(const void *, const void *))
BOTH(void *, 6, malloc, std::size_t)
BOTH(void *, 6, calloc, std::size_t, std::size_t)
BOTH(void, 4, free, void *)
BOTH(void *, 7, realloc, void *, std::size_t)
BOTH(void *, 12, reallocarray, void *, std::size_t, std::size_t)
BOTH(void *, 13, aligned_alloc, std::size_t, std::size_t)
BOTH(void *, 8, memalign, std::size_t, std::size_t)
BOTH(void *, 6, valloc, std::size_t)
BOTH(int, 14, posix_memalign, void **, std::size_t, std::size_t)
BOTH(std::size_t, 18, malloc_usable_size, void *)
BOTH(char *, 6, strdup, const char *)
BOTH(char *, 7, strndup, const char *, std::size_t)
BOTH(char *, 8, __strdup, const char *)
BOTH(char *, 9, __strndup, const char *, std::size_t)
BOTH(std::time_t, 4, time, std::time_t *)
BOTH(int, 12, gettimeofday, struct timeval *, void *)
BOTH(int, 13, clock_gettime, clockid_t, struct timespec *)
BOTH(int, 12, clock_getres, clockid_t, struct timespec *)
void *_ZGTtnwmSt11align_val_t(std::size_t, std::size_t);
void *_ZGTtnamSt11align_val_t(std::size_t, std::size_t);
void *_ZGTtnwmSt11align_val_tRKSt9nothrow_t(std::size_t, std::size_t, const std::nothrow_t *);
void *_ZGTtnamSt11align_val_tRKSt9nothrow_t(std::size_t, std::size_t, const std::nothrow_t *);
void _ZGTtdaPvm(void *, std::size_t);
void _ZGTtdlPvSt11align_val_t(void *, std::size_t);
void _ZGTtdaPvSt11align_val_t(void *, std::size_t);
void _ZGTtdlPvmSt11align_val_t(void *, std::size_t, std::size_t);
void _ZGTtdaPvmSt11align_val_t(void *, std::size_t, std::size_t);
std::uint32_t _ITM_RU4(const std::uint32_t *address);
void _ITM_registerTMCloneTable(void *entries, std::size_t size);
void _ITM_deregisterTMCloneTable(void *entries);
}

namespace tandem::library {
namespace {

// ---- numbers

std::string number_text(Random &random) {
  static const char *const whole[] = {"0",
                                      "-1",
                                      "+7x",
                                      "0x1fG",
                                      "077",
                                      "9223372036854775807",
                                      "9223372036854775808",
                                      "-9223372036854775809",
                                      "18446744073709551616",
                                      "99999999999999999999999",
                                      "",
                                      "-",
                                      "+-3",
                                      "0x",
                                      "zZ",
                                      "  \t\n 42",
                                      " 1 2",
                                      "1.5e3",
                                      "-.5",
                                      "1e999",
                                      "-1e999",
                                      "1e-999",
                                      "inf",
                                      "-INFINITY!",
                                      "nan",
                                      "nan(12_a)",
                                      "nan(12",
                                      "NaN(-)",
                                      "0x1.8p3",
                                      "0x.p1",
                                      "1e+",
                                      "1e5.5",
                                      "4.9e-324",
                                      "1,5",
                                      "1.7976931348623157e309",
                                      "-2147483649"};
  if (random.one_in(2))
    return whole[random.below(std::size(whole))];
  std::string text(random.below(3), ' ');
  for (std::size_t i = random.below(random.one_in(6) ? 500 : 24); i > 0; --i)
    text += "0123456789-+.exXabFpnif()_"[random.below(random.one_in(3) ? 26 : 11)];
  return text;
}

// The text ends with the region; `end` lies in the region, at any alignment.
template <class Function, class Call>
void on_numbers(const char *name, Function plain, Function wrapper, const Call &call) {
  const SecondThread second;
  for (std::uint64_t i = 0; i < 300 && !testing::Test::HasFailure(); ++i) {
    Random random(seed() + i * 104729);
    std::string before(Region::kBytes, '5');
    std::string content = before;
    const std::string text = number_text(random);
    const std::size_t place =
        random.one_in(2) ? Region::kBytes - text.size() - 1 : 512 + random.below(16);
    content.replace(place, text.size() + 1, text.c_str(), text.size() + 1);
    const std::size_t end = 64 + random.below(9);
    const bool with_end = !random.one_in(4);
    const int bases[] = {10, 10, 0, 16, 8, 36, 2, 1};
    const int base = bases[random.below(8)];
    differential(name, plain, wrapper, before, content, i, [&](Function function, Region &region) {
      auto **stop = with_end ? reinterpret_cast<char **>(region.begin() + end) : nullptr;
      return call(function, region.begin() + place, stop, base);
    });
  }
}

#define ON_NUMBERS(LENGTH, NAME, CALL)                                                             \
  TEST(numbers, NAME) {                                                                            \
    on_numbers(#NAME, plain_##NAME, _ZGTt##LENGTH##NAME,                                           \
               [](auto f, const char *text, [[maybe_unused]] char **end,                           \
                  [[maybe_unused]] int base) -> long CALL);                                        \
  }
// What the bits are: nan is not equal to itself.
template <class T> long bits(T value) {
  char text[64];
  std::snprintf(text, sizeof text, "%La", static_cast<long double>(value));
  long all = 0;
  for (const char *at = text; *at != '\0'; ++at)
    all = all * 131 + *at;
  return all;
}

ON_NUMBERS(6, strtol, { return f(text, end, base); })
ON_NUMBERS(7, strtoll, { return static_cast<long>(f(text, end, base)); })
ON_NUMBERS(7, strtoul, { return static_cast<long>(f(text, end, base)); })
ON_NUMBERS(8, strtoull, { return static_cast<long>(f(text, end, base)); })
ON_NUMBERS(9, strtoimax, { return f(text, end, base); })
ON_NUMBERS(9, strtoumax, { return static_cast<long>(f(text, end, base)); })
ON_NUMBERS(6, strtoq, { return static_cast<long>(f(text, end, base)); })
ON_NUMBERS(7, strtouq, { return static_cast<long>(f(text, end, base)); })
ON_NUMBERS(6, strtod, { return bits(f(text, end)); })
ON_NUMBERS(6, strtof, { return bits(f(text, end)); })
ON_NUMBERS(7, strtold, { return bits(f(text, end)); })
ON_NUMBERS(4, atoi, { return f(text); })
ON_NUMBERS(4, atol, { return f(text); })
ON_NUMBERS(5, atoll, { return static_cast<long>(f(text)); })
ON_NUMBERS(4, atof, { return bits(f(text)); })

// ---- formatted text

constexpr std::size_t kText = 1000;   // where arguments lie in the region
constexpr std::size_t kFormat = 2000; // where the format lies
constexpr std::size_t kWide = 3000;   // aligned

// print(function, to, bytes, format, text, wide, count): one call with many arguments.
template <class Function, class Print>
void on_formats(const char *name, Function plain, Function wrapper, const std::string &format,
                const Print &print) {
  static std::uint64_t number = 0;
  Random random(seed() + ++number);
  std::string before(Region::kBytes, '.');
  std::string content = before;
  std::string text;
  for (std::size_t i = random.below(random.one_in(4) ? 900 : 30); i > 0; --i)
    text += static_cast<char>('a' + random.below(26));
  content.replace(kText, text.size() + 1, text.c_str(), text.size() + 1);
  content.replace(kFormat, format.size() + 1, format.c_str(), format.size() + 1);
  for (std::size_t i = 0; i < 6; ++i) {
    const wchar_t letter = i == 5 ? L'\0' : static_cast<wchar_t>(L'A' + random.below(20));
    std::memcpy(content.data() + kWide + i * sizeof letter, &letter, sizeof letter);
  }
  const std::size_t bytes = random.one_in(3) ? random.below(16) : 990;
  differential(name, plain, wrapper, before, content, number,
               [&](Function f, Region &region) -> long {
                 char *begin = region.begin();
                 return print(f, begin, bytes, begin + kFormat, begin + kText,
                              reinterpret_cast<wchar_t *>(begin + kWide), begin + 3500);
               });
}

int by_list(int (*f)(char *, std::size_t, const char *, va_list), char *to, std::size_t bytes,
            const char *format, ...) {
  va_list list;
  va_start(list, format);
  const int result = f(to, bytes, format, list);
  va_end(list);
  return result;
}

#define ON_FORMAT(FORMAT, ...)                                                                     \
  on_formats("snprintf", plain_snprintf, _ZGTt8snprintf, FORMAT,                                   \
             [&](auto f, char *to, std::size_t bytes, const char *format,                          \
                 [[maybe_unused]] const char *text, [[maybe_unused]] wchar_t *wide,                \
                 [[maybe_unused]] void *count) {                                                   \
               return f(to, bytes, format __VA_OPT__(, ) __VA_ARGS__);                             \
             });                                                                                   \
  on_formats("vsnprintf", plain_vsnprintf, _ZGTt9vsnprintf, FORMAT,                                \
             [&](auto f, char *to, std::size_t bytes, const char *format,                          \
                 [[maybe_unused]] const char *text, [[maybe_unused]] wchar_t *wide,                \
                 [[maybe_unused]] void *count) {                                                   \
               return by_list(f, to, bytes, format __VA_OPT__(, ) __VA_ARGS__);                    \
             })

TEST(formats, every_conversion) {
  const SecondThread second;
  for (int round = 0; round < 4; ++round) {
    ON_FORMAT("plain text, 100%%");
    ON_FORMAT("%d|%5i|%-8u|%+o|%#x|%X|% d", -1, 22, 33U, 44U, 0xbeefU, 0xfaceU, 7);
    ON_FORMAT("%hhd %hd %ld %lld %jd %zd %td %qd", 300, 70000, 1L << 40, 1LL << 50,
              std::intmax_t{5}, std::size_t{6}, std::ptrdiff_t{-7}, 8LL);
    ON_FORMAT("%f %e %g %a %.3F %10.2E %-12G|", 1.5, 2.5e10, 3.25, 0.1, 1.0 / 3, 12345.678, 9e99);
    ON_FORMAT("%Lf %Lg %d %Le", 1.25L, 3e4000L, 17, -2.5L);
    ON_FORMAT("%d %Lf %f %s %Lf %d", 1, 2.0L, 3.0, text, 4.0L, 5);
    ON_FORMAT("%s", text);
    ON_FORMAT("<%10s|%-10s|%.3s|%.*s|%*s>", text, text, text, 4, text, 12, text);
    ON_FORMAT("%.*s|%.*s", -1, text, 0, text);
    ON_FORMAT("%s %s %s %s %s %s %s %s %s", text, text, text, text, text, text, text, text, text);
    ON_FORMAT("%1$s %3$d %2$.2s %1$.1s %3$x", text, text, 77);
    ON_FORMAT("%2$*1$d %4$.*3$s", 9, 55, 3, text);
    ON_FORMAT("%c%c%3c", 'x', 'y', 'z');
    ON_FORMAT("%ls|%.2ls|%S|%lc", wide, wide, wide, static_cast<wint_t>(L'q'));
    ON_FORMAT("%p %s", static_cast<void *>(nullptr), static_cast<const char *>(nullptr));
    ON_FORMAT("%s%n and %d%hhn", text, static_cast<int *>(count), 3,
              static_cast<signed char *>(count) + 5);
    ON_FORMAT("%ln%d", static_cast<long *>(count), 1);
    ON_FORMAT("%m with %d", 4);
    ON_FORMAT("%'d %05d %+.2d %-5d| %#o", 1234567, 42, 3, 4, 8U);
    ON_FORMAT("%.600d", 5);
    ON_FORMAT("%700s", text);
  }
}

// A text without terminator, of which a precision takes part: nothing behind it is read.
TEST(formats, precision_bounds_what_is_read) {
  const SecondThread second;
  static Region region;
  static char out[32];
  std::memcpy(region.end() - 5, "abcde", 5);
  atomically([] {
    _ZGTt8snprintf(out, sizeof out, "[%.5s][%.*s]", region.end() - 5, 3, region.end() - 3);
  });
  EXPECT_STREQ(out, "[abcde][cde]");
}

// What only glibc can say runs irrevocably, and the same.
TEST(formats, unknown_conversions) {
  const SecondThread second;
  for (const char *format : {"%", "%y %d", "%!"}) {
    char expected[64] = {};
    static char out[64];
    std::memset(out, 0, sizeof out);
    const int length = plain_snprintf(expected, sizeof expected, format, 3);
    volatile int got = 0;
    static const char *given;
    given = format;
    atomically([&] { got = _ZGTt8snprintf(out, sizeof out, given, 3); });
    EXPECT_EQ(got, length) << format;
    EXPECT_STREQ(out, expected);
  }
}

TEST(formats, the_rest_of_the_family) {
  const SecondThread second;
  const std::string format = "%s=%d %.2f";
  on_formats("sprintf", plain_sprintf, _ZGTt7sprintf, format,
             [](auto f, char *to, std::size_t, const char *g, const char *text, wchar_t *, void *) {
               return f(to, g, text, 5, 2.5);
             });
  on_formats("__sprintf_chk", plain___sprintf_chk, _ZGTt13__sprintf_chk, format,
             [](auto f, char *to, std::size_t, const char *g, const char *text, wchar_t *, void *) {
               return f(to, 1, 990, g, text, 5, 2.5);
             });
  on_formats("__snprintf_chk", plain___snprintf_chk, _ZGTt14__snprintf_chk, format,
             [](auto f, char *to, std::size_t bytes, const char *g, const char *text, wchar_t *,
                void *) { return f(to, bytes, 1, 990, g, text, 5, 2.5); });
  on_formats("vsprintf", plain_vsprintf, _ZGTt8vsprintf, format,
             [](auto f, char *to, std::size_t, const char *g, const char *text, wchar_t *, void *) {
               const auto call = [&](const char *h, ...) {
                 va_list list;
                 va_start(list, h);
                 const int result = f(to, h, list);
                 va_end(list);
                 return result;
               };
               return call(g, text, 5, 2.5);
             });
  on_formats("__vsprintf_chk", plain___vsprintf_chk, _ZGTt14__vsprintf_chk, format,
             [](auto f, char *to, std::size_t, const char *g, const char *text, wchar_t *, void *) {
               const auto call = [&](const char *h, ...) {
                 va_list list;
                 va_start(list, h);
                 const int result = f(to, 1, 990, h, list);
                 va_end(list);
                 return result;
               };
               return call(g, text, 5, 2.5);
             });
  on_formats(
      "__vsnprintf_chk", plain___vsnprintf_chk, _ZGTt15__vsnprintf_chk, format,
      [](auto f, char *to, std::size_t bytes, const char *g, const char *text, wchar_t *, void *) {
        const auto call = [&](const char *h, ...) {
          va_list list;
          va_start(list, h);
          const int result = f(to, bytes, 1, 990, h, list);
          va_end(list);
          return result;
        };
        return call(g, text, 5, 2.5);
      });
}

template <class Function, class Print>
void allocates_text(const char *name, Function plain, Function wrapper, const Print &print) {
  SCOPED_TRACE(name);
  static char text[] = "seven";
  char *expected = nullptr;
  const int length = print(plain, &expected, text);
  static char *got;
  got = nullptr;
  volatile int result = 0;
  atomically([&] { result = print(wrapper, &got, text); });
  EXPECT_EQ(result, length);
  EXPECT_STREQ(got, expected);
  std::free(got);
  got = text;
  EXPECT_FALSE(atomically(
      [&] {
        print(wrapper, &got, text);
        undo();
      },
      true));
  EXPECT_EQ(got, text);
  std::free(expected);
}

TEST(formats, allocated) {
  const SecondThread second;
  allocates_text("asprintf", plain_asprintf, _ZGTt8asprintf,
                 [](auto f, char **to, const char *text) { return f(to, "%s %d", text, 7); });
  allocates_text("__asprintf_chk", plain___asprintf_chk, _ZGTt14__asprintf_chk,
                 [](auto f, char **to, const char *text) { return f(to, 1, "%s %d", text, 7); });
  allocates_text("vasprintf", plain_vasprintf, _ZGTt9vasprintf,
                 [](auto f, char **to, const char *text) {
                   const auto call = [&](const char *format, ...) {
                     va_list list;
                     va_start(list, format);
                     const int result = f(to, format, list);
                     va_end(list);
                     return result;
                   };
                   return call("%s %d", text, 7);
                 });
  allocates_text("__vasprintf_chk", plain___vasprintf_chk, _ZGTt15__vasprintf_chk,
                 [](auto f, char **to, const char *text) {
                   const auto call = [&](const char *format, ...) {
                     va_list list;
                     va_start(list, format);
                     const int result = f(to, 1, format, list);
                     va_end(list);
                     return result;
                   };
                   return call("%s %d", text, 7);
                 });
}

// ---- sorting

// By the low byte only: many are equal, so that the order of equal ones shows.
int by_low_byte(const void *a, const void *b) {
  return *static_cast<const std::uint8_t *>(a) - *static_cast<const std::uint8_t *>(b);
}
int by_low_byte_clone(const void *a, const void *b) {
  const auto *left = static_cast<const std::uint32_t *>(a);
  const auto *right = static_cast<const std::uint32_t *>(b);
  return static_cast<int>(_ITM_RU4(left) & 0xff) - static_cast<int>(_ITM_RU4(right) & 0xff);
}

struct CloneTable {
  void *entries[2] = {reinterpret_cast<void *>(by_low_byte),
                      reinterpret_cast<void *>(by_low_byte_clone)};
  CloneTable() { _ITM_registerTMCloneTable(entries, 1); }
  ~CloneTable() { _ITM_deregisterTMCloneTable(entries); }
};

TEST(sorting, qsort_and_bsearch) {
  const SecondThread second;
  const CloneTable table;
  for (std::uint64_t i = 0; i < 60 && !HasFailure(); ++i) {
    Random random(seed() + i);
    std::string before(Region::kBytes, '\0');
    for (char &byte : before)
      byte = static_cast<char>(random.below(8));
    std::string content = before;
    for (char &byte : content)
      byte = static_cast<char>(random.below(i % 2 == 0 ? 256 : 4));
    const std::size_t sizes[] = {4, 8, 12, 5, 4, 100};
    const std::size_t bytes = sizes[random.below(6)];
    const std::size_t count = random.below(random.one_in(3) ? 4000 / bytes : 12);
    differential("qsort", plain_qsort, _ZGTt5qsort, before, content, i,
                 [&](auto f, Region &region) {
                   f(region.begin(), count, bytes, by_low_byte);
                   return 0L;
                 });
    plain_qsort(content.data(), count, bytes, by_low_byte);
    const std::uint32_t key = static_cast<std::uint32_t>(random.below(5));
    differential("bsearch", plain_bsearch, _ZGTt7bsearch, before, content, i,
                 [&](auto f, Region &region) {
                   return offset(region, f(&key, region.begin(), count, bytes, by_low_byte));
                 });
  }
}

// ---- memory

std::size_t in_use() { return mallinfo2().uordblks; }

// Sequences of calls inside one transaction, committed and undone: contents are kept, nothing
// leaks.
TEST(memory, grows_shrinks_and_leaks_nothing) {
  const SecondThread second;
  static char *kept;
  kept = static_cast<char *>(std::malloc(100));
  std::memset(kept, 'k', 100);
  const auto body = [](Random random, std::size_t &size) {
    char *memory = kept;
    for (int step = 0; step < 12; ++step) {
      const std::size_t next = 1 + random.below(3000);
      memory = static_cast<char *>(random.one_in(2) ? _ZGTt7realloc(memory, next)
                                                    : _ZGTt12reallocarray(memory, 1, next));
      if (next > size) {
        const std::string more(next - size, 'k');
        _ITM_memcpyRnWt(memory + size, more.data(), more.size());
      }
      size = next;
    }
    _ITM_WU8(reinterpret_cast<std::uint64_t *>(&kept), reinterpret_cast<std::uint64_t>(memory));
  };
  std::size_t size = 100;
  std::size_t level = 0;
  for (std::uint64_t i = 0; i < 300; ++i) {
    if (i == 100)
      level = in_use();
    char *before = kept;
    const std::size_t had = size;
    const bool give_up = i % 3 == 0;
    static std::size_t now;
    const bool committed = atomically(
        [&] {
          std::size_t inside = had;
          body(Random(i), inside);
          now = inside;
          if (give_up)
            undo();
        },
        give_up);
    EXPECT_EQ(committed, !give_up);
    if (committed)
      size = now;
    else
      EXPECT_EQ(kept, before);
    EXPECT_EQ(std::string(kept, size), std::string(size, 'k')) << i;
  }
  EXPECT_LT(in_use(), level + 100'000) << "300 transactions of 12 blocks each";
  std::free(kept);
}

TEST(memory, every_allocator) {
  const SecondThread second;
  std::size_t level = 0;
  for (int i = 0; i < 400; ++i) {
    if (i == 100)
      level = in_use();
    const bool give_up = i % 2 == 0;
    static void *got[12];
    static void *aligned;
    const std::nothrow_t nothrow;
    const bool committed = atomically(
        [&] {
          got[0] = _ZGTt6malloc(1000);
          got[1] = _ZGTt6calloc(10, 100);
          got[2] = _ZGTt7realloc(nullptr, 1000);
          got[3] = _ZGTt13aligned_alloc(256, 1024);
          got[4] = _ZGTt8memalign(64, 1000);
          got[5] = _ZGTt6valloc(1000);
          EXPECT_EQ(_ZGTt14posix_memalign(&aligned, 128, 1000), 0);
          EXPECT_EQ(_ZGTt14posix_memalign(&aligned, 3, 1000), EINVAL);
          got[6] = _ZGTt6strdup("duplicate");
          got[7] = _ZGTt7strndup("duplicate", 4);
          got[8] = _ZGTt8__strdup("");
          got[9] = _ZGTt9__strndup("duplicate", 40);
          got[10] = _ZGTtnwmSt11align_val_t(1000, 64);
          got[11] = _ZGTtnamSt11align_val_tRKSt9nothrow_t(1000, 64, &nothrow);
          void *never = _ZGTtnwmSt11align_val_tRKSt9nothrow_t(1000, 64, &nothrow);
          _ZGTtdlPvmSt11align_val_t(never, 1000, 64);
          _ZGTtdaPvmSt11align_val_t(_ZGTtnamSt11align_val_t(1000, 64), 1000, 64);
          if (give_up)
            undo();
        },
        give_up);
    EXPECT_EQ(committed, !give_up);
    if (!committed)
      continue;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(got[3]) % 256, 0U);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(got[4]) % 64, 0U);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(got[5]) % 4096, 0U);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(aligned) % 128, 0U);
    EXPECT_STREQ(static_cast<char *>(got[6]), "duplicate");
    EXPECT_STREQ(static_cast<char *>(got[7]), "dupl");
    EXPECT_STREQ(static_cast<char *>(got[8]), "");
    EXPECT_STREQ(static_cast<char *>(got[9]), "duplicate");
    EXPECT_EQ(static_cast<char *>(got[1])[999], '\0');
    atomically([&] {
      for (int n = 0; n < 10; ++n) {
        EXPECT_GE(_ZGTt18malloc_usable_size(got[n]), 1U);
        _ZGTt4free(got[n]);
      }
      _ZGTt4free(aligned);
      _ZGTtdlPvSt11align_val_t(got[10], 64);
      _ZGTtdaPvSt11align_val_t(got[11], 64);
    });
  }
  EXPECT_LT(in_use(), level + 100'000);
  void *array = ::operator new[](64);
  atomically([&] { _ZGTtdaPvm(array, 64); });
}

TEST(memory, failure_sets_errno_transactionally) {
  const SecondThread second;
  errno = kErrorBefore;
  EXPECT_FALSE(atomically(
      [] {
        EXPECT_EQ(_ZGTt7realloc(nullptr, PTRDIFF_MAX), nullptr);
        EXPECT_EQ(_ZGTt12reallocarray(nullptr, SIZE_MAX, 2), nullptr);
        undo();
      },
      true));
  EXPECT_EQ(errno, kErrorBefore);
  atomically([] { EXPECT_EQ(_ZGTt13aligned_alloc(64, PTRDIFF_MAX), nullptr); });
  EXPECT_EQ(errno, ENOMEM);
}

// ---- the time

TEST(clock, the_time_goes_on) {
  const SecondThread second;
  static std::time_t seconds;
  static struct timeval day;
  static struct timespec exact;
  static struct timespec resolution;
  const std::time_t before = std::time(nullptr);
  atomically([] {
    EXPECT_EQ(_ZGTt4time(&seconds) != 0, true);
    EXPECT_EQ(_ZGTt12gettimeofday(&day, nullptr), 0);
    EXPECT_EQ(_ZGTt13clock_gettime(CLOCK_REALTIME, &exact), 0);
    EXPECT_EQ(_ZGTt12clock_getres(CLOCK_MONOTONIC, &resolution), 0);
  });
  EXPECT_GE(seconds, before);
  EXPECT_GE(day.tv_sec, before);
  EXPECT_GE(exact.tv_sec, before);
  EXPECT_LE(exact.tv_sec, before + 100);
  EXPECT_GT(resolution.tv_nsec, 0);
  errno = kErrorBefore;
  EXPECT_FALSE(atomically(
      [] {
        exact.tv_sec = 0;
        EXPECT_EQ(_ZGTt13clock_gettime(12345, &exact), -1);
        undo();
      },
      true));
  EXPECT_EQ(errno, kErrorBefore);
}

} // namespace
} // namespace tandem::library
