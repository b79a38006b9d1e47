// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory controller in a protocol that counts tokens behind a blocking home: it has all tokens
// of a block or none. The home never has a MemRead and a MemWB of one block under way at the same
// time.
#pragma once

#include "machine/protocol/flask/messages.h"

namespace tandem::machine::flask {

template <class P> struct TokenMemory {
  using Protocol = P;
  static constexpr Role kRole = Role::memory;
  static constexpr const char *kName = "memory";
  static constexpr bool kLineStays = true;

  enum class LineState : std::uint8_t { gone, full };
  static constexpr StateInfo kLineStates[] = {{"Gone", "all tokens are on the chip"},
                                              {"Full", "all tokens are here, the data is fresh"}};
  enum class TbeState : std::uint8_t { none };
  static constexpr StateInfo kTbeStates[] = {{"-", "no transaction"}};

  struct Line {
    LineState state{};
    Data data;
    template <class Self, class V> static void fields(Self &s, V &v) {
      v("state", s.state, 1);
      v("data", s.data);
    }
  };
  struct Tbe {
    TbeState state{};
    template <class Self, class V> static void fields(Self &, V &) {}
  };
  static Line initial(unsigned, Data fresh) { return {LineState::full, fresh}; }

  static constexpr std::array<Event, 0> kSpontaneous{};
  template <class E> static bool may(E &, Event) { return false; }

  template <class E> struct Rules : Rows<E, TokenMemory> {
    using Table = Rows<E, TokenMemory>;
    using L = LineState;
    using T = TbeState;
    using Act = Action<E>;

    static constexpr Act serve{"send all tokens and data to the requester", [](E &e) {
                                 e.send(Message::of(Event::tokens)
                                            .to(e.message().requester)
                                            .carrying(e.line().data)
                                            .counting(e.tokens())
                                            .flagged(kOwner | kFromMemory));
                               }};
    static constexpr Act refuse{
        "send MemNone", [](E &e) { e.send(Message::of(Event::memory_none).to(Node::home())); }};
    static constexpr Act take{"take the data if there is any; send MemWBAck", [](E &e) {
                                if (e.message().has_data)
                                  e.line().data = e.message().data;
                                e.send(Message::of(Event::written).to(Node::home()));
                              }};

    // clang-format off
    static constexpr Row<E, TokenMemory> kRows[] = {
        Table::when(in(L::full), in(T::none), Event::memory_read).run(serve).next(L::gone),
        Table::when(in(L::gone), in(T::none), Event::memory_read).run(refuse)
            .because("the tokens are on their way to the home, in a Put"),
        Table::when(in(L::gone), in(T::none), Event::write_back).run(take).next(L::full),
    };
    // clang-format on
  };
};

} // namespace tandem::machine::flask
