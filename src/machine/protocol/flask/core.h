// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The private hierarchy of one core in a protocol that counts tokens behind a blocking home.
//
// All forwards are answered at once, in every state: they never wait, and none outlives the
// transaction that sent it. A block whose Put is unacknowledged is not asked for again; without
// this rule the directory's sharers would stop being a superset of the holders.
//
// Source: FLASK, section III; the rules that the paper leaves open are in
// docs/design/0022-flask.md.
#pragma once

#include "machine/protocol/flask/messages.h"
#include "machine/protocol/flask/rows.h"

namespace tandem::machine::flask {

template <class Proto> struct TokenCore {
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
  enum class TbeState : std::uint8_t { none, R, W, P };
  static constexpr StateInfo kTbeStates[] = {
      {"-", "no transaction"},
      {"R", "GetS sent: waits for one token with data"},
      {"W", "GetX sent: waits for all tokens"},
      {"P", "Put sent: waits for PutAck"},
  };

  struct Line {
    LineState state{};
    std::uint8_t tokens = 0;
    bool lent = false; // S: by the LLC, which has the data as long as this token is here
    Data data;
    template <class Self, class V> static void fields(Self &s, V &v) {
      v("state", s.state, 3);
      v("tokens", s.tokens, kTokenBits);
      v("lent", s.lent, 1);
      v("data", s.data);
    }
  };
  struct Tbe {
    TbeState state{};
    bool from_memory = false;            // some of the tokens came from memory
    bool refused = false;                // W: by another core's transaction
    std::uint8_t received = 0, sent = 0; // W: tokens for this request; `sent` is known once refused
    template <class Self, class V> static void fields(Self &s, V &v) {
      v("state", s.state, 2);
      v("memory", s.from_memory, 1);
      v("refused", s.refused, 1);
      v("received", s.received, kTokenBits);
      v("sent", s.sent, kTokenBits);
    }
  };

  static bool readable(const Line &line, const Tbe &) { return line.state >= LineState::S; }
  static bool writable(const Line &line, const Tbe &) { return line.state >= LineState::E; }

  static constexpr Event kSpontaneous[] = {Event::load, Event::store, Event::evict};
  template <class E> static bool may(E &env, Event event) {
    return event != Event::evict ||
           (env.line().state != LineState::I && env.tbe().state == TbeState::none);
  }

  template <class E> struct Rules : Rows<E, TokenCore> {
    using Table = Rows<E, TokenCore>;
    using L = LineState;
    using T = TbeState;
    using Act = Action<E>;
    using If = Guard<E>;

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
    static Message with_data_of_owner(Message m, const Line &line) {
      return owner_flags(line) != 0 ? m.carrying(line.data) : m;
    }
    // `count`: of tokens that a writer was given.
    static void ack(E &e, unsigned flags, unsigned count = 0) {
      e.send(Message::of(Event::ack)
                 .to(Node::home())
                 .flagged(flags)
                 .counting(Proto::transactions(e.config()) ? count : 0));
    }
    static void add(E &e) {
      const Message &m = e.message();
      e.line().tokens = static_cast<std::uint8_t>(e.line().tokens + m.count);
      e.line().lent = (m.flags & kLent) != 0;
      if (Proto::transactions(e.config()) && e.tbe().state == T::W) {
        e.tbe().received = static_cast<std::uint8_t>(e.tbe().received + m.count);
        if (e.tbe().refused)
          e.raise(Event::settled);
      }
      if (m.has_data)
        e.line().data = m.data;
      e.tbe().from_memory = e.tbe().from_memory || (m.flags & kFromMemory) != 0;
    }
    static void unblock(E &e) {
      e.send(Message::of(Event::unblock)
                 .to(Node::home())
                 .flagged(e.tbe().from_memory ? kFromMemory : 0));
      e.wake(Wake::transaction);
    }

    static constexpr If brings_rest{"these are the last tokens", [](E &e) {
                                      return e.line().tokens + e.message().count == e.tokens();
                                    }};
    static constexpr If brings_owner{"the owner token, clean",
                                     [](E &e) { return (e.message().flags & kOwner) != 0; }};
    static constexpr If brings_dirty{"the owner token, dirty",
                                     [](E &e) { return (e.message().flags & kDirty) != 0; }};
    static constexpr If plain{"plain ones, not the last", [](E &e) {
                                return (e.message().flags & kOwner) == 0 &&
                                       e.line().tokens + e.message().count != e.tokens();
                              }};
    static constexpr If last{"the owner token is the only one here",
                             [](E &e) { return e.line().tokens == 1; }};
    static constexpr If spare{"two tokens or more", [](E &e) { return e.line().tokens >= 2; }};
    static constexpr If lent{"the LLC lent the token", [](E &e) { return e.line().lent; }};

    static constexpr Act load_hit{"load", [](E &e) { e.perform(Access::load, e.line().data); }};
    static constexpr Act store_hit{"store", [](E &e) { e.perform(Access::store, e.line().data); }};
    static constexpr Act send_get_s{
        "send GetS", [](E &e) { e.send(Message::of(Event::get_s).to(Node::home())); }};
    static constexpr Act send_get_x{
        "send GetX", [](E &e) {
          e.send(Message::of(Event::get_x)
                     .to(Node::home())
                     .flagged(Proto::transactions(e.config()) && e.transactional() ? kTransactional
                                                                                   : 0));
        }};
    static constexpr Act put{"send Put with all tokens", [](E &e) {
                               e.send(Message::of(Event::put)
                                          .to(Node::home())
                                          .carrying(e.line().data)
                                          .counting(e.line().tokens)
                                          .flagged(owner_flags(e.line())));
                             }};
    static constexpr Act put_token{
        "send Put with the token, without data",
        [](E &e) { e.send(Message::of(Event::put).to(Node::home()).counting(e.line().tokens)); }};
    static constexpr Act add_tokens{"add the tokens", [](E &e) { add(e); }};
    static constexpr Act finish_load{"load, send Unblock", [](E &e) {
                                       add(e);
                                       e.perform(Access::load, e.line().data);
                                       unblock(e);
                                     }};
    static constexpr Act finish_store{"store, send Unblock", [](E &e) {
                                        add(e);
                                        e.perform(Access::store, e.line().data);
                                        unblock(e);
                                      }};
    static constexpr Act give_one{
        "send one plain token and data to the requester; Ack that it was given", [](E &e) {
          e.send(Message::of(Event::tokens)
                     .to(e.message().requester)
                     .carrying(e.line().data)
                     .counting(1));
          e.line().tokens = static_cast<std::uint8_t>(e.line().tokens - 1);
          ack(e, kHolds | kGave);
        }};
    static constexpr Act give_all{
        "send all tokens, and data if owner, to the requester; Ack that they were given", [](E &e) {
          const Message m = Message::of(Event::tokens);
          e.send(((e.message().flags & kTransactional) != 0 ? m.carrying(e.line().data)
                                                            : with_data_of_owner(m, e.line()))
                     .to(e.message().requester)
                     .counting(e.line().tokens)
                     .flagged(owner_flags(e.line())));
          ack(e, kGave, e.line().tokens);
        }};
    static constexpr Act ack_holder{"Ack: holds tokens", [](E &e) { ack(e, kHolds); }};
    static constexpr Act ack_owner{"Ack: holds the owner token",
                                   [](E &e) { ack(e, kHolds | kOwner); }};
    static constexpr Act refuse{
        "Ack: refused, holds tokens",
        [](E &e) { ack(e, kRefused | kHolds | (owner_flags(e.line()) != 0 ? kOwner : 0U)); }};
    static constexpr If refuses{"its transaction refuses", [](E &e) { return e.refuses(); }};
    static constexpr If with_data{"with data", [](E &e) { return e.message().has_data; }};
    static constexpr If all_came{"all tokens sent for it have come",
                                 [](E &e) { return e.tbe().received == e.tbe().sent; }};
    static constexpr Act note_refusal{"note how many were sent", [](E &e) {
                                        e.tbe().refused = true;
                                        e.tbe().sent = e.message().count;
                                        e.raise(Event::settled);
                                      }};
    static constexpr Act abandon{"give up the access, send Unblock", [](E &e) {
                                   e.abandon();
                                   unblock(e);
                                 }};
    static constexpr Act ack_nothing{"Ack: nothing here", [](E &e) { ack(e, 0); }};
    static constexpr Act return_all{"send RecallResp with all tokens", [](E &e) {
                                      e.send(Message::of(Event::recalled)
                                                 .to(Node::home())
                                                 .counting(e.line().tokens)
                                                 .flagged(owner_flags(e.line())));
                                    }};
    static constexpr Act return_with_data{
        "send RecallResp with all tokens, and data if owner", [](E &e) {
          e.send(with_data_of_owner(Message::of(Event::recalled), e.line())
                     .to(Node::home())
                     .counting(e.line().tokens)
                     .flagged(owner_flags(e.line())));
        }};
    static constexpr Act return_nothing{"send RecallResp without tokens", [](E &e) {
                                          e.send(Message::of(Event::recalled).to(Node::home()));
                                        }};
    static constexpr Act ack_purge{
        "send PurgeAck", [](E &e) { e.send(Message::of(Event::purged).to(Node::home())); }};
    static constexpr Act wake{"wake", [](E &e) { e.wake(Wake::transaction); }};

    static constexpr auto when = [](auto... part) { return Table::when(part...); };

    // clang-format off
    static constexpr auto kCommon = rows(
        // The core.
        when(in(L::S, L::O, L::D, L::E, L::M), in(T::none), Event::load).run(load_hit),
        when(in(L::S, L::O, L::D), in(T::W), Event::load).run(load_hit),
        when(in(L::I), in(T::none), Event::load).need(kNeedsWay).run(send_get_s).next(T::R),
        when(in(L::I), in(T::R, T::W, T::P), Event::load).stall(),
        when(in(L::N), in(T::W), Event::load).stall(),
        when(in(L::E, L::M), in(T::none), Event::store).run(store_hit).next(L::M),
        when(in(L::I), in(T::none), Event::store).need(kNeedsWay).run(send_get_x).next(T::W),
        when(in(L::S, L::O, L::D), in(T::none), Event::store).run(send_get_x).next(T::W),
        when(in(L::I), in(T::R, T::W, T::P), Event::store).stall()
            .because("P: with a second request before PutAck the directory would lose a holder"),
        when(in(L::N, L::S, L::O, L::D), in(T::W), Event::store).stall(),
        when(in(L::S, L::O, L::D, L::E, L::M), in(T::none), Event::evict).run(put).next(L::I, T::P),
        when(in(L::I), in(T::P), Event::put_ack).run(wake).next(T::none),

        // Tokens for a load. One message serves it.
        when(in(L::I), in(T::R), Event::tokens).given(brings_rest, brings_dirty).run(finish_load).next(L::M, T::none),
        when(in(L::I), in(T::R), Event::tokens).given(brings_rest).run(finish_load).next(L::E, T::none),
        when(in(L::I), in(T::R), Event::tokens).given(brings_dirty).run(finish_load).next(L::D, T::none),
        when(in(L::I), in(T::R), Event::tokens).given(brings_owner).run(finish_load).next(L::O, T::none),
        when(in(L::I), in(T::R), Event::tokens).run(finish_load).next(L::S, T::none),

        // Tokens for a store come from any number of holders.
        when(in(L::I, L::N, L::S, L::O, L::D), in(T::W), Event::tokens).given(brings_rest).run(finish_store).next(L::M, T::none),
        when(in(L::I, L::N, L::S), in(T::W), Event::tokens).given(brings_dirty).run(add_tokens, wake).next(L::D),
        when(in(L::I, L::N, L::S), in(T::W), Event::tokens).given(brings_owner).run(add_tokens, wake).next(L::O),
        when(in(L::S, L::O, L::D), in(T::W), Event::tokens).run(add_tokens),
        when(in(L::I, L::N), in(T::W), Event::tokens).run(add_tokens).next(L::N)
            .because("data comes with the owner token"),

        // Another core reads.
        when(in(L::E), in(T::none), Event::fwd_s).run(give_one).next(L::O),
        when(in(L::M), in(T::none), Event::fwd_s).run(give_one).next(L::D),
        when(in(L::O, L::D), in(T::none, T::W), Event::fwd_s).given(spare).run(give_one)
            .because("always so: T >= N, readers get one token each, and the requester and the LLC have none"),
        when(in(L::S), in(T::none, T::W), Event::fwd_s).run(ack_holder),
        when(in(L::I), kAnyState<T>, Event::fwd_s).run(ack_nothing),

        // Another core writes. A GetX that waits at the home loses its tokens like anyone.
        when(in(L::S, L::O, L::D), in(T::none, T::W), Event::fwd_x).run(give_all).next(L::I),
        when(in(L::E, L::M), in(T::none), Event::fwd_x).run(give_all).next(L::I),
        when(in(L::I), kAnyState<T>, Event::fwd_x).run(ack_nothing),

        // The home looks for the holders (reconstruction in two phases, or beside an answer of the LLC).
        when(in(L::O, L::D), in(T::none, T::W), Event::query).run(ack_owner),
        when(in(L::E, L::M), in(T::none), Event::query).run(ack_owner),
        when(in(L::S), in(T::none, T::W), Event::query).run(ack_holder),
        when(in(L::I), kAnyState<T>, Event::query).run(ack_nothing),

        // The LLC gives up a block of which cores have tokens. It has tokens, so no core has all, and
        // its data is fresh: no data travels.
        when(in(L::S, L::O, L::D), in(T::none, T::W), Event::recall).run(return_all).next(L::I),
        when(in(L::I), kAnyState<T>, Event::recall).run(return_nothing),

        // A device reads or writes at the home.
        when(in(L::S, L::O, L::D), in(T::none, T::W), Event::fetch).run(return_with_data).next(L::I),
        when(in(L::E, L::M), in(T::none), Event::fetch).run(return_with_data).next(L::I),
        when(in(L::I), kAnyState<T>, Event::fetch).run(return_nothing));

    static constexpr auto lent_rows() {
      if constexpr (Proto::kLends)
        return rows(
            when(in(L::S), in(T::none), Event::evict).given(lent).run(put_token).next(L::I, T::P)
                .because("the LLC has kept the data: all ways to its owner token ask for this token, too"));
      else
        return std::array<Row<E, TokenCore>, 0>{};
    }
    static constexpr auto filter_rows() {
      if constexpr (Proto::kFilter)
        return rows(
            when(in(L::S, L::O, L::D, L::E, L::M), in(T::none), Event::purge).run(put, ack_purge).next(L::I, T::P),
            when(in(L::S, L::O, L::D), in(T::W), Event::purge).run(ack_purge)
                .because("the line is about to be written; the filter is exact without this eviction"),
            when(in(L::I), kAnyState<T>, Event::purge).run(ack_purge));
      else
        return std::array<Row<E, TokenCore>, 0>{};
    }
    // clang-format on
    // What a hardware transaction of this core refuses; and its own request that is refused.
    static constexpr auto refusal_rows() {
      if constexpr (Proto::kRefuses) {
        constexpr auto option = [](auto row) { return row.only(&Proto::Config::transactions); };
        return rows(
            option(when(in(L::O, L::D, L::E, L::M), in(T::none, T::W), Event::fwd_s))
                .given(refuses)
                .run(refuse),
            option(when(in(L::S, L::O, L::D, L::E, L::M), in(T::none, T::W), Event::fwd_x))
                .given(refuses)
                .run(refuse),
            option(when(in(L::O, L::D), in(T::none, T::W), Event::fwd_s))
                .given(last)
                .run(give_all)
                .next(L::I)
                .because("a refused writer has kept tokens, so that the owner's is the last here"),
            option(when(in(L::I), in(T::R), Event::refusal)).run(abandon).next(T::none),
            option(when(in(L::I, L::S, L::O, L::D), in(T::W), Event::refusal)).run(note_refusal),
            option(when(in(L::I, L::S, L::O, L::D), in(T::W), Event::settled))
                .given(all_came)
                .run(abandon)
                .next(T::none),
            option(when(in(L::I, L::S, L::O, L::D), in(T::W), Event::settled)),
            option(when(in(L::I), in(T::W), Event::tokens))
                .given(plain, with_data)
                .run(add_tokens, wake)
                .next(L::S));
      } else {
        return std::array<Row<E, TokenCore>, 0>{};
      }
    }
    static constexpr auto kRows = join(refusal_rows(), lent_rows(), kCommon, filter_rows());
  };
};

} // namespace tandem::machine::flask
