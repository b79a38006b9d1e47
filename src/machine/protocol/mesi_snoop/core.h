// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The private cache of one core on the snooping bus.
#pragma once

#include "machine/protocol/mesi_snoop/protocol.h"

namespace tandem::machine {

struct MesiSnoop::Core {
  using Protocol = MesiSnoop;
  static constexpr Role kRole = Role::core;
  static constexpr const char *kName = "core";

  enum class LineState : std::uint8_t { I, S, E, M };
  static constexpr StateInfo kLineStates[] = {
      {"I", "not here"},
      {"S", "a copy to read; others may have copies"},
      {"E", "the only copy, same as memory's"},
      {"M", "the only copy, memory is behind"},
  };
  enum class TbeState : std::uint8_t { none, IS_B, IM_B, SM_B, S_D, E_D, M_D, MI_B, II_B };
  static constexpr StateInfo kTbeStates[] = {
      {"-", "no transaction"},
      {"IS_B", "wants to read, waits for the bus"},
      {"IM_B", "wants to write, waits for the bus"},
      {"SM_B", "wants to write its copy, waits for the bus"},
      {"S_D", "waits for the data; others have copies"},
      {"E_D", "waits for the data; no other has a copy"},
      {"M_D", "waits for the data, to write"},
      {"MI_B", "wants to write back, waits for the bus; still answers for the block"},
      {"II_B", "has given away what it wanted to write back; waits for the bus"},
  };

  struct Line {
    LineState state{};
    Data data;
    template <class Self, class V> static void fields(Self &s, V &v) {
      v("state", s.state, 2);
      v("data", s.data);
    }
  };
  struct Tbe {
    TbeState state{};
    Data data; // MI_B: what is to be written back
    template <class Self, class V> static void fields(Self &s, V &v) {
      v("state", s.state, 4);
      v("data", s.data);
    }
  };

  static bool readable(const Line &line, const Tbe &) { return line.state != LineState::I; }
  static bool writable(const Line &line, const Tbe &) {
    return line.state == LineState::E || line.state == LineState::M;
  }

  static constexpr Event kSpontaneous[] = {Event::load, Event::store, Event::evict};
  template <class E> static bool may(E &env, Event event) {
    return event != Event::evict || env.line().state != LineState::I;
  }

