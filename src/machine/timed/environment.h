// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The environment of the timed system (protocol/environment.h says what it must offer): one
// controller at work on one block for one event. It holds copies of the block's line, transaction
// and LLC line; the system puts them back when the step is over.
#pragma once

#include "machine/protocol/environment.h"
#include "machine/timed/units.h"

#include <array>

namespace tandem::machine::timed {

template <class S, class C> class Env {
public:
  using Protocol = typename C::Protocol;
  using Event = typename Protocol::Event;
  using Controller = C;
  using UnitType = typename S::template UnitOf<C>;

  Env(S &system, UnitType &unit, std::uint64_t block, const Message &message, AccessId access)
      : system_(system), unit_(unit), message_(message), block_(block), access_(access) {}

  typename C::Line &line() { return line_; }
  typename C::Tbe &tbe() { return tbe_; }
  LlcOf<C> &llc() { return llc_; }
  AgentOf<C> &agent() { return unit_.agent; }
  [[nodiscard]] const Message &message() const { return message_; }
  [[nodiscard]] Node self() const { return unit_.node; }
  [[nodiscard]] std::uint64_t block() const { return block_; }
  [[nodiscard]] unsigned cores() const { return system_.cores(); }
  [[nodiscard]] unsigned tokens() const { return system_.tokens(); }
  [[nodiscard]] const typename Protocol::Config &config() const {
    return system_.protocol_config();
  }

  void send(Message message) {
    message.src = self();
    message.block = block_;
    system_.template send<C>(unit_, message, from_core_);
  }
  void multicast(CoreSet to, Message message) {
    if (to.empty())
      return;
    message.src = self();
    message.block = block_;
    system_.template multicast<C>(unit_, to, message, from_core_);
  }
  void raise(Event event) {
    CHECK(raised_used_ < raised_.size(), "more than 4 events raised in one step of {}", C::kName);
    raised_[raised_used_++] = static_cast<std::uint8_t>(event);
  }
  void wake(Wake name) { system_.template note_wake<C>(unit_, block_, name); }
  void perform(Access access, Data &data) {
    if constexpr (C::kRole == Role::core) {
      // An access that hits is not the one that a transaction under way is for.
      AccessId &id = from_core_ ? access_ : tbe_access_;
      system_.perform(unit_, block_, access, data, id, from_core_);
      id = kNoAccess;
    } else {
      system_.perform_device(block_, access, data);
    }
  }

  // Stable within a step; the system counts it when the step is taken.
  bool filter_hit() {
    if (filter_answer_ == 0)
      filter_answer_ = unit_.filter->peek(block_) ? 2 : 1;
    return filter_answer_ == 2;
  }
  [[nodiscard]] bool filter_member() const { return system_.filter_member(block_); }
  void filter_insert() { system_.filter_insert(unit_, block_); }
  void filter_remove() { system_.filter_remove(unit_, block_); }

  void request_bus() { system_.ask_for_bus(unit_.number, block_, message_.type); }
  void snoop(Event event) { system_.snoop(unit_.node, block_, static_cast<std::uint8_t>(event)); }
  SnoopLines &lines() { return system_.lines(); }
  [[nodiscard]] bool transactional() const { return system_.transactional(access_); }
  // Decided once in a step.
  [[nodiscard]] bool refuses() {
    if (refusal_ == 0)
      refusal_ = system_.refuses(unit_.number, block_, message_.requester) ? 2 : 1;
    return refusal_ == 2;
  }
  [[nodiscard]] bool marked() const { return system_.marked(unit_.number, block_); }
  void abandon() {
    system_.abandon(unit_, block_, tbe_access_);
    tbe_access_ = kNoAccess;
  }
  void arm_timer() { system_.arm_timer(unit_, block_); }

private:
  friend S;

  S &system_;
  UnitType &unit_;
  const Message message_; // a copy: the pools move
  std::uint64_t block_;
  AccessId access_;                 // that the event is
  AccessId tbe_access_ = kNoAccess; // that the transaction is for
  bool from_core_ = false;          // the event is an access, not a message
  std::uint8_t filter_answer_ = 0;  // 0 not asked, 1 no, 2 yes
  std::uint8_t refusal_ = 0;        // the same
  unsigned raised_used_ = 0;
  std::array<std::uint8_t, 4> raised_{};
  typename C::Line line_{};
  typename C::Tbe tbe_{};
  LlcOf<C> llc_{};
};

} // namespace tandem::machine::timed
