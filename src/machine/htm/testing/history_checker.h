// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A checker of histories: whether what transactions and others did to memory is what it would have
// been one transaction after the other, in the order of their commits, and whether no attempt, the
// aborted ones included, ever saw anything else (opacity).
//
// It knows no marks and no policy. It keeps the bytes as the commits have left them, and of each
// attempt what it has written and read, and asks of every event
//   that a read sees the attempt's own write, else the last commit's, else the first bytes;
//   that an attempt does nothing more after a byte that it has read was written by a commit or from
//   outside (its reads would be of two moments);
//   that no other reads or writes what a live attempt has written, or writes what one has read
//   (isolation, and the eagerness of detection).
// In the end memory is what the commits and the others have left.
#pragma once

#include "machine/bus/memory.h"
#include "machine/htm/history.h"

#include <fmt/format.h>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace tandem::machine::testing {

class HistoryChecker {
public:
  // `first`: all bytes from `base` on as they were before the history.
  HistoryChecker(std::uint64_t base, std::vector<std::byte> first)
      : base_(base), first_(std::move(first)) {}

  // The first thing that is wrong; empty if nothing is.
  std::string check(const History &history, const Memory &last) {
    for (at_ = 0; at_ < history.size() && wrong_.empty(); ++at_)
      take(history[at_]);
    if (!wrong_.empty())
      return wrong_;
    for (const auto &[address, value] : bytes_)
      if (live_written(address) == 0 && *last.host(address) != value)
        return fmt::format("in the end the byte at {:#x} is {:#x}, not {:#x}", address,
                           unsigned(*last.host(address)), unsigned(value));
    return {};
  }
  [[nodiscard]] std::uint64_t commits() const { return commits_; }
  [[nodiscard]] std::uint64_t aborts() const { return aborts_; }

private:
  struct Attempt {
    std::unordered_map<std::uint64_t, std::byte> written;
    std::set<std::uint64_t> read;
    bool stale = false;
  };

  void fail(const std::string &what) {
    if (wrong_.empty())
      wrong_ = fmt::format("event {}: {}", at_, what);
  }
  [[nodiscard]] std::byte committed(std::uint64_t address) const {
    const auto found = bytes_.find(address);
    return found != bytes_.end() ? found->second : first_[address - base_];
  }
  [[nodiscard]] std::uint64_t live_written(std::uint64_t address) const {
    for (const auto &[name, attempt] : live_)
      if (attempt.written.contains(address))
        return name;
    return 0;
  }
  void take(const HistoryEvent &event) {
    using Kind = HistoryEvent::Kind;
    switch (event.kind) {
    case Kind::begin:
      live_[event.transaction] = {};
      return;
    case Kind::commit:
      commit(event.transaction);
      return;
    case Kind::abort:
      live_.erase(event.transaction);
      ++aborts_;
      return;
    case Kind::release:
      release(event);
      return;
    case Kind::read:
    case Kind::write:
      for (unsigned i = 0; i < event.size; ++i)
        access(event, event.address + i, std::byte(event.value >> (8 * i)));
      return;
    }
  }
  void commit(std::uint64_t name) {
    const auto found = live_.find(name);
    if (found == live_.end())
      return fail(fmt::format("transaction {} commits, and had not begun", name));
    const Attempt attempt = std::move(found->second);
    live_.erase(found);
    if (attempt.stale)
      fail(fmt::format("transaction {} commits after what it has read was overwritten", name));
    for (const auto &[address, value] : attempt.written)
      publish(address, value);
    ++commits_;
  }
  void publish(std::uint64_t address, std::byte value) {
    bytes_[address] = value;
    for (auto &[name, attempt] : live_)
      attempt.stale = attempt.stale || attempt.read.contains(address);
  }
  void release(const HistoryEvent &event) {
    Attempt &attempt = live_[event.transaction];
    for (std::uint64_t address = event.address; address < event.address + event.size; ++address) {
      attempt.read.erase(address);
      if (const auto found = attempt.written.find(address); found != attempt.written.end()) {
        publish(address, found->second);
        attempt.written.erase(found);
      }
    }
  }
  void access(const HistoryEvent &event, std::uint64_t address, std::byte value) {
    const bool write = event.kind == HistoryEvent::Kind::write;
    for (const auto &[name, other] : live_)
      if (name != event.transaction &&
          (other.written.contains(address) || (write && other.read.contains(address))))
        fail(fmt::format("hart {}, transaction {} (0: none) {} the byte at {:#x}, which "
                         "transaction {} has {}",
                         event.hart, event.transaction, write ? "writes" : "reads", address, name,
                         other.written.contains(address) ? "written" : "read"));
    Attempt *own = event.transaction != 0 ? &live_[event.transaction] : nullptr;
    if (own != nullptr && own->stale)
      fail(fmt::format("transaction {} goes on after what it has read was overwritten",
                       event.transaction));
    if (write) {
      if (own != nullptr)
        own->written[address] = value;
      else
        publish(address, value);
      return;
    }
    std::byte expected = committed(address);
    if (own != nullptr) {
      const auto found = own->written.find(address);
      if (found != own->written.end())
        expected = found->second;
      else
        own->read.insert(address);
    }
    if (value != expected)
      fail(fmt::format("hart {}, transaction {} (0: none) reads {:#x} at {:#x}, where {:#x} is",
                       event.hart, event.transaction, unsigned(value), address,
                       unsigned(expected)));
  }

  std::uint64_t base_;
  std::vector<std::byte> first_;
  std::unordered_map<std::uint64_t, std::byte> bytes_; // that commits and others have written
  std::map<std::uint64_t, Attempt> live_;
  std::string wrong_;
  std::size_t at_ = 0;
  std::uint64_t commits_ = 0;
  std::uint64_t aborts_ = 0;
};

} // namespace tandem::machine::testing
