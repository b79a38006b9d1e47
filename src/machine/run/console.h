// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host's side of the guest's console: shows it, and notices texts in it. For one thread.
#pragma once

#include "machine/devices/console.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tandem::machine {

class Console final : public ConsoleSink {
public:
  // `descriptor` of the host gets the bytes; -1: nobody.
  explicit Console(int descriptor) : descriptor_(descriptor) {}
  ~Console() override { flush(); }
  Console(const Console &) = delete;
  Console &operator=(const Console &) = delete;

  void output(std::uint8_t byte) override;
  // Brings out what is held back. A host that does not take it any more gets nothing further.
  void flush();

  // `seen` is called when `text`, which is not empty, has just been completed; again each time.
  void watch(std::string text, std::function<void()> seen);

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  // The last lines, up to 4 KB.
  [[nodiscard]] const std::string &tail() const { return tail_; }

private:
  struct Watch {
    std::string text;
    std::function<void()> seen;
  };
  int descriptor_;
  std::string held_;
  std::string tail_;
  std::uint64_t bytes_ = 0;
  std::vector<Watch> watches_;
};

} // namespace tandem::machine
