// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The smallest protocol there is: a block is in one cache or in memory, and the home hands it on.
// It tests the engine and the checker, and shows how a protocol is written.
#pragma once

#include "machine/protocol/environment.h"

namespace tandem::machine::testing {

struct OneCopy {
  static constexpr const char *kName = "one-copy";
  static constexpr const char *kSummary = "a block is in one cache or in memory";
  static constexpr bool kBus = false, kSymmetric = true;

  enum class Event : std::uint8_t { load, store, evict, get, forward, put, data, put_ack };
  static constexpr EventInfo kEvents[] = {
      {"Load", EventKind::core, {}, "the core reads"},
      {"Store", EventKind::core, {}, "the core writes"},
      {"Evict", EventKind::spontaneous, {}, "the way is wanted for another block"},
      {"Get", EventKind::message, Vnet::request, "a core asks for the block"},
      {"Fwd", EventKind::message, Vnet::forward, "the holder is to send the block on"},
      {"Put", EventKind::message, Vnet::writeback, "the holder returns the block"},
      {"Data", EventKind::message, Vnet::response, "the block"},
      {"PutAck", EventKind::message, Vnet::response, "the home has the block"},
  };
  static constexpr const char *kFlags[] = {"late"};
  static constexpr std::uint8_t kLate = 1;

  // The options; the checker's tests switch parts of the protocol off with them.
  struct Config {
    bool ignore_forwards_after_put = false;
  };
  static constexpr ConfigField<Config> kConfigFields[] = {
      {"ignore_forwards_after_put", &Config::ignore_forwards_after_put, "a fault, for tests"}};

  struct Core {
    using Protocol = OneCopy;
    static constexpr Role kRole = Role::core;
    static constexpr const char *kName = "core";

    enum class LineState : std::uint8_t { I, V };
    static constexpr StateInfo kLineStates[] = {{"I", "not here"}, {"V", "the only copy"}};
    enum class TbeState : std::uint8_t { none, IV, VI, VF, II };
    static constexpr StateInfo kTbeStates[] = {{"-", "no transaction"},
                                               {"IV", "waits for Data"},
                                               {"VI", "waits for PutAck, may yet be asked for it"},
                                               {"VF", "the Put was late; waits for the Fwd"},
                                               {"II", "sent on; waits for PutAck"}};

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
      Access access{};
      Data data; // what was put
      template <class Self, class V> static void fields(Self &s, V &v) {
        v("state", s.state, 3);
        v("access", s.access, 1);
        v("data", s.data);
      }
    };

    static bool readable(const Line &line, const Tbe &) { return line.state == LineState::V; }
    static bool writable(const Line &line, const Tbe &) { return line.state == LineState::V; }

    static constexpr Event kSpontaneous[] = {Event::load, Event::store, Event::evict};
    template <class E> static bool may(E &env, Event event) {
      return event != Event::evict || env.line().state != LineState::I;
    }

    template <class E> struct Rules : Rows<E, Core> {
      using R = Rows<E, Core>;
      using L = LineState;
      using T = TbeState;
      using Act = Action<E>;

      static constexpr Act load_hit{"load", [](E &e) { e.perform(Access::load, e.line().data); }};
      static constexpr Act store_hit{"store",
                                     [](E &e) { e.perform(Access::store, e.line().data); }};
      static constexpr Act note_load{"note the load", [](E &e) { e.tbe().access = Access::load; }};
      static constexpr Act note_store{"note the store",
                                      [](E &e) { e.tbe().access = Access::store; }};
      static constexpr Act get{"send Get to the home",
                               [](E &e) { e.send(Message::of(Event::get).to(Node::home())); }};
      static constexpr Act fill{"take the data, do the access", [](E &e) {
                                  e.line().data = e.message().data;
                                  e.perform(e.tbe().access, e.line().data);
                                }};
      static constexpr Act wake{"wake", [](E &e) { e.wake(Wake::transaction); }};
      static constexpr Act put{
          "send Put to the home", [](E &e) {
            e.send(Message::of(Event::put).to(Node::home()).carrying(e.line().data));
            e.tbe().data = e.line().data;
          }};
      static constexpr Act pass_on{
          "send Data to the requester", [](E &e) {
            Data &data = e.tbe().state == T::none ? e.line().data : e.tbe().data;
            e.send(Message::of(Event::data).to(e.message().requester).carrying(data));
            data = {};
          }};
      static constexpr Guard<E> late{"the home had forwarded a request",
                                     [](E &e) { return (e.message().flags & kLate) != 0; }};
      static constexpr Guard<E> careless{"forwards after a Put are ignored",
                                         [](E &e) { return e.config().ignore_forwards_after_put; }};

      // clang-format off
      static constexpr Row<E, Core> kRows[] = {
          R::when(in(L::V), in(T::none), Event::load).run(load_hit),
          R::when(in(L::V), in(T::none), Event::store).run(store_hit),
          R::when(in(L::I), in(T::none), Event::load).need(kNeedsWay).run(note_load, get).next(T::IV),
          R::when(in(L::I), in(T::none), Event::store).need(kNeedsWay).run(note_store, get).next(T::IV),
          R::when(in(L::I), in(T::IV, T::VI, T::VF, T::II), Event::load).stall(),
          R::when(in(L::I), in(T::IV, T::VI, T::VF, T::II), Event::store).stall(),
          R::when(in(L::V), in(T::none), Event::evict).run(put).next(L::I, T::VI),
          R::when(in(L::I), in(T::IV), Event::data).run(fill, wake).next(L::V, T::none),
          R::when(in(L::I), in(T::IV), Event::forward).stall()
              .because("the Data is on its way"),
          R::when(in(L::V), in(T::none), Event::forward).run(pass_on).next(L::I),
          R::when(in(L::I), in(T::VI), Event::forward).given(careless).next(T::II)
              .because("wrong: the requester waits for ever"),
          R::when(in(L::I), in(T::VI), Event::forward).run(pass_on).next(T::II)
              .because("the home had not seen the Put"),
          R::when(in(L::I), in(T::VF), Event::forward).run(pass_on, wake).next(T::none),
          R::when(in(L::I), in(T::VI), Event::put_ack).given(late).next(T::VF),
          R::when(in(L::I), in(T::VI, T::II), Event::put_ack).run(wake).next(T::none),
      };
      // clang-format on
    };
  };

