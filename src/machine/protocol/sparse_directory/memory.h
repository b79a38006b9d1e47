// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A memory controller under the sparse directory: it reads and writes as it is told.
#pragma once

#include "machine/protocol/sparse_directory/protocol.h"

namespace tandem::machine {

struct SparseDirectory::Memory {
  using Protocol = SparseDirectory;
  static constexpr Role kRole = Role::memory;
  static constexpr const char *kName = "memory";
  static constexpr bool kLineStays = true;

  enum class LineState : std::uint8_t { held };
  static constexpr StateInfo kLineStates[] = {{"Mem", "the block in memory"}};
  enum class TbeState : std::uint8_t { none };
  static constexpr StateInfo kTbeStates[] = {{"-", "no transaction"}};

  struct Line {
    LineState state{};
    Data data;
    template <class Self, class V> static void fields(Self &s, V &v) { v("data", s.data); }
  };
  struct Tbe {
    TbeState state{};
    template <class Self, class V> static void fields(Self &, V &) {}
  };
  static Line initial(unsigned, Data fresh) { return {LineState::held, fresh}; }

  static constexpr std::array<Event, 0> kSpontaneous{};
  template <class E> static bool may(E &, Event) { return false; }

  template <class E> struct Rules : Rows<E, Memory> {
    using R = Rows<E, Memory>;
    using L = LineState;
    using T = TbeState;

    static constexpr Guard<E> exclusive{"for DataE",
                                        [](E &e) { return (e.message().flags & kExclusive) != 0; }};
    static constexpr Guard<E> modify{"for DataM",
                                     [](E &e) { return (e.message().flags & kModify) != 0; }};
    static void answer(E &e, Event with) {
      e.send(Message::of(with)
                 .to(e.message().requester)
                 .counting(e.message().count)
                 .carrying(e.line().data));
    }
    static constexpr Action<E> data_e{"send DataE to the requester",
                                      [](E &e) { answer(e, Event::data_e); }};
    static constexpr Action<E> data_m{"send DataM with the count to the requester",
                                      [](E &e) { answer(e, Event::data_m); }};
    static constexpr Action<E> data{"send Data to the requester",
                                    [](E &e) { answer(e, Event::data); }};
    static constexpr Action<E> write{"write", [](E &e) { e.line().data = e.message().data; }};
    static constexpr Action<E> ack{
        "send MemAck", [](E &e) { e.send(Message::of(Event::mem_ack).to(Node::home())); }};

    // clang-format off
    static constexpr Row<E, Memory> kRows[] = {
        R::when(in(L::held), in(T::none), Event::mem_read).given(exclusive).run(data_e),
        R::when(in(L::held), in(T::none), Event::mem_read).given(modify).run(data_m),
        R::when(in(L::held), in(T::none), Event::mem_read).run(data),
        R::when(in(L::held), in(T::none), Event::mem_write).run(write, ack),
    };
    // clang-format on
  };
};

} // namespace tandem::machine
