// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The private hierarchy of one core in TokenB: transient requests to everyone, answered or not;
// after a timeout, or two, a persistent request to the home, which all obey.
#pragma once

#include "machine/protocol/flask/rows.h"
#include "machine/protocol/token_b/messages.h"

namespace tandem::machine::token_b {

template <class Proto> struct Core {
  using Protocol = Proto;
  static constexpr Role kRole = Role::core;
  static constexpr const char *kName = "core";

  enum class LineState : std::uint8_t { I, N, S, O, D, E, M };
  static constexpr StateInfo kLineStates[] = {
      {"I", "no tokens"},
      {"N", "some tokens and no data yet"},
      {"S", "some tokens, not the owner's, and data: readable"},
      {"O", "the owner token and not all, clean: readable"},
      {"D", "the owner token and not all, dirty: readable"},
      {"E", "all tokens, clean: writable"},
      {"M", "all tokens, dirty: writable"},
  };
  enum class TbeState : std::uint8_t { none, R, W, RP, WP, Q, L };
  static constexpr StateInfo kTbeStates[] = {
      {"-", "no transaction"},
      {"R", "GetS sent: waits for one token and data"},
      {"W", "GetX sent: waits for all tokens"},
      {"RP", "as R, with a persistent request"},
      {"WP", "as W, with a persistent request"},
      {"Q", "the access is done, and its persistent request not yet active"},
      {"L", "nothing but obedience to another core's persistent request"},
  };

  struct Line {
    LineState state{};
    std::uint8_t tokens = 0;
    Data data;
    template <class Self, class V> static void fields(Self &s, V &v) {
      v("state", s.state, 3);
      v("tokens", s.tokens, kTokenBits);
      v("data", s.data);
    }
  };
  struct Tbe {
    TbeState state{};
    bool reissued = false; // the transient request was sent twice
    bool granted = false;  // the persistent request is active
    bool all = false;      // the holder wants all tokens
    Node holder;           // whose persistent request is active, if another core's
    template <class Self, class V> static void fields(Self &s, V &v) {
      v("state", s.state, 3);
      v("reissued", s.reissued, 1);
      v("granted", s.granted, 1);
      v("all", s.all, 1);
      v("holder", s.holder);
    }
  };
  static Node holder(const Tbe &tbe) { return tbe.holder; }
  // Who only obeys has no line in the array for it.
  static bool keeps_way(const Tbe &tbe) {
    return tbe.state != TbeState::none && tbe.state != TbeState::L;
  }

  static bool readable(const Line &line, const Tbe &) { return line.state >= LineState::S; }
  static bool writable(const Line &line, const Tbe &) { return line.state >= LineState::E; }

  static constexpr Event kSpontaneous[] = {Event::load, Event::store, Event::evict, Event::timeout};
  template <class E> static bool may(E &env, Event event) {
    const TbeState tbe = env.tbe().state;
    if (event == Event::evict)
      return env.line().state != LineState::I && (tbe == TbeState::none || tbe == TbeState::L);
    if (event == Event::timeout)
      return tbe == TbeState::R || tbe == TbeState::W;
    return true;
  }

  template <class E> struct Rules : Rows<E, Core> {
    using Table = Rows<E, Core>;
    using L = LineState;
    using T = TbeState;
    using Act = Action<E>;
    using If = Guard<E>;
    using P = Obedience<E, Core>;

    static std::uint8_t owner_flags(const Line &line) {
      switch (line.state) {
      case L::O:
      case L::E:
        return kOwner;
      case L::D:
      case L::M:
        return kOwner | kDirty;
      default:
        return 0;
      }
    }
    // `count` tokens of this line, with the owner token if they are all.
    static void give(E &e, Event type, Node to, unsigned count, bool data) {
      Line &line = e.line();
      const unsigned flags = count == line.tokens ? owner_flags(line) : 0;
      const Message m = Message::of(type).to(to).counting(count).flagged(flags);
      e.send(data || flags != 0 ? m.carrying(line.data) : m);
      line.tokens = static_cast<std::uint8_t>(line.tokens - count);
    }
    static void broadcast(E &e, Message m) {
      e.multicast(CoreSet::first(e.cores()).without(e.self()), m);
      e.send(m.to(Node::home()));
    }
    static void add(E &e) {
      const Message &m = e.message();
      e.line().tokens = static_cast<std::uint8_t>(e.line().tokens + m.count);
      if (m.has_data)
        e.line().data = m.data;
    }
    static void finish(E &e, Access access) {
      add(e);
      e.perform(access, e.line().data);
      e.wake(Wake::transaction);
      e.raise(Event::done);
    }

    static constexpr If brings_rest{"these are the last tokens", [](E &e) {
                                      return e.line().tokens + e.message().count == e.tokens();
                                    }};
    static constexpr If brings_data{"with data", [](E &e) { return e.message().has_data; }};
    static constexpr If brings_owner{"the owner token, clean",
                                     [](E &e) { return (e.message().flags & kOwner) != 0; }};
    static constexpr If brings_dirty{"the owner token, dirty",
                                     [](E &e) { return (e.message().flags & kDirty) != 0; }};
    static constexpr If spare{"two tokens or more", [](E &e) { return e.line().tokens >= 2; }};
    static constexpr If migratory{"dirty blocks migrate to readers",
                                  [](E &e) { return e.config().migratory; }};
    static constexpr If first_timeout{"not yet sent twice",
                                      [](E &e) { return e.config().reissue && !e.tbe().reissued; }};
    static constexpr If granted{"its persistent request is active",
                                [](E &e) { return e.tbe().granted; }};

    static constexpr Act load_hit{"load", [](E &e) { e.perform(Access::load, e.line().data); }};
    static constexpr Act store_hit{"store", [](E &e) { e.perform(Access::store, e.line().data); }};
    static constexpr Act send_get_s{"send GetS to all cores and the home", [](E &e) {
                                      if (e.config().transient)
                                        broadcast(e, Message::of(Event::get_s).on_behalf(e.self()));
                                      e.arm_timer();
                                    }};
    static constexpr Act send_get_x{"send GetX to all cores and the home", [](E &e) {
                                      if (e.config().transient)
                                        broadcast(e, Message::of(Event::get_x).on_behalf(e.self()));
                                      e.arm_timer();
                                    }};
    static constexpr Act note_reissue{"note it", [](E &e) { e.tbe().reissued = true; }};
    static constexpr Act persist_read{
        "send PReq, to read", [](E &e) { e.send(Message::of(Event::persist).to(Node::home())); }};
    static constexpr Act persist_write{
        "send PReq, to write",
        [](E &e) { e.send(Message::of(Event::persist).to(Node::home()).flagged(kWrite)); }};
    static constexpr Act note_grant{"note it", [](E &e) { e.tbe().granted = true; }};
    static constexpr Act send_done{
        "send PDone", [](E &e) { e.send(Message::of(Event::satisfied).to(Node::home())); }};
    static constexpr Act obey{"note whose tokens these are; PAck", [](E &e) {
                                e.tbe().holder = e.message().requester;
                                e.tbe().all = (e.message().flags & kWrite) != 0;
                                e.send(Message::of(Event::ack).to(Node::home()));
                              }};
    static constexpr Act obey_no_more{"forget it; PAck", [](E &e) {
                                        e.tbe().holder = {};
                                        e.tbe().all = false;
                                        e.send(Message::of(Event::ack).to(Node::home()));
                                      }};
    static constexpr Act forget{"forget how it was got", [](E &e) { e.tbe().reissued = false; }};
    static constexpr Act put{"send Put with all tokens, and data if owner", [](E &e) {
                               give(e, Event::put, Node::home(), e.line().tokens, false);
                             }};
    static constexpr Act bounce{
        "send the tokens to the home", [](E &e) {
          const Message &m = e.message();
          const Message on =
              Message::of(Event::put).to(Node::home()).counting(m.count).flagged(m.flags);
          e.send(m.has_data ? on.carrying(m.data) : on);
        }};
    static constexpr Act add_tokens{"add the tokens", [](E &e) { add(e); }};
    static constexpr Act finish_load{"load", [](E &e) { finish(e, Access::load); }};
    static constexpr Act finish_store{"store", [](E &e) { finish(e, Access::store); }};
    static constexpr Act give_one{"send one plain token and data to the requester", [](E &e) {
                                    give(e, Event::tokens, e.message().requester, 1, true);
                                  }};
    static constexpr Act give_all{
        "send all tokens, and data if owner, to the requester",
        [](E &e) { give(e, Event::tokens, e.message().requester, e.line().tokens, false); }};
    static constexpr Act serve_one{"send one plain token and data to the persistent requester",
                                   [](E &e) { give(e, Event::tokens, P::holder(e), 1, true); }};
    static constexpr Act serve_all{
        "send all tokens, and data if owner, to the persistent requester",
        [](E &e) { give(e, Event::tokens, P::holder(e), e.line().tokens, false); }};
    static constexpr Act wake{"wake", [](E &e) { e.wake(Wake::transaction); }};

    static constexpr auto when = [](auto... part) { return Table::when(part...); };
    static constexpr auto any = kAnyState<L>;
    static constexpr auto always = kAnyState<T>;

    // clang-format off
    static constexpr auto kRows = flask::rows(
        // The core.
        when(in(L::S, L::O, L::D, L::E, L::M), in(T::none, T::L, T::Q), Event::load).run(load_hit),
        when(in(L::S, L::O, L::D), in(T::W, T::WP), Event::load).run(load_hit),
        when(in(L::I), in(T::none, T::L), Event::load).need(kNeedsWay).run(send_get_s).next(T::R),
        when(in(L::I), in(T::Q), Event::load).stall(),
        when(in(L::I, L::N), in(T::R, T::W, T::RP, T::WP), Event::load).stall(),
        when(in(L::E, L::M), in(T::none, T::L, T::Q), Event::store).run(store_hit).next(L::M),
        when(in(L::I), in(T::none, T::L), Event::store).need(kNeedsWay).run(send_get_x).next(T::W),
        when(in(L::S, L::O, L::D), in(T::none, T::L), Event::store).run(send_get_x).next(T::W),
        when(in(L::I, L::S, L::O, L::D), in(T::Q), Event::store).stall(),
        when(in(L::I, L::N, L::S, L::O, L::D), in(T::R, T::W, T::RP, T::WP), Event::store).stall(),
        when(in(L::S, L::O, L::D, L::E, L::M), in(T::none, T::L), Event::evict).run(put).next(L::I)
            .because("tokens may be sent anywhere at any time: nobody acknowledges"),
        when(any, in(T::R), Event::timeout).given(first_timeout).run(send_get_s, note_reissue),
        when(any, in(T::W), Event::timeout).given(first_timeout).run(send_get_x, note_reissue),
        when(any, in(T::R), Event::timeout).run(persist_read).next(T::RP),
        when(any, in(T::W), Event::timeout).run(persist_write).next(T::WP),

        // Transient requests of others.
        when(in(L::E), in(T::none, T::L, T::Q), Event::get_s).run(give_one).next(L::O),
        when(in(L::M), in(T::none, T::L, T::Q), Event::get_s).given(migratory).run(give_all).next(L::I),
        when(in(L::M), in(T::none, T::L, T::Q), Event::get_s).run(give_one).next(L::D),
        when(in(L::O, L::D), always, Event::get_s).given(spare).run(give_one),
        when(in(L::O, L::D), in(T::none, T::L, T::Q), Event::get_s).run(give_all).next(L::I)
            .because("the owner's is the only token here: else the reader would have to become persistent"),
        when(in(L::O, L::D), in(T::R, T::W, T::RP, T::WP), Event::get_s).because("ignored: it is collecting tokens itself"),
        when(in(L::I, L::N, L::S), always, Event::get_s),
        when(in(L::N, L::S, L::O, L::D, L::E, L::M), always, Event::get_x).run(give_all).next(L::I),
        when(in(L::I), always, Event::get_x),

        // Tokens.
        when(any, always, Event::tokens).given(P::claimed).run(P::pass_on),
        when(in(L::I), in(T::none, T::L, T::Q), Event::tokens).run(bounce),
        when(in(L::I, L::N, L::S, L::O, L::D), in(T::W, T::WP), Event::tokens).given(brings_rest).run(finish_store).next(L::M),
        when(in(L::S), in(T::none, T::L, T::Q), Event::tokens).given(brings_rest, brings_dirty).run(add_tokens, wake).next(L::M),
        when(in(L::D), in(T::none, T::L, T::Q), Event::tokens).given(brings_rest).run(add_tokens, wake).next(L::M),
        when(in(L::S, L::O), in(T::none, T::L, T::Q), Event::tokens).given(brings_rest).run(add_tokens, wake).next(L::E),
        when(in(L::S), in(T::none, T::L, T::Q, T::W, T::WP), Event::tokens).given(brings_dirty).run(add_tokens).next(L::D),
        when(in(L::S), in(T::none, T::L, T::Q, T::W, T::WP), Event::tokens).given(brings_owner).run(add_tokens).next(L::O),
        when(in(L::S, L::O, L::D), in(T::none, T::L, T::Q), Event::tokens).run(add_tokens),

        when(in(L::I, L::N), in(T::R, T::RP), Event::tokens).given(brings_rest, brings_dirty).run(finish_load).next(L::M),
        when(in(L::I, L::N), in(T::R, T::RP), Event::tokens).given(brings_rest).run(finish_load).next(L::E),
        when(in(L::I, L::N), in(T::R, T::RP), Event::tokens).given(brings_dirty).run(finish_load).next(L::D),
        when(in(L::I, L::N), in(T::R, T::RP), Event::tokens).given(brings_owner).run(finish_load).next(L::O),
        when(in(L::I, L::N), in(T::R, T::RP), Event::tokens).given(brings_data).run(finish_load).next(L::S),

        when(in(L::S, L::O, L::D), in(T::W, T::WP), Event::tokens).run(add_tokens),
        when(in(L::I, L::N), in(T::W, T::WP), Event::tokens).given(brings_dirty).run(add_tokens, wake).next(L::D),
        when(in(L::I, L::N), in(T::W, T::WP), Event::tokens).given(brings_owner).run(add_tokens, wake).next(L::O),
        when(in(L::I, L::N), in(T::W, T::WP), Event::tokens).given(brings_data).run(add_tokens, wake).next(L::S),
        when(in(L::I, L::N), in(T::R, T::W, T::RP, T::WP), Event::tokens).run(add_tokens).next(L::N),

        // The end of a transaction.
        when(any, in(T::R, T::W), Event::done).given(P::free).next(T::none),
        when(any, in(T::R, T::W), Event::done).run(forget).next(T::L),
        when(any, in(T::RP, T::WP), Event::done).given(granted).run(send_done).next(T::none),
        when(any, in(T::RP, T::WP), Event::done).run(forget).next(T::Q),
        when(any, in(T::RP, T::WP), Event::grant).run(note_grant),
        when(any, in(T::Q), Event::grant).run(send_done, wake).next(T::none),

        // Persistent requests of others.
        when(any, in(T::none), Event::activate).run(obey, P::serve).next(T::L),
        when(any, in(T::R, T::W, T::RP, T::WP, T::Q), Event::activate).run(obey, P::serve),
        when(any, in(T::L), Event::deactivate).run(obey_no_more).next(T::none),
        when(any, in(T::R, T::W, T::RP, T::WP, T::Q), Event::deactivate).run(obey_no_more),

        when(in(L::I), always, Event::serve),
        when(in(L::N, L::S, L::O, L::D, L::E, L::M), always, Event::serve).given(P::writer).run(serve_all).next(L::I),
        when(in(L::N, L::S), always, Event::serve).because("the owner serves readers"),
        when(in(L::E), in(T::L, T::Q), Event::serve).given(spare).run(serve_one).next(L::O),
        when(in(L::M), in(T::L, T::Q), Event::serve).given(spare).run(serve_one).next(L::D),
        when(in(L::O, L::D), always, Event::serve).given(spare).run(serve_one),
        when(in(L::O, L::D, L::E, L::M), always, Event::serve).run(serve_all).next(L::I));
    // clang-format on
  };
};

} // namespace tandem::machine::token_b
