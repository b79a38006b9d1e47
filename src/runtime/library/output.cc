// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/library/output.h"

#include "runtime/library/access.h"
#include "runtime/library/format.h"
#include "runtime/transaction/transaction.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <syslog.h>
#include <unistd.h>

extern "C" {
int __vfprintf_chk(FILE *, int, const char *, va_list);
int __vdprintf_chk(int, int, const char *, va_list);
void __vsyslog_chk(int, int, const char *, va_list);
}

namespace tandem::library {
namespace {

// What waits. `text` follows it in memory.
struct Output {
  FILE *stream;
  int number; // file descriptor, or the priority of a system log entry
  int flags;  // of send
  std::size_t bytes;
  char text[];
};

void to_stream(void *argument) noexcept {
  const auto *output = static_cast<const Output *>(argument);
  std::fwrite(output->text, 1, output->bytes, output->stream);
}
void flush_stream(void *stream) noexcept { std::fflush(static_cast<FILE *>(stream)); }
void to_log(void *argument) noexcept {
  const auto *output = static_cast<const Output *>(argument);
  syslog(output->number, "%s", output->text);
}

// All of it, also where the other end is slow; what fails for good is lost, as nobody asks.
template <class Call> void send_all(const Output &output, const Call &call) noexcept {
  for (std::size_t at = 0; at < output.bytes || output.bytes == 0;) {
    const ssize_t done = call(output.text + at, output.bytes - at);
    if (done >= 0) {
      at += static_cast<std::size_t>(done);
      if (output.bytes == 0)
        return;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd wait = {.fd = output.number, .events = POLLOUT, .revents = 0};
      poll(&wait, 1, -1);
    } else if (errno != EINTR) {
      return;
    }
  }
}
void to_file(void *argument) noexcept {
  const auto &output = *static_cast<const Output *>(argument);
  send_all(output, [&](const char *text, std::size_t bytes) {
    return ::write(output.number, text, bytes);
  });
}
void to_socket(void *argument) noexcept {
  const auto &output = *static_cast<const Output *>(argument);
  send_all(output, [&](const char *text, std::size_t bytes) {
    return ::send(output.number, text, bytes, output.flags);
  });
}

// Room for `bytes` of text, and a terminator.
Output *make_output(Thread &thread, std::size_t bytes) noexcept {
  auto *output = static_cast<Output *>(put_off_memory(thread, sizeof(Output) + bytes + 1));
  *output = {};
  output->bytes = bytes;
  output->text[bytes] = '\0';
  return output;
}

// Puts off text that is private already.
void put_off_text(Thread &thread, Work work, FILE *stream, int number, const char *text,
                  std::size_t bytes) noexcept {
  Output *output = make_output(thread, bytes);
  output->stream = stream;
  output->number = number;
  std::memcpy(output->text, text, bytes);
  put_off(thread, work, output);
}

// Formatted output; its length, or below 0. plain(format, arguments) does it at once.
template <class Plain>
int print(Work work, FILE *stream, int number, int level, const char *format, Arguments arguments,
          const Plain &plain) noexcept {
  Thread *thread = writer();
  if (thread == nullptr)
    return plain();
  FormatScratch scratch(thread);
  if (level == 0 || !writes_count(scratch.string(format))) {
    const Formatted done = format_all(scratch, format, arguments, thread);
    if (done.understood) {
      if (done.length >= 0)
        put_off_text(*thread, work, stream, number, done.text,
                     static_cast<std::size_t>(done.length));
      return done.length;
    }
  }
  transaction::become_irrevocable(*thread, profile::SerialCause::irrevocable_call);
  return plain();
}

int print_to(FILE *stream, int level, const char *format, Arguments arguments) noexcept {
  return print(to_stream, stream, 0, level, format, arguments,
               [&] { return __vfprintf_chk(stream, level, format, arguments); });
}
int print_to(int file, int level, const char *format, Arguments arguments) noexcept {
  return print(to_file, nullptr, file, level, format, arguments,
               [&] { return __vdprintf_chk(file, level, format, arguments); });
}
void log(int priority, int level, const char *format, Arguments arguments) noexcept {
  print(to_log, nullptr, priority, level, format, arguments, [&] {
    __vsyslog_chk(priority, level, format, arguments);
    return 0;
  });
}

// A text with `more` behind it.
int put_text(const char *text, const char *more, FILE *stream, Thread &thread) noexcept {
  Scratch scratch(&thread);
  std::size_t length = 0;
  const char *copy = scratch.string(text, SIZE_MAX, length);
  Output *output = make_output(thread, length + std::strlen(more));
  output->stream = stream;
  std::memcpy(output->text, copy, length);
  std::memcpy(output->text + length, more, std::strlen(more));
  put_off(thread, to_stream, output);
  return 1;
}

int put_character(int character, FILE *stream, Thread &thread) noexcept {
  const char text = static_cast<char>(character);
  put_off_text(thread, to_stream, stream, 0, &text, 1);
  return static_cast<unsigned char>(text);
}

ssize_t put_bytes(Work work, int file, const void *from, std::size_t bytes, int flags,
                  Thread &thread) noexcept {
  Output *output = make_output(thread, bytes);
  output->number = file;
  output->flags = flags;
  read(output->text, from, bytes, &thread);
  put_off(thread, work, output);
  return static_cast<ssize_t>(bytes);
}

} // namespace

bool is_output(Work work) noexcept {
  return work == to_stream || work == flush_stream || work == to_file || work == to_socket ||
         work == to_log;
}

} // namespace tandem::library

