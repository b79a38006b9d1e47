// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/platform/board.h"

#include "machine/platform/map.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace tandem::machine {
namespace {

BoardEnd::Kind kind_of(SystemReset reset) {
  switch (reset) {
  case SystemReset::shutdown:
    return BoardEnd::Kind::shutdown;
  case SystemReset::reboot:
    return BoardEnd::Kind::reboot;
  case SystemReset::failure:
    break;
  }
  return BoardEnd::Kind::failure;
}

BoardEnd end_of(ExitReason reason, std::uint16_t code) {
  switch (reason) {
  case ExitReason::pass:
    return {.kind = BoardEnd::Kind::exit_pass};
  case ExitReason::fail:
    return {.kind = BoardEnd::Kind::exit_fail, .code = code};
  case ExitReason::reset:
    break;
  }
  return {.kind = BoardEnd::Kind::reboot};
}

// What Linux would send a program that did so.
int signal_of(Exception cause) {
  switch (cause) {
  case Exception::illegal_instruction:
    return SIGILL;
  case Exception::breakpoint:
    return SIGTRAP;
  case Exception::instruction_misaligned:
  case Exception::load_misaligned:
  case Exception::store_misaligned:
    return SIGBUS;
  default:
    return SIGSEGV;
  }
}

int signal_of(const Crash &crash) {
  const bool by_interrupt = crash.first && (crash.first->cause & kInterruptBit) != 0;
  return signal_of(crash.first && !by_interrupt ? static_cast<Exception>(crash.first->cause)
                                                : crash.trap.cause);
}

} // namespace

Board::~Board() = default;

Result<std::unique_ptr<Board>> Board::make(const BoardOptions &options) {
  CHECK(options.harts >= 1 && options.harts <= map::kHartsMaximum);
  std::unique_ptr<Board> board(new Board(options));
  if (Status built = board->build(); !built)
    return built.error();
  return board;
}

Status Board::build() {
  Result<std::unique_ptr<Memory>> memory = Memory::create(map::kMemory, options_.memory);
  if (!memory)
    return memory.error();
  memory_ = std::move(memory).value();
  ConsoleSink &sink = *this;
  Agenda &agenda = *this;
  bus_ = std::make_unique<Bus>(*memory_);
  harts_ = std::make_unique<Harts>(*bus_, clock_, HartOptions{.count = options_.harts});
  // The hart that runs may have been granted more than is left now.
  events_.on_schedule([this] {
    if (Hart *hart = harts_->running(); hart != nullptr)
      hart->end_burst();
  });
  dma_ = std::make_unique<HartsDma>(*memory_, *harts_, &events_);
  plic_ = std::make_unique<Plic>(
      options_.harts, [this](unsigned hart, bool level) { (*harts_)[hart].set_external(level); });
  uart_ = std::make_unique<Uart16550>(sink, InterruptLine(*plic_, map::kUartInterrupt));
  exit_ = std::make_unique<ExitDevice>(
      [this](ExitReason reason, std::uint16_t code) { finish(end_of(reason, code)); });
  sbi_ = std::make_unique<Sbi>(*harts_, sink,
                               [this](SystemReset reset) { finish({.kind = kind_of(reset)}); });
  if (Status attached = attach_devices(); !attached)
    return attached;
  ConsoleReceiver *receiver = uart_.get();
  if (options_.console == ConsoleKind::sbi)
    receiver = sbi_.get();
  else if (options_.console == ConsoleKind::virtio)
    receiver = virtio_console_.get();
  feed_ = std::make_unique<ConsoleFeed>(*receiver, events_);
  monitor_ = std::make_unique<Monitor>(
      *harts_, *sbi_, 0, bit(Exception::ecall_supervisor), [this](const Crash &crash) {
        finish({.kind = BoardEnd::Kind::crash, .code = 0, .crash = crash});
      });
  cores_ = std::make_unique<FunctionalCores>(*harts_, clock_, &agenda);
  return Unit{};
}

InterruptLine Board::next_line() { return {*plic_, map::kVirtioInterrupt + slots_}; }

Status Board::add_virtio(const std::string &name, Device &device) {
  const std::uint64_t base = map::kVirtio + slots_ * map::kVirtioStride;
  ++slots_;
  return bus_->attach(name, base, VirtioDevice::kSize, device);
}

