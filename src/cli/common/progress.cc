// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/common/progress.h"

#include <algorithm>
#include <fmt/format.h>

namespace tandem {
namespace {

constexpr std::size_t kBarWidth = 24; // columns

std::string bar(std::size_t done, std::size_t total) {
  const std::size_t full = kBarWidth * std::min(done, total) / total;
  return fmt::format("[{:=<{}}{: <{}}] {}/{}", "", full, "", kBarWidth - full, done, total);
}

} // namespace

Progress::Progress(std::string label, std::size_t total)
    : terminal_(Terminal::of(stderr)), label_(std::move(label)), total_(total) {
  draw();
}

void Progress::advance() {
  ++done_;
  draw();
}

void Progress::draw() {
  if (!terminal_.interactive)
    return;
  const std::string line = total_ == 0 ? label_ : label_ + " " + bar(done_, total_);
  // Return to the line's start; after the text, erase what an older one left.
  fmt::print(stderr, "\r{}\033[K", shorten(printable(line), terminal_.width - 1));
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::clear() {
  if (!drawn_)
    return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  drawn_ = false;
}

} // namespace tandem
