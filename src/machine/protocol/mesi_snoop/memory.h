// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory on the snooping bus. It hears a transaction after all caches, so that the lines are valid.
#pragma once

#include "machine/protocol/mesi_snoop/protocol.h"

namespace tandem::machine {

struct MesiSnoop::Memory {
  using Protocol = MesiSnoop;
  static constexpr Role kRole = Role::memory;
  static constexpr const char *kName = "memory";
  static constexpr bool kLineStays = true;

  enum class LineState : std::uint8_t { held };
  static constexpr StateInfo kLineStates[] = {{"Mem", "the block in memory"}};
  enum class TbeState : std::uint8_t { none, W };
  static constexpr StateInfo kTbeStates[] = {{"-", "no transaction"},
                                             {"W", "has been promised a Flush"}};

  struct Line {
    LineState state{};
    Data data;
    template <class Self, class V> static void fields(Self &s, V &v) { v("data", s.data); }
  };
  struct Tbe {
    TbeState state{};
    template <class Self, class V> static void fields(Self &s, V &v) { v("state", s.state, 1); }
  };
  static Line initial(unsigned, Data fresh) { return {LineState::held, fresh}; }

  static constexpr std::array<Event, 0> kSpontaneous{};
  template <class E> static bool may(E &, Event) { return false; }

  template <class E> struct Rules : Rows<E, Memory> {
    using R = Rows<E, Memory>;
    using L = LineState;
    using T = TbeState;

    static constexpr Guard<E> dirty{"dirty is asserted", [](E &e) { return e.lines().dirty; }};
    static constexpr Guard<E> owner{"owner is asserted", [](E &e) { return e.lines().owner; }};
    static constexpr Action<E> supply{
        "send Data to the requester", [](E &e) {
          e.send(Message::of(Event::data).to(e.message().requester).carrying(e.line().data));
        }};
    static constexpr Action<E> write{"write", [](E &e) { e.line().data = e.message().data; }};

    // clang-format off
    static constexpr Row<E, Memory> kRows[] = {
        R::when(in(L::held), in(T::none), Event::bus_rd).given(dirty).next(T::W),
        R::when(in(L::held), in(T::none), Event::bus_rd).given(owner),
        R::when(in(L::held), in(T::none), Event::bus_rd).run(supply),
        R::when(in(L::held), in(T::none), Event::bus_rd_x).given(owner),
        R::when(in(L::held), in(T::none), Event::bus_rd_x).run(supply),
        R::when(in(L::held), in(T::none, T::W), Event::bus_upgr),
        R::when(in(L::held), in(T::none), Event::bus_wb).next(T::W),
        R::when(in(L::held), in(T::W), Event::bus_rd).nack(),
        R::when(in(L::held), in(T::W), Event::bus_rd_x).nack(),
        R::when(in(L::held), in(T::W), Event::bus_wb).nack(),
        R::when(in(L::held), in(T::W), Event::flush).run(write).next(T::none),
    };
    // clang-format on
  };
};

} // namespace tandem::machine
