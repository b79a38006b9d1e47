// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tables run on a State, one atomic step at a time, and what they do wrong is noted as a
// failure. Also here: the list of steps that are possible in a state.
#pragma once

#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "machine/checker/access_watch.h"
#include "machine/checker/choices.h"
#include "machine/checker/environment.h"
#include "machine/checker/properties.h"
#include "machine/checker/room.h"
#include "machine/checker/wake_watch.h"

namespace tandem::machine::checker {

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
    may_begin_ = !options_.sequential || checker::quiescent(options_, s);
    for (std::uint32_t i = 0; i < s.in_flight; ++i) {
      const Message &m = s.messages[i];
      if (deliverable(s, i))
        visit(Move{m.type, static_cast<std::uint8_t>(m.block), m.dst, true, i, 0});
    }
    for (unsigned b = 0; b < options_.blocks; ++b) {
      for (unsigned c = 0; c < options_.cores; ++c)
        spontaneous<typename P::Core>(s, b, Node::core(c), visit);
      for (unsigned c = 0; c < options_.cores; ++c)
        if (s.blocks[b].held[c] != Held::none)
          visit(Move{.block = static_cast<std::uint8_t>(b), .at = Node::core(c), .release = true});
      if constexpr (kHasHome)
        spontaneous<typename P::Home>(s, b, Node::home(), visit);
      if constexpr (kHasMemory)
        spontaneous<typename P::Memory>(s, b, Node::memory(), visit);
    }
  }

  // Whether the step is a core's new access, which no other request may depend on.
  static bool is_access(const Move &move) {
    return !move.message && !move.release && is_access(move.event);
  }
  static bool is_access(std::uint8_t event) {
    return P::kEvents[event].kind == EventKind::core || P::kEvents[event].kind == EventKind::device;
  }

  // Whether a request may count on this step: not on accesses, the end of transactions, nor, while
  // there is room for all, on evictions.
  bool is_progress(const Move &move) const {
    if (move.message)
      return true;
    if (is_access(move) || move.release)
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
    begin(move, record);
    if (move.release) {
      if (record != nullptr)
        record->move = move;
      s.blocks[move.block].held[move.at.id] = Held::none;
      *next_choice = 0;
      return Outcome::done;
    }
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
    Outcome outcome = Outcome::done;
    if (move.at.is_core())
      outcome = dispatch<typename P::Core>(s, move.block, move.at, m.type, m, 0);
    else if constexpr (kHasHome)
      if (move.at == Node::home())
        outcome = dispatch<typename P::Home>(s, move.block, move.at, m.type, m, 0);
    if constexpr (kHasMemory)
      if (move.at == Node::memory())
        outcome = dispatch<typename P::Memory>(s, move.block, move.at, m.type, m, 0);
    *next_choice = choices_.following();
    if (outcome == Outcome::done && !fits(options_, s))
      return Outcome::waits;
    if (lines_.nack && accesses_.accepting()) // of a device: it asks again
      return failure_.empty() ? Outcome::waits : Outcome::failed;
    if (outcome == Outcome::done) {
      fail(accesses_.after(s, move.block));
      if (lines_.conflict && s.blocks[move.block].pending[move.at.id] != 0)
        fail("a core goes on with an access that a transaction has refused");
      drop_reservations(options_, s);
      drop_claims(options_, s);
      if (move.at.is_core())
        check_eviction<typename P::Core>(before, s, move);
    }
    if constexpr (kHasHome)
      if (outcome == Outcome::done && move.at == Node::home())
        check_eviction<typename P::Home>(before, s, move);
    if (outcome == Outcome::done && failure_.empty())
      failure_ = wakes_.after(*this, s);
    return failure_.empty() ? outcome : Outcome::failed;
  }

  Result::Coverage core_coverage, home_coverage, memory_coverage;

  const char *violated(const State<P> &s) const {
    return checker::violated(options_, s, tokens_, config_);
  }
  bool quiescent(const State<P> &s) const { return checker::quiescent(options_, s); }

  // For what runs in a step. The first failure counts; null is none.
  void fail(const char *what) {
    if (what != nullptr && failure_.empty())
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

  void note_wake(Node at, unsigned block, Wake name) { wakes_.woken(at, block, name); }

  void perform(State<P> &s, unsigned block, Node who, Access access, Data &data) {
    fail(accesses_.perform(options_, s, block, who, access, data));
  }

  // Whether the transaction of the core wins against the request, or is waited for. Of messages a
  // choice when the holder is asked: its claim is over if it does not refuse.
  bool refuses(State<P> &s, unsigned block, Node at, Node requester) {
    if constexpr (P::kBus)
      return refusing_[at.id];
    BlockState<P> &b = s.blocks[block];
    if (wakes_.looking() || requester == at || !asks_against(b, requester, b.held[at.id]))
      return false;
    if (!refusing_[at.id] && !choices_.choose()) {
      b.held[at.id] = Held::none;
      return false;
    }
    return refusing_[at.id] = b.refused[requester.id] = true;
  }
  // Whether the access of this step is a transaction's.
  bool transactional() const { return accesses_.transactional(); }
  void abandon(State<P> &s, unsigned block, Node who) {
    const bool refused = std::exchange(s.blocks[block].refused[who.id], false) || lines_.conflict;
    fail(accesses_.abandon(s, block, who));
    if (!refused)
      fail("a core gives up an access that no transaction has refused");
  }

  bool filter_hit(const State<P> &s, unsigned block) {
    if (s.blocks[block].home.member)
      return true;
    return options_.filter_false_positives && !wakes_.looking() && choices_.false_positive(block);
  }

  template <class C> const auto &table() const {
    if constexpr (C::kRole == Role::core)
      return tables_.core;
    else if constexpr (C::kRole == Role::home)
      return tables_.home;
    else
      return tables_.memory;
  }
  template <class C, class R> void count(const R &row) {
    ++coverage<C>().rows[table<C>().index(row)];
  }

  // All other cores, then memory, hear `event` from `self`; nothing runs if one refuses.
  void snoop(State<P> &s, unsigned block, Node self, std::uint8_t event) {
    lines_ = {};
    Message m;
    m.type = event;
    m.block = block;
    m.src = m.requester = self;
    const bool refused = choose_refusals(s, block, self);
    snoop_all(s, block, self, m, true);
    if (refused && !lines_.conflict)
      fail("a transaction that wins does not refuse");
    if (lines_.nack || lines_.conflict || !failure_.empty())
      return;
    end_losers(s, block, self);
    snoop_all(s, block, self, m, false);
  }

private:
  // Which transactions win against the request: a choice of the environment's, made before any row
  // is looked at. Only a transaction's access can be refused.
  bool choose_refusals(const State<P> &s, unsigned block, Node self) {
    const BlockState<P> &b = s.blocks[block];
    refusing_ = {};
    bool any = false;
    for (unsigned c = 0; c < options_.cores; ++c)
      if (c != self.id && asks_against(b, self, b.held[c]))
        any |= refusing_[c] = choices_.choose();
    return any;
  }
  // Whether the node waits for a transaction's access that conflicts with this claim.
  static bool asks_against(const BlockState<P> &b, Node node, Held claim) {
    return node.is_core() && b.pending[node.id] != 0 && b.transactional[node.id] &&
           conflicts(claim, access_of(b.pending[node.id]));
  }
  void snoop_all(State<P> &s, unsigned block, Node self, const Message &m, bool only_ask) {
    for (unsigned c = 0; c < options_.cores; ++c)
      if (Node::core(c) != self)
        snoop_one<typename P::Core>(s, block, Node::core(c), m, only_ask);
    if constexpr (kHasMemory)
      if (self != Node::memory())
        snoop_one<typename P::Memory>(s, block, Node::memory(), m, only_ask);
  }
  // Nobody has refused: the transactions that stand against the request have lost.
  void end_losers(State<P> &s, unsigned block, Node self) {
    BlockState<P> &b = s.blocks[block];
    if (!self.is_core() || b.pending[self.id] == 0)
      return;
    for (unsigned c = 0; c < options_.cores; ++c)
      if (c != self.id && conflicts(b.held[c], access_of(b.pending[self.id])))
        b.held[c] = Held::none;
  }

  static constexpr unsigned kDeepest = 8; // events raised by events raised

  template <class C> Result::Coverage &coverage() {
    if constexpr (C::kRole == Role::core)
      return core_coverage;
    else if constexpr (C::kRole == Role::home)
      return home_coverage;
    else
      return memory_coverage;
  }

  void begin(const Move &move, Record *record) {
    failure_.clear();
    record_ = record;
    choices_.begin(move.choice);
    accesses_.begin(move.at, is_access(move) ? move.asked : std::uint8_t{0}, move.transactional);
    refusing_ = {};
    wakes_.begin();
    lines_ = {};
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
      if (options_.transactions && P::kEvents[number].kind == EventKind::core) {
        move.transactional = true;
        visit(move);
        move.transactional = false;
      }
      if (!options_.reservations || P::kEvents[number].kind != EventKind::core)
        continue;
      if (move.asked == kStore && s.blocks[block].reserved[at.id] == Reservation::none)
        continue; // it fails without asking anybody
      move.asked = static_cast<std::uint8_t>(move.asked + kLoadReserved - kLoad);
      visit(move);
      if (options_.transactions) {
        move.transactional = true;
        visit(move);
      }
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

  template <class C>
  Outcome dispatch(State<P> &s, unsigned block, Node at, std::uint8_t event, const Message &m,
                   unsigned depth) {
    const bool first = depth == 0;
    if (depth > kDeepest) {
      fail("events are raised without end");
      return Outcome::failed;
    }
    wakes_.template before<C>(*this, s, block, at);
    Env<P, C> env(*this, s, block, at, m);
    const auto *row = table<C>().find(env, event);
    if (row == nullptr) {
      hole<C>(env, event);
      return Outcome::failed;
    }
    if (!first && (row->needs & kNeedsEntry) != 0 &&
        !has_room<C>(options_, s, block, at, kNeedsEntry))
      make_room<C>(s, block, at);
    if (row->kind != RowKind::step)
      count<C>(*row);
    if (row->kind != RowKind::step || !has_room<C>(options_, s, block, at, row->needs)) {
      if (first || row->kind == RowKind::step)
        return Outcome::waits;
      fail("an event raised within a step stalls");
      return Outcome::failed;
    }
    if (record_ != nullptr)
      record_->rows.push_back({at, event, table<C>().index(*row)});
    count<C>(*row);
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
      else if (row->kind == RowKind::nack || row->kind == RowKind::refuse) {
        count<C>(*row);
        (row->kind == RowKind::nack ? lines_.nack : lines_.conflict) = true;
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

  const Options &options_;
  const typename P::Config &config_;
  const Tables<P> &tables_;
  unsigned tokens_;

  // Of the step in progress.
  std::string failure_;
  Record *record_ = nullptr;
  Choices choices_;
  AccessWatch accesses_;
  WakeWatch<P> wakes_;
  bool may_begin_ = true; // see Options::sequential
  SnoopLines lines_;
  std::array<bool, kCheckerCores> refusing_{}; // cores whose transactions win in this snoop
};

} // namespace tandem::machine::checker