using namespace tandem;
using namespace tandem::library;

#define TANDEM_VARIABLE(CALL)                                                                      \
  va_list arguments;                                                                               \
  va_start(arguments, format);                                                                     \
  const int result = CALL;                                                                         \
  va_end(arguments);                                                                               \
  return result

TANDEM_WRAPPER int _ZGTt8vfprintf(FILE *stream, const char *format, va_list arguments) {
  return print_to(stream, 0, format, arguments);
}
TANDEM_WRAPPER int _ZGTt7fprintf(FILE *stream, const char *format, ...) {
  TANDEM_VARIABLE(print_to(stream, 0, format, arguments));
}
TANDEM_WRAPPER int _ZGTt7vprintf(const char *format, va_list arguments) {
  return print_to(stdout, 0, format, arguments);
}
TANDEM_WRAPPER int _ZGTt6printf(const char *format, ...) {
  TANDEM_VARIABLE(print_to(stdout, 0, format, arguments));
}
TANDEM_WRAPPER int _ZGTt14__vfprintf_chk(FILE *stream, int level, const char *format,
                                         va_list arguments) {
  return print_to(stream, level, format, arguments);
}
TANDEM_WRAPPER int _ZGTt13__fprintf_chk(FILE *stream, int level, const char *format, ...) {
  TANDEM_VARIABLE(print_to(stream, level, format, arguments));
}
TANDEM_WRAPPER int _ZGTt13__vprintf_chk(int level, const char *format, va_list arguments) {
  return print_to(stdout, level, format, arguments);
}
TANDEM_WRAPPER int _ZGTt12__printf_chk(int level, const char *format, ...) {
  TANDEM_VARIABLE(print_to(stdout, level, format, arguments));
}
TANDEM_WRAPPER int _ZGTt8vdprintf(int file, const char *format, va_list arguments) {
  return print_to(file, 0, format, arguments);
}
TANDEM_WRAPPER int _ZGTt7dprintf(int file, const char *format, ...) {
  TANDEM_VARIABLE(print_to(file, 0, format, arguments));
}
TANDEM_WRAPPER int _ZGTt14__vdprintf_chk(int file, int level, const char *format,
                                         va_list arguments) {
  return print_to(file, level, format, arguments);
}
TANDEM_WRAPPER int _ZGTt13__dprintf_chk(int file, int level, const char *format, ...) {
  TANDEM_VARIABLE(print_to(file, level, format, arguments));
}
TANDEM_WRAPPER void _ZGTt7vsyslog(int priority, const char *format, va_list arguments) {
  log(priority, 0, format, arguments);
}
TANDEM_WRAPPER void _ZGTt6syslog(int priority, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  log(priority, 0, format, arguments);
  va_end(arguments);
}
TANDEM_WRAPPER void _ZGTt13__vsyslog_chk(int priority, int level, const char *format,
                                         va_list arguments) {
  log(priority, level, format, arguments);
}
TANDEM_WRAPPER void _ZGTt12__syslog_chk(int priority, int level, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  log(priority, level, format, arguments);
  va_end(arguments);
}

