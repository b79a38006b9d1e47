/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What sections that tandem-cc has converted call beyond the ABI that gcc's libitm implements, in
 * terms of that ABI. Linked with strings.c to a library that takes the place of Tandem's
 * libitm.so.1 and passes everything else on to gcc's: so one and the same conversion runs on it,
 * for comparison. Colours and put-off additions have no counterpart there. Library functions other
 * than those of strings.c make the transaction irrevocable, as a program without transactional
 * versions of them would.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

/* libitm.h of gcc: the ABI's names. */
enum { MODE_SERIAL_IRREVOCABLE = 0 };
void _ITM_changeTransactionMode(int mode);
uint32_t _ITM_RfWU4(const uint32_t *at);
uint64_t _ITM_RfWU8(const uint64_t *at);
void _ITM_WU4(uint32_t *at, uint32_t value);
void _ITM_WU8(uint64_t *at, uint64_t value);

/* Returns as often as _ITM_beginTransaction does, to the same place: so it must be a jump. The
 * first argument is the same; the second, a section's descriptor, is left unread. */
__asm__(".globl _TANDEM_begin\n"
        ".type _TANDEM_begin, @function\n"
        "_TANDEM_begin:\n"
        "  jmp *_ITM_beginTransaction@GOTPCREL(%rip)\n"
        ".size _TANDEM_begin, . - _TANDEM_begin\n");

void _TANDEM_add_4(uint32_t *at, uint32_t by) { _ITM_WU4(at, _ITM_RfWU4(at) + by); }
void _TANDEM_add_8(uint64_t *at, uint64_t by) { _ITM_WU8(at, _ITM_RfWU8(at) + by); }

/* Locks that guard their data exclude nobody else there: all sections find their conflicts. */
int _TANDEM_guarded_by_enter(const void *lock) { return (void)lock, 0; }
int _TANDEM_guarded_by_try_enter(const void *lock) { return (void)lock, 0; }
int _TANDEM_guarded_by_join(const void *unused) { return (void)unused, 0; }
int _TANDEM_guarded_by_only(const void *unused) { return (void)unused, 0; }

/* The transactional version of a function: from there on the transaction is alone. */
#define ALONE(result, name, parameters, ...)                                                       \
  result tandem_##name parameters __asm__(VERSION_OF(name));                                       \
  result tandem_##name parameters {                                                                \
    _ITM_changeTransactionMode(MODE_SERIAL_IRREVOCABLE);                                           \
    return name(__VA_ARGS__);                                                                      \
  }
/* The ABI's mangling: _ZGTt, the length of the name, the name. */
#define VERSION_OF(name) LENGTH_##name #name
#define LENGTH_gettimeofday "_ZGTt12"
#define LENGTH_clock_gettime "_ZGTt13"
#define LENGTH_pthread_cond_signal "_ZGTt19"
#define LENGTH_pthread_mutex_lock "_ZGTt18"
#define LENGTH_pthread_mutex_trylock "_ZGTt21"
#define LENGTH_pthread_mutex_unlock "_ZGTt20"
#define LENGTH_realloc "_ZGTt7"
#define LENGTH_strerror "_ZGTt8"
#define LENGTH_strtod "_ZGTt6"
#define LENGTH_strtol "_ZGTt6"
#define LENGTH_strtoll "_ZGTt7"
#define LENGTH_strtoul "_ZGTt7"
#define LENGTH_strtoull "_ZGTt8"
#define LENGTH_strtok_r "_ZGTt8"
#define LENGTH_vsnprintf "_ZGTt9"

ALONE(int, gettimeofday, (struct timeval * now, void *zone), now, zone)
ALONE(int, clock_gettime, (clockid_t clock, struct timespec *now), clock, now)
ALONE(int, pthread_cond_signal, (pthread_cond_t * condition), condition)
ALONE(int, pthread_mutex_lock, (pthread_mutex_t * mutex), mutex)
ALONE(int, pthread_mutex_trylock, (pthread_mutex_t * mutex), mutex)
ALONE(int, pthread_mutex_unlock, (pthread_mutex_t * mutex), mutex)
ALONE(void *, realloc, (void *memory, size_t size), memory, size)
ALONE(char *, strerror, (int number), number)
ALONE(double, strtod, (const char *text, char **end), text, end)
ALONE(long, strtol, (const char *text, char **end, int base), text, end, base)
ALONE(long long, strtoll, (const char *text, char **end, int base), text, end, base)
ALONE(unsigned long, strtoul, (const char *text, char **end, int base), text, end, base)
ALONE(unsigned long long, strtoull, (const char *text, char **end, int base), text, end, base)
ALONE(char *, strtok_r, (char *text, const char *marks, char **state), text, marks, state)
ALONE(int, vsnprintf, (char *to, size_t size, const char *format, va_list list), to, size, format,
      list)

int tandem_snprintf(char *to, size_t size, const char *format, ...) __asm__("_ZGTt8snprintf");
int tandem_snprintf(char *to, size_t size, const char *format, ...) {
  _ITM_changeTransactionMode(MODE_SERIAL_IRREVOCABLE);
  va_list list;
  va_start(list, format);
  const int length = vsnprintf(to, size, format, list);
  va_end(list);
  return length;
}

_Noreturn void tandem_abort(void) __asm__("_ZGTt5abort");
_Noreturn void tandem_abort(void) {
  _ITM_changeTransactionMode(MODE_SERIAL_IRREVOCABLE);
  abort();
}

/* No section of memcached's conversion waits for a condition: the compiler refuses one that does.
 */
int tandem_cond_wait(void) __asm__("_ZGTt17pthread_cond_wait");
int tandem_cond_wait(void) { abort(); }
int tandem_cond_timedwait(void) __asm__("_ZGTt22pthread_cond_timedwait");
int tandem_cond_timedwait(void) { abort(); }
