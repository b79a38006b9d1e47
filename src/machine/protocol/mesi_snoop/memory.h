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
  enum class TbeState : std::uint8_t { none, W, DR, DW };
  static constexpr StateInfo kTbeStates[] = {{"-", "no transaction"},
                                             {"W", "has been promised a Flush"},
                                             {"DR", "as W, and a device reads it"},
                                             {"DW", "as W, and a device writes on it"}};

  struct Line {
    LineState state{};
    Data data;
    template <class Self, class V> static void fields(Self &s, V &v) { v("data", s.data); }
  };
  struct Tbe {
    TbeState state{};
    template <class Self, class V> static void fields(Self &s, V &v) { v("state", s.state, 2); }
  };
  static Line initial(unsigned, Data fresh) { return {LineState::held, fresh}; }

  static constexpr Event kSpontaneous[] = {Event::dma_read, Event::dma_write};
  template <class E> static bool may(E &, Event) { return true; }

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
    static constexpr Guard<E> refused{"refused", [](E &e) { return e.lines().nack; }};
    static constexpr Guard<E> reads{"the device reads", [](E &e) {
                                      return e.message().type ==
                                             static_cast<std::uint8_t>(Event::dma_read);
                                    }};
    static constexpr Action<E> bus_dma_rd{"BusDmaRd", [](E &e) { e.snoop(Event::bus_dma_rd); }};
    static constexpr Action<E> bus_dma_wr{"BusDmaWr", [](E &e) { e.snoop(Event::bus_dma_wr); }};
    static constexpr Action<E> then{"Granted", [](E &e) { e.raise(Event::granted); }};
    static constexpr Action<E> device_load{"the device reads",
                                           [](E &e) { e.perform(Access::load, e.line().data); }};
    static constexpr Action<E> device_store{"the device writes",
                                            [](E &e) { e.perform(Access::store, e.line().data); }};
    static constexpr Action<E> wake{"wake", [](E &e) { e.wake(Wake::transaction); }};
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
        R::when(in(L::held), in(T::W, T::DR, T::DW), Event::bus_rd).nack(),
        R::when(in(L::held), in(T::W, T::DR, T::DW), Event::bus_rd_x).nack(),
        R::when(in(L::held), in(T::W), Event::bus_wb).nack(),
        R::when(in(L::held), in(T::DR), Event::bus_upgr).nack()
            .because("the device would read what is no longer the last value"),
        R::when(in(L::held), in(T::W), Event::flush).run(write, wake).next(T::none),

        // A device. No core is asked for data that memory has.
        R::when(in(L::held), in(T::none), Event::dma_read).run(bus_dma_rd, then),
        R::when(in(L::held), in(T::none), Event::dma_write).run(bus_dma_wr, then),
        R::when(in(L::held), in(T::W, T::DR, T::DW), Event::dma_read).stall(),
        R::when(in(L::held), in(T::W, T::DR, T::DW), Event::dma_write).stall(),
        R::when(in(L::held), in(T::none), Event::granted).given(refused),
        R::when(in(L::held), in(T::none), Event::granted).given(dirty, reads).next(T::DR),
        R::when(in(L::held), in(T::none), Event::granted).given(dirty).next(T::DW),
        R::when(in(L::held), in(T::none), Event::granted).given(reads).run(device_load),
        R::when(in(L::held), in(T::none), Event::granted).run(device_store),
        R::when(in(L::held), in(T::DR), Event::flush).run(write, device_load, wake).next(T::none),
        R::when(in(L::held), in(T::DW), Event::flush).run(write, device_store, wake).next(T::none),
    };
    // clang-format on
  };
};

} // namespace tandem::machine
