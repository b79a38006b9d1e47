// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/run/console.h"

#include "base/check.h"

#include <cerrno>
#include <poll.h>
#include <unistd.h>
#include <utility>

namespace tandem::machine {
namespace {

constexpr std::size_t kHeld = 4096;
constexpr std::size_t kTail = 4096;

} // namespace

void Console::watch(std::string text, std::function<void()> seen) {
  CHECK(!text.empty() && text.size() <= kTail);
  watches_.push_back({.text = std::move(text), .seen = std::move(seen)});
}

void Console::output(std::uint8_t byte) {
  ++bytes_;
  const char letter = static_cast<char>(byte);
  if (descriptor_ >= 0) {
    held_.push_back(letter);
    if (held_.size() >= kHeld)
      flush();
  }
  if (tail_.size() >= 2 * kTail)
    tail_.erase(0, tail_.size() - kTail);
  tail_.push_back(letter);
  for (const Watch &watch : watches_)
    if (watch.text.back() == letter && tail_.ends_with(watch.text))
      watch.seen();
}

void Console::flush() {
  std::size_t done = 0;
  while (done < held_.size()) {
    const ssize_t count = ::write(descriptor_, held_.data() + done, held_.size() - done);
    if (count >= 0) {
      done += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN) {
      pollfd room{.fd = descriptor_, .events = POLLOUT, .revents = 0};
      ::poll(&room, 1, -1);
    } else if (errno != EINTR) {
      descriptor_ = -1;
      break;
    }
  }
  held_.clear();
}

} // namespace tandem::machine
