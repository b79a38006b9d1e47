// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The private caches of one core under the sparse directory.
#pragma once

#include "machine/protocol/sparse_directory/protocol.h"

namespace tandem::machine {

struct SparseDirectory::Core {
  using Protocol = SparseDirectory;
  static constexpr Role kRole = Role::core;
  static constexpr const char *kName = "core";

  enum class LineState : std::uint8_t { I, S, E, O, M };
  static constexpr StateInfo kLineStates[] = {
      {"I", "not here"},
      {"S", "a copy to read; others may have copies"},
      {"E", "the only copy, same as below"},
      {"O", "this copy answers for the block, others may read (MOESI)"},
      {"M", "the only copy, memory and LLC are behind"},
  };
  enum class TbeState : std::uint8_t { none, S_D, M_D, M_A, MI, II };
  static constexpr StateInfo kTbeStates[] = {
      {"-", "no transaction"},
      {"S_D", "GetS sent, waits for the data"},
      {"M_D", "GetM sent, waits for DataM or AckCount"},
      {"M_A", "GetM sent, waits for the rest of the acknowledgements"},
      {"MI", "Put sent by the owner, who still answers for the block; waits for PutAck"},
      {"II", "Put sent, nothing left; waits for PutAck"},
  };

  struct Line {
    LineState state{};
    Data data;
    template <class Self, class V> static void fields(Self &s, V &v) {
      v("state", s.state, 3);
      v("data", s.data);
    }
  };
  struct Tbe {
    TbeState state{};
    std::uint8_t acks = 0; // M_D: that have come; M_A: that are to come
    bool dirty = false;    // MI; M_A: the data came from an owner
    bool refused = false;  // M_D, M_A: by another core's transaction
    Data data;             // M_A: what to write on; MI: what was put
    template <class Self, class V> static void fields(Self &s, V &v) {
      v("state", s.state, 3);
      v("acks", s.acks, 6);
      v("dirty", s.dirty, 1);
      v("refused", s.refused, 1);
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

template <class E> struct SparseDirectory::Core::Rules : Rows<E, SparseDirectory::Core> {
  using R = Rows<E, SparseDirectory::Core>;
  using L = LineState;
  using T = TbeState;
  using Act = Action<E>;
  using If = Guard<E>;

  // What this core answers for the block with: the line, or what it has put.
  static Data &owned(E &e) { return e.tbe().state == T::MI ? e.tbe().data : e.line().data; }
  static bool owned_dirty(E &e) {
    return e.tbe().state == T::MI ? e.tbe().dirty
                                  : e.line().state == L::M || e.line().state == L::O;
  }

  static constexpr If moesi{"MOESI", [](E &e) { return e.config().moesi; }};
  static constexpr If silent{"sharers leave silently",
                             [](E &e) { return e.config().silent_shared; }};
  static constexpr If all_acks_here{"all acknowledgements are here",
                                    [](E &e) { return e.tbe().acks == e.message().count; }};
  static constexpr If refuses{"its transaction refuses", [](E &e) { return e.refuses(); }};
  static constexpr If refused{"refused", [](E &e) { return e.tbe().refused; }};
  static constexpr If last_ack{"the last one", [](E &e) { return e.tbe().acks == 1; }};

  static constexpr Act load{"load", [](E &e) { e.perform(Access::load, e.line().data); }};
  static constexpr Act store{"store", [](E &e) { e.perform(Access::store, e.line().data); }};
  static constexpr Act get_s{"send GetS",
                             [](E &e) { e.send(Message::of(Event::get_s).to(Node::home())); }};
  static constexpr Act get_m{
      "send GetM", [](E &e) {
        const bool copy = e.line().state != L::I;
        e.send(Message::of(Event::get_m).to(Node::home()).flagged(copy ? kHasCopy : 0));
      }};
  static constexpr Act put_s{"send PutS",
                             [](E &e) { e.send(Message::of(Event::put_s).to(Node::home())); }};
  static constexpr Act put{"send Put with the data, keep them in the transaction", [](E &e) {
                             e.tbe().data = e.line().data;
                             e.tbe().dirty = e.line().state != L::E;
                             e.send(Message::of(Event::put)
                                        .to(Node::home())
                                        .carrying(e.line().data)
                                        .flagged(e.tbe().dirty ? kDirty : 0));
                           }};
  static constexpr Act data_to_requester{
      "send Data to the requester",
      [](E &e) { e.send(Message::of(Event::data).to(e.message().requester).carrying(owned(e))); }};
  static constexpr Act data_m_to_requester{"send DataM with the count to the requester", [](E &e) {
                                             e.send(Message::of(Event::data_m)
                                                        .to(e.message().requester)
                                                        .counting(e.message().count)
                                                        .carrying(owned(e)));
                                           }};
  static constexpr Act dir_data{"send DirData", [](E &e) {
                                  e.send(Message::of(Event::dir_data)
                                             .to(Node::home())
                                             .carrying(owned(e))
                                             .flagged(owned_dirty(e) ? kDirty : 0));
                                }};
  static constexpr Act recall_data{"send RecallData", [](E &e) {
                                     e.send(Message::of(Event::recall_data)
                                                .to(Node::home())
                                                .carrying(owned(e))
                                                .flagged(owned_dirty(e) ? kDirty : 0));
                                   }};
  static constexpr Act drop_put{"forget what was put", [](E &e) {
                                  e.tbe().data = {};
                                  e.tbe().dirty = false;
                                }};
  static constexpr Act inv_ack{"send InvAck to the requester", [](E &e) {
                                 e.send(Message::of(Event::inv_ack).to(e.message().requester));
                               }};
  static constexpr Act fill{"take the data", [](E &e) { e.line().data = e.message().data; }};
  static constexpr Act keep_data{"keep the data for later", [](E &e) {
                                   e.tbe().data = e.message().data;
                                   e.tbe().dirty = e.message().src.is_core();
                                 }};
  static constexpr Act keep_line{"keep the copy for later",
                                 [](E &e) { e.tbe().data = e.line().data; }};
  static constexpr Act expect{"acknowledgements to come: n less those here", [](E &e) {
                                e.tbe().acks =
                                    static_cast<std::uint8_t>(e.message().count - e.tbe().acks);
                              }};
  static constexpr Act count_up{"one acknowledgement is here", [](E &e) { ++e.tbe().acks; }};
  static constexpr Act count_down{"one acknowledgement less", [](E &e) { --e.tbe().acks; }};
  static constexpr Act fill_kept{"take the kept data", [](E &e) { e.line().data = e.tbe().data; }};
  static constexpr Act unblock{"send Unblock",
                               [](E &e) { e.send(Message::of(Event::unblock).to(Node::home())); }};
  static constexpr Act refuse{
      "send Refusal with the count to the requester", [](E &e) {
        e.send(Message::of(Event::refusal).to(e.message().requester).counting(e.message().count));
      }};
  static constexpr Act inv_refuse{
      "send InvRefusal to the requester",
      [](E &e) { e.send(Message::of(Event::inv_refusal).to(e.message().requester)); }};
  static constexpr Act note_refused{"note that it is refused",
                                    [](E &e) { e.tbe().refused = true; }};
  static constexpr Act abandon{"give up the access", [](E &e) { e.abandon(); }};
  static constexpr Act undo{"send Unblock, refused, with the data that an owner gave", [](E &e) {
                              const Message m = Message::of(Event::unblock).to(Node::home());
                              e.send(e.tbe().dirty
                                         ? m.carrying(e.tbe().data).flagged(kRefused | kDirty)
                                         : m.flagged(kRefused));
                            }};
  static constexpr auto kTransactions = &Config::transactions;
  static constexpr Act wake{"wake", [](E &e) { e.wake(Wake::transaction); }};

  // clang-format off
  static constexpr Row<E, SparseDirectory::Core> kRows[] = {
      // The core.
      R::when(in(L::S, L::E, L::O, L::M), in(T::none), Event::load).run(load),
      R::when(in(L::S, L::O), in(T::M_D, T::M_A), Event::load).run(load)
          .because("the copy is the last value until all others are gone"),
      R::when(in(L::I), in(T::none), Event::load).need(kNeedsWay).run(get_s).next(T::S_D),
      R::when(in(L::I), in(T::S_D, T::M_D, T::M_A, T::MI, T::II), Event::load).stall(),
      R::when(in(L::M), in(T::none), Event::store).run(store),
      R::when(in(L::E), in(T::none), Event::store).run(store).next(L::M),
      R::when(in(L::I), in(T::none), Event::store).need(kNeedsWay).run(get_m).next(T::M_D),
      R::when(in(L::S, L::O), in(T::none), Event::store).run(get_m).next(T::M_D),
      R::when(in(L::I), in(T::S_D, T::M_D, T::M_A, T::MI, T::II), Event::store).stall(),
      R::when(in(L::S, L::O), in(T::M_D, T::M_A), Event::store).stall(),
      R::when(in(L::S), in(T::none), Event::evict).given(silent).next(L::I),
      R::when(in(L::S), in(T::none), Event::evict).run(put_s).next(L::I, T::II),
      R::when(in(L::E, L::O, L::M), in(T::none), Event::evict).run(put).next(L::I, T::MI),
      R::when(in(L::S, L::O), in(T::M_D, T::M_A), Event::evict).stall()
          .because("the upgrade pins its way"),

      // Refusals: the access is over once all have answered.
      R::when(in(L::I), in(T::S_D), Event::refusal).only(kTransactions)
          .run(abandon, undo, wake).next(T::none),
      R::when(in(L::I, L::S), in(T::M_D), Event::refusal).only(kTransactions)
          .given(all_acks_here).run(abandon, undo, wake).next(T::none),
      R::when(in(L::I, L::S), in(T::M_D), Event::refusal).only(kTransactions)
          .run(note_refused, expect).next(T::M_A),
      R::when(in(L::I, L::S, L::O), in(T::M_D), Event::inv_refusal).only(kTransactions)
          .run(note_refused, count_up),
      R::when(in(L::I, L::S), in(T::M_D), Event::data_m).only(kTransactions)
          .given(refused, all_acks_here).run(keep_data, abandon, undo, wake).next(T::none),
      R::when(in(L::S, L::O), in(T::M_D), Event::ack_count).only(kTransactions)
          .given(refused, all_acks_here).run(abandon, undo, wake).next(T::none),
      R::when(in(L::I, L::S, L::O), in(T::M_A), Event::inv_refusal).only(kTransactions)
          .given(last_ack).run(abandon, undo, wake).next(T::none),
      R::when(in(L::I, L::S, L::O), in(T::M_A), Event::inv_refusal).only(kTransactions)
          .run(note_refused, count_down),
      R::when(in(L::I, L::S, L::O), in(T::M_A), Event::inv_ack).only(kTransactions)
          .given(last_ack, refused).run(abandon, undo, wake).next(T::none),

      // Answers.
      R::when(in(L::I), in(T::S_D), Event::data).run(fill, load, unblock, wake).next(L::S, T::none),
      R::when(in(L::I), in(T::S_D), Event::data_e).run(fill, load, unblock, wake).next(L::E, T::none),
      R::when(in(L::I, L::S), in(T::M_D), Event::data_m).given(all_acks_here)
          .run(fill, store, unblock, wake).next(L::M, T::none),
      R::when(in(L::I, L::S), in(T::M_D), Event::data_m).run(keep_data, expect).next(T::M_A),
      R::when(in(L::S, L::O), in(T::M_D), Event::ack_count).given(all_acks_here)
          .run(store, unblock, wake).next(L::M, T::none),
      R::when(in(L::S, L::O), in(T::M_D), Event::ack_count).run(keep_line, expect).next(T::M_A),
      R::when(in(L::I, L::S, L::O), in(T::M_D), Event::inv_ack).run(count_up)
          .because("an acknowledgement may overtake the data that say how many there are"),
      R::when(in(L::I, L::S, L::O), in(T::M_A), Event::inv_ack).given(last_ack)
          .run(fill_kept, store, unblock, wake).next(L::M, T::none),
      R::when(in(L::I, L::S, L::O), in(T::M_A), Event::inv_ack).run(count_down),
      R::when(in(L::I), in(T::MI, T::II), Event::put_ack).run(wake).next(T::none),

      // Forwarded requests; first what a hardware transaction of this core refuses.
      R::when(in(L::E, L::O, L::M), in(T::none, T::M_D), Event::fwd_get_s).only(kTransactions)
          .given(refuses).run(refuse),
      R::when(in(L::E, L::O, L::M), in(T::none, T::M_D), Event::fwd_get_m).only(kTransactions)
          .given(refuses).run(refuse),
      R::when(in(L::S), in(T::none, T::M_D), Event::inv).only(kTransactions)
          .given(refuses).run(inv_refuse),
      R::when(in(L::E, L::M), in(T::none), Event::fwd_get_s).given(moesi)
          .run(data_to_requester).next(L::O),
      R::when(in(L::E, L::M), in(T::none), Event::fwd_get_s)
          .run(data_to_requester, dir_data).next(L::S),
      R::when(in(L::O), in(T::none, T::M_D), Event::fwd_get_s).run(data_to_requester),
      R::when(in(L::I), in(T::MI), Event::fwd_get_s).given(moesi).run(data_to_requester),
      R::when(in(L::I), in(T::MI), Event::fwd_get_s)
          .run(data_to_requester, dir_data, drop_put).next(T::II),
      R::when(in(L::E, L::O, L::M), in(T::none), Event::fwd_get_m)
          .run(data_m_to_requester).next(L::I),
      R::when(in(L::O), in(T::M_D), Event::fwd_get_m).run(data_m_to_requester).next(L::I)
          .because("another core's GetM came first; the own one will bring data"),
      R::when(in(L::I), in(T::MI), Event::fwd_get_m)
          .run(data_m_to_requester, drop_put).next(T::II),
      R::when(in(L::E, L::O, L::M), in(T::none), Event::recall).run(recall_data).next(L::I),
      R::when(in(L::O), in(T::M_D), Event::recall).run(recall_data).next(L::I),
      R::when(in(L::I), in(T::MI), Event::recall).run(recall_data, drop_put).next(T::II),
      R::when(in(L::S), in(T::none, T::M_D), Event::inv).run(inv_ack).next(L::I),
      R::when(in(L::I), in(T::none, T::S_D, T::M_D, T::II), Event::inv).run(inv_ack)
          .because("it was sent before the home knew that the copy was dropped"),
  };
  // clang-format on
};

} // namespace tandem::machine
