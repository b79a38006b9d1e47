// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/run/keyboard.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <poll.h>
#include <unistd.h>

namespace tandem::machine {
namespace {

constexpr char kPrefix = 1; // Ctrl-A
constexpr char kEnd = 3;    // Ctrl-C
constexpr std::int64_t kCyclesPerMs = 1'000'000;
// An interrupt of the host must not wait longer.
constexpr std::int64_t kWaitMs = 20;

} // namespace

void Replay::run(Cycle now) {
  for (; place_ < typed_.size() && typed_[place_].at <= now; ++place_)
    board_->feed().type(typed_[place_].text, now);
}

Keyboard::Keyboard(Board &board, const Options &options)
    : board_(&board), options_(options), begin_(std::chrono::steady_clock::now()),
      first_(board.clock().now), next_(first_) {}

bool Keyboard::idle() {
  return std::ranges::none_of(board_->harts(), [](auto &hart) { return hart->awake(); });
}

// While nothing runs inside, no instructions end a slice: the host's side (what the console holds,
// the user's wish to end, a debugger) has its turn at each look. As long as the machine is ahead of
// the host, time inside stands still.
void Keyboard::run(Cycle now) {
  next_ = now + kLook;
  look(0);
  if ((options_.descriptor >= 0 || also_) && board_->feed().empty() && idle()) {
    const std::int64_t ahead = options_.pace ? ahead_ms(now) : 0;
    if (ahead > 0) {
      look(static_cast<int>(std::min(ahead, also_ ? 1 : kWaitMs)));
      next_ = board_->feed().empty() ? now : next_;
    }
    board_->cores().request_stop();
  }
  if (options_.descriptor < 0 && !also_)
    next_ = kNever;
}

std::int64_t Keyboard::ahead_ms(Cycle now) const {
  const auto host = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - begin_);
  return static_cast<std::int64_t>(now - first_) / kCyclesPerMs - host.count();
}

void Keyboard::look(int wait_ms) {
  if (also_)
    also_(wait_ms);
  pollfd wait{.fd = options_.descriptor, .events = POLLIN, .revents = 0};
  if (options_.descriptor >= 0 && ::poll(&wait, 1, also_ ? 0 : wait_ms) > 0)
    read_input();
}

void Keyboard::read_input() {
  std::array<char, 4096> part;
  const ssize_t count = ::read(options_.descriptor, part.data(), part.size());
  if (count < 0 && (errno == EINTR || errno == EAGAIN))
    return;
  if (count <= 0) {
    options_.descriptor = -1; // nothing more will come
    return;
  }
  std::string text(part.data(), static_cast<std::size_t>(count));
  if (options_.escapes)
    text = without_escapes(text);
  if (text.empty())
    return;
  typed_live_ = typed_live_ || board_->feed().listening();
  board_->feed().type(text, board_->clock().now);
  typed_.push_back({.at = board_->clock().now, .text = std::move(text)});
}

std::string Keyboard::without_escapes(std::string_view text) {
  std::string plain;
  for (const char letter : text) {
    if (!prefix_) {
      if (letter == kPrefix)
        prefix_ = true;
      else
        plain.push_back(letter);
      continue;
    }
    prefix_ = false;
    if (letter == 'x' || letter == 'X')
      asked_ = true;
    else if (letter == 'c' || letter == 'C')
      plain.push_back(kEnd);
    else
      plain.push_back(letter);
  }
  return plain;
}

} // namespace tandem::machine
