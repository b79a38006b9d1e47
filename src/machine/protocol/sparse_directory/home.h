// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A home slice of the sparse directory: entry, LLC line and the one open transaction of a block.
//
// PutAck is the last message of a Put's life. A core to which the open transaction has forwarded
// something gets it only when the transaction ends: on an unordered network the PutAck could
// overtake the forward, which would then find nothing.
#pragma once

#include "machine/protocol/sparse_directory/protocol.h"

namespace tandem::machine {

struct SparseDirectory::Home {
  using Protocol = SparseDirectory;
  static constexpr Role kRole = Role::home;
  static constexpr const char *kName = "home";
  static constexpr bool kTbeHoldsEntry = true;

  // The directory entry.
  enum class LineState : std::uint8_t { NP, S, EM, O };
  static constexpr StateInfo kLineStates[] = {
      {"NP", "no entry: no private copy"},
      {"S", "sharers hold copies; LLC, else memory, is up to date"},
      {"EM", "one owner, who may have written"},
      {"O", "the owner answers for the block, sharers may read (MOESI)"},
  };
  enum class TbeState : std::uint8_t { none, U, UD, D, R, W, DR, DM };
  static constexpr StateInfo kTbeStates[] = {
      {"-", "no transaction"},
      {"U", "waits for Unblock"},
      {"UD", "waits for Unblock and DirData"},
      {"D", "waits for DirData"},
      {"R", "recalls the block; waits for the copies"},
      {"W", "writes the LLC's copy to memory; waits for MemAck"},
      {"DR", "as R, for a device"},
      {"DM", "waits for memory's data, for a device"},
  };

  struct Line {
    LineState state{};
    Node owner;      // EM, O
    CoreSet sharers; // S, O: without the owner
    // Of a refused request: some sharers may have dropped their copies for it.
    bool doubtful = false;
    template <class Self, class V> static void fields(Self &s, V &v) {
      v("state", s.state, 2);
      v("owner", s.owner);
      v("sharers", s.sharers);
      v("doubtful", s.doubtful, 1);
    }
  };
  struct Llc {
    bool present = false;
    bool dirty = false; // memory is behind
    Data data;
    explicit operator bool() const { return present; }
    template <class Self, class V> static void fields(Self &s, V &v) {
      v("llc", s.present, 1);
      v("llc_dirty", s.dirty, 1);
      v("llc_data", s.data);
    }
  };
  struct Tbe {
    TbeState state{};
    Node forwarded;        // the core that was sent FwdGetS, FwdGetM or Recall
    bool owes_ack = false; // to `forwarded`, whose Put has come
    bool write = false;    // DR, DM: what the device wants
    std::uint8_t acks = 0; // R, DR: answers to come
    // With transactions, U, UD: what the entry was, if the request was forwarded.
    Line before;
    bool drops_llc = false; // the LLC's copy is to go when the request has succeeded
    template <class Self, class V> static void fields(Self &s, V &v) {
      v("state", s.state, 3);
      v("forwarded", s.forwarded);
      v("owes_ack", s.owes_ack, 1);
      v("write", s.write, 1);
      v("acks", s.acks, 6);
      v("entry_before", s.before.state, 2);
      v("owner_before", s.before.owner);
      v("sharers_before", s.before.sharers);
      v("drops_llc", s.drops_llc, 1);
    }
  };

  static constexpr Event kSpontaneous[] = {Event::dir_evict, Event::llc_evict, Event::dma_read,
                                           Event::dma_write};
  template <class E> static bool may(E &env, Event event) {
    if (event == Event::dir_evict)
      return env.line().state != LineState::NP;
    return event != Event::llc_evict || env.llc().present;
  }