  struct Home {
    using Protocol = OneCopy;
    static constexpr Role kRole = Role::home;
    static constexpr const char *kName = "home";

    enum class LineState : std::uint8_t { memory, owned };
    static constexpr StateInfo kLineStates[] = {{"Mem", "no cache has it"},
                                                {"Own", "one cache has it, or will"}};
    enum class TbeState : std::uint8_t { none };
    static constexpr StateInfo kTbeStates[] = {{"-", "no transaction"}};
    static constexpr bool kLineStays = true;

    struct Line {
      LineState state{};
      Data data;
      Node owner;
      template <class Self, class V> static void fields(Self &s, V &v) {
        v("state", s.state, 1);
        v("data", s.data);
        v("owner", s.owner);
      }
    };
    struct Llc {
      explicit operator bool() const { return false; }
      template <class Self, class V> static void fields(Self &, V &) {}
    };
    struct Tbe {
      TbeState state{};
      template <class Self, class V> static void fields(Self &, V &) {}
    };
    static Line initial(unsigned, Data fresh) { return {LineState::memory, fresh, {}}; }

    static constexpr std::array<Event, 0> kSpontaneous{};
    template <class E> static bool may(E &, Event) { return false; }

    template <class E> struct Rules : Rows<E, Home> {
      using R = Rows<E, Home>;
      using L = LineState;
      using T = TbeState;
      using Act = Action<E>;

      static constexpr Act answer{
          "send Data", [](E &e) {
            e.send(Message::of(Event::data).to(e.message().src).carrying(e.line().data));
            e.line().data = {};
          }};
      static constexpr Act forward{
          "send Fwd to the owner", [](E &e) {
            e.send(Message::of(Event::forward).to(e.line().owner).on_behalf(e.message().src));
          }};
      static constexpr Act own{"owner is the requester",
                               [](E &e) { e.line().owner = e.message().src; }};
      static constexpr Act keep{"take the data; nobody owns it", [](E &e) {
                                  e.line().data = e.message().data;
                                  e.line().owner = {};
                                }};
      static constexpr Act ack{
          "send PutAck", [](E &e) { e.send(Message::of(Event::put_ack).to(e.message().src)); }};
      static constexpr Act ack_late{
          "send PutAck(late)",
          [](E &e) { e.send(Message::of(Event::put_ack).to(e.message().src).flagged(kLate)); }};
      static constexpr Guard<E> from_owner{"from the owner",
                                           [](E &e) { return e.message().src == e.line().owner; }};

      // clang-format off
      static constexpr Row<E, Home> kRows[] = {
          R::when(in(L::memory), in(T::none), Event::get).run(answer, own).next(L::owned),
          R::when(in(L::owned), in(T::none), Event::get).run(forward, own),
          R::when(in(L::owned), in(T::none), Event::put).given(from_owner).run(keep, ack).next(L::memory),
          R::when(in(L::memory, L::owned), in(T::none), Event::put).run(ack_late)
              .because("a Fwd is on its way to the core that put it"),
      };
      // clang-format on
    };
  };
  using Memory = void;

  // `view` is what checker/view.h shows of one block.
  template <class View> static const char *violated(const View &view) {
    unsigned copies = view.home().line.state == Home::LineState::memory ? 1 : 0;
    for (unsigned c = 0; c < view.cores(); ++c)
      copies += view.core(c).line.state == Core::LineState::V;
    return copies > 1 ? "the block is in two places" : nullptr;
  }
};

} // namespace tandem::machine::testing
