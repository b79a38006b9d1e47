// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A whole machine: harts, main memory, devices, firmware. Made from options alone, so that a saved
// state fits every machine of the same options. For one thread.
//
// Sequence: make(), put programs into memory(), start a hart, run through cores(). What the guest
// prints goes to the sink, what it ends with to end().
#pragma once

#include "base/result.h"
#include "machine/archive/archive.h"
#include "machine/bus/bus.h"
#include "machine/cores/functional.h"
#include "machine/devices/disk_image.h"
#include "machine/devices/event_queue.h"
#include "machine/devices/exit_device.h"
#include "machine/devices/plic.h"
#include "machine/devices/uart16550.h"
#include "machine/devices/virtio_block.h"
#include "machine/devices/virtio_console.h"
#include "machine/devices/virtio_net.h"
#include "machine/firmware/harts_dma.h"
#include "machine/firmware/sbi.h"
#include "machine/hart/harts.h"
#include "machine/platform/console_feed.h"
#include "machine/platform/machine.h"
#include "machine/platform/monitor.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tandem::machine {

struct DiskOptions {
  std::string path;
  bool read_only = false;
  Cycle latency = 5'500'000; // 5.5 ms, the MetaTM/TxLinux paper's disk
};

enum class NetworkChoice : std::uint8_t {
  none,  // a port without a peer
  pair,  // two ports, connected
  relay, // a port whose peer the caller connects
};

enum class ConsoleKind : std::uint8_t { uart, sbi, virtio };

struct BoardOptions {
  unsigned harts = 1;                              // 1 to map::kHartsMaximum
  std::uint64_t memory = std::uint64_t{512} << 20; // bytes, a multiple of 2 MB
  std::vector<DiskOptions> disks{};
  std::vector<NetworkChoice> networks{};
  ConsoleKind console = ConsoleKind::uart; // which device takes what is typed
};

// How a guest ends by itself.
struct BoardEnd {
  enum class Kind : std::uint8_t { shutdown, reboot, failure, exit_pass, exit_fail, crash };
  Kind kind;
  std::uint16_t code = 0; // of exit_fail
  std::optional<Crash> crash{};
};

class Board final : public Machine, private Agenda, private ConsoleSink {
public:
  // Error: a disk that cannot be used, more devices than slots, no memory.
  static Result<std::unique_ptr<Board>> make(const BoardOptions &options);
  ~Board() override;

  [[nodiscard]] const BoardOptions &options() const { return options_; }
  [[nodiscard]] Memory &memory() override { return *memory_; }
  [[nodiscard]] Harts &harts() override { return *harts_; }
  [[nodiscard]] const Clock &clock() const override { return clock_; }
  [[nodiscard]] FunctionalCores &cores() override { return *cores_; }
  [[nodiscard]] Monitor &monitor() override { return *monitor_; }
  [[nodiscard]] std::optional<GuestEnd> guest_end() const override;
  [[nodiscard]] HartsDma &dma() override { return *dma_; }
  [[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> counts() const override;
  [[nodiscard]] ConsoleFeed &feed() { return *feed_; }
  [[nodiscard]] const Sbi &sbi() const { return *sbi_; }
  [[nodiscard]] const Plic &plic() const { return *plic_; }
  [[nodiscard]] const std::vector<std::unique_ptr<VirtioBlock>> &blocks() const { return blocks_; }
  [[nodiscard]] const std::vector<std::unique_ptr<VirtioNet>> &ports() const { return ports_; }
  // Slots that have a device, for the device tree.
  [[nodiscard]] unsigned virtio_slots() const { return slots_; }

  // Gets what the guest prints, whatever device it prints to.
  void show(ConsoleSink *sink) { sink_ = sink; }
  // What the host does at cycles of its own (a terminal is asked, recorded keys are due). It is no
  // part of the machine's state, and what it leaves alone is not changed by its being there.
  void attach(Agenda *host) { host_ = host; }

  [[nodiscard]] const std::optional<BoardEnd> &end() const { return end_; }

  // Everything that decides how the machine goes on, but the bytes of memory.
  void fields(Archive &archive);

private:
  explicit Board(const BoardOptions &options) : options_(options) {}
  Status build();
  Status attach_devices();
  Status add_virtio(const std::string &name, Device &device);
  [[nodiscard]] InterruptLine next_line();
  void finish(const BoardEnd &end);

  [[nodiscard]] Cycle next() const override;
  void run(Cycle now) override;
  void output(std::uint8_t byte) override {
    if (sink_ != nullptr)
      sink_->output(byte);
  }

  BoardOptions options_;
  ConsoleSink *sink_ = nullptr;
  Agenda *host_ = nullptr;
  std::optional<BoardEnd> end_;
  Clock clock_{.now = 0, .cycles_per_tick = 100};
  EventQueue events_;
  std::unique_ptr<Memory> memory_;
  std::unique_ptr<Bus> bus_;
  std::unique_ptr<Harts> harts_;
  std::unique_ptr<HartsDma> dma_;
  std::unique_ptr<Plic> plic_;
  std::unique_ptr<Uart16550> uart_;
  std::unique_ptr<ExitDevice> exit_;
  std::unique_ptr<Sbi> sbi_;
  std::vector<std::unique_ptr<DiskImage>> images_;
  std::vector<std::unique_ptr<VirtioBlock>> blocks_;
  std::vector<std::unique_ptr<VirtioNet>> ports_;
  std::vector<std::unique_ptr<NetworkPair>> pairs_;
  std::unique_ptr<VirtioConsole> virtio_console_;
  VirtioNothing nothing_;
  unsigned slots_ = 0;
  std::unique_ptr<ConsoleFeed> feed_;
  std::unique_ptr<Monitor> monitor_;
  std::unique_ptr<FunctionalCores> cores_;
};

} // namespace tandem::machine