TANDEM_WRAPPER int _ZGTt5fputs(const char *text, FILE *stream) {
  Thread *thread = writer();
  return thread == nullptr ? std::fputs(text, stream) : put_text(text, "", stream, *thread);
}
TANDEM_WRAPPER int _ZGTt14fputs_unlocked(const char *text, FILE *stream) {
  return _ZGTt5fputs(text, stream);
}
TANDEM_WRAPPER int _ZGTt4puts(const char *text) {
  Thread *thread = writer();
  return thread == nullptr ? std::puts(text) : put_text(text, "\n", stdout, *thread);
}
TANDEM_WRAPPER int _ZGTt5fputc(int character, FILE *stream) {
  Thread *thread = writer();
  return thread == nullptr ? std::fputc(character, stream)
                           : put_character(character, stream, *thread);
}
TANDEM_WRAPPER int _ZGTt4putc(int character, FILE *stream) {
  return _ZGTt5fputc(character, stream);
}
TANDEM_WRAPPER int _ZGTt14fputc_unlocked(int character, FILE *stream) {
  return _ZGTt5fputc(character, stream);
}
TANDEM_WRAPPER int _ZGTt13putc_unlocked(int character, FILE *stream) {
  return _ZGTt5fputc(character, stream);
}
TANDEM_WRAPPER int _ZGTt7putchar(int character) { return _ZGTt5fputc(character, stdout); }
TANDEM_WRAPPER int _ZGTt16putchar_unlocked(int character) { return _ZGTt5fputc(character, stdout); }
TANDEM_WRAPPER std::size_t _ZGTt6fwrite(const void *from, std::size_t bytes, std::size_t count,
                                        FILE *stream) {
  Thread *thread = writer();
  if (thread == nullptr)
    return std::fwrite(from, bytes, count, stream);
  if (bytes == 0 || count == 0)
    return 0;
  Output *output = make_output(*thread, bytes * count);
  output->stream = stream;
  read(output->text, from, bytes * count, thread);
  put_off(*thread, to_stream, output);
  return count;
}
TANDEM_WRAPPER std::size_t _ZGTt15fwrite_unlocked(const void *from, std::size_t bytes,
                                                  std::size_t count, FILE *stream) {
  return _ZGTt6fwrite(from, bytes, count, stream);
}
TANDEM_WRAPPER int _ZGTt6fflush(FILE *stream) {
  Thread *thread = writer();
  if (thread == nullptr)
    return std::fflush(stream);
  put_off(*thread, flush_stream, stream);
  return 0;
}
TANDEM_WRAPPER int _ZGTt15fflush_unlocked(FILE *stream) { return _ZGTt6fflush(stream); }

// With errno as it is at the call.
TANDEM_WRAPPER void _ZGTt6perror(const char *text) {
  Thread *thread = writer();
  if (thread == nullptr) {
    std::perror(text);
    return;
  }
  char reason[256];
  const char *said = nullptr;
  {
    const int error = read_value(&errno, thread);
    const KeptErrno kept;
    said = strerror_r(error, reason, sizeof reason);
  }
  Scratch scratch(thread);
  std::size_t length = 0;
  const char *copy = text == nullptr ? "" : scratch.string(text, SIZE_MAX, length);
  const char *separator = length == 0 ? "" : ": ";
  const std::size_t bytes = length + std::strlen(separator) + std::strlen(said) + 1;
  Output *output = make_output(*thread, bytes);
  output->stream = stderr;
  char *end = stpcpy(stpcpy(stpcpy(output->text, copy), separator), said);
  *end = '\n';
  put_off(*thread, to_stream, output);
}

TANDEM_WRAPPER ssize_t _ZGTt5write(int file, const void *from, std::size_t bytes) {
  Thread *thread = writer();
  return thread == nullptr ? ::write(file, from, bytes)
                           : put_bytes(to_file, file, from, bytes, 0, *thread);
}
TANDEM_WRAPPER ssize_t _ZGTt4send(int socket, const void *from, std::size_t bytes, int flags) {
  Thread *thread = writer();
  return thread == nullptr ? ::send(socket, from, bytes, flags)
                           : put_bytes(to_socket, socket, from, bytes, flags, *thread);
}
