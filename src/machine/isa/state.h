// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The architectural state of a hart: everything that decides what it does next, and nothing else.
// A plain value: a checkpoint is a copy of it, two equal harts have equal bytes in every field but
// the sink. What a hart keeps besides (TLBs, decoded code) follows from it and from memory.
#pragma once

#include <array>
#include <cstdint>

namespace tandem::machine {

enum class Privilege : std::uint8_t {
  user = 0,
  supervisor = 1,
  machine = 3, // only with HartOptions::machine_mode, which bare tests of the architecture need
};

// What the scheduler may do with a hart.
enum class Activity : std::uint8_t {
  running,
  waiting, // WFI or a retentive suspend: until an enabled interrupt is pending, whatever SIE
  stopped, // HSM: until it is started
};

// Bits of sstatus, and of mstatus, which is stored.
namespace status {
inline constexpr std::uint64_t kSie = 1U << 1;
inline constexpr std::uint64_t kMie = 1U << 3;
inline constexpr std::uint64_t kSpie = 1U << 5;
inline constexpr std::uint64_t kMpie = 1U << 7;
inline constexpr std::uint64_t kSpp = 1U << 8;
inline constexpr unsigned kMppShift = 11;
inline constexpr std::uint64_t kMpp = 3U << kMppShift;
inline constexpr unsigned kFsShift = 13; // 0 off, 1 initial, 2 clean, 3 dirty
inline constexpr std::uint64_t kFs = 3U << kFsShift;
inline constexpr std::uint64_t kMprv = 1U << 17;
inline constexpr std::uint64_t kSum = 1U << 18;
inline constexpr std::uint64_t kMxr = 1U << 19;
inline constexpr std::uint64_t kTvm = 1U << 20;
inline constexpr std::uint64_t kTw = 1U << 21;
inline constexpr std::uint64_t kTsr = 1U << 22;
inline constexpr std::uint64_t kUxl = std::uint64_t{2} << 32; // reads as 2: 64 bits
inline constexpr std::uint64_t kSxl = std::uint64_t{2} << 34;
inline constexpr std::uint64_t kSd = std::uint64_t{1} << 63; // derived: FS is dirty
// What sstatus shows of mstatus.
inline constexpr std::uint64_t kSupervisor = kSie | kSpie | kSpp | kFs | kSum | kMxr | kUxl | kSd;
} // namespace status

// Satp: mode in bits 63:60 (0 bare, 8 Sv39), ASID in 59:44, root page number in 43:0.
namespace satp {
inline constexpr unsigned kModeShift = 60;
inline constexpr unsigned kAsidShift = 44;
inline constexpr std::uint64_t kBare = 0;
inline constexpr std::uint64_t kSv39 = 8;
constexpr std::uint64_t mode(std::uint64_t value) { return value >> kModeShift; }
constexpr std::uint16_t asid(std::uint64_t value) {
  return static_cast<std::uint16_t>(value >> kAsidShift);
}
constexpr std::uint64_t root(std::uint64_t value) { // physical address of the root table
  return (value & ((std::uint64_t{1} << kAsidShift) - 1)) << 12;
}
} // namespace satp

// Of stxctl.
namespace stxctl {
inline constexpr std::uint64_t kEarlyRelease = 1;
inline constexpr std::uint64_t kRefusalsTrap = 2;
} // namespace stxctl

inline constexpr unsigned kSink = 32; // x[kSink] takes what instructions write to x0
inline constexpr std::uint64_t kNoReservation = ~std::uint64_t{0};
inline constexpr std::uint64_t kReservationBytes = 64; // LR reserves the aligned 64 bytes around

// Registers of machine mode; all zero and untouched without it.
struct MachineModeState {
  std::uint64_t tvec = 0, epc = 0, cause = 0, tval = 0, scratch = 0;
  std::uint64_t edeleg = 0, ideleg = 0, counteren = 0, envcfg = 0;
  std::array<std::uint64_t, 2> pmpcfg{};
  std::array<std::uint64_t, 16> pmpaddr{};
  bool operator==(const MachineModeState &) const = default;
};

struct HartState {
  // x[0] is 0 always; x[kSink] means nothing.
  std::array<std::uint64_t, 33> x{};
  // Singles are boxed: the upper 32 bits of theirs are ones.
  std::array<std::uint64_t, 32> f{};
  std::uint64_t pc = 0; // of the next instruction
  Privilege privilege = Privilege::supervisor;
  Activity activity = Activity::stopped;
  std::uint8_t fflags = 0; // NX, UF, OF, DZ, NV from bit 0
  std::uint8_t frm = 0;
  std::uint64_t status = status::kUxl | status::kSxl; // mstatus without SD
  std::uint64_t ie = 0;                               // sie; with machine mode all of mie
  std::uint64_t ip = 0; // pending bits that are stored: SSIP, SEIP (the line), with machine
                        // mode the others; STIP is derived from stimecmp
  std::uint64_t stvec = 0;
  std::uint64_t scounteren = 0;
  std::uint64_t sscratch = 0;
  std::uint64_t sepc = 0;
  std::uint64_t scause = 0;
  std::uint64_t stval = 0;
  std::uint64_t satp = 0;
  std::uint64_t stimecmp = ~std::uint64_t{0}; // in ticks of time
  std::uint64_t stxh = 0;                     // a handle; of transactions, as the next three
  std::uint64_t stxsp = 0;
  std::uint64_t stxlimit = 0; // restarts; 0: no limit
  std::uint64_t stxctl = 0;
  std::uint64_t reservation = kNoReservation; // physical address over 64, or none
  std::uint64_t instret = 0;                  // instructions that retired
  MachineModeState m;

  // Whether two harts would do the same.
  bool operator==(const HartState &other) const {
    HartState a = *this;
    a.x[kSink] = other.x[kSink];
    return a.same(other);
  }

private:
  [[nodiscard]] bool same(const HartState &o) const {
    return x == o.x && f == o.f && pc == o.pc && privilege == o.privilege &&
           activity == o.activity && fflags == o.fflags && frm == o.frm && status == o.status &&
           ie == o.ie && ip == o.ip && stvec == o.stvec && scounteren == o.scounteren &&
           sscratch == o.sscratch && sepc == o.sepc && scause == o.scause && stval == o.stval &&
           satp == o.satp && stimecmp == o.stimecmp && stxh == o.stxh && stxsp == o.stxsp &&
           stxlimit == o.stxlimit && stxctl == o.stxctl && reservation == o.reservation &&
           instret == o.instret && m == o.m;
  }
};

} // namespace tandem::machine
