// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The home slice of a protocol that counts tokens: LLC bank, directory and filter, one transaction
// for a block at a time.
//
// The directory is a hint: when an entry is there, its sharers are a superset of the cores that
// hold tokens or have them under way. It may be dropped in any state, silently. The filter is not a
// hint: what it calls absent is asked of memory at once. So it is told exactly:
//   private scope: the block is a member  <=>  between transactions, not all tokens are in the LLC
//   or memory; chip scope:    the block is a member  <=>  between transactions, not all tokens are
//   in memory.
// `Tbe::member` is what the home knows of this during a transaction: true once it has seen that
// some tokens were private before the transaction began (chip scope: not in memory).
//
// A transaction collects `answers`: acknowledgements of forwards, and memory's (MemNone, or the
// Unblock of a requester that memory served). What happens next is decided by the event `progress`
// after each.
//
// Source: FLASK, section III; MOSAIC as FLASK describes it. What they leave open:
// docs/design/0022-flask.md.
#pragma once

#include "machine/protocol/flask/messages.h"
#include "machine/protocol/flask/rows.h"

namespace tandem::machine::flask {

template <class P> struct TokenHome {
  using Protocol = P;
  static constexpr Role kRole = Role::home;
  static constexpr const char *kName = "home";

  enum class LineState : std::uint8_t { U, T };
  static constexpr StateInfo kLineStates[] = {{"U", "no directory entry"},
                                              {"T", "the entry tracks the holders"}};
  enum class TbeState : std::uint8_t {
    none,
    load,
    load_query,
    load_served,
    load_closing,
    store,
    store_query,
    store_closing,
    recall,
    writing,
    purging,
    device,
  };
  static constexpr StateInfo kTbeStates[] = {
      {"-", "no transaction"},
      {"Load", "GetS: nobody is known to have served it"},
      {"LoadQuery", "GetS: the holders are being counted"},
      {"LoadServed", "GetS: served, Unblock to come"},
      {"LoadClosing", "GetS: unblocked, answers to come"},
      {"Store", "GetX: tokens go to the requester"},
      {"StoreQuery", "GetX: the holders are being counted"},
      {"StoreClosing", "GetX: unblocked, answers to come"},
      {"Recall", "the LLC collects all tokens, to give the block up"},
      {"Writing", "all tokens are on their way to memory"},
      {"Purging", "the cores evict the block, for the filter's sake"},
      {"Device", "the LLC collects all tokens and the data, for a device"},
  };

  struct Line { // the directory entry
    LineState state{};
    CoreSet sharers; // superset of the holders
    Node owner;      // who has the owner token, if known and a core
    template <class Self, class V> static void fields(Self &s, V &v) {
      v("state", s.state, 1);
      v("sharers", s.sharers);
      v("owner", s.owner);
    }
  };
  struct Llc {
    std::uint8_t tokens = 0;
    std::uint8_t flags = 0; // kOwner, kDirty
    bool shared = false;    // its tokens came from several (only where P::shared_stays)
    Data data;
    explicit operator bool() const { return tokens != 0; }
    template <class Self, class V> static void fields(Self &s, V &v) {
      v("tokens", s.tokens, kTokenBits);
      v("flags", s.flags, 2);
      v("shared", s.shared, 1);
      v("data", s.data);
    }
  };
  struct Tbe {
    TbeState state{};
    bool allocate = false; // a directory entry is made at the end, from `sharers` and `owner`
    bool seen = false;     // tokens were seen on the chip: memory need not be asked
    bool asked = false;    // memory was asked
    bool member = false;
    bool write = false;         // what a device wants
    bool transactional = false; // a writer's request is
    bool refused = false;
    std::uint8_t given = 0;   // tokens that were sent to a writer in this transaction
    std::uint8_t answers = 0; // still to come
    Node requester;
    Node owner;      // as found in this transaction
    CoreSet sharers; // as found in this transaction
    template <class Self, class V> static void fields(Self &s, V &v) {
      v("state", s.state, 4);
      v("allocate", s.allocate, 1);
      v("seen", s.seen, 1);
      v("asked", s.asked, 1);
      v("member", s.member, 1);
      v("write", s.write, 1);
      v("transactional", s.transactional, 1);
      v("refused", s.refused, 1);
      v("given", s.given, kTokenBits);
      v("answers", s.answers, kTokenBits);
      v("requester", s.requester);
      v("owner", s.owner);
      v("sharers", s.sharers);
    }
  };

  static constexpr auto &kSpontaneous = P::kHomeSpontaneous;
  template <class E> static bool may(E &env, Event event) {
    switch (event) {
    case Event::dma_read:
    case Event::dma_write:
      return true;
    case Event::dir_evict:
      return env.line().state == LineState::T;
    case Event::llc_evict:
      return env.tbe().state == TbeState::none && env.llc();
    case Event::filter_full:
      return P::purges(env.config()) && env.tbe().state == TbeState::none;
    default:
      return false;
    }
  }

  template <class E> struct Rules : Rows<E, TokenHome> {
    using Table = Rows<E, TokenHome>;
    using L = LineState;
    using T = TbeState;
    using Act = Action<E>;
    using If = Guard<E>;

    static unsigned tokens_after(E &e) { return e.llc().tokens + e.message().count; }

    static void ask(E &e, CoreSet whom, Event event) {
      whom = whom.without(e.tbe().requester);
      e.tbe().answers = static_cast<std::uint8_t>(e.tbe().answers + whom.size());
      e.multicast(
          whom, Message::of(event)
                    .on_behalf(e.tbe().requester)
                    .flagged(event == Event::fwd_x && e.tbe().transactional ? kTransactional : 0));
    }
    static CoreSet everybody(E &e) { return CoreSet::first(e.cores()); }
    static void seen(E &e) {
      e.tbe().seen = true;
      e.tbe().member = true;
    }
    // Tokens of the LLC's line, to the requester.
    static void give(E &e, unsigned count, unsigned flags, bool data) {
      Llc &llc = e.llc();
      Message m = Message::of(Event::tokens).to(e.tbe().requester).counting(count).flagged(flags);
      e.send(data ? m.carrying(llc.data) : m);
      llc.tokens = static_cast<std::uint8_t>(llc.tokens - count);
      if (llc.tokens == 0)
        llc = {};
    }
    // What a refused writer has to wait for before it gives up.
    static void count_given(E &e, unsigned tokens) {
      if (P::transactions(e.config()))
        e.tbe().given = static_cast<std::uint8_t>(e.tbe().given + tokens);
    }
    // The filter is told at the end, when all that says whether the block was a member has come. A
    // Put of the requester's may overtake the acknowledgement of the core that served it.
    static void settle(E &e) {
      if constexpr (P::kFilter) {
        const bool member = P::chip_scope(e.config()) || e.llc().tokens != e.tokens();
        if (member && !e.tbe().member)
          e.filter_insert();
        if (!member && e.tbe().member)
          e.filter_remove();
      }
    }
    static void remove(E &e) {
      if constexpr (P::kFilter)
        e.filter_remove();
    }

    // Of the state.
    static constexpr If llc_all{"the LLC has all tokens",
                                [](E &e) { return e.llc().tokens == e.tokens(); }};
    static constexpr If llc_shared{"the LLC has all tokens, and got them from several", [](E &e) {
                                     return e.llc().tokens == e.tokens() && e.llc().shared;
                                   }};
    static constexpr If llc_spare{"the LLC has two tokens or more",
                                  [](E &e) { return e.llc().tokens >= 2; }};
    static constexpr If llc_some{"the LLC has tokens", [](E &e) { return e.llc().tokens != 0; }};
    static constexpr If owner_known{"the owner is known",
                                    [](E &e) { return !e.line().owner.is_none(); }};
    static constexpr If llc_part{"the LLC has tokens, not all", [](E &e) {
                                   return e.llc().tokens != 0 && e.llc().tokens != e.tokens();
                                 }};
    static constexpr If present{"the filter hits", [](E &e) { return e.filter_hit(); }};
    static constexpr If two_phase{"reconstruction in two phases",
                                  [](E &e) { return e.config().two_phase; }};
    static constexpr If parallel{"memory is asked together with the cores",
                                 [](E &e) { return P::parallel_memory(e.config()); }};
    // Of the transaction.
    static constexpr If waiting{"answers are to come", [](E &e) { return e.tbe().answers != 0; }};
    static constexpr If untouched{"no tokens were seen, and memory was not asked",
                                  [](E &e) { return !e.tbe().seen && !e.tbe().asked; }};
    static constexpr If makes_entry{"an entry is to be made, and the holders are known", [](E &e) {
                                      return e.tbe().allocate && P::known_holders(e.tbe());
                                    }};
    static constexpr If allocates{"an entry is to be made", [](E &e) { return e.tbe().allocate; }};
    static constexpr If writes{"the device writes", [](E &e) { return e.tbe().write; }};
    // Of the message.
    static constexpr If brings{"with tokens", [](E &e) { return e.message().count != 0; }};
    static constexpr If completes{"these are the LLC's last missing tokens",
                                  [](E &e) { return tokens_after(e) == e.tokens(); }};
    static constexpr If from_other{"not from the requester",
                                   [](E &e) { return e.message().src != e.tbe().requester; }};
    static constexpr If gave{"it gave tokens",
                             [](E &e) { return (e.message().flags & kGave) != 0; }};
    static constexpr If has_owner{"it has the owner token",
                                  [](E &e) { return (e.message().flags & kOwner) != 0; }};
    static constexpr If holds{"it holds tokens",
                              [](E &e) { return (e.message().flags & kHolds) != 0; }};

    // The beginning of a request.
    static constexpr Act begin{"note the requester", [](E &e) {
                                 e.tbe().requester = e.message().src;
                                 e.tbe().transactional = (e.message().flags & kTransactional) != 0;
                                 e.tbe().member = P::chip_scope(e.config()) && e.llc().tokens != 0;
                               }};
    static constexpr Act begin_seen{
        "note the requester, and that the block is on the chip", [](E &e) {
          e.tbe().requester = e.message().src;
          e.tbe().transactional = (e.message().flags & kTransactional) != 0;
          seen(e);
        }};
    static constexpr Act plan_entry{"an entry is to be made",
                                    [](E &e) { e.tbe().allocate = true; }};
    static constexpr Act plan_anew{
        "an entry is to be made for private blocks only if they have any", [](E &e) {
          e.tbe().allocate = P::kEntriesForPrivate;
          e.tbe().sharers = {};
          e.tbe().owner = {};
        }};
    static constexpr Act serve_all{"send all tokens and data to the requester", [](E &e) {
                                     give(e, e.llc().tokens, e.llc().flags, true);
                                     e.tbe().owner = e.tbe().requester;
                                   }};
    // With more tokens than cores a line with the owner token is never asked for its last token by
    // a reader: it keeps the data until all lent tokens are asked for, or are back.
    static bool lends(E &e) {
      return P::light_put(e.config()) && e.tokens() > e.cores() && (e.llc().flags & kOwner) != 0;
    }
    static constexpr Act serve_one{
        "send one plain token and data to the requester; lent, if the owner token stays",
        [](E &e) { give(e, 1, lends(e) ? kLent : 0U, true); }};
    static constexpr Act serve_last{"send the LLC's only token and data to the requester",
                                    [](E &e) {
                                      if ((e.llc().flags & kOwner) != 0)
                                        e.tbe().owner = e.tbe().requester;
                                      give(e, 1, e.llc().flags, true);
                                    }};
    static constexpr Act send_all{"send all tokens, and data if owner, to the requester", [](E &e) {
                                    const bool owner = (e.llc().flags & kOwner) != 0;
                                    count_given(e, e.llc().tokens);
                                    give(e, e.llc().tokens, e.llc().flags,
                                         owner || e.tbe().transactional);
                                  }};
    static constexpr Act fwd_s_owner{
        "FwdS to the owner", [](E &e) { ask(e, CoreSet::only(e.line().owner), Event::fwd_s); }};
    static constexpr Act fwd_s_sender{
        "FwdS to it", [](E &e) { ask(e, CoreSet::only(e.message().src), Event::fwd_s); }};
    static constexpr Act fwd_s_sharers{"FwdS to the sharers",
                                       [](E &e) { ask(e, e.line().sharers, Event::fwd_s); }};
    static constexpr Act fwd_s_all{"FwdS to all cores",
                                   [](E &e) { ask(e, everybody(e), Event::fwd_s); }};
    static constexpr Act fwd_x_sharers{"FwdX to the sharers",
                                       [](E &e) { ask(e, e.line().sharers, Event::fwd_x); }};
    static constexpr Act fwd_x_sender{
        "FwdX to it", [](E &e) { ask(e, CoreSet::only(e.message().src), Event::fwd_x); }};
    static constexpr Act fwd_x_all{"FwdX to all cores",
                                   [](E &e) { ask(e, everybody(e), Event::fwd_x); }};
    static constexpr Act query_all{"Query to all cores",
                                   [](E &e) { ask(e, everybody(e), Event::query); }};
    static constexpr Act read_memory{
        "send MemRead", [](E &e) {
          e.tbe().asked = true;
          ++e.tbe().answers;
          e.send(Message::of(Event::memory_read).to(Node::memory()).on_behalf(e.tbe().requester));
        }};

    // Its course.
    static constexpr Act advance{"look what is next", [](E &e) { e.raise(Event::progress); }};
    static constexpr Act count_answer{"one answer less", [](E &e) { --e.tbe().answers; }};
    static constexpr Act note_ack{"note the holders, and who has the owner token", [](E &e) {
                                    const Message &m = e.message();
                                    if ((m.flags & (kHolds | kGave)) == 0)
                                      return;
                                    seen(e);
                                    count_given(e, m.count);
                                    if ((m.flags & kHolds) != 0)
                                      e.tbe().sharers = e.tbe().sharers.with(m.src);
                                    if ((m.flags & kOwner) != 0)
                                      e.tbe().owner = m.src;
                                    if ((m.flags & kGave) != 0) {
                                      e.tbe().sharers = e.tbe().sharers.with(e.tbe().requester);
                                      e.tbe().owner =
                                          (m.flags & kHolds) != 0 ? m.src : e.tbe().requester;
                                    }
                                  }};
    static constexpr Act note_unblock{"note the end; memory's answer, if it served", [](E &e) {
                                        if ((e.message().flags & kFromMemory) == 0)
                                          return;
                                        --e.tbe().answers;
                                        e.tbe().owner = e.tbe().requester;
                                      }};
    static constexpr Act redirect{
        "pass the tokens, and data if owner, to the requester", [](E &e) {
          const Message &m = e.message();
          Message on =
              Message::of(Event::tokens).to(e.tbe().requester).counting(m.count).flagged(m.flags);
          e.send((m.flags & kOwner) != 0 || e.tbe().transactional ? on.carrying(m.data) : on);
          count_given(e, m.count);
          seen(e);
          e.tbe().sharers = e.tbe().sharers.without(m.src);
        }};
    static constexpr Act put_ack{
        "send PutAck", [](E &e) { e.send(Message::of(Event::put_ack).to(e.message().src)); }};
    static constexpr Act merge{"the LLC takes tokens and data; the sender holds nothing", [](E &e) {
                                 const Message &m = e.message();
                                 Llc &llc = e.llc();
                                 llc.tokens = static_cast<std::uint8_t>(llc.tokens + m.count);
                                 llc.flags = static_cast<std::uint8_t>(llc.flags | m.flags);
                                 if (m.has_data)
                                   llc.data = m.data;
                                 if constexpr (requires { P::shared_stays(e.config()); })
                                   llc.shared = llc.shared || (P::shared_stays(e.config()) &&
                                                               m.count != e.tokens());
                                 if (e.line().state == L::T) {
                                   e.line().sharers = e.line().sharers.without(m.src);
                                   if (e.line().owner == m.src)
                                     e.line().owner = {};
                                 }
                                 if (e.tbe().state == T::none)
                                   return;
                                 if (m.src != e.tbe().requester)
                                   e.tbe().member = true;
                                 e.tbe().sharers = e.tbe().sharers.without(m.src);
                                 if (e.tbe().owner == m.src)
                                   e.tbe().owner = {};
                               }};
    static constexpr Act collect{"the LLC takes the tokens", [](E &e) {
                                   const Message &m = e.message();
                                   Llc &llc = e.llc();
                                   llc.tokens = static_cast<std::uint8_t>(llc.tokens + m.count);
                                   llc.flags = static_cast<std::uint8_t>(llc.flags | m.flags);
                                 }};
    static constexpr Act all_idle{"no longer a member (private scope)", [](E &e) {
                                    if (!P::chip_scope(e.config()))
                                      remove(e);
                                  }};

    // Refusals.
    static constexpr If refuses{"refused",
                                [](E &e) { return (e.message().flags & kRefused) != 0; }};
    static constexpr If refused{"it was refused", [](E &e) { return e.tbe().refused; }};
    static constexpr Act note_refused{"note it", [](E &e) { e.tbe().refused = true; }};
    static constexpr Act tell_refusal{
        "send Refusal to the requester, with the number of tokens sent to it", [](E &e) {
          e.send(Message::of(Event::refusal).to(e.tbe().requester).counting(e.tbe().given));
          if (e.tbe().state == T::load)
            return;
          e.tbe().owner = e.line().owner = {}; // the token may have gone to the requester
        }};

    // Its end.
    static constexpr Act end{"wake the next request", [](E &e) { e.wake(Wake::transaction); }};
    static constexpr Act tell_filter{"tell the filter whether the block is a member",
                                     [](E &e) { settle(e); }};
    static constexpr Act sole_sharer{"the requester is the only sharer, and owner", [](E &e) {
                                       e.line().sharers = CoreSet::only(e.tbe().requester);
                                       e.line().owner = e.tbe().requester;
                                     }};
    static constexpr Act add_sharers{"the requester is a sharer; note the owner", [](E &e) {
                                       e.line().sharers = e.line().sharers.with(e.tbe().requester);
                                       if (!e.tbe().owner.is_none())
                                         e.line().owner = e.tbe().owner;
                                     }};
    static constexpr Act enter_sharers{
        "make the entry: the holders that were found, and the requester", [](E &e) {
          e.line().sharers = e.tbe().sharers.with(e.tbe().requester);
          e.line().owner = e.tbe().owner;
        }};

    // Evictions.
    static constexpr Act recall_sharers{"Recall to the sharers", [](E &e) {
                                          e.tbe().member = true;
                                          ask(e, e.line().sharers, Event::recall);
                                        }};
    static constexpr Act recall_all{"Recall to all cores", [](E &e) {
                                      e.tbe().member = true;
                                      ask(e, everybody(e), Event::recall);
                                    }};
    static constexpr Act write_back{"send MemWB, with data if dirty; the way is free", [](E &e) {
                                      Llc &llc = e.llc();
                                      Message m = Message::of(Event::write_back)
                                                      .to(Node::memory())
                                                      .counting(llc.tokens)
                                                      .flagged(llc.flags);
                                      e.send((llc.flags & kDirty) != 0 ? m.carrying(llc.data) : m);
                                      llc = {};
                                      if (P::chip_scope(e.config()) || e.tbe().member)
                                        remove(e);
                                    }};
    // Devices. They read and write the LLC's copy.
    static constexpr Act device_load{"the device reads",
                                     [](E &e) { e.perform(Access::load, e.llc().data); }};
    static constexpr Act device_store{"the device writes; memory's copy is stale", [](E &e) {
                                        e.perform(Access::store, e.llc().data);
                                        e.llc().flags =
                                            static_cast<std::uint8_t>(e.llc().flags | kDirty);
                                      }};
    static constexpr Act begin_device{
        "note what the device wants", [](E &e) {
          e.tbe().requester = Node::home();
          e.tbe().write = e.message().type == static_cast<std::uint8_t>(Event::dma_write);
          e.tbe().member = P::chip_scope(e.config()) && e.llc().tokens != 0;
        }};
    static constexpr Act note_seen{"the block is on the chip", [](E &e) { seen(e); }};
    static constexpr Act fetch_sharers{"Fetch to the sharers",
                                       [](E &e) { ask(e, e.line().sharers, Event::fetch); }};
    static constexpr Act fetch_all{"Fetch to all cores",
                                   [](E &e) { ask(e, everybody(e), Event::fetch); }};
    static constexpr Act take_fetched{
        "the LLC takes the tokens, and data if there is any", [](E &e) {
          const Message &m = e.message();
          Llc &llc = e.llc();
          llc.tokens = static_cast<std::uint8_t>(llc.tokens + m.count);
          llc.flags = static_cast<std::uint8_t>(llc.flags | (m.flags & (kOwner | kDirty)));
          if (m.has_data)
            llc.data = m.data;
        }};
    static constexpr Act purge_all{"Purge to all cores",
                                   [](E &e) { ask(e, everybody(e), Event::purge); }};

    static constexpr auto when = [](auto... part) { return Table::when(part...); };
    static constexpr auto any = kAnyState<L>;
    // The row with one more action, where there is a filter to be told.
    static constexpr auto filtered = [](auto row, const Act &action) {
      if constexpr (P::kFilter)
        return row.run(action);
      else
        return row;
    };

    // clang-format off
    static constexpr auto kStart = rows(
        when(any, in(T::load, T::load_query, T::load_served, T::load_closing, T::store, T::store_query, T::store_closing, T::recall, T::writing, T::purging, T::device), Event::get_s).stall(),
        when(any, in(T::load, T::load_query, T::load_served, T::load_closing, T::store, T::store_query, T::store_closing, T::recall, T::writing, T::purging, T::device), Event::get_x).stall(),

        when(any, in(T::load, T::load_query, T::load_served, T::load_closing, T::store, T::store_query, T::store_closing, T::recall, T::writing, T::purging, T::device), Event::dma_read).stall(),
        when(any, in(T::load, T::load_query, T::load_served, T::load_closing, T::store, T::store_query, T::store_closing, T::recall, T::writing, T::purging, T::device), Event::dma_write).stall(),

        when(in(L::T), in(T::none), Event::get_s).given(llc_spare).run(begin_seen, serve_one).next(T::load_served),
        when(in(L::T), in(T::none), Event::get_s).given(llc_some).run(begin_seen, serve_last).next(T::load_served),
        when(in(L::T), in(T::none), Event::get_s).given(owner_known).run(begin_seen, fwd_s_owner).next(T::load),
        when(in(L::T), in(T::none), Event::get_s).run(begin_seen, fwd_s_sharers).next(T::load),

        when(in(L::T), in(T::none), Event::get_x).given(llc_some).run(begin_seen, send_all, fwd_x_sharers).next(T::store),
        when(in(L::T), in(T::none), Event::get_x).run(begin_seen, fwd_x_sharers).next(T::store),
        when(in(L::U), in(T::none), Event::get_x).given(llc_part, two_phase).run(begin_seen, plan_entry, send_all, query_all).next(T::store_query),
        when(in(L::U), in(T::none), Event::get_x).given(llc_part).run(begin_seen, plan_entry, send_all, fwd_x_all).next(T::store),

        when(any, in(T::none), Event::dma_read).given(llc_some).run(device_load),
        when(in(L::T), in(T::none), Event::dma_read).run(begin_device, note_seen, fetch_sharers).next(T::device),
        when(any, in(T::none), Event::dma_write).given(llc_all).run(device_store),
        when(in(L::T), in(T::none), Event::dma_write).run(begin_device, note_seen, fetch_sharers).next(T::device),
        when(in(L::U), in(T::none), Event::dma_write).given(llc_some).run(begin_device, note_seen, fetch_all).next(T::device));

    static constexpr auto kCourse = rows(
        // Answers.
        when(any, in(T::load), Event::ack).given(gave).run(count_answer, note_ack).next(T::load_served),
        when(any, in(T::load_query), Event::ack).given(has_owner).run(count_answer, note_ack, fwd_s_sender).next(T::load)
            .because("the other holders are counted meanwhile"),
        when(any, in(T::store_query), Event::ack).given(holds).run(count_answer, note_ack, fwd_x_sender),
        when(any, in(T::load, T::load_query, T::store, T::store_query), Event::ack).run(count_answer, note_ack, advance),
        when(any, in(T::load_served), Event::ack).run(count_answer, note_ack),
        when(any, in(T::load_closing, T::store_closing), Event::ack).run(count_answer, note_ack, advance),
        when(any, in(T::load, T::store, T::store_closing), Event::memory_none).run(count_answer, advance),
        when(any, in(T::load, T::load_served), Event::unblock).run(note_unblock, advance).next(T::load_closing),
        when(any, in(T::store, T::store_query), Event::unblock).run(note_unblock, advance).next(T::store_closing),
        when(any, in(T::recall), Event::recalled).run(count_answer, collect, advance),
        when(any, in(T::writing), Event::written).run(end).next(T::none),
        when(any, in(T::device), Event::recalled).given(brings).need(kNeedsLlc).run(count_answer, take_fetched, note_seen, advance),
        when(any, in(T::device), Event::recalled).run(count_answer, advance),
        when(any, in(T::device), Event::tokens).need(kNeedsLlc).run(count_answer, take_fetched, advance)
            .because("from memory"),
        when(any, in(T::device), Event::memory_none).run(count_answer, advance),

        // Tokens that cores give up. A Put is always taken, whatever goes on.
        when(any, in(T::store, T::store_query), Event::put).given(from_other).run(redirect, put_ack),
        filtered(when(any, in(T::none, T::purging), Event::put).given(completes).need(kNeedsLlc).run(merge), all_idle).run(put_ack).next(L::U),
        when(any, in(T::none, T::load_served, T::purging), Event::put).need(kNeedsLlc).run(merge, put_ack),
        when(any, in(T::load, T::load_query, T::load_closing, T::store, T::store_query, T::store_closing, T::recall, T::device), Event::put).need(kNeedsLlc).run(merge, put_ack, advance)
            .because("a Put of a writer's own comes after its store: the tokens must not go back to it"),

        // What is next: a load.
        when(any, in(T::load, T::load_query, T::load_closing, T::store, T::store_query, T::store_closing, T::recall, T::device), Event::progress).given(waiting)
            .because("no token leaves the LLC while memory or a core may be serving the request"),
        when(any, in(T::load, T::load_query), Event::progress).given(llc_all).run(plan_anew, serve_all).next(L::U, T::load_served),
        when(any, in(T::load, T::load_query), Event::progress).given(llc_spare).run(serve_one).next(T::load_served),
        when(any, in(T::load, T::load_query), Event::progress).given(llc_some).run(serve_last).next(T::load_served),
        when(any, in(T::load, T::load_query), Event::progress).given(untouched).run(read_memory).next(T::load)
            .because("all have answered that they have nothing: the filter was wrong, or tokens are in a Put"),
        when(any, in(T::load, T::load_query), Event::progress).next(T::load).because("the tokens are on their way, in a Put"),
        // A store.
        when(any, in(T::store, T::store_query), Event::progress).given(untouched).run(read_memory).next(T::store),
        when(any, in(T::store, T::store_query), Event::progress).next(T::store).because("the tokens are on their way to the requester, or in a Put"),
        // The end of both.
        filtered(when(any, in(T::load_closing, T::store_closing), Event::progress).given(llc_all), tell_filter).run(end).next(L::U, T::none)
            .because("the requester has evicted it already"),
        when(in(L::T), in(T::load_closing), Event::progress).run(add_sharers, end).next(T::none),
        when(in(L::U), in(T::load_closing), Event::progress).given(makes_entry).need(kNeedsEntry).run(enter_sharers, end).next(L::T, T::none),
        filtered(when(in(L::U), in(T::load_closing), Event::progress), tell_filter).run(end).next(T::none),
        when(in(L::T), in(T::store_closing), Event::progress).run(sole_sharer, end).next(T::none),
        filtered(when(in(L::U), in(T::store_closing), Event::progress).given(allocates).need(kNeedsEntry).run(sole_sharer), tell_filter).run(end).next(L::T, T::none),
        filtered(when(in(L::U), in(T::store_closing), Event::progress), tell_filter).run(end).next(T::none),
        // A device.
        filtered(when(any, in(T::device), Event::progress).given(llc_all, writes).run(device_store), tell_filter).run(end).next(L::U, T::none),
        filtered(when(any, in(T::device), Event::progress).given(llc_all).run(device_load), tell_filter).run(end).next(L::U, T::none),
        when(any, in(T::device), Event::progress).given(llc_some).because("the missing tokens are in Puts"),
        when(any, in(T::device), Event::progress).given(untouched).run(read_memory),
        when(any, in(T::device), Event::progress).because("all tokens are in Puts"),
        // The LLC's eviction.
        when(any, in(T::recall), Event::progress).given(llc_all).run(write_back).next(L::U, T::writing),
        when(any, in(T::recall), Event::progress).because("the missing tokens are in Puts"),

        // Evictions.
        when(in(L::T), kAnyState<T>, Event::dir_evict).next(L::U)
            .because("the entry is a hint: nobody is told"),
        when(in(L::U), in(T::none), Event::llc_evict).given(llc_all).run(write_back).next(T::writing),
        when(in(L::T), in(T::none), Event::llc_evict).run(recall_sharers).next(T::recall),
        when(in(L::U), in(T::none), Event::llc_evict).run(recall_all).next(T::recall));
    // clang-format on

    static constexpr auto refusal_rows() {
      if constexpr (P::kRefuses) {
        constexpr auto option = [](auto row) { return row.only(&P::Config::transactions); };
        return rows(
            option(when(any, in(T::store, T::store_query), Event::put))
                .given(from_other, waiting)
                .stall()
                .because("its sender may have refused: the requester must not get all tokens "
                         "before the home knows"),
            option(when(any, in(T::load, T::store, T::store_query), Event::ack))
                .given(refuses)
                .run(count_answer, note_ack, note_refused, end, advance),
            option(when(any, in(T::store), Event::ack)).run(count_answer, note_ack, end, advance),
            option(when(any, in(T::store_query), Event::ack))
                .given(holds)
                .run(count_answer, note_ack, fwd_x_sender),
            option(when(any, in(T::store_query), Event::ack))
                .run(count_answer, note_ack, end, advance),
            option(when(any, in(T::store, T::store_query), Event::memory_none))
                .run(count_answer, end, advance),
            option(when(any, in(T::load, T::store, T::store_query), Event::progress))
                .given(waiting),
            option(when(any, in(T::load, T::store, T::store_query), Event::progress))
                .given(refused)
                .run(tell_refusal)
                .next(T::load_served)
                .because(
                    "from here it ends like a load: the requester may hold tokens, others do"));
      } else {
        return std::array<Row<E, TokenHome>, 0>{};
      }
    }
    static constexpr auto kRows =
        join(refusal_rows(), kStart, P::template home_rows<Rules<E>>(), kCourse);
  };
};

} // namespace tandem::machine::flask
