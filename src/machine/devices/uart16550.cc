// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/devices/uart16550.h"

namespace tandem::machine {
namespace {

constexpr std::size_t kFifo = 16;
constexpr unsigned kTriggers[] = {1, 4, 8, 14};

enum Register : std::uint8_t {
  data,
  enable,
  identify_or_fifo,
  line,
  modem,
  status,
  lines,
  scratch
};

constexpr std::uint8_t kReceived = 1;        // IER bit 0
constexpr std::uint8_t kTransmitted = 2;     // IER bit 1
constexpr std::uint8_t kLineStatus = 4;      // IER bit 2
constexpr std::uint8_t kDivisorAccess = 128; // LCR bit 7
constexpr std::uint8_t kLoop = 16;           // MCR bit 4
// What a modem that is always there answers: DCD, DSR, CTS.
constexpr std::uint8_t kLinesUp = 0xB0;

} // namespace

// The reason of the highest priority, 1 for none. A FIFO below its trigger level asks as a
// character timeout, which elapses at once here.
std::uint8_t Uart16550::identify() const {
  if (overrun_ && (enabled_ & kLineStatus) != 0)
    return 6;
  if (!received_.empty() && (enabled_ & kReceived) != 0)
    return !fifos_ || received_.size() >= kTriggers[trigger_] ? 4 : 12;
  if (empty_pending_ && (enabled_ & kTransmitted) != 0)
    return 2;
  return 1;
}

void Uart16550::update() { interrupt_.set(identify() != 1); }

bool Uart16550::receive(std::uint8_t byte) {
  if (received_.size() >= (fifos_ ? kFifo : 1))
    return false;
  received_.push_back(byte);
  update();
  return true;
}

void Uart16550::transmit(std::uint8_t byte) {
  if ((modem_ & kLoop) != 0) {
    overrun_ |= !receive(byte);
  } else {
    sink_->output(byte);
  }
  empty_pending_ = true;
}

bool Uart16550::load(std::uint64_t offset, unsigned size, std::uint64_t &value) {
  if (size != 1)
    return false;
  value = 0;
  const bool divisor = (line_ & kDivisorAccess) != 0;
  switch (offset) {
  case Register::data:
    if (divisor) {
      value = divisor_ & 0xFF;
    } else if (!received_.empty()) {
      value = received_.front();
      received_.pop_front();
    }
    break;
  case Register::enable:
    value = divisor ? divisor_ >> 8 : enabled_;
    break;
  case Register::identify_or_fifo:
    value = identify();
    if (value == 2)
      empty_pending_ = false;
    value |= fifos_ ? 0xC0 : 0;
    break;
  case Register::line:
    value = line_;
    break;
  case Register::modem:
    value = modem_;
    break;
  case Register::status:
    value = 0x60 | (overrun_ ? 2 : 0) | (received_.empty() ? 0 : 1);
    overrun_ = false;
    break;
  case Register::lines:
    // In loopback the outputs come back: RTS to CTS, DTR to DSR, OUT1 to RI, OUT2 to DCD.
    value = (modem_ & kLoop) == 0 ? kLinesUp
                                  : (modem_ & 2) << 3 | (modem_ & 1) << 5 | (modem_ & 12) << 4;
    break;
  case Register::scratch:
    value = scratch_;
    break;
  default:
    break;
  }
  update();
  return true;
}

bool Uart16550::store(std::uint64_t offset, unsigned size, std::uint64_t value) {
  if (size != 1)
    return false;
  const auto byte = static_cast<std::uint8_t>(value);
  const bool divisor = (line_ & kDivisorAccess) != 0;
  switch (offset) {
  case Register::data:
    if (divisor)
      divisor_ = static_cast<std::uint16_t>((divisor_ & 0xFF00) | byte);
    else
      transmit(byte);
    break;
  case Register::enable:
    if (divisor) {
      divisor_ = static_cast<std::uint16_t>((divisor_ & 0xFF) | byte << 8);
    } else {
      // Enabling the transmitter's interrupt raises it, since it is empty.
      empty_pending_ |= (byte & kTransmitted) != 0 && (enabled_ & kTransmitted) == 0;
      enabled_ = byte & 0xF;
    }
    break;
  case Register::identify_or_fifo:
    if (((byte & 1) != 0) != fifos_ || (byte & 2) != 0)
      received_.clear();
    fifos_ = (byte & 1) != 0;
    trigger_ = byte >> 6;
    break;
  case Register::line:
    line_ = byte;
    break;
  case Register::modem:
    modem_ = byte & 0x1F;
    break;
  case Register::scratch:
    scratch_ = byte;
    break;
  default:
    break;
  }
  update();
  return true;
}

void Uart16550::fields(Archive &archive) {
  archive(received_, enabled_, line_, modem_, scratch_, trigger_, divisor_, fifos_, empty_pending_,
          overrun_);
  if (trigger_ > 3 || received_.size() > kFifo) {
    trigger_ = 0;
    received_.clear();
    archive.fail();
  }
}

} // namespace tandem::machine