  template <class E> struct Rules;
};

template <class E> struct SparseDirectory::Home::Rules : Rows<E, SparseDirectory::Home> {
  using R = Rows<E, SparseDirectory::Home>;
  using L = LineState;
  using T = TbeState;
  using Act = Action<E>;
  using If = Guard<E>;

  static constexpr If moesi{"MOESI", [](E &e) { return e.config().moesi; }};
  static constexpr If in_llc{"in the LLC", [](E &e) { return e.llc().present; }};
  static constexpr If gives_away{"a clean copy leaves the LLC with its ownership",
                                 [](E &e) { return e.config().victim_llc && !e.llc().dirty; }};
  static constexpr If llc_dirty{"the LLC's copy is dirty", [](E &e) { return e.llc().dirty; }};
  static constexpr If has_copy{"the requester is a sharer and has its copy", [](E &e) {
                                 return (e.message().flags & kHasCopy) != 0 && !e.line().doubtful &&
                                        e.line().sharers.contains(e.message().src);
                               }};
  static constexpr If by_owner{"from the owner",
                               [](E &e) { return e.message().src == e.line().owner; }};
  static constexpr If by_forwarded{"from the core that was forwarded to",
                                   [](E &e) { return e.message().src == e.tbe().forwarded; }};
  static constexpr If last_sharer{"from the only sharer", [](E &e) {
                                    return e.line().sharers == CoreSet::only(e.message().src);
                                  }};
  static constexpr If no_sharers{"no sharers", [](E &e) { return e.line().sharers.empty(); }};
  static constexpr If refused{"refused", [](E &e) { return (e.message().flags & kRefused) != 0; }};
  static constexpr If with_data{"with data", [](E &e) { return e.message().has_data; }};
  static constexpr If drops_llc{"the LLC's copy is to go", [](E &e) { return e.tbe().drops_llc; }};
  static constexpr If last_answer{"the last one", [](E &e) { return e.tbe().acks == 1; }};
  static constexpr If owes_ack{"a PutAck is owed", [](E &e) { return e.tbe().owes_ack; }};

  static constexpr Act data_e{
      "send DataE from the LLC",
      [](E &e) { e.send(Message::of(Event::data_e).to(e.message().src).carrying(e.llc().data)); }};
  static constexpr Act data{
      "send Data from the LLC",
      [](E &e) { e.send(Message::of(Event::data).to(e.message().src).carrying(e.llc().data)); }};
  // Sharers other than the requester, who are invalidated and answer to it.
  static CoreSet others(E &e) { return e.line().sharers.without(e.message().src); }
  static constexpr Act data_m{"send DataM from the LLC with the number of other sharers", [](E &e) {
                                e.send(Message::of(Event::data_m)
                                           .to(e.message().src)
                                           .counting(others(e).size())
                                           .carrying(e.llc().data));
                              }};
  static constexpr Act ack_count{
      "send AckCount with the number of other sharers", [](E &e) {
        e.send(Message::of(Event::ack_count).to(e.message().src).counting(others(e).size()));
      }};
  static void read_memory(E &e, std::uint8_t flags, unsigned count) {
    e.send(Message::of(Event::mem_read)
               .to(Node::memory())
               .on_behalf(e.message().src)
               .counting(count)
               .flagged(flags));
  }
  static constexpr Act mem_read_e{"send MemRead for DataE",
                                  [](E &e) { read_memory(e, kExclusive, 0); }};
  static constexpr Act mem_read_s{"send MemRead for Data", [](E &e) { read_memory(e, 0, 0); }};
  static constexpr Act mem_read_m{"send MemRead for DataM with the number of other sharers",
                                  [](E &e) { read_memory(e, kModify, others(e).size()); }};
  static constexpr Act invalidate{
      "send Inv to the other sharers",
      [](E &e) { e.multicast(others(e), Message::of(Event::inv).on_behalf(e.message().src)); }};
  static constexpr Act fwd_get_s{
      "send FwdGetS to the owner", [](E &e) {
        e.tbe().forwarded = e.line().owner;
        e.send(Message::of(Event::fwd_get_s).to(e.line().owner).on_behalf(e.message().src));
      }};
  static constexpr Act fwd_get_m{"send FwdGetM with the number of other sharers to the owner",
                                 [](E &e) {
                                   e.tbe().forwarded = e.line().owner;
                                   e.send(Message::of(Event::fwd_get_m)
                                              .to(e.line().owner)
                                              .on_behalf(e.message().src)
                                              .counting(others(e).size()));
                                 }};
  static constexpr Act own{"the requester is the owner, no sharers", [](E &e) {
                             e.line().owner = e.message().src;
                             e.line().sharers = {};
                             e.line().doubtful = false;
                           }};
  static constexpr Act share{"the requester is a sharer", [](E &e) {
                               e.line().sharers = e.line().sharers.with(e.message().src);
                             }};
  static constexpr Act owner_shares{"the owner becomes a sharer", [](E &e) {
                                      e.line().sharers = e.line().sharers.with(e.line().owner);
                                      e.line().owner = {};
                                    }};
  static constexpr Act no_owner{"no owner", [](E &e) { e.line().owner = {}; }};
  static constexpr Act unshare{"the sender is no sharer", [](E &e) {
                                 e.line().sharers = e.line().sharers.without(e.message().src);
                               }};
  static constexpr Act drop_llc{"drop the LLC's copy", [](E &e) { e.llc() = {}; }};
  static constexpr Act remember{"remember the entry", [](E &e) {
                                  if (e.config().transactions)
                                    e.tbe().before = e.line();
                                }};
  static constexpr Act restore{"the entry is what it was, sharers at most", [](E &e) {
                                 e.line() = e.tbe().before;
                                 e.line().doubtful = e.line().state != L::EM;
                               }};
  static constexpr Act restore_sharers{"the sharers are what they were, at most", [](E &e) {
                                         e.line() = e.tbe().before;
                                         e.line().owner = {};
                                         e.line().doubtful = true;
                                       }};
  // Of a request that can be refused: its data are not given away before it has succeeded.
  static constexpr Act hand_over_llc{"drop the LLC's copy, with transactions at the end", [](E &e) {
                                       if (e.config().transactions)
                                         e.tbe().drops_llc = true;
                                       else
                                         e.llc() = {};
                                     }};
  static constexpr Act fill_llc{"put the data into the LLC", [](E &e) {
                                  const bool dirty = (e.message().flags & kDirty) != 0;
                                  e.llc() = {true, e.llc().dirty || dirty, e.message().data};
                                }};
  static constexpr Act put_ack{
      "send PutAck", [](E &e) { e.send(Message::of(Event::put_ack).to(e.message().src)); }};
  static constexpr Act owe_ack{"owe the PutAck", [](E &e) { e.tbe().owes_ack = true; }};
  static constexpr Act pay_ack{"send the PutAck that is owed", [](E &e) {
                                 if (e.tbe().owes_ack)
                                   e.send(Message::of(Event::put_ack).to(e.tbe().forwarded));
                               }};
  static constexpr Act recall{"send Recall to the owner, Inv to the sharers", [](E &e) {
                                const CoreSet sharers = e.line().sharers;
                                e.multicast(sharers,
                                            Message::of(Event::inv).on_behalf(Node::home()));
                                e.tbe().acks = static_cast<std::uint8_t>(sharers.size());
                                if (e.line().owner.is_none())
                                  return;
                                e.send(Message::of(Event::recall).to(e.line().owner));
                                e.tbe().forwarded = e.line().owner;
                                ++e.tbe().acks;
                              }};
  static constexpr Act answered{"one answer less", [](E &e) { --e.tbe().acks; }};
  static constexpr Act mem_write{
      "send MemWrite with the LLC's copy", [](E &e) {
        e.send(Message::of(Event::mem_write).to(Node::memory()).carrying(e.llc().data));
      }};
  static constexpr If writes{"the device writes", [](E &e) { return e.tbe().write; }};
  static constexpr Act device_load{"the device reads the LLC's copy",
                                   [](E &e) { e.perform(Access::load, e.llc().data); }};
  static constexpr Act device_load_sent{"the device reads what memory sent", [](E &e) {
                                          Data data = e.message().data;
                                          e.perform(Access::load, data);
                                        }};
  static constexpr Act device_store{"the device writes the LLC's copy", [](E &e) {
                                      e.perform(Access::store, e.llc().data);
                                      e.llc().dirty = true;
                                    }};
  static constexpr Act note_write{"note that it writes", [](E &e) { e.tbe().write = true; }};
  static constexpr Act mem_read_home{
      "send MemRead for Data to the home", [](E &e) {
        e.send(Message::of(Event::mem_read).to(Node::memory()).on_behalf(Node::home()));
      }};
  static constexpr Act collected{"no core has it", [](E &e) { e.raise(Event::collected); }};
  static constexpr Act wake{"wake", [](E &e) { e.wake(Wake::transaction); }};

  static constexpr auto kTransactions = &Config::transactions;
  static constexpr Mask<T> kBusy = in(T::U, T::UD, T::D, T::R, T::W, T::DR, T::DM);

  // clang-format off
  static constexpr Row<E, SparseDirectory::Home> kRows[] = {
      // What returns waits for the end of a transaction that might be undone.
      R::when(kAnyState<L>, in(T::U, T::UD, T::D), Event::put).only(kTransactions).stall(),

      // Requests.
      R::when(kAnyState<L>, kBusy, Event::get_s).stall(),
      R::when(kAnyState<L>, kBusy, Event::get_m).stall(),
      R::when(in(L::NP), in(T::none), Event::get_s).given(in_llc, gives_away).need(kNeedsEntry)
          .run(data_e, drop_llc, own).next(L::EM, T::U),
      R::when(in(L::NP), in(T::none), Event::get_s).given(in_llc).need(kNeedsEntry)
          .run(data_e, own).next(L::EM, T::U),
      R::when(in(L::NP), in(T::none), Event::get_s).need(kNeedsEntry)
          .run(mem_read_e, own).next(L::EM, T::U),
      R::when(in(L::S), in(T::none), Event::get_s).given(in_llc).run(data, share).next(T::U),
      R::when(in(L::S), in(T::none), Event::get_s).run(mem_read_s, share).next(T::U)
          .because("memory is up to date: a dirty copy would be in the LLC"),
      R::when(in(L::EM), in(T::none), Event::get_s).given(moesi)
          .run(remember, fwd_get_s, share).next(L::O, T::U),
      R::when(in(L::EM), in(T::none), Event::get_s)
          .run(remember, fwd_get_s, owner_shares, share).next(L::S, T::UD),
      R::when(in(L::O), in(T::none), Event::get_s).run(remember, fwd_get_s, share).next(T::U),
      R::when(in(L::NP), in(T::none), Event::get_m).given(in_llc).need(kNeedsEntry)
          .run(data_m, drop_llc, own).next(L::EM, T::U),
      R::when(in(L::NP), in(T::none), Event::get_m).need(kNeedsEntry)
          .run(mem_read_m, own).next(L::EM, T::U),
      R::when(in(L::S), in(T::none), Event::get_m).given(has_copy)
          .run(remember, ack_count, invalidate, hand_over_llc, own).next(L::EM, T::U),
      R::when(in(L::S), in(T::none), Event::get_m).given(in_llc)
          .run(remember, data_m, invalidate, hand_over_llc, own).next(L::EM, T::U),
      R::when(in(L::S), in(T::none), Event::get_m)
          .run(remember, mem_read_m, invalidate, own).next(L::EM, T::U),
      R::when(in(L::O), in(T::none), Event::get_m).given(by_owner)
          .run(remember, ack_count, invalidate, hand_over_llc, own).next(L::EM, T::U),
      R::when(in(L::EM, L::O), in(T::none), Event::get_m)
          .run(remember, fwd_get_m, invalidate, hand_over_llc, own).next(L::EM, T::U),

      // The end of a transaction.
      R::when(kAnyState<L>, in(T::U), Event::unblock).only(kTransactions).given(with_data)
          .need(kNeedsLlc).run(fill_llc, restore_sharers, wake).next(L::S, T::none)
          .because("the owner has given the block up, a sharer has refused"),
      R::when(kAnyState<L>, in(T::U, T::UD), Event::unblock).only(kTransactions).given(refused)
          .run(restore, wake).next(T::none),
      R::when(kAnyState<L>, in(T::U), Event::unblock).only(kTransactions).given(drops_llc)
          .run(drop_llc, wake).next(T::none),
      R::when(kAnyState<L>, in(T::U), Event::unblock).run(pay_ack, wake).next(T::none),
      R::when(kAnyState<L>, in(T::UD), Event::unblock).next(T::D),
      R::when(kAnyState<L>, in(T::UD), Event::dir_data).need(kNeedsLlc).run(fill_llc).next(T::U),
      R::when(kAnyState<L>, in(T::D), Event::dir_data).need(kNeedsLlc)
          .run(fill_llc, pay_ack, wake).next(T::none),

      // Blocks that come back. They are taken in every state.
      R::when(in(L::EM), in(T::none, T::U, T::W), Event::put).given(by_owner).need(kNeedsLlc)
          .run(fill_llc, put_ack).next(L::NP)
          .because("in U: the requester has finished, and its Put overtook its Unblock"),
      R::when(in(L::O), in(T::U), Event::put).given(by_forwarded, no_sharers).need(kNeedsLlc)
          .run(fill_llc, owe_ack).next(L::NP)
          .because("in U the owner is who was forwarded to"),
      R::when(in(L::O), in(T::U), Event::put).given(by_forwarded).need(kNeedsLlc)
          .run(fill_llc, no_owner, owe_ack).next(L::S),
      R::when(in(L::O), in(T::none, T::W), Event::put).given(by_owner, no_sharers).need(kNeedsLlc)
          .run(fill_llc, put_ack).next(L::NP),
      R::when(in(L::O), in(T::none, T::W), Event::put).given(by_owner).need(kNeedsLlc)
          .run(fill_llc, no_owner, put_ack).next(L::S),
      R::when(in(L::S), in(T::U, T::UD, T::D), Event::put).given(by_forwarded, last_sharer)
          .run(owe_ack).next(L::NP),
      R::when(kAnyState<L>, in(T::U, T::UD, T::D, T::R, T::DR), Event::put).given(by_forwarded)
          .run(unshare, owe_ack)
          .because("the sender still answers what was forwarded to it"),
      R::when(in(L::S), in(T::none, T::U, T::W, T::DM), Event::put).given(last_sharer)
          .run(put_ack).next(L::NP),
      R::when(kAnyState<L>, kAnyState<T>, Event::put).run(unshare, put_ack)
          .because("late: the block has been handed on"),
      R::when(in(L::S), in(T::none, T::U, T::UD, T::D, T::W, T::DM), Event::put_s).given(last_sharer)
          .run(put_ack).next(L::NP),
      R::when(kAnyState<L>, kAnyState<T>, Event::put_s).run(unshare, put_ack),

      // Evictions of the directory and of the LLC.
      R::when(in(L::S, L::EM, L::O), in(T::none), Event::dir_evict).run(recall).next(T::R),
      R::when(in(L::S, L::EM, L::O), kBusy, Event::dir_evict).stall(),
      R::when(kAnyState<L>, in(T::R), Event::inv_ack).given(last_answer)
          .run(pay_ack, wake).next(L::NP, T::none),
      R::when(kAnyState<L>, in(T::DR), Event::inv_ack).given(last_answer)
          .run(pay_ack, collected).next(L::NP),
      R::when(kAnyState<L>, in(T::R, T::DR), Event::inv_ack).run(answered),
      R::when(kAnyState<L>, in(T::R), Event::recall_data).given(last_answer).need(kNeedsLlc)
          .run(fill_llc, pay_ack, wake).next(L::NP, T::none),
      R::when(kAnyState<L>, in(T::DR), Event::recall_data).given(last_answer).need(kNeedsLlc)
          .run(fill_llc, pay_ack, collected).next(L::NP),
      R::when(kAnyState<L>, in(T::R, T::DR), Event::recall_data).need(kNeedsLlc)
          .run(fill_llc, answered),
      R::when(kAnyState<L>, in(T::none), Event::llc_evict).given(llc_dirty)
          .run(mem_write, drop_llc).next(T::W),
      R::when(kAnyState<L>, in(T::none), Event::llc_evict).run(drop_llc),
      R::when(kAnyState<L>, kBusy, Event::llc_evict).stall(),
      R::when(kAnyState<L>, in(T::W), Event::mem_ack).run(wake).next(T::none)
          .because("held until now: a MemRead could overtake the MemWrite"),

      // A device. It reads the LLC's copy or memory's, and writes the LLC's, when no core has one.
      R::when(kAnyState<L>, kBusy, Event::dma_read).stall(),
      R::when(kAnyState<L>, kBusy, Event::dma_write).stall(),
      R::when(in(L::NP, L::S), in(T::none), Event::dma_read).given(in_llc).run(device_load),
      R::when(in(L::NP, L::S), in(T::none), Event::dma_read).run(mem_read_home).next(T::DM),
      R::when(in(L::EM, L::O), in(T::none), Event::dma_read).run(recall).next(T::DR),
      R::when(in(L::NP), in(T::none), Event::dma_write).given(in_llc).run(device_store),
      R::when(in(L::NP), in(T::none), Event::dma_write).run(note_write, mem_read_home).next(T::DM),
      R::when(in(L::S, L::EM, L::O), in(T::none), Event::dma_write)
          .run(note_write, recall).next(T::DR),
      R::when(in(L::NP), in(T::DR), Event::collected).given(in_llc, writes)
          .run(device_store, wake).next(T::none),
      R::when(in(L::NP), in(T::DR), Event::collected).given(in_llc)
          .run(device_load, wake).next(T::none),
      R::when(in(L::NP), in(T::DR), Event::collected).run(mem_read_home).next(T::DM)
          .because("only sharers had it, memory is up to date"),
      R::when(in(L::NP, L::S), in(T::DM), Event::data).given(writes).need(kNeedsLlc)
          .run(fill_llc, device_store, wake).next(T::none),
      R::when(in(L::NP, L::S), in(T::DM), Event::data).run(device_load_sent, wake).next(T::none),
  };
  // clang-format on
};

} // namespace tandem::machine
