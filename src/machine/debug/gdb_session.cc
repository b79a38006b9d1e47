// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/debug/gdb_session.h"

#include "machine/debug/gdb_registers.h"

#include <algorithm>
#include <csignal>

namespace tandem::machine {
namespace {

constexpr std::uint64_t kMemory = 1 << 15; // bytes in one reply

std::string thread_of(unsigned hart) { return fmt::format("{:x}", hart + 1); }

std::string hex_text(std::string_view text) { return to_hex(std::as_bytes(std::span(text))); }

const char *name_of(Activity activity) {
  switch (activity) {
  case Activity::running:
    return "running";
  case Activity::waiting:
    return "waiting";
  case Activity::stopped:
    break;
  }
  return "stopped";
}

std::string describe(const Hart &hart) {
  return fmt::format("hart {}, {}-mode, {}", hart.id(),
                     hart.state().privilege == Privilege::user ? 'U' : 'S',
                     name_of(hart.state().activity));
}

// Numbers of the protocol where they are not Linux's.
//
// Source: gdb's include/gdb/signals.def.
int protocol_signal(int number) {
  switch (number) {
  case SIGBUS:
    return 10;
  case SIGUSR1:
    return 30;
  case SIGUSR2:
    return 31;
  case SIGURG:
    return 16;
  case SIGSTOP:
    return 17;
  case SIGTSTP:
    return 18;
  case SIGCONT:
    return 19;
  case SIGCHLD:
    return 20;
  case SIGIO:
    return 23;
  case SIGSYS:
    return 12;
  case SIGPWR:
    return 32;
  case SIGSTKFLT:
    return 143; // it has none: unknown
  default:
    return number >= SIGRTMIN ? 143 : number;
  }
}

} // namespace

GdbSession::GdbSession(Machine &machine, Session &session, std::uint64_t limit, GdbChannel &channel)
    : machine_(&machine), session_(&session), limit_(limit), channel_(&channel),
      breakpoints_(machine) {
  machine_->monitor().debug(
      [this](Hart &hart) {
        if (!breakpoints_.planted(hart, hart.state().pc))
          return false;
        hit_ = hart.id();
        session_->stop();
        return true;
      },
      [this] { breakpoints_.put_in(); });
}

GdbSession::~GdbSession() { machine_->monitor().debug(nullptr, nullptr); }

bool GdbSession::reply(std::string_view text) {
  gone_ = gone_ || !channel_->send(framed(text));
  return !gone_;
}

std::optional<Session::Stop> GdbSession::serve() {
  std::string bytes;
  while (!gone_) {
    const std::optional<PacketReader::Event> event = reader_.next();
    if (!event) {
      bytes.clear();
      gone_ = !channel_->receive(bytes, true);
      reader_.add(bytes);
      continue;
    }
    if (event->kind != PacketReader::Event::Kind::packet) {
      if (event->kind == PacketReader::Event::Kind::damaged && acknowledges_)
        channel_->send("-");
      continue; // it does not run: there is nothing to interrupt
    }
    if (acknowledges_)
      channel_->send("+");
    const Answer made = answer(event->packet);
    switch (made.wish) {
    case Wish::nothing:
      reply(made.text);
      break;
    case Wish::leave:
      reply(made.text);
      return ended();
    case Wish::kill:
      return ended().value_or(Session::Stop::interrupted);
    case Wish::go:
    case Wish::step:
      if (const std::optional<Session::Stop> stop = resume(made.wish))
        return stop;
      break;
    }
  }
  return ended();
}

// Of a guest that has crashed and was looked at.
std::optional<Session::Stop> GdbSession::ended() const {
  return machine_->ended() ? std::optional(Session::Stop::ended) : std::nullopt;
}

GdbSession::Answer GdbSession::answer(std::string_view packet) {
  if (packet.empty())
    return {};
  const char kind = packet.front();
  const std::string_view rest = packet.substr(1);
  switch (kind) {
  case '?':
    return {.text = stop_reply()};
  case 'g':
    return {.text = gdb_general(hart())};
  case 'p': {
    std::string_view text = rest;
    const std::optional<std::uint64_t> number = take_hex(text);
    const std::optional<std::string> value =
        number && *number < 5000 ? gdb_register(hart(), static_cast<unsigned>(*number))
                                 : std::nullopt;
    return {.text = value.value_or("E01")};
  }
  case 'P':
    return {.text = write_register(rest)};
  case 'm':
    return {.text = read_memory(rest)};
  case 'M':
    return {.text = write_memory(rest)};
  case 'c':
    return {.wish = Wish::go};
  case 's':
    step_hart_ = hart_;
    return {.wish = Wish::step};
  case 'H':
    return set_thread(rest);
  case 'T': {
    std::string_view text = rest;
    const std::optional<std::uint64_t> id = take_hex(text);
    return {.text = id && *id >= 1 && *id <= machine_->harts().size() ? "OK" : "E01"};
  }
  case 'Z':
    return set_point(rest, true);
  case 'z':
    return set_point(rest, false);
  case 'q':
  case 'Q':
    return query(packet);
  case 'v':
    return verbose(packet);
  case 'D':
    return {.text = "OK", .wish = Wish::leave};
  case 'k':
    return {.wish = Wish::kill};
  default:
    return {};
  }
}

GdbSession::Answer GdbSession::set_thread(std::string_view packet) {
  if (packet.empty())
    return {.text = "E01"};
  std::string_view text = packet.substr(1);
  const std::optional<std::uint64_t> id = take_hex(text);
  if (!id || *id == 0) // -1, all, or any
    return {.text = "OK"};
  if (*id > machine_->harts().size())
    return {.text = "E01"};
  (packet.front() == 'g' ? hart_ : step_hart_) = static_cast<unsigned>(*id - 1);
  return {.text = "OK"};
}

std::string GdbSession::read_memory(std::string_view packet) {
  const std::optional<std::uint64_t> address = take_hex(packet);
  const std::optional<std::uint64_t> size = take(packet, ',') ? take_hex(packet) : std::nullopt;
  if (!address || !size)
    return "E01";
  std::string bytes(std::min(*size, kMemory), '\0');
  if (!hart().read_virtual(*address, std::as_writable_bytes(std::span(bytes))))
    return "E14";
  return hex_text(bytes);
}

std::string GdbSession::write_memory(std::string_view packet) {
  const std::optional<std::uint64_t> address = take_hex(packet);
  const bool counted = take(packet, ',') && take_hex(packet) && take(packet, ':');
  const std::optional<std::string> bytes = counted ? from_hex(packet) : std::nullopt;
  if (!address || !bytes)
    return "E01";
  return hart().write_virtual(*address, std::as_bytes(std::span(*bytes))) ? "OK" : "E14";
}

std::string GdbSession::write_register(std::string_view packet) {
  const std::optional<std::uint64_t> number = take_hex(packet);
  if (!number || *number >= 5000 || !take(packet, '='))
    return "E01";
  return set_gdb_register(hart(), static_cast<unsigned>(*number), packet) ? "OK" : "E01";
}

// 0 and 1 are breakpoints, 2 is memory that is written; reads are not watched.
GdbSession::Answer GdbSession::set_point(std::string_view packet, bool insert) {
  const std::optional<std::uint64_t> type = take_hex(packet);
  const std::optional<std::uint64_t> address = take(packet, ',') ? take_hex(packet) : std::nullopt;
  const std::optional<std::uint64_t> size = take(packet, ',') ? take_hex(packet) : std::nullopt;
  if (!type || !address || !size)
    return {.text = "E01"};
  if (*type > 2)
    return {};
  if (*type == 2) {
    if (insert)
      breakpoints_.watch(*address, *size);
    else
      breakpoints_.unwatch(*address, *size);
  } else if (insert) {
    breakpoints_.insert(*address);
  } else {
    breakpoints_.remove(*address);
  }
  return {.text = "OK"};
}

std::string GdbSession::transfer(std::string_view packet) {
  const std::optional<std::uint64_t> offset = take_hex(packet);
  const std::optional<std::uint64_t> size = take(packet, ',') ? take_hex(packet) : std::nullopt;
  static const std::string kDescription = gdb_description();
  if (!offset || !size || *offset > kDescription.size())
    return "E01";
  const std::string part = kDescription.substr(*offset, *size);
  return (*offset + part.size() == kDescription.size() ? "l" : "m") + part;
}

GdbSession::Answer GdbSession::query(std::string_view packet) {
  constexpr std::string_view kFeatures = "qXfer:features:read:target.xml:";
  constexpr std::string_view kExtra = "qThreadExtraInfo,";
  constexpr std::string_view kCommand = "qRcmd,";
  if (packet.starts_with("qSupported"))
    return {.text = "PacketSize=8000;qXfer:features:read+;swbreak+;hwbreak+;vContSupported+;"
                    "QStartNoAckMode+"};
  if (packet == "QStartNoAckMode") {
    acknowledges_ = false;
    return {.text = "OK"};
  }
  if (packet.starts_with(kFeatures))
    return {.text = transfer(packet.substr(kFeatures.size()))};
  if (packet == "qAttached")
    return {.text = "1"};
  if (packet == "qC")
    return {.text = "QC" + thread_of(hart_)};
  if (packet == "qfThreadInfo") {
    std::string list;
    for (unsigned hart = 0; hart < machine_->harts().size(); ++hart)
      list += (list.empty() ? "m" : ",") + thread_of(hart);
    return {.text = list};
  }
  if (packet == "qsThreadInfo")
    return {.text = "l"};
  if (packet.starts_with(kExtra)) {
    std::string_view text = packet.substr(kExtra.size());
    const std::optional<std::uint64_t> id = take_hex(text);
    if (!id || *id == 0 || *id > machine_->harts().size())
      return {.text = "E01"};
    return {.text = hex_text(describe(machine_->harts()[static_cast<unsigned>(*id - 1)]))};
  }
  if (packet.starts_with(kCommand))
    return {.text = command(packet.substr(kCommand.size()))};
  if (packet.starts_with("qSymbol"))
    return {.text = "OK"};
  return {};
}

// `monitor TEXT` of gdb.
std::string GdbSession::command(std::string_view hex) {
  const std::string text = from_hex(hex).value_or("");
  if (text != "state")
    return hex_text("there is one command: state\n");
  std::string all = fmt::format("{} instructions, cycle {}\n",
                                machine_->cores().schedule().instructions, machine_->clock().now);
  for (const auto &hart : machine_->harts())
    all += fmt::format("{}, pc {:#x}\n", describe(*hart), hart->state().pc);
  return hex_text(all);
}

// vCont: the first action that says which hart steps decides; all others go on with it.
GdbSession::Answer GdbSession::verbose(std::string_view packet) {
  if (packet == "vCont?")
    return {.text = "vCont;c;C;s;S"};
  if (packet == "vKill" || packet.starts_with("vKill;"))
    return {.text = "OK", .wish = Wish::kill};
  if (!packet.starts_with("vCont;"))
    return {};
  packet.remove_prefix(6);
  while (!packet.empty()) {
    const std::size_t end = std::min(packet.find(';'), packet.size());
    std::string_view action = packet.substr(0, end);
    packet.remove_prefix(std::min(end + 1, packet.size()));
    if (!action.starts_with('s') && !action.starts_with('S'))
      continue;
    step_hart_ = hart_;
    const std::size_t colon = action.find(':');
    if (colon != std::string_view::npos) {
      action.remove_prefix(colon + 1);
      const std::optional<std::uint64_t> id = take_hex(action);
      if (id && *id >= 1 && *id <= machine_->harts().size())
        step_hart_ = static_cast<unsigned>(*id - 1);
    }
    return {.wish = Wish::step};
  }
  return {.wish = Wish::go};
}

std::string GdbSession::stop_reply() const {
  const std::string reason = watched_ ? fmt::format("watch:{:x};", *watched_)
                             : hit_   ? "swbreak:;"
                                      : "";
  const std::optional<GuestEnd> end = machine_->guest_end();
  const int signal = end && end->signal ? protocol_signal(*end->signal) : SIGTRAP;
  return fmt::format("T{:02x}{}thread:{};", signal, reason, thread_of(hart_));
}

// Until this hart has done an instruction; others have their turns meanwhile. One that does not run
// cannot step: then a round of all passes.
void GdbSession::step(unsigned hart) {
  const HartState &state = machine_->harts()[hart].state();
  const std::uint64_t pc = state.pc;
  const std::uint64_t retired = state.instret;
  const std::uint64_t round = 2 * FunctionalCores::kTurn * machine_->harts().size();
  for (std::uint64_t count = 0; count < round; ++count) {
    if (machine_->cores().run(1) != FunctionalCores::End::limit || state.pc != pc ||
        state.instret != retired)
      return;
  }
}

// gdb sends a byte when the user wants the machine to stop.
bool GdbSession::stop_asked() {
  std::string bytes;
  gone_ = gone_ || !channel_->receive(bytes, false);
  reader_.add(bytes);
  while (const std::optional<PacketReader::Event> event = reader_.next())
    if (event->kind == PacketReader::Event::Kind::interrupt)
      return true;
  return gone_;
}

std::optional<Session::Stop> GdbSession::go() {
  bool asked = false;
  // An instruction at a time gdb is looked at now and then, and when nothing runs.
  std::uint64_t last = 0;
  session_->pause_if([&] {
    const std::uint64_t now = machine_->cores().schedule().instructions;
    const bool due = !breakpoints_.watching() || now % 1024 == 0 || now == last;
    last = now;
    return asked = due && stop_asked();
  });
  std::optional<Session::Stop> stop = breakpoints_.watching() ? go_watching() : run_to(limit_);
  session_->pause_if(nullptr);
  if (hit_)
    hart_ = *hit_;
  if (hit_ || watched_ || (asked && stop == Session::Stop::asked))
    return std::nullopt;
  return stop;
}

// Until the machine has ended, has run so many instructions, or somebody wants it to stop.
Session::Stop GdbSession::run_to(std::uint64_t instructions) {
  return session_->run(std::min(limit_, instructions));
}

// An instruction at a time.
std::optional<Session::Stop> GdbSession::go_watching() {
  while (true) {
    const std::uint64_t now = machine_->cores().schedule().instructions;
    const Session::Stop stop = run_to(now + 1);
    watched_ = breakpoints_.changed(hart());
    if (hit_ || watched_ || stop != Session::Stop::limit ||
        machine_->cores().schedule().instructions >= limit_)
      return stop;
  }
}

std::optional<Session::Stop> GdbSession::resume(Wish wish) {
  const std::optional<unsigned> from = hit_;
  hit_.reset();
  watched_.reset();
  std::optional<Session::Stop> stop = ended();
  if (stop) {
    // It has crashed, and does not go on.
  } else if (wish == Wish::step) {
    step(step_hart_);
    hart_ = step_hart_;
    if (breakpoints_.at(hart().state().pc))
      hit_ = hart_;
  } else {
    // Off the breakpoint that it stands on, then on with all of them.
    const unsigned standing = from.value_or(hart_);
    if (breakpoints_.at(machine_->harts()[standing].state().pc))
      step(standing);
    if (breakpoints_.watching())
      breakpoints_.changed(hart());
    breakpoints_.put_in();
    stop = go();
    breakpoints_.take_out();
  }
  if (ended())
    stop = ended();
  if (gone_)
    return stop;
  if (stop != Session::Stop::ended) {
    reply(stop ? "X09" : stop_reply());
    return stop;
  }
  const GuestEnd end = *machine_->guest_end();
  if (end.signal && !crash_shown_) {
    // As a program that gets a signal: it can be looked at, and ends when it is to go on.
    crash_shown_ = true;
    hart_ = end.hart;
    reply(stop_reply());
    return std::nullopt;
  }
  reply(end.signal ? fmt::format("X{:02x}", protocol_signal(*end.signal))
                   : fmt::format("W{:02x}", end.status));
  return stop;
}

} // namespace tandem::machine
