// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/machine/boot_run.h"

#include "base/file.h"
#include "cli/common/terminal.h"
#include "cli/machine/interrupt.h"
#include "machine/platform/checkpoint.h"
#include "machine/relay/relay.h"
#include "machine/run/keyboard.h"
#include "machine/run/outcome.h"
#include "machine/run/terminal_mode.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>

namespace tandem::machine_cli {
namespace {

constexpr const char *kName = "tandem machine boot";
constexpr const char *kPanic = "Kernel panic - not syncing: ";
constexpr const char *kPanicEnd = "---[ end Kernel panic - not syncing: ";

// A regular file or a terminal says what it has; others may be pipes that nobody ever writes to.
bool regular(int descriptor) {
  struct stat about{};
  return ::fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode);
}

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 4096> part;
  while (true) {
    const ssize_t count = ::read(descriptor, part.data(), part.size());
    if (count <= 0)
      return text;
    text.append(part.data(), static_cast<std::size_t>(count));
  }
}

// Everything of a run, in the order in which it is taken down again.
class BoardRunner {
public:
  BoardRunner(machine::Board &board, const BootRun &run)
      : board_(&board), run_(&run), session_(board, interrupt_.flag()), console_(STDOUT_FILENO),
        watch_(board, run.symbols, run.arguments.watch, run.watching, kName) {}

  Result<int> run();

private:
  [[nodiscard]] const BootArguments &arguments() const { return run_->arguments; }
  Status connect();
  Status attach_input();
  void watch_console();
  void type_next();
  Status write_files(const machine::RunOutcome &outcome);
  [[nodiscard]] bool reproducible() const;

  machine::Board *board_;
  const BootRun *run_;
  Interrupt interrupt_;
  machine::Session session_;
  machine::Console console_;
  PanicWatch panic_{console_, session_};
  Watch watch_;
  std::unique_ptr<Timing> timing_; // null: harts without time
  std::vector<std::unique_ptr<machine::Relay>> relays_;
  std::unique_ptr<machine::Keyboard> keyboard_;
  std::unique_ptr<machine::Replay> replay_;
  std::vector<machine::Typed> typed_; // by --type
  std::size_t next_line_ = 0;
  bool until_seen_ = false;
};

Status BoardRunner::connect() {
  std::size_t port = 0;
  for (const NetworkOption &network : run_->networks) {
    if (network.kind == machine::NetworkChoice::relay) {
      machine::VirtioNet &net = *board_->ports()[port];
      Result<std::unique_ptr<machine::Relay>> relay =
          machine::Relay::make(net, board_->clock(), network.forwards);
      if (!relay)
        return relay.error();
      net.connect(**relay);
      relays_.push_back(std::move(relay).value());
    }
    port += network.kind == machine::NetworkChoice::pair ? 2 : 1;
  }
  return Unit{};
}

// Where what is typed comes from: a recording, lines of the command line, or standard input.
Status BoardRunner::attach_input() {
  if (!arguments().replay.empty()) {
    const Result<std::string> text = read_file(arguments().replay);
    if (!text)
      return text.error();
    Result<std::vector<machine::Typed>> typed = machine::parse_typed(arguments().replay, *text);
    if (!typed)
      return typed.error();
    replay_ = std::make_unique<machine::Replay>(*board_, std::move(typed).value());
    board_->attach(replay_.get());
    return Unit{};
  }
  const bool terminal = ::isatty(STDIN_FILENO) == 1;
  const bool given = !arguments().type.empty() || !arguments().run.empty();
  machine::Keyboard::Options options{
      .descriptor = STDIN_FILENO, .escapes = terminal && !arguments().keys_to_guest, .pace = true};
  if (!terminal && (given || regular(STDIN_FILENO))) {
    // All at once: it is there.
    if (!given)
      board_->feed().type(read_all(STDIN_FILENO), board_->clock().now);
    options.descriptor = -1;
  }
  keyboard_ = std::make_unique<machine::Keyboard>(*board_, options);
  if (!relays_.empty())
    keyboard_->also([this](int wait_ms) {
      for (const auto &relay : relays_)
        relay->poll(wait_ms);
    });
  board_->attach(keyboard_.get());
  session_.after_slice([this] {
    if (keyboard_->asked_to_end())
      session_.stop();
  });
  return Unit{};
}

void BoardRunner::type_next() {
  if (next_line_ >= arguments().type.size())
    return;
  const std::string text = arguments().type[next_line_++] + "\n";
  board_->feed().type(text, board_->clock().now);
  typed_.push_back({.at = board_->clock().now, .text = text});
}

void BoardRunner::watch_console() {
  board_->show(&console_);
  session_.after_slice([this] { console_.flush(); });
  if (!arguments().until.empty())
    console_.watch(arguments().until, [this] {
      until_seen_ = true;
      session_.stop();
    });
  if (!arguments().type.empty())
    console_.watch(arguments().prompt, [this] { type_next(); });
  if (const auto [text, mode] = change_of(arguments().change); timing_ && !text.empty())
    console_.watch(text, [this, mode] { timing_->change_mode(mode); });
}

