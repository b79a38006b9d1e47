// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checker's environment: what the tables' actions are written against
// (protocol/environment.h), on one State. Also the tables that an engine runs.
#pragma once

#include <array>
#include <bit>
#include <type_traits>

#include "machine/checker/step.h"

namespace tandem::machine::checker {

template <class P> class Engine;

// A controller at work: what actions are written against (protocol/environment.h).
template <class P, class C> class Env {
public:
  Env(Engine<P> &engine, State<P> &state, unsigned block, Node self, const Message &message)
      : engine_(engine), s_(state), message_(message), block_(block), self_(self) {}

  typename C::Line &line() { return part().line; }
  typename C::Tbe &tbe() { return part().tbe; }
  auto &llc()
    requires(C::kRole == Role::home)
  {
    return s_.blocks[block_].home.llc;
  }
  AgentOf<C> &agent() {
    if constexpr (C::kRole == Role::core)
      return s_.agents[self_.id];
    else if constexpr (C::kRole == Role::home)
      return s_.home_agent;
    else
      return s_.memory_agent;
  }
  const Message &message() const { return message_; }
  Node self() const { return self_; }
  std::uint64_t block() const { return block_; }
  unsigned cores() const { return engine_.options().cores; }
  unsigned tokens() const { return engine_.tokens(); }
  const typename P::Config &config() const { return engine_.config(); }

  void send(Message m) {
    m.src = self_;
    m.block = block_;
    engine_.send(s_, m);
  }
  void multicast(CoreSet to, Message m) {
    for (std::uint64_t left = to.bits; left != 0; left &= left - 1)
      send(m.to(Node::core(static_cast<unsigned>(std::countr_zero(left)))));
  }
  void raise(typename P::Event event) {
    if (raised_used_ == raised_.size())
      return engine_.fail("more events raised in one step than an environment takes");
    raised_[raised_used_++] = static_cast<std::uint8_t>(event);
  }
  void wake(Wake name) { engine_.note_wake(self_, block_, name); }
  void perform(Access access, Data &data) { engine_.perform(s_, block_, self_, access, data); }

  bool filter_hit() { return engine_.filter_hit(s_, block_); }
  bool filter_member() const { return s_.blocks[block_].home.member; }
  void filter_insert() {
    if (s_.blocks[block_].home.member)
      engine_.fail("a member of the filter is inserted again: the filter leaks");
    s_.blocks[block_].home.member = true;
  }
  void filter_remove() {
    if (!s_.blocks[block_].home.member)
      engine_.fail("the filter removes what is not a member: a later false negative");
    s_.blocks[block_].home.member = false;
  }

  void request_bus() {
    bool &asked = s_.blocks[block_].asked[self_.id];
    if (asked)
      engine_.fail("a core that waits for the bus asks for it again");
    asked = true;
  }
  void arm_timer() {}
  void snoop(typename P::Event event) {
    engine_.snoop(s_, block_, self_, static_cast<std::uint8_t>(event));
  }
  SnoopLines &lines() { return engine_.lines(); }
  bool transactional() const { return engine_.transactional(); }
  bool refuses() { return engine_.refuses(s_, block_, self_, message_.requester); }
  bool marked() const { return s_.blocks[block_].held[self_.id] != Held::none; }
  void abandon() { engine_.abandon(s_, block_, self_); }

  // The engine's own.
  unsigned raised() const { return raised_used_; }
  std::uint8_t raised(unsigned i) const { return raised_[i]; }

private:
  auto &part() {
    BlockState<P> &b = s_.blocks[block_];
    if constexpr (C::kRole == Role::core)
      return b.cores[self_.id];
    else if constexpr (C::kRole == Role::home)
      return b.home;
    else
      return b.memory;
  }

  Engine<P> &engine_;
  State<P> &s_;
  const Message message_; // a copy: the state's messages move
  unsigned block_;
  Node self_;
  unsigned raised_used_ = 0;
  std::array<std::uint8_t, 4> raised_{};
};

template <class P, class C> using RowOf = Row<Env<P, C>, C>;

// The tables to run; a mutant is a set of tables with one row altered.
template <class P> struct Tables {
  template <class C> using Dispatcher = Dispatch<Env<P, C>, C>;
  template <class C> struct IfAny {
    using type = Dispatcher<C>;
  };
  struct None {};
  Dispatcher<typename P::Core> core;
  std::conditional_t<std::is_void_v<typename P::Home>, std::type_identity<None>,
                     IfAny<HomeOf<P>>>::type home;
  std::conditional_t<std::is_void_v<typename P::Memory>, std::type_identity<None>,
                     IfAny<MemoryOf<P>>>::type memory;

  // These without the rows of options that are not set.
  Tables of(const typename P::Config &config) const {
    Tables result = *this;
    result.core.configure(config);
    if constexpr (!std::is_void_v<typename P::Home>)
      result.home.configure(config);
    if constexpr (!std::is_void_v<typename P::Memory>)
      result.memory.configure(config);
    return result;
  }
};

} // namespace tandem::machine::checker