  template <class E> struct Rules;
};

template <class E> struct MesiSnoop::Core::Rules : Rows<E, MesiSnoop::Core> {
  using R = Rows<E, MesiSnoop::Core>;
  using L = LineState;
  using T = TbeState;
  using Act = Action<E>;
  using If = Guard<E>;

  static Data &owned(E &e) { return e.tbe().state == T::MI_B ? e.tbe().data : e.line().data; }

  static constexpr If refused{"refused", [](E &e) { return e.lines().nack; }};
  static constexpr If conflict{"a transaction refuses", [](E &e) { return e.lines().conflict; }};
  static constexpr If refuses{"its transaction refuses", [](E &e) { return e.refuses(); }};
  static constexpr If marked{"its transaction has a claim", [](E &e) { return e.marked(); }};
  static constexpr If shared{"others keep copies", [](E &e) { return e.lines().shared; }};

  static constexpr Act load{"load", [](E &e) { e.perform(Access::load, e.line().data); }};
  static constexpr Act store{"store", [](E &e) { e.perform(Access::store, e.line().data); }};
  static constexpr Act request_bus{"ask for the bus", [](E &e) { e.request_bus(); }};
  static constexpr Act bus_rd{"BusRd", [](E &e) { e.snoop(Event::bus_rd); }};
  static constexpr Act bus_rd_x{"BusRdX", [](E &e) { e.snoop(Event::bus_rd_x); }};
  static constexpr Act bus_upgr{"BusUpgr", [](E &e) { e.snoop(Event::bus_upgr); }};
  static constexpr Act bus_wb{"BusWB", [](E &e) { e.snoop(Event::bus_wb); }};
  static constexpr Act then{"Granted", [](E &e) { e.raise(Event::granted); }};
  static constexpr Act keep_data{"keep the data in the transaction",
                                 [](E &e) { e.tbe().data = e.line().data; }};
  static constexpr Act drop_data{"forget the data", [](E &e) { e.tbe().data = {}; }};
  static constexpr Act fill{"take the data", [](E &e) { e.line().data = e.message().data; }};
  static constexpr Act flush{
      "send Flush to memory",
      [](E &e) { e.send(Message::of(Event::flush).to(Node::memory()).carrying(owned(e))); }};
  static constexpr Act supply{
      "assert owner, send Data to the requester", [](E &e) {
        e.lines().owner = true;
        e.send(Message::of(Event::data).to(e.message().requester).carrying(owned(e)));
      }};
  static constexpr Act assert_shared{"assert shared", [](E &e) { e.lines().shared = true; }};
  static constexpr Act assert_dirty{"assert dirty", [](E &e) { e.lines().dirty = true; }};
  static constexpr Act abandon{"give up the access", [](E &e) { e.abandon(); }};
  static constexpr Act wake{"wake", [](E &e) { e.wake(Wake::transaction); }};

  static constexpr auto kTransactions = &Config::transactions;
  static constexpr Mask<T> kBusy =
      in(T::IS_B, T::IM_B, T::S_D, T::E_D, T::M_D, T::MI_B, T::II_B);           // with line I
  static constexpr Mask<T> kUngranted = in(T::none, T::IS_B, T::IM_B, T::II_B); // nothing to say
  static constexpr Mask<T> kPending = in(T::S_D, T::E_D, T::M_D);

  // clang-format off
  static constexpr Row<E, MesiSnoop::Core> kRows[] = {
      // The core.
      R::when(in(L::S, L::E, L::M), in(T::none, T::SM_B), Event::load).run(load),
      R::when(in(L::I), in(T::none), Event::load).need(kNeedsWay).run(request_bus).next(T::IS_B),
      R::when(in(L::I), kBusy, Event::load).stall(),
      R::when(in(L::M), in(T::none), Event::store).run(store),
      R::when(in(L::E), in(T::none), Event::store).run(store).next(L::M),
      R::when(in(L::S), in(T::none), Event::store).run(request_bus).next(T::SM_B),
      R::when(in(L::I), in(T::none), Event::store).need(kNeedsWay).run(request_bus).next(T::IM_B),
      R::when(in(L::I), kBusy, Event::store).stall(),
      R::when(in(L::S), in(T::SM_B), Event::store).stall(),
      R::when(in(L::S, L::E), in(T::none), Event::evict).next(L::I),
      R::when(in(L::M), in(T::none), Event::evict).run(keep_data, request_bus).next(L::I, T::MI_B),
      R::when(in(L::S), in(T::SM_B), Event::evict).stall().because("the upgrade pins its way"),

      // The bus is this core's.
      R::when(in(L::I), in(T::IS_B), Event::grant).run(bus_rd, then),
      R::when(in(L::I), in(T::IM_B), Event::grant).run(bus_rd_x, then),
      R::when(in(L::S), in(T::SM_B), Event::grant).run(bus_upgr, then),
      R::when(in(L::I), in(T::MI_B), Event::grant).run(bus_wb, then),
      R::when(in(L::I), in(T::II_B), Event::grant).run(wake).next(T::none)
          .because("a write-back without data: they have been given away"),
      R::when(in(L::I), in(T::IS_B, T::IM_B), Event::granted)
          .only(kTransactions).given(conflict).run(abandon, wake).next(T::none),
      R::when(in(L::S), in(T::SM_B), Event::granted)
          .only(kTransactions).given(conflict).run(abandon, wake).next(T::none),
      R::when(in(L::I, L::S), in(T::IS_B, T::IM_B, T::SM_B, T::MI_B), Event::granted)
          .given(refused).run(request_bus),
      R::when(in(L::I), in(T::IS_B), Event::granted).given(shared).next(T::S_D),
      R::when(in(L::I), in(T::IS_B), Event::granted).next(T::E_D),
      R::when(in(L::I), in(T::IM_B), Event::granted).next(T::M_D),
      R::when(in(L::S), in(T::SM_B), Event::granted).run(store, wake).next(L::M, T::none),
      R::when(in(L::I), in(T::MI_B), Event::granted).run(flush, wake).next(T::none),

      // Data.
      R::when(in(L::I), in(T::S_D), Event::data).run(fill, load, wake).next(L::S, T::none),
      R::when(in(L::I), in(T::E_D), Event::data).run(fill, load, wake).next(L::E, T::none),
      R::when(in(L::I), in(T::M_D), Event::data).run(fill, store, wake).next(L::M, T::none),

      // Other cores' requests: first what a hardware transaction of this core refuses.
      R::when(kAnyState<L>, kAnyState<T>, Event::bus_rd).only(kTransactions)
          .given(refuses).refuse(),
      R::when(kAnyState<L>, kAnyState<T>, Event::bus_rd_x).only(kTransactions)
          .given(refuses).refuse(),
      R::when(in(L::I, L::S), kAnyState<T>, Event::bus_upgr).only(kTransactions)
          .given(refuses).refuse(),
      R::when(in(L::I), kUngranted, Event::bus_rd).only(kTransactions).given(marked).run(assert_shared)
          .because("its line has left the caches; no other core may write without asking"),
      R::when(in(L::I), kUngranted, Event::bus_rd),
      R::when(in(L::S), in(T::none, T::SM_B), Event::bus_rd).run(assert_shared),
      R::when(in(L::E), in(T::none), Event::bus_rd).run(assert_shared, supply).next(L::S),
      R::when(in(L::M), in(T::none), Event::bus_rd)
          .run(assert_shared, assert_dirty, supply, flush).next(L::S),
      R::when(in(L::I), in(T::MI_B), Event::bus_rd)
          .only(kTransactions).given(marked).run(assert_shared, assert_dirty, supply, flush, drop_data).next(T::II_B),
      R::when(in(L::I), in(T::MI_B), Event::bus_rd)
          .run(assert_dirty, supply, flush, drop_data).next(T::II_B)
          .because("memory takes the data now, the write-back is done"),
      R::when(in(L::I), kPending, Event::bus_rd).nack(),
      R::when(in(L::I), kUngranted, Event::bus_rd_x),
      R::when(in(L::S), in(T::none), Event::bus_rd_x).next(L::I),
      R::when(in(L::S), in(T::SM_B), Event::bus_rd_x).next(L::I, T::IM_B)
          .because("the lost upgrade becomes a request for the data"),
      R::when(in(L::E, L::M), in(T::none), Event::bus_rd_x).run(supply).next(L::I),
      R::when(in(L::I), in(T::MI_B), Event::bus_rd_x).run(supply, drop_data).next(T::II_B),
      R::when(in(L::I), kPending, Event::bus_rd_x).nack(),
      R::when(in(L::I), kUngranted, Event::bus_upgr),
      R::when(in(L::S), in(T::none), Event::bus_upgr).next(L::I),
      R::when(in(L::S), in(T::SM_B), Event::bus_upgr).next(L::I, T::IM_B)
          .because("the lost upgrade becomes a request for the data"),
      R::when(in(L::I), kPending, Event::bus_upgr).nack(),
      R::when(in(L::I), kUngranted, Event::bus_wb),

      // A device's transactions. Memory answers it, with the owner's data if there is one.
      R::when(in(L::I), kUngranted, Event::bus_dma_rd),
      R::when(in(L::S), in(T::none, T::SM_B), Event::bus_dma_rd),
      R::when(in(L::E), in(T::none), Event::bus_dma_rd),
      R::when(in(L::M), in(T::none), Event::bus_dma_rd).run(assert_dirty, flush).next(L::S),
      R::when(in(L::I), in(T::MI_B), Event::bus_dma_rd)
          .run(assert_dirty, flush, drop_data).next(T::II_B),
      R::when(in(L::I), kPending, Event::bus_dma_rd).nack(),
      R::when(in(L::I), kUngranted, Event::bus_dma_wr),
      R::when(in(L::S, L::E), in(T::none), Event::bus_dma_wr).next(L::I),
      R::when(in(L::S), in(T::SM_B), Event::bus_dma_wr).next(L::I, T::IM_B),
      R::when(in(L::M), in(T::none), Event::bus_dma_wr).run(assert_dirty, flush).next(L::I)
          .because("the device writes a part of the block"),
      R::when(in(L::I), in(T::MI_B), Event::bus_dma_wr)
          .run(assert_dirty, flush, drop_data).next(T::II_B),
      R::when(in(L::I), kPending, Event::bus_dma_wr).nack(),
  };
  // clang-format on
};

} // namespace tandem::machine