bool BoardRunner::reproducible() const {
  return relays_.empty() && (keyboard_ == nullptr || !keyboard_->typed_live());
}

Status BoardRunner::write_files(const machine::RunOutcome &outcome) {
  if (Status written = watch_.finish(); !written)
    return written;
  if (!arguments().record.empty()) {
    std::vector<machine::Typed> typed;
    const std::vector<machine::Typed> live =
        keyboard_ ? keyboard_->typed() : std::vector<machine::Typed>();
    std::ranges::merge(typed_, live, std::back_inserter(typed), {}, &machine::Typed::at,
                       &machine::Typed::at);
    if (Status written = write_file(arguments().record, to_text(typed)); !written)
      return written;
  }
  if (!arguments().save.empty())
    if (Status saved = machine::save_checkpoint(*board_, arguments().save); !saved)
      return saved;
  if (timing_)
    if (Status written = timing_->write_timeline(
            run_->symbols, fmt::format("Linux, {}, {}", arguments().timing.protocol,
                                       counted(board_->harts().size(), "hart", "harts")));
        !written)
      return written;
  Places places(run_->symbols);
  // What a profile says ran: the kernel; of a restored machine its symbols', else the machine.
  std::string kernel = arguments().restore;
  for (const std::string &file : {arguments().symbols, arguments().kernel})
    if (!file.empty())
      kernel = file;
  if (Status written =
          write_profile(arguments().transactions, *board_, places,
                        std::filesystem::absolute(kernel).lexically_normal(),
                        {"tandem", "machine", "boot"}, timing_ ? timing_->clock_mhz() : 1000);
      !written)
    return written;
  if (arguments().watch.json.empty())
    return Unit{};
  nlohmann::ordered_json json{{"format", "tandem-machine-run"},
                              {"version", 1},
                              {"command", "boot"},
                              {"outcome", outcome.name},
                              {"status", outcome.status},
                              {"message", outcome.message},
                              {"reproducible", reproducible()},
                              {"console_bytes", console_.bytes()}};
  json.update(watch_.summary());
  if (timing_)
    json["timing"] = timing_->json();
  nlohmann::ordered_json transactions = transactions_json(*board_, places);
  if (transactions["transactions"] != 0)
    json["transactions"] = std::move(transactions);
  return write_file(arguments().watch.json, json.dump(2) + "\n");
}

Result<int> BoardRunner::run() {
  if (Status connected = connect(); !connected)
    return connected.error();
  if (Status attached = attach_input(); !attached)
    return attached.error();
  Result<std::unique_ptr<Timing>> timing = make_timing(arguments().timing, *board_);
  if (!timing)
    return timing.error();
  timing_ = std::move(timing).value();
  prepare_transactions(arguments().transactions, *board_, run_->symbols, kName);
  watch_console();
  Result<machine::Session::Stop> stop = machine::Session::Stop::asked;
  with_failures_shown([&] { stop = watch_.run(session_); });
  console_.flush();
  board_->attach(nullptr);
  if (!stop)
    return stop.error();
  const machine::RunOutcome outcome =
      machine::outcome_of(*board_, run_->symbols,
                          {.stop = *stop,
                           .until_given = !arguments().until.empty(),
                           .until_seen = until_seen_,
                           .panic = until_seen_ ? std::nullopt : panic_.text(*board_, *stop)});
  if (Status written = write_files(outcome); !written)
    return written.error();
  // Where both are shown a line of its own.
  const bool within = !console_.tail().empty() && console_.tail().back() != '\n' &&
                      ::isatty(STDOUT_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
  if (!outcome.message.empty())
    fmt::print(stderr, "{}{}: {}\n", within ? "\n" : "", kName, outcome.message);
  if (timing_ && arguments().timing.summary)
    fmt::print(stderr, "{}", timing_->text());
  return outcome.status;
}

} // namespace

PanicWatch::PanicWatch(machine::Console &console, machine::Session &session) : console_(&console) {
  console.watch(kPanic, [this] { panicked_ = true; });
  console.watch(kPanicEnd, [&session] { session.stop(); });
}

std::optional<std::string> PanicWatch::text(const machine::Board &board,
                                            machine::Session::Stop stop) const {
  const bool usual =
      stop == machine::Session::Stop::ended && board.end()->kind != machine::BoardEnd::Kind::reboot;
  if (!panicked_ || usual || stop == machine::Session::Stop::interrupted)
    return std::nullopt;
  const std::string &tail = console_->tail();
  const std::size_t begin = tail.find(kPanic);
  if (begin == std::string::npos)
    return "its message is on the console";
  std::string text = tail.substr(begin + std::string_view(kPanic).size());
  text.resize(std::min(text.find_first_of("\r\n"), text.size()));
  return printable(text);
}

Result<int> run_board(machine::Board &board, const BootRun &run) {
  const bool live = run.arguments.replay.empty() && run.arguments.type.empty();
  const machine::TerminalMode mode(live ? STDIN_FILENO : -1, run.arguments.keys_to_guest);
  return BoardRunner(board, run).run();
}

} // namespace tandem::machine_cli
