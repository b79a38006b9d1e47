// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory controller in TokenB: it holds any number of tokens. Its data is fresh while it has
// the owner token, and while that is elsewhere but clean.
#pragma once

#include "machine/protocol/flask/rows.h"
#include "machine/protocol/token_b/messages.h"

namespace tandem::machine::token_b {

template <class Proto> struct Memory {
  using Protocol = Proto;
  static constexpr Role kRole = Role::memory;
  static constexpr const char *kName = "memory";
  static constexpr bool kLineStays = true;

  enum class LineState : std::uint8_t { none, some, owner };
  static constexpr StateInfo kLineStates[] = {
      {"-", "no tokens"}, {"Some", "tokens, not the owner's"}, {"Owner", "the owner token"}};
  enum class TbeState : std::uint8_t { none };
  static constexpr StateInfo kTbeStates[] = {{"-", "no transaction"}};

  struct Line {
    LineState state{};
    std::uint8_t tokens = 0;
    Data data;
    template <class Self, class V> static void fields(Self &s, V &v) {
      v("state", s.state, 2);
      v("tokens", s.tokens, kTokenBits);
      v("data", s.data);
    }
  };
  struct Tbe {
    TbeState state{};
    template <class Self, class V> static void fields(Self &, V &) {}
  };
  static Line initial(unsigned tokens, Data fresh) {
    return {LineState::owner, static_cast<std::uint8_t>(tokens), fresh};
  }

  static constexpr std::array<Event, 0> kSpontaneous{};
  template <class E> static bool may(E &, Event) { return false; }

  template <class E> struct Rules : Rows<E, Memory> {
    using Table = Rows<E, Memory>;
    using L = LineState;
    using T = TbeState;
    using Act = Action<E>;
    using If = Guard<E>;

    static void give(E &e, Node to, unsigned count, bool data) {
      Line &line = e.line();
      const bool owner = line.state == L::owner && count == line.tokens;
      const Message m =
          Message::of(Event::tokens).to(to).counting(count).flagged(owner ? kOwner : 0);
      e.send(data || owner ? m.carrying(line.data) : m);
      line.tokens = static_cast<std::uint8_t>(line.tokens - count);
    }

    static constexpr If shared{"two tokens or more, not all", [](E &e) {
                                 return e.line().tokens >= 2 && e.line().tokens < e.tokens();
                               }};
    static constexpr If brings_owner{"the owner token",
                                     [](E &e) { return (e.message().flags & kOwner) != 0; }};

    static constexpr Act give_all{"send all tokens, and data if owner, to the requester", [](E &e) {
                                    give(e, e.message().requester, e.line().tokens, false);
                                  }};
    static constexpr Act give_one{"send one plain token and data to the requester",
                                  [](E &e) { give(e, e.message().requester, 1, true); }};
    static constexpr Act take{"take the tokens, and data if there is any; send MemWBAck", [](E &e) {
                                const Message &m = e.message();
                                e.line().tokens =
                                    static_cast<std::uint8_t>(e.line().tokens + m.count);
                                if (m.has_data)
                                  e.line().data = m.data;
                                e.send(Message::of(Event::written).to(Node::home()));
                              }};

    static constexpr auto when = [](auto lines, Event event) {
      return Table::when(lines, kAnyState<T>, event);
    };
    static constexpr auto any = kAnyState<L>;

    // clang-format off
    static constexpr auto kRows = flask::rows(
        when(in(L::owner), Event::memory_get_s).given(shared).run(give_one),
        when(in(L::owner), Event::memory_get_s).run(give_all).next(L::none)
            .because("all tokens, so that the reader may write; or the only one"),
        when(in(L::none, L::some), Event::memory_get_s),
        when(in(L::some, L::owner), Event::memory_get_x).run(give_all).next(L::none),
        when(in(L::none), Event::memory_get_x),

        when(any, Event::write_back).given(brings_owner).run(take).next(L::owner),
        when(in(L::none, L::some), Event::write_back).run(take).next(L::some),
        when(in(L::owner), Event::write_back).run(take));
    // clang-format on
  };
};

} // namespace tandem::machine::token_b
