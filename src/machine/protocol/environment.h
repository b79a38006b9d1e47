// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the actions of a protocol may do, and what a protocol must say of itself. The checker and
// the timed system are two environments; a controller's rows are templates over either.
//
// An environment object is one controller at work on one block for one event. Everything a row
// does, what it raises included, is one atomic step. No operation allocates in the timed system.
//
// A protocol is a struct of
//   kName, kSummary          C strings
//   Event, kEvents[]         one enum for all controllers, and an EventInfo for each in order;
//                            a Message's type is an Event. Names that the environment looks for:
//                            load, store, evict (at a core), dir_evict, llc_evict (at a home),
//                            dma_read, dma_write (of kind device, at a home; on a bus at memory)
//   kFlags[]                 the names of a message's flag bits, lowest first
//   kBus                     true: cores and memory hear `snoop`
//   kSymmetric               true: core numbers may be permuted (nothing compares them)
//   Config, kConfigFields[]  the options of the protocol, a struct of bools, and a ConfigField each
//   Core, Home, Memory       its controllers (Home or Memory may be `void`)
//   violated(view, block)    its own invariants (see checker/view.h); null when they hold
// A controller is a struct of
//   Protocol, kRole, kName
//   LineState, kLineStates[]   state of the array entry; value 0 is "not there": an entry whose
//                              state is 0 after a step is reset to Line{} (unless kLineStays)
//   TbeState, kTbeStates[]     state of the transaction; value 0 is "none": reset to Tbe{}
//   Line, Tbe                  structs with `state` and `fields` (types.h); Llc too at a Home
//   kTbeHoldsEntry             at a Home: a block in a transaction counts as holding its entry
//   keeps_way(tbe)             at a Core, optional: whether this transaction keeps a way (else all)
//   kLineStays                 true: value 0 is an ordinary state (memory)
//   initial(tokens)            the Line and (Home) nothing else at the start; optional
//   kSpontaneous[], may(env,e) the events that cores or environment may raise here, and when
//   readable, writable(line, tbe)   at a Core: whether a load, a store would hit
//   template <class E> Rules   the rows, kRows[]
#pragma once

#include <concepts>
#include <type_traits>

#include "machine/protocol/table.h"
#include "machine/protocol/types.h"

namespace tandem::machine {

// The wired-or lines of a bus, after the snoop.
struct SnoopLines {
  bool shared = false;   // some cache keeps a copy
  bool owner = false;    // some cache supplies the data
  bool dirty = false;    // and memory is to take it as well
  bool nack = false;     // refused: nothing has happened
  bool conflict = false; // a core's transaction refuses: nothing has happened, nor will it
};

template <class E, class C>
concept Environment =
    requires(E env, Message message, CoreSet cores, Data &data, typename C::Protocol::Event event) {
      // The state, all of it plain structs that actions change in place. A line that is not in the
      // array and a transaction that does not exist read as Line{} and Tbe{}.
      { env.line() } -> std::same_as<typename C::Line &>;
      { env.tbe() } -> std::same_as<typename C::Tbe &>;

      // What is processed. For core and spontaneous events: Message{} with the type; on a raised
      // event: the message of the event that raised it.
      { env.message() } -> std::same_as<const Message &>;

      { env.self() } -> std::same_as<Node>;
      { env.cores() } -> std::convertible_to<unsigned>;  // N
      { env.tokens() } -> std::convertible_to<unsigned>; // T of a block; at least N
      { env.config() } -> std::same_as<const typename C::Protocol::Config &>;

      // Messages. src, block are filled in; `dst` by multicast, which sends to each of the set.
      env.send(message);
      env.multicast(cores, message);

      // Another event for this controller and block, in the same step: after this row's states have
      // changed, before anything else happens. At most 4 deep.
      env.raise(event);

      // Events stalled on this name, for this block at this controller, are tried again.
      env.wake(Wake::transaction);

      // A core's access happens, now, on this copy. While a core event is processed this is a hit,
      // otherwise it completes the access that the transaction is for. At a home, and at memory on
      // a bus: the same, of a device.
      env.perform(Access::load, data);
    };

// At a Home also:
//   env.llc()                -> Llc&; Llc{} is "not there", and has `explicit operator bool`
//   env.filter_hit()         -> bool: a superset of the members; stable within one step
//   env.filter_member()      -> bool: exact, for invariants and for the insert (a ghost in the
//   timed
//                               system, the whole filter in the checker)
//   env.filter_insert(), env.filter_remove()
// At a Core of a bus protocol also:
//   env.request_bus()        event `grant` will be raised here when the bus is this core's
//   env.snoop(event)         in a row for `grant`: raises the event at every other core, then at
//                            memory. If any of their rows is a nack, or refuses, no row runs at
//                            all.
//   env.lines()              -> SnoopLines& of the snoop in progress, or of the last in this step;
//                               snoopers set its members
// With hardware transactions of the cores (an option of the protocol, else none of these is asked):
//   env.refuses()            -> bool: in a row for a snoop, or for a message on behalf of a core,
//                               whether a transaction of this core has a claim to the block which
//                               the requester's has to respect; decided once for each of them.
//                               Never against what is no transaction's.
//   env.marked()             -> bool: whether a transaction of this core has a claim to the block,
//                               wherever its line is
//   env.transactional()      -> bool: in a row for an access, whether it is a transaction's
//   env.abandon()            the access that the transaction is for ends, and has not happened
// With persistent requests or timeouts:
//   env.arm_timer()          event `timeout` may be raised here from now on
//   env.agent()              -> Agent&: the state of this controller that is of no block
//   env.block()              -> std::uint64_t

} // namespace tandem::machine
