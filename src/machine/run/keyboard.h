// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Brings input of the host to a board's console: from a terminal or a pipe while the machine runs,
// or from a recording. What arrived, and at which cycle, is kept. For one thread.
#pragma once

#include "machine/platform/board.h"
#include "machine/run/recording.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tandem::machine {

// Types a recording.
class Replay final : public Agenda {
public:
  Replay(Board &board, std::vector<Typed> typed) : board_(&board), typed_(std::move(typed)) {}
  [[nodiscard]] Cycle next() const override {
    return place_ < typed_.size() ? typed_[place_].at : kNever;
  }
  void run(Cycle now) override;

private:
  Board *board_;
  std::vector<Typed> typed_;
  std::size_t place_ = 0;
};

// Looks at the host every millisecond of the machine's time: at a terminal or a pipe, and at what
// else there is.
class Keyboard final : public Agenda {
public:
  static constexpr Cycle kLook = 1'000'000;

  struct Options {
    int descriptor = -1; // -1: nothing is typed
    // Ctrl-A is a prefix: x ends, c types Ctrl-C, Ctrl-A itself.
    bool escapes = false;
    // While nothing runs inside, the machine's time does not run ahead of the host's.
    bool pace = false;
  };
  // The board outlives the keyboard.
  Keyboard(Board &board, const Options &options);

  // More to do at each look, waiting at most so long: a relay's sockets.
  void also(std::function<void(int wait_ms)> poll) { also_ = std::move(poll); }

  [[nodiscard]] Cycle next() const override { return next_; }
  void run(Cycle now) override;

  // Ctrl-A x was typed.
  [[nodiscard]] bool asked_to_end() const { return asked_; }
  [[nodiscard]] const std::vector<Typed> &typed() const { return typed_; }
  // Something was typed to a guest that listened: when depends on the host.
  [[nodiscard]] bool typed_live() const { return typed_live_; }

private:
  [[nodiscard]] bool idle();
  // How far time inside is ahead of the host's; negative: behind.
  [[nodiscard]] std::int64_t ahead_ms(Cycle now) const;
  void look(int wait_ms);
  void read_input();
  std::string without_escapes(std::string_view text);

  Board *board_;
  Options options_;
  std::function<void(int)> also_;
  std::chrono::steady_clock::time_point begin_;
  Cycle first_;
  Cycle next_;
  bool prefix_ = false;
  bool asked_ = false;
  bool typed_live_ = false;
  std::vector<Typed> typed_;
};

} // namespace tandem::machine