// Disks first, then ports, then the console: the order in which a kernel finds them.
Status Board::attach_devices() {
  std::size_t wanted = options_.disks.size() + (options_.console == ConsoleKind::virtio ? 1 : 0);
  for (const NetworkChoice kind : options_.networks)
    wanted += kind == NetworkChoice::pair ? 2 : 1;
  if (wanted > map::kVirtioSlots)
    return Error{fmt::format("{} virtio devices, but the machine has {} slots; leave out disks or "
                             "network ports",
                             wanted, map::kVirtioSlots)};
  CHECK(bus_->attach("exit", map::kExit, ExitDevice::kSize, *exit_).ok());
  CHECK(bus_->attach("plic", map::kPlic, Plic::kSize, *plic_).ok());
  CHECK(bus_->attach("uart", map::kUart, Uart16550::kSize, *uart_).ok());
  for (const DiskOptions &disk : options_.disks) {
    Result<std::unique_ptr<DiskImage>> image = DiskImage::open(disk.path, disk.read_only);
    if (!image)
      return image.error();
    images_.push_back(std::move(image).value());
    blocks_.push_back(std::make_unique<VirtioBlock>(*images_.back(), disk.latency,
                                                    fmt::format("tandem-disk-{}", blocks_.size()),
                                                    events_, clock_.now, *dma_, next_line()));
    CHECK(add_virtio("disk", *blocks_.back()).ok());
  }
  for (const NetworkChoice kind : options_.networks) {
    for (unsigned end = 0; end < (kind == NetworkChoice::pair ? 2U : 1U); ++end) {
      // Addresses that are administered locally, as QEMU's first ones are.
      const auto number = static_cast<std::uint8_t>(0x56 + ports_.size());
      ports_.push_back(std::make_unique<VirtioNet>(
          std::array<std::uint8_t, 6>{0x52, 0x54, 0, 0x12, 0x34, number}, events_, clock_.now,
          *dma_, next_line()));
      CHECK(add_virtio("port", *ports_.back()).ok());
    }
    if (kind == NetworkChoice::pair)
      pairs_.push_back(std::make_unique<NetworkPair>(*ports_[ports_.size() - 2], *ports_.back()));
  }
  if (options_.console == ConsoleKind::virtio) {
    virtio_console_ =
        std::make_unique<VirtioConsole>(static_cast<ConsoleSink &>(*this), *dma_, next_line());
    CHECK(add_virtio("console", *virtio_console_).ok());
  }
  for (unsigned slot = slots_; slot < map::kVirtioSlots; ++slot)
    CHECK(bus_->attach("empty slot", map::kVirtio + slot * map::kVirtioStride, VirtioDevice::kSize,
                       nothing_)
              .ok());
  return Unit{};
}

// The first end stands.
void Board::finish(const BoardEnd &end) {
  if (!end_)
    end_ = end;
  cores_->request_stop();
}

std::optional<GuestEnd> Board::guest_end() const {
  if (!end_)
    return std::nullopt;
  switch (end_->kind) {
  case BoardEnd::Kind::shutdown:
  case BoardEnd::Kind::reboot:
  case BoardEnd::Kind::exit_pass:
    return GuestEnd{};
  case BoardEnd::Kind::exit_fail: // a status of 0 would say that all is well
    return GuestEnd{.status = (end_->code & 0xFF) == 0 ? 1 : end_->code & 0xFF};
  case BoardEnd::Kind::failure:
    return GuestEnd{.status = kGuestStatus};
  case BoardEnd::Kind::crash:
    break;
  }
  return GuestEnd{
      .status = kGuestStatus, .signal = signal_of(*end_->crash), .hart = end_->crash->hart};
}

Cycle Board::next() const {
  return host_ == nullptr ? events_.next() : std::min(events_.next(), host_->next());
}

void Board::run(Cycle now) {
  if (host_ != nullptr && host_->next() <= now)
    host_->run(now);
  events_.run(now);
}

std::vector<std::pair<std::string, std::uint64_t>> Board::counts() const {
  std::vector<std::pair<std::string, std::uint64_t>> found;
  for (std::size_t index = 0; index < Sbi::kNames.size(); ++index)
    found.emplace_back(fmt::format("sbi.{}", Sbi::kNames[index]), sbi_->calls()[index]);
  found.emplace_back("plic.claims", plic_->claims());
  VirtioBlock::Statistics disks;
  for (const auto &block : blocks_) {
    disks.requests += block->statistics().requests;
    disks.failed += block->statistics().failed;
    disks.bytes_read += block->statistics().bytes_read;
    disks.bytes_written += block->statistics().bytes_written;
  }
  found.emplace_back("disk.requests", disks.requests);
  found.emplace_back("disk.failed", disks.failed);
  found.emplace_back("disk.bytes_read", disks.bytes_read);
  found.emplace_back("disk.bytes_written", disks.bytes_written);
  VirtioNet::Statistics net;
  for (const auto &port : ports_) {
    net.sent += port->statistics().sent;
    net.received += port->statistics().received;
    net.dropped += port->statistics().dropped;
  }
  found.emplace_back("net.sent", net.sent);
  found.emplace_back("net.received", net.received);
  found.emplace_back("net.dropped", net.dropped);
  return found;
}

void hart_fields(Archive &archive, HartState &s) {
  archive(s.x, s.f, s.pc, s.privilege, s.activity, s.fflags, s.frm, s.status, s.ie, s.ip, s.stvec,
          s.scounteren, s.sscratch, s.sepc, s.scause, s.stval, s.satp, s.stimecmp, s.reservation,
          s.instret, s.stxh, s.stxsp, s.stxlimit, s.stxctl);
  s.x[kSink] = 0;
  s.x[0] = 0;
  if (s.privilege > Privilege::supervisor || s.activity > Activity::stopped || s.frm > 7 ||
      s.fflags > 31 || (satp::mode(s.satp) != satp::kBare && satp::mode(s.satp) != satp::kSv39)) {
    s = HartState();
    archive.fail();
  }
}

void Board::fields(Archive &archive) {
  for (const auto &hart : *harts_) {
    HartState state = hart->state();
    hart_fields(archive, state);
    if (archive.saving() || archive.failed())
      continue;
    hart->state() = state;
    hart->changed();
  }
  Schedule schedule = cores_->schedule();
  archive(schedule.round, schedule.hart, schedule.done, schedule.instructions, clock_.now);
  if (schedule.hart > harts_->size())
    archive.fail();
  if (!archive.saving() && !archive.failed())
    cores_->restore(schedule);
  archive(events_, *plic_, *uart_, *sbi_, *feed_);
  for (const auto &block : blocks_)
    archive(*block);
  for (const auto &port : ports_)
    archive(*port);
  if (virtio_console_)
    archive(*virtio_console_);
}

} // namespace tandem::machine
