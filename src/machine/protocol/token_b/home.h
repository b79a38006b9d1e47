// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The LLC slice in TokenB: one more holder of tokens, which memory's requests pass. It may hold
// tokens without data. No directory, no transactions.
#pragma once

#include "machine/protocol/flask/rows.h"
#include "machine/protocol/token_b/messages.h"

namespace tandem::machine::token_b {

template <class Proto> struct Home {
  using Protocol = Proto;
  static constexpr Role kRole = Role::home;
  static constexpr const char *kName = "home";
  static constexpr bool kLineStays = true;

  enum class LineState : std::uint8_t { none, writing };
  static constexpr StateInfo kLineStates[] = {{"-", "no tokens are on their way to memory"},
                                              {"W", "a MemWB is on its way"}};
  enum class TbeState : std::uint8_t { none, active, ending, closing };
  static constexpr StateInfo kTbeStates[] = {
      {"-", "no persistent request"},
      {"Active", "a persistent request is active"},
      {"Ending", "it is satisfied; some core has not yet acknowledged its Activate"},
      {"Closing", "some core has not yet acknowledged its Deactivate"},
  };

  struct Line {
    LineState state{};
    template <class Self, class V> static void fields(Self &s, V &v) { v("state", s.state, 1); }
  };
  struct Tbe {
    TbeState state{};
    bool all = false; // all tokens are wanted
    std::uint8_t answers = 0;
    Node requester;
    template <class Self, class V> static void fields(Self &s, V &v) {
      v("state", s.state, 2);
      v("all", s.all, 1);
      v("answers", s.answers, kTokenBits);
      v("requester", s.requester);
    }
  };
  static Node holder(const Tbe &tbe) {
    return tbe.state == TbeState::active && tbe.requester.is_core() ? tbe.requester : Node::none();
  }
  struct Llc {
    std::uint8_t tokens = 0;
    std::uint8_t flags = 0; // kOwner, kDirty
    bool valid = false;     // the data is
    Data data;
    explicit operator bool() const { return tokens != 0; }
    template <class Self, class V> static void fields(Self &s, V &v) {
      v("tokens", s.tokens, kTokenBits);
      v("flags", s.flags, 2);
      v("valid", s.valid, 1);
      v("data", s.data);
    }
  };

  static constexpr Event kSpontaneous[] = {Event::llc_evict, Event::dma_read, Event::dma_write};
  template <class E> static bool may(E &env, Event event) {
    return event != Event::llc_evict || (env.llc() && env.line().state == LineState::none);
  }

  template <class E> struct Rules : Rows<E, Home> {
    using Table = Rows<E, Home>;
    using Act = Action<E>;
    using If = Guard<E>;
    using P = Obedience<E, Home>;

    // `count` tokens of this line, with the owner token if they are all.
    static void give(E &e, Node to, unsigned count, bool with_data) {
      Llc &llc = e.llc();
      const unsigned flags = count == llc.tokens ? llc.flags : 0;
      const Message m = Message::of(Event::tokens).to(to).counting(count).flagged(flags);
      e.send(with_data || (flags & kOwner) != 0 ? m.carrying(llc.data) : m);
      llc.tokens = static_cast<std::uint8_t>(llc.tokens - count);
      if (llc.tokens == 0)
        llc = {};
    }
    static void ask_memory(E &e, Event type) {
      e.send(Message::of(type).to(Node::memory()).on_behalf(e.message().requester));
    }

    static constexpr If all{"it has all tokens", [](E &e) { return e.llc().tokens == e.tokens(); }};
    static constexpr If some{"it has tokens", [](E &e) { return e.llc().tokens != 0; }};
    static constexpr If data{"it has data", [](E &e) { return e.llc().valid; }};
    static constexpr If owner{"it has the owner token",
                              [](E &e) { return (e.llc().flags & kOwner) != 0; }};
    static constexpr If spare{"two tokens or more", [](E &e) { return e.llc().tokens >= 2; }};

    static constexpr Act give_all{"send all tokens, and data if owner, to the requester", [](E &e) {
                                    give(e, e.message().requester, e.llc().tokens, false);
                                  }};
    static constexpr Act give_one{"send one token and data to the requester",
                                  [](E &e) { give(e, e.message().requester, 1, true); }};
    static constexpr Act serve_all{
        "send all tokens, and data if owner, to the persistent requester",
        [](E &e) { give(e, P::holder(e), e.llc().tokens, false); }};
    static constexpr Act serve_one{"send one plain token and data to the persistent requester",
                                   [](E &e) { give(e, P::holder(e), 1, true); }};
    static constexpr Act fetch_s{
        "send MemGetS for the persistent requester", [](E &e) {
          e.send(Message::of(Event::memory_get_s).to(Node::memory()).on_behalf(P::holder(e)));
        }};
    static constexpr Act fetch_x{
        "send MemGetX for the persistent requester", [](E &e) {
          e.send(Message::of(Event::memory_get_x).to(Node::memory()).on_behalf(P::holder(e)));
        }};
    static constexpr Act ask_memory_s{"send MemGetS",
                                      [](E &e) { ask_memory(e, Event::memory_get_s); }};
    static constexpr Act ask_memory_x{"send MemGetX",
                                      [](E &e) { ask_memory(e, Event::memory_get_x); }};
    static constexpr Act merge{"take the tokens, and data if there is any", [](E &e) {
                                 const Message &m = e.message();
                                 Llc &llc = e.llc();
                                 llc.tokens = static_cast<std::uint8_t>(llc.tokens + m.count);
                                 llc.flags = static_cast<std::uint8_t>(llc.flags | m.flags);
                                 if (!m.has_data)
                                   return;
                                 llc.data = m.data;
                                 llc.valid = true;
                               }};
    static constexpr Act write_back{"send MemWB with all tokens, and data if dirty", [](E &e) {
                                      Llc &llc = e.llc();
                                      const Message m = Message::of(Event::write_back)
                                                            .to(Node::memory())
                                                            .counting(llc.tokens)
                                                            .flagged(llc.flags);
                                      e.send((llc.flags & kDirty) != 0 ? m.carrying(llc.data) : m);
                                      llc = {};
                                    }};

    static void tell_others(E &e, Event event) {
      const CoreSet others = CoreSet::first(e.cores()).without(e.tbe().requester);
      e.tbe().answers = static_cast<std::uint8_t>(others.size());
      e.multicast(
          others,
          Message::of(event).on_behalf(e.tbe().requester).flagged(e.tbe().all ? kWrite : 0));
    }
    static constexpr If waiting{"another acknowledgement is to come",
                                [](E &e) { return e.tbe().answers > 1; }};
    static constexpr If unheard{"some core has not yet acknowledged the Activate",
                                [](E &e) { return e.tbe().answers != 0; }};
    static constexpr If alone{"there is no other core", [](E &e) {
                                return CoreSet::first(e.cores()).without(e.tbe().requester).empty();
                              }};
    static constexpr Act begin{"note the requester; PGrant to it, Activate to the others",
                               [](E &e) {
                                 e.tbe().requester = e.message().src;
                                 e.tbe().all = (e.message().flags & kWrite) != 0;
                                 e.send(Message::of(Event::grant).to(e.tbe().requester));
                                 tell_others(e, Event::activate);
                               }};
    // A device. Its request is a persistent one of the home's own.
    static constexpr If device{"a device's request is active", [](E &e) {
                                 return e.tbe().state == TbeState::active &&
                                        e.tbe().requester == Node::home();
                               }};
    static constexpr If writes{"the device writes", [](E &e) { return e.tbe().all; }};
    static constexpr If reads{"the device reads", [](E &e) { return !e.tbe().all; }};
    static constexpr Act device_load{"the device reads",
                                     [](E &e) { e.perform(Access::load, e.llc().data); }};
    static constexpr Act device_store{"the device writes; memory's copy is stale", [](E &e) {
                                        e.perform(Access::store, e.llc().data);
                                        e.llc().flags =
                                            static_cast<std::uint8_t>(e.llc().flags | kDirty);
                                      }};
    static constexpr Act begin_device{
        "note what the device wants; Activate to all cores", [](E &e) {
          e.tbe().requester = Node::home();
          e.tbe().all = e.message().type == static_cast<std::uint8_t>(Event::dma_write);
          tell_others(e, Event::activate);
        }};
    static constexpr Act fetch{
        "send MemGetS or MemGetX for the device", [](E &e) {
          e.send(Message::of(e.tbe().all ? Event::memory_get_x : Event::memory_get_s)
                     .to(Node::memory())
                     .on_behalf(Node::home()));
        }};
    static constexpr Act look{"look whether the device has what it wants",
                              [](E &e) { e.raise(Event::arrived); }};
    static constexpr Act end_device{"the device is served: satisfied",
                                    [](E &e) { e.raise(Event::satisfied); }};
    static constexpr Act count_answer{"one acknowledgement less", [](E &e) { --e.tbe().answers; }};
    static constexpr Act close{"Deactivate to the other cores",
                               [](E &e) { tell_others(e, Event::deactivate); }};
    static constexpr Act wake{"wake the next request", [](E &e) { e.wake(Wake::transaction); }};

    using L = LineState;
    using T = TbeState;
    static constexpr auto when = [](auto lines, auto tbes, Event event) {
      return Table::when(lines, tbes, event);
    };
    static constexpr auto any = kAnyState<L>;
    static constexpr auto always = kAnyState<T>;

    // clang-format off
    static constexpr auto kRows = flask::rows(
        when(any, always, Event::get_s).given(all).run(give_all),
        when(any, always, Event::get_s).given(data).run(give_one)
            .because("also the last one, which may be the owner's"),
        when(any, always, Event::get_s).run(ask_memory_s),
        when(any, always, Event::get_x).given(all).run(give_all),
        when(any, always, Event::get_x).given(some).run(give_all, ask_memory_x),
        when(any, always, Event::get_x).run(ask_memory_x),

        when(any, always, Event::put).given(P::claimed).run(P::pass_on),
        when(any, always, Event::put).given(device).need(kNeedsLlc).run(merge, look),
        when(any, always, Event::put).need(kNeedsLlc).run(merge),
        when(any, always, Event::tokens).given(P::claimed).run(P::pass_on)
            .because("a device's, which has been served; from memory or late"),
        when(any, always, Event::tokens).given(device).need(kNeedsLlc).run(merge, look),
        when(any, always, Event::tokens).need(kNeedsLlc).run(merge),
        when(in(L::none), always, Event::llc_evict).run(write_back).next(L::writing),
        when(in(L::writing), always, Event::written).run(P::serve).next(L::none),

        when(any, in(T::none), Event::dma_read).given(data).run(device_load),
        when(any, in(T::none), Event::dma_write).given(all).run(device_store),
        when(any, in(T::none), Event::dma_read).run(begin_device, fetch).next(T::active),
        when(any, in(T::none), Event::dma_write).run(begin_device, fetch).next(T::active),
        when(any, in(T::active, T::ending, T::closing), Event::dma_read).stall(),
        when(any, in(T::active, T::ending, T::closing), Event::dma_write).stall(),
        when(any, in(T::active), Event::arrived).given(writes, all).run(device_store, end_device),
        when(any, in(T::active), Event::arrived).given(reads, data).run(device_load, end_device),
        when(any, in(T::active), Event::arrived),

        when(any, in(T::none), Event::persist).run(begin, P::serve).next(T::active),
        when(any, in(T::active, T::ending, T::closing), Event::persist).stall(),
        when(any, in(T::active), Event::ack).run(count_answer),
        when(any, in(T::active), Event::satisfied).given(unheard).next(T::ending),
        when(any, in(T::active), Event::satisfied).given(alone).run(wake).next(T::none),
        when(any, in(T::active), Event::satisfied).run(close).next(T::closing),
        when(any, in(T::ending), Event::ack).given(waiting).run(count_answer),
        when(any, in(T::ending), Event::ack).run(close).next(T::closing),
        when(any, in(T::closing), Event::ack).given(waiting).run(count_answer),
        when(any, in(T::closing), Event::ack).run(wake).next(T::none),

        when(any, in(T::active), Event::serve).given(device).run(fetch)
            .because("tokens have reached memory: it is asked again"),
        when(any, always, Event::serve).given(P::writer, all).run(serve_all),
        when(any, always, Event::serve).given(P::writer, some).run(serve_all, fetch_x),
        when(any, always, Event::serve).given(P::writer).run(fetch_x),
        when(any, always, Event::serve).given(P::reader, owner, spare).run(serve_one),
        when(any, always, Event::serve).given(P::reader, owner).run(serve_all),
        when(any, always, Event::serve).given(P::reader).run(fetch_s),
        when(any, always, Event::serve));
    // clang-format on
  };
};

} // namespace tandem::machine::token_b
