// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checker's environment: the tables run on a State, one atomic step at a time, and what they
// do wrong is noted as a failure. Also here: the list of steps that are possible in a state.
//
// A choice of the environment (a false positive of the filter) makes one step several: the step is
// run again for each outcome.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "machine/checker/state.h"
#include "machine/checker/view.h"

namespace tandem::machine::checker {

// One possible step: a message delivered, or an event raised at a controller.
struct Move {
  std::uint8_t event = 0;
  std::uint8_t block = 0;
  Node at;
  bool message = false;
  std::uint32_t slot = 0;   // of the message
  std::uint32_t choice = 0; // what the environment chose, a bit for each question
  std::uint8_t asked = 0;   // of an access: which, see Asked
};

// What happened in a step, for the chart; filled only on request.
struct Record {
  Move move;
  Message delivered;
  struct Taken {
    Node at;
    std::uint8_t event = 0;
    std::size_t row = 0;
  };
  std::vector<Taken> rows;
  std::vector<Message> sent;
};

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
};

enum class Outcome : std::uint8_t { done, waits, failed };

template <class P> class Engine {
public:
  Engine(const Options &options, const typename P::Config &config, const Tables<P> &tables)
      : options_(options), config_(config), tables_(tables),
        tokens_(options.tokens != 0 ? options.tokens : options.cores) {
    core_coverage.rows.resize(tables.core.rows().size());
    if constexpr (kHasHome)
      home_coverage.rows.resize(tables.home.rows().size());
    if constexpr (kHasMemory)
      memory_coverage.rows.resize(tables.memory.rows().size());
  }

  static constexpr bool kHasHome = !std::is_void_v<typename P::Home>;
  static constexpr bool kHasMemory = !std::is_void_v<typename P::Memory>;

  const Options &options() const { return options_; }
  const typename P::Config &config() const { return config_; }
  unsigned tokens() const { return tokens_; }
  const std::string &failure() const { return failure_; }

  State<P> initial() const {
    State<P> s;
    for (unsigned b = 0; b < options_.blocks; ++b) {
      if constexpr (requires { P::Core::initial(tokens_, Data{1}); })
        for (unsigned c = 0; c < options_.cores; ++c)
          s.blocks[b].cores[c].line = P::Core::initial(tokens_, Data{1});
      if constexpr (requires { HomeOf<P>::initial(tokens_, Data{1}); })
        s.blocks[b].home.line = HomeOf<P>::initial(tokens_, Data{1});
      if constexpr (requires { MemoryOf<P>::initial(tokens_, Data{1}); })
        s.blocks[b].memory.line = MemoryOf<P>::initial(tokens_, Data{1});
    }
    return s;
  }

  // Calls visit(move) for every step to try in this state; some will turn out to wait. A state
  // where visit is never called is the end of everything.
  template <class F> void each_move(const State<P> &s, F &&visit) {
    may_begin_ = !options_.sequential || quiescent(s);
    for (std::uint32_t i = 0; i < s.in_flight; ++i) {
      const Message &m = s.messages[i];
      if (deliverable(s, i))
        visit(Move{m.type, static_cast<std::uint8_t>(m.block), m.dst, true, i, 0});
    }
    for (unsigned b = 0; b < options_.blocks; ++b) {
      for (unsigned c = 0; c < options_.cores; ++c)
        spontaneous<typename P::Core>(s, b, Node::core(c), visit);
      if constexpr (kHasHome)
        spontaneous<typename P::Home>(s, b, Node::home(), visit);
      if constexpr (kHasMemory)
        spontaneous<typename P::Memory>(s, b, Node::memory(), visit);
    }
  }

  // Whether the step is a core's new access, which no other request may depend on.
  static bool is_access(const Move &move) { return !move.message && is_access(move.event); }
  static bool is_access(std::uint8_t event) {
    return P::kEvents[event].kind == EventKind::core || P::kEvents[event].kind == EventKind::device;
  }

  // Whether a request may count on this step: not on accesses, nor, while there is room for all, on
  // evictions.
  bool is_progress(const Move &move) const {
    if (move.message)
      return true;
    if (is_access(move))
      return false;
    const auto is = [&](auto event) { return move.event == static_cast<std::uint8_t>(event); };
    bool eviction = false;
    if constexpr (requires { P::Event::evict; })
      eviction |= is(P::Event::evict);
    if constexpr (requires { P::Event::dir_evict; })
      eviction |= is(P::Event::dir_evict);
    if constexpr (requires { P::Event::llc_evict; })
      eviction |= is(P::Event::llc_evict);
    return !eviction || options_.ways != 0 || options_.entries != 0 || options_.llc != 0;
  }

  // Runs the step on `s`, a copy of `before`, in place. On `waits`, s is as before or garbage; on
  // `failed`, failure() says what. *next_choice is the next outcome of the environment to try, or 0
  // when this was the last.
  Outcome run(const State<P> &before, State<P> &s, const Move &move, std::uint32_t *next_choice,
              Record *record = nullptr) {
    begin(move.choice, record);
    at_ = move.at;
    Message m = Message{};
    m.type = move.event;
    m.block = move.block;
    if (move.message) {
      m = s.messages[move.slot];
      remove(s, move.slot);
    }
    if constexpr (P::kBus)
      if (!move.message && move.event == static_cast<std::uint8_t>(P::Event::grant))
        s.blocks[move.block].asked[move.at.id] = false;
    if (record != nullptr) {
      record->move = move;
      record->delivered = m;
    }
    if (is_access(move))
      accepting_ = move.asked;
    Outcome outcome = Outcome::done;
    if (move.at.is_core())
      outcome = dispatch<typename P::Core>(s, move.block, move.at, m.type, m, 0);
    else if constexpr (kHasHome)
      if (move.at == Node::home())
        outcome = dispatch<typename P::Home>(s, move.block, move.at, m.type, m, 0);
    if constexpr (kHasMemory)
      if (move.at == Node::memory())
        outcome = dispatch<typename P::Memory>(s, move.block, move.at, m.type, m, 0);
    *next_choice = following_choice();
    if (outcome == Outcome::done && !fits(s))
      return Outcome::waits;
    if (lines_.nack && accepting_ != 0) // of a device: it asks again
      return failure_.empty() ? Outcome::waits : Outcome::failed;
    if (outcome == Outcome::done) {
      check_access(s, move);
      drop_reservations(s);
      if (move.at.is_core())
        check_eviction<typename P::Core>(before, s, move);
    }
    if constexpr (kHasHome)
      if (outcome == Outcome::done && move.at == Node::home())
        check_eviction<typename P::Home>(before, s, move);
    if (outcome == Outcome::done && failure_.empty())
      check_wakes(s);
    return failure_.empty() ? outcome : Outcome::failed;
  }

  // What is wrong with this state, or null.
  const char *violated(const State<P> &s) const {
    if (const char *what = overfull(s); what != nullptr)
      return what;
    for (unsigned b = 0; b < options_.blocks; ++b) {
      unsigned readers = 0, writers = 0;
      for (unsigned c = 0; c < options_.cores; ++c) {
        const auto &part = s.blocks[b].cores[c];
        if (P::Core::readable(part.line, part.tbe)) {
          ++readers;
          if (part.line.data.value == 0)
            return "data value: a copy that may be read is not the last value stored";
        }
        if (P::Core::writable(part.line, part.tbe))
          ++writers;
      }
      if (writers > 1 || (writers == 1 && readers > 1))
        return "single writer or many readers: a core may write while another may read or write";
      detail::CountFresh fresh;
      each_part(s.blocks[b], [&fresh]<class T>(const T &part) { T::fields(part, fresh); });
      for (std::uint32_t i = 0; i < s.in_flight; ++i)
        fresh.fresh += s.messages[i].block == b ? s.messages[i].data.value : 0;
      if (fresh.fresh == 0)
        return "lost data: the last value stored is nowhere any more";
      const char *own = P::violated(View<P>(s, b, tokens_, config_, options_));
      if (own != nullptr)
        return own;
    }
    return nullptr;
  }

  // No message in flight and no transaction anywhere.
  bool quiescent(const State<P> &s) const {
    if (s.in_flight != 0)
      return false;
    for (unsigned b = 0; b < options_.blocks; ++b) {
      for (unsigned c = 0; c < options_.cores; ++c)
        if (static_cast<int>(s.blocks[b].cores[c].tbe.state) != 0)
          return false;
      if (static_cast<int>(s.blocks[b].home.tbe.state) != 0 ||
          static_cast<int>(s.blocks[b].memory.tbe.state) != 0)
        return false;
    }
    return true;
  }

  Result::Coverage core_coverage, home_coverage, memory_coverage;

  // For Env.
  void fail(const char *what) {
    if (failure_.empty())
      failure_ = what;
  }
  SnoopLines &lines() { return lines_; }

  void send(State<P> &s, const Message &m) {
    if (s.in_flight == kMessages)
      return fail("more messages in flight than the checker holds");
    if (m.dst.is_none() || (m.dst.is_core() && m.dst.id >= options_.cores))
      return fail("a message to nobody");
    if (record_ != nullptr)
      record_->sent.push_back(m);
    s.messages[s.in_flight++] = m;
  }

  void note_wake(Node at, unsigned block, Wake name) {
    if (woken_used_ < woken_.size())
      woken_[woken_used_++] = {at, static_cast<std::uint8_t>(block), name};
  }

  // `who` is a core, or (a device) the home or memory.
  void perform(State<P> &s, unsigned block, Node who, Access access, Data &data) {
    BlockState<P> &b = s.blocks[block];
    if (data.value == 0)
      fail(access == Access::load
               ? "data value: a load returns something else than the last value stored"
               : "data value: a store writes a part of a block that is not up to date");
    const std::uint8_t asked =
        note_access(who.is_core() ? b.pending[who.id] : b.device, access, who);
    if (asked == kLoadReserved)
      b.reserved[who.id] = Reservation::stands;
    if (asked == kStoreConditional) {
      const Reservation was = std::exchange(b.reserved[who.id], Reservation::none);
      if (was == Reservation::broken)
        fail("a store-conditional succeeds, and another store came after its load-reserved");
      if (was != Reservation::stands)
        return; // it takes the line, and stores nothing
    }
    if (access == Access::load)
      return;
    for (unsigned c = 0; c < options_.cores; ++c)
      if (Node::core(c) != who && b.reserved[c] == Reservation::stands)
        b.reserved[c] = Reservation::broken;
    detail::MakeStale stale;
    each_part(b, [&stale]<class T>(T &part) { std::remove_const_t<T>::fields(part, stale); });
    for (std::uint32_t i = 0; i < s.in_flight; ++i)
      if (s.messages[i].block == block)
        s.messages[i].data = {};
    data.value = 1;
  }

  bool filter_hit(const State<P> &s, unsigned block) {
    if (s.blocks[block].home.member)
      return true;
    if (!options_.filter_false_positives || looking_)
      return false;
    if (filter_answer_[block] == 0)
      filter_answer_[block] = static_cast<std::uint8_t>(1 + choose());
    return filter_answer_[block] == 2;
  }

  // All other cores, then memory, hear `event` from `self`; nothing runs if one refuses.
  void snoop(State<P> &s, unsigned block, Node self, std::uint8_t event) {
    lines_ = {};
    Message m;
    m.type = event;
    m.block = block;
    m.src = m.requester = self;
    for (unsigned pass = 0; pass < 2 && !lines_.nack && failure_.empty(); ++pass) {
      for (unsigned c = 0; c < options_.cores; ++c)
        if (Node::core(c) != self)
          snoop_one<typename P::Core>(s, block, Node::core(c), m, pass == 0);
      if constexpr (kHasMemory)
        if (self != Node::memory())
          snoop_one<typename P::Memory>(s, block, Node::memory(), m, pass == 0);
    }
  }

private:
  static constexpr unsigned kDeepest = 8; // events raised by events raised

  template <class C> const auto &table() const {
    if constexpr (C::kRole == Role::core)
      return tables_.core;
    else if constexpr (C::kRole == Role::home)
      return tables_.home;
    else
      return tables_.memory;
  }
  template <class C> Result::Coverage &coverage() {
    if constexpr (C::kRole == Role::core)
      return core_coverage;
    else if constexpr (C::kRole == Role::home)
      return home_coverage;
    else
      return memory_coverage;
  }

  template <class B, class F> void each_part(B &block, F &&visit) const {
    for (unsigned c = 0; c < options_.cores; ++c)
      visit(block.cores[c]);
    visit(block.home);
    visit(block.memory);
  }

  void begin(std::uint32_t choice, Record *record) {
    failure_.clear();
    record_ = record;
    choice_ = choice;
    questions_ = 0;
    filter_answer_ = {};
    woken_used_ = 0;
    stalled_used_ = 0;
    touched_ = 0;
    looking_ = false;
    accepting_ = completed_ = 0;
    performed_ = false;
    lines_ = {};
  }

  unsigned choose() { return choice_ >> questions_++ & 1; }
  // Counts through the answers to as many questions as were asked.
  std::uint32_t following_choice() const {
    for (unsigned q = questions_; q-- > 0;)
      if ((choice_ >> q & 1) == 0)
        return (choice_ & ((1U << q) - 1)) | 1U << q;
    return 0;
  }

  bool deliverable(const State<P> &s, std::uint32_t slot) const {
    const Message &m = s.messages[slot];
    for (std::uint32_t i = 0; i < slot; ++i) {
      const Message &other = s.messages[i];
      if (options_.ordered) {
        if (other.src == m.src && other.dst == m.dst &&
            P::kEvents[other.type].vnet == P::kEvents[m.type].vnet)
          return false;
      } else if (other == m) {
        return false; // the same step
      }
    }
    return true;
  }

  void remove(State<P> &s, std::uint32_t slot) const {
    for (std::uint32_t i = slot + 1; i < s.in_flight; ++i)
      s.messages[i - 1] = s.messages[i];
    --s.in_flight;
  }

  // Every access is done once: at once (a hit), or later by the transaction that it began. Which it
  // was.
  std::uint8_t note_access(std::uint8_t &pending, Access access, Node who) {
    if (accepting_ != 0 && who == at_ && access_of(accepting_) == access && !performed_) {
      performed_ = true; // a hit
      return accepting_;
    }
    const std::uint8_t asked = pending;
    if (asked == 0 || access_of(asked) != access) {
      fail(who.is_core() ? "a core does an access that it was not asked for"
                         : "a device is served that did not ask");
      return 0;
    }
    pending = 0;
    completed_ = asked;
    return asked;
  }

  // After a step: what was asked for is done, or a transaction will do it.
  void check_access(State<P> &s, const Move &move) {
    BlockState<P> &b = s.blocks[move.block];
    std::uint8_t &pending = move.at.is_core() ? b.pending[move.at.id] : b.device;
    if (accepting_ != 0 && !performed_) {
      if (pending != 0)
        return fail("a core takes an access that it never does: another one is in progress");
      pending = accepting_;
    }
    if (!move.at.is_core()) {
      if (b.device != 0 && static_cast<int>(b.home.tbe.state) == 0 &&
          static_cast<int>(b.memory.tbe.state) == 0)
        fail("a device is never served: there is no transaction for it");
      return;
    }
    const auto &part = b.cores[move.at.id];
    if (pending != 0 && static_cast<int>(part.tbe.state) == 0)
      return fail("a core takes an access that it never does: there is no transaction for it");
    if (completed_ == 0)
      return;
    if (access_of(completed_) == Access::load && !P::Core::readable(part.line, part.tbe))
      fail("a load that missed leaves no copy to read");
    if (access_of(completed_) == Access::store && !P::Core::writable(part.line, part.tbe))
      fail("a store that missed leaves no copy to write");
  }

  // Who cannot read a block any more has no reservation of it.
  void drop_reservations(State<P> &s) const {
    if (!options_.reservations)
      return;
    for (unsigned b = 0; b < options_.blocks; ++b)
      for (unsigned c = 0; c < options_.cores; ++c) {
        const auto &part = s.blocks[b].cores[c];
        if (!P::Core::readable(part.line, part.tbe))
          s.blocks[b].reserved[c] = Reservation::none;
      }
  }

  // An eviction frees what it was for, or begins a transaction that will.
  template <class C> void check_eviction(const State<P> &before, State<P> &s, const Move &move) {
    if (move.message)
      return;
    Env<P, C> was(*this, const_cast<State<P> &>(before), move.block, move.at, Message{});
    Env<P, C> is(*this, s, move.block, move.at, Message{});
    const auto by = [&](auto event) { return move.event == static_cast<std::uint8_t>(event); };
    bool stays = false;
    if constexpr (C::kRole == Role::core && requires { P::Event::evict; })
      stays = by(P::Event::evict) && static_cast<int>(is.line().state) != 0;
    if constexpr (C::kRole == Role::home && requires { P::Event::dir_evict; })
      stays = by(P::Event::dir_evict) && static_cast<int>(is.line().state) != 0;
    if constexpr (C::kRole == Role::home && requires { P::Event::llc_evict; })
      stays |= by(P::Event::llc_evict) && static_cast<bool>(is.llc());
    if (stays && (static_cast<int>(is.tbe().state) == 0 || is.tbe().state == was.tbe().state))
      fail("an eviction leaves what it should have evicted");
  }

  // Whether every buffer holds what is in it.
  bool fits(const State<P> &s) const {
    for (unsigned v = 0; v < kVnets; ++v) {
      if (options_.buffers[v] == 0)
        continue;
      std::array<std::uint8_t, 256> used{};
      for (std::uint32_t i = 0; i < s.in_flight; ++i)
        if (static_cast<unsigned>(P::kEvents[s.messages[i].type].vnet) == v &&
            ++used[s.messages[i].dst.id] > options_.buffers[v])
          return false;
    }
    return true;
  }

  template <class C, class F>
  void spontaneous(const State<P> &s, unsigned block, Node at, F &&visit) {
    const Message none{};
    Env<P, C> env(*this, const_cast<State<P> &>(s), block, at, none);
    for (const typename P::Event event : C::kSpontaneous) {
      const auto number = static_cast<std::uint8_t>(event);
      if constexpr (requires { P::Event::store; })
        if (event == P::Event::store && !options_.stores)
          continue;
      if (!options_.evictions && P::kEvents[number].kind == EventKind::spontaneous)
        continue;
      if (!may_begin_ || (options_.never & bit(event)) != 0)
        continue;
      if (!options_.devices && P::kEvents[number].kind == EventKind::device)
        continue;
      if (!C::may(env, event))
        continue;
      Move move{number, static_cast<std::uint8_t>(block), at, false, 0, 0, asked_by(event)};
      visit(move);
      if (!options_.reservations || P::kEvents[number].kind != EventKind::core)
        continue;
      if (move.asked == kStore && s.blocks[block].reserved[at.id] == Reservation::none)
        continue; // it fails without asking anybody
      move.asked = static_cast<std::uint8_t>(move.asked + kLoadReserved - kLoad);
      visit(move);
    }
    if constexpr (P::kBus && C::kRole == Role::core)
      if (s.blocks[block].asked[at.id])
        visit(Move{static_cast<std::uint8_t>(P::Event::grant), static_cast<std::uint8_t>(block), at,
                   false, 0, 0});
  }

  static std::uint8_t asked_by(typename P::Event event) {
    if constexpr (requires { P::Event::load; })
      if (event == P::Event::load)
        return kLoad;
    if constexpr (requires { P::Event::dma_read; })
      if (event == P::Event::dma_read)
        return kLoad;
    return is_access(static_cast<std::uint8_t>(event)) ? kStore : 0;
  }

  // Whether the row's needs are met for this block.
  template <class C>
  bool has_room(const State<P> &s, unsigned block, Node at, std::uint8_t needs) const {
    const auto room = [&](unsigned limit, auto &&holds) {
      if (limit == 0 || holds(s.blocks[block]))
        return true;
      unsigned used = 0;
      for (unsigned b = 0; b < options_.blocks; ++b)
        used += holds(s.blocks[b]) ? 1 : 0;
      return used < limit;
    };
    // A block in a transaction has its way already, and its entry where the controller says so.
    constexpr bool kHolds = C::kRole == Role::core || requires { C::kTbeHoldsEntry; };
    const auto busy = [](const auto &part) {
      if (static_cast<int>(part.line.state) != 0)
        return true;
      if constexpr (requires { C::keeps_way(part.tbe); })
        return C::keeps_way(part.tbe);
      else
        return kHolds && static_cast<int>(part.tbe.state) != 0;
    };
    if ((needs & kNeedsWay) != 0)
      if constexpr (C::kRole == Role::core)
        if (!room(options_.ways, [&](const BlockState<P> &b) { return busy(b.cores[at.id]); }))
          return false;
    if constexpr (C::kRole == Role::home) {
      if ((needs & kNeedsEntry) != 0 &&
          !room(options_.entries, [&](const BlockState<P> &b) { return busy(b.home); }))
        return false;
      if constexpr (requires(const typename C::Llc &llc) { static_cast<bool>(llc); })
        if ((needs & kNeedsLlc) != 0 && !room(options_.llc, [&](const BlockState<P> &b) {
              return static_cast<bool>(b.home.llc);
            }))
          return false;
    }
    return true;
  }

  // Whether an array holds more than it can: a row that fills it does not say what it needs.
  const char *overfull(const State<P> &s) const {
    const auto more = [&](unsigned limit, auto &&holds) {
      unsigned used = 0;
      for (unsigned b = 0; b < options_.blocks; ++b)
        used += holds(s.blocks[b]) ? 1 : 0;
      return limit != 0 && used > limit;
    };
    for (unsigned c = 0; c < options_.cores; ++c)
      if (more(options_.ways, [c](const BlockState<P> &b) {
            return static_cast<int>(b.cores[c].line.state) != 0;
          }))
        return "a core holds more blocks than it has ways";
    if constexpr (kHasHome) {
      if (more(options_.entries,
               [](const BlockState<P> &b) { return static_cast<int>(b.home.line.state) != 0; }))
        return "the directory holds more entries than it has ways";
      if constexpr (requires(const typename P::Home::Llc &llc) { static_cast<bool>(llc); })
        if (more(options_.llc,
                 [](const BlockState<P> &b) { return static_cast<bool>(b.home.llc); }))
          return "the LLC holds more blocks than it has ways";
    }
    return nullptr;
  }

  template <class C>
  Outcome dispatch(State<P> &s, unsigned block, Node at, std::uint8_t event, const Message &m,
                   unsigned depth) {
    const bool first = depth == 0;
    if (depth > kDeepest) {
      fail("events are raised without end");
      return Outcome::failed;
    }
    note_stalled<C>(s, block, at);
    Env<P, C> env(*this, s, block, at, m);
    const auto *row = table<C>().find(env, event);
    if (row == nullptr) {
      hole<C>(env, event);
      return Outcome::failed;
    }
    if (!first && (row->needs & kNeedsEntry) != 0 && !has_room<C>(s, block, at, kNeedsEntry))
      make_room<C>(s, block, at);
    if (row->kind != RowKind::step)
      ++coverage<C>().rows[table<C>().index(*row)];
    if (row->kind != RowKind::step || !has_room<C>(s, block, at, row->needs)) {
      if (first || row->kind == RowKind::step)
        return Outcome::waits;
      fail("an event raised within a step stalls");
      return Outcome::failed;
    }
    if (record_ != nullptr)
      record_->rows.push_back({at, event, table<C>().index(*row)});
    ++coverage<C>().rows[table<C>().index(*row)];
    Dispatch<Env<P, C>, C>::take(env, *row);
    for (unsigned i = 0; i < env.raised(); ++i)
      if (failure_.empty())
        if (const Outcome outcome = dispatch<C>(s, block, at, env.raised(i), m, depth + 1);
            outcome != Outcome::done)
          return outcome;
    if (first)
      tidy<C>(env);
    return failure_.empty() ? Outcome::done : Outcome::failed;
  }

  // An event that is raised within a step cannot wait: another entry goes, in the same step.
  template <class C> void make_room(State<P> &s, unsigned block, Node at) {
    if constexpr (requires { P::Event::dir_evict; } && C::kRole == Role::home)
      for (unsigned b = 0; b < options_.blocks; ++b)
        if (b != block && static_cast<int>(s.blocks[b].home.line.state) != 0) {
          Message m = Message::of(P::Event::dir_evict);
          m.block = b;
          if (dispatch<C>(s, b, at, m.type, m, 0) == Outcome::done)
            return;
        }
  }

  // What is not there has no content.
  template <class C> void tidy(Env<P, C> &env) {
    if constexpr (!requires { C::kLineStays; })
      if (static_cast<int>(env.line().state) == 0)
        env.line() = {};
    if (static_cast<int>(env.tbe().state) == 0)
      env.tbe() = {};
  }

  template <class C>
  void snoop_one(State<P> &s, unsigned block, Node at, const Message &m, bool only_ask) {
    if (only_ask) {
      Env<P, C> env(*this, s, block, at, m);
      const auto *row = table<C>().find(env, m.type);
      if (row == nullptr)
        hole<C>(env, m.type);
      else if (row->kind == RowKind::nack) {
        ++coverage<C>().rows[table<C>().index(*row)];
        lines_.nack = true;
      }
      return;
    }
    if (dispatch<C>(s, block, at, m.type, m, 0) == Outcome::waits)
      fail("a snoop stalls");
  }

  template <class C> void hole(Env<P, C> &env, std::uint8_t event) {
    if (!failure_.empty())
      return;
    failure_ = fmt::format("no row: {} in state {}, transaction {}, event {}", C::kName,
                           C::kLineStates[static_cast<std::size_t>(env.line().state)].name,
                           C::kTbeStates[static_cast<std::size_t>(env.tbe().state)].name,
                           P::kEvents[event].name);
  }

  // Every event that is stalled at a controller before a step, and is not after it, must have been
  // woken: an environment does not look again by itself.
  struct Stalled {
    Node at;
    std::uint8_t block;
    Wake name;
    Message message;
  };
  struct Woken {
    Node at;
    std::uint8_t block;
    Wake name;
  };

  template <class C> void note_stalled(State<P> &s, unsigned block, Node at) {
    const unsigned place = (at.is_core() ? at.id : 5U + at.id - Node::kHome) * 2 + block;
    if ((touched_ >> place & 1) != 0)
      return;
    touched_ |= 1U << place;
    looking_ = true;
    for (std::uint32_t i = 0; i < s.in_flight; ++i)
      if (s.messages[i].dst == at && s.messages[i].block == block)
        note_if_stalled<C>(s, block, at, s.messages[i]);
    const Message none{};
    Env<P, C> env(*this, s, block, at, none);
    for (const typename P::Event event : C::kSpontaneous)
      if (is_access(static_cast<std::uint8_t>(event)))
        note_if_stalled<C>(s, block, at, Message::of(event));
    looking_ = false;
  }

  template <class C> void note_if_stalled(State<P> &s, unsigned block, Node at, const Message &m) {
    Env<P, C> env(*this, s, block, at, m);
    const auto *row = table<C>().find(env, m.type);
    if (row != nullptr && row->kind == RowKind::stall && stalled_used_ < stalled_.size()) {
      ++coverage<C>().rows[table<C>().index(*row)];
      stalled_[stalled_used_++] = {at, static_cast<std::uint8_t>(block), row->wake, m};
    }
  }

  void check_wakes(State<P> &s) {
    looking_ = true;
    for (unsigned i = 0; i < stalled_used_ && failure_.empty(); ++i) {
      const Stalled &e = stalled_[i];
      bool woken = false;
      for (unsigned j = 0; j < woken_used_; ++j)
        woken |= woken_[j].at == e.at && woken_[j].block == e.block && woken_[j].name == e.name;
      if (woken)
        continue;
      if (e.at.is_core())
        check_wake<typename P::Core>(s, e);
      if constexpr (kHasHome)
        if (e.at == Node::home())
          check_wake<typename P::Home>(s, e);
      if constexpr (kHasMemory)
        if (e.at == Node::memory())
          check_wake<typename P::Memory>(s, e);
    }
    looking_ = false;
  }

  template <class C> void check_wake(State<P> &s, const Stalled &e) {
    Env<P, C> env(*this, s, e.block, e.at, e.message);
    const auto *row = table<C>().find(env, e.message.type);
    if (row == nullptr || row->kind != RowKind::stall || row->wake != e.name)
      failure_ = fmt::format("lost wake-up: {} stalled at the {} could go on, and nobody wakes it",
                             P::kEvents[e.message.type].name, C::kName);
  }

  const Options &options_;
  const typename P::Config &config_;
  const Tables<P> &tables_;
  unsigned tokens_;

  // Of the step in progress.
  std::string failure_;
  Record *record_ = nullptr;
  std::uint32_t choice_ = 0;
  unsigned questions_ = 0;
  std::array<std::uint8_t, kCheckerBlocks> filter_answer_{};
  std::array<Woken, 8> woken_{};
  unsigned woken_used_ = 0;
  std::array<Stalled, 16> stalled_{};
  unsigned stalled_used_ = 0;
  std::uint32_t touched_ = 0;
  bool looking_ = false;       // guards are evaluated without a step; nothing is chosen
  bool may_begin_ = true;      // see Options::sequential
  Node at_;                    // whose step it is
  std::uint8_t accepting_ = 0; // the access that the step is, see Asked
  std::uint8_t completed_ = 0; // the one that a transaction did in this step
  bool performed_ = false;     // the hit is done
  SnoopLines lines_;
};

} // namespace tandem::machine::checker
