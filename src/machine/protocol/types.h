// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the states of every protocol are made of: nodes, sets of cores, ghost data, messages.
//
// A struct of protocol state lists its fields once, in `fields`; the checker packs, permutes and
// prints states from that list, the timed system prints them when a table has a hole:
//
//   struct Line {
//     State state{};
//     Data data;
//     template <class Self, class V> static void fields(Self &s, V &v) {
//       v("state", s.state, kBits);   // an enum, a bool or an unsigned number below 2^kBits
//       v("data", s.data);            // Data, Node and CoreSet need no width
//     }
//   };
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace tandem::machine {

inline constexpr unsigned kMaximumCores = 64;

// One controller as the protocol sees it while it works on one block. A block has one home and one
// memory controller, so that these need no number; the environment knows where they are.
struct Node {
  std::uint8_t id = kNone;

  static constexpr std::uint8_t kHome = 64, kMemory = 65, kBus = 66, kNone = 255;
  static constexpr Node core(unsigned number) { return {static_cast<std::uint8_t>(number)}; }
  static constexpr Node home() { return {kHome}; }
  static constexpr Node memory() { return {kMemory}; }
  static constexpr Node bus() { return {kBus}; }
  static constexpr Node none() { return {}; }
  constexpr bool is_core() const { return id < kMaximumCores; }
  constexpr bool is_none() const { return id == kNone; }
  friend constexpr bool operator==(Node, Node) = default;
};

// A set of cores; bit c is core c.
struct CoreSet {
  std::uint64_t bits = 0;

  static constexpr CoreSet first(unsigned count) {
    return {count >= kMaximumCores ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1};
  }
  static constexpr CoreSet only(Node core) { return CoreSet{}.with(core); }
  constexpr bool empty() const { return bits == 0; }
  constexpr unsigned size() const { return static_cast<unsigned>(std::popcount(bits)); }
  constexpr bool contains(Node n) const { return n.is_core() && ((bits >> n.id) & 1) != 0; }
  // The lowest core; the set is not empty.
  constexpr Node lowest() const { return {static_cast<std::uint8_t>(std::countr_zero(bits))}; }
  // Both leave the set as it is when `n` is not a core.
  constexpr CoreSet with(Node n) const {
    return {n.is_core() ? bits | std::uint64_t{1} << n.id : bits};
  }
  constexpr CoreSet without(Node n) const {
    return {n.is_core() ? bits & ~(std::uint64_t{1} << n.id) : bits};
  }
  friend constexpr CoreSet operator|(CoreSet a, CoreSet b) { return {a.bits | b.bits}; }
  friend constexpr CoreSet operator&(CoreSet a, CoreSet b) { return {a.bits & b.bits}; }
  friend constexpr CoreSet operator-(CoreSet a, CoreSet b) { return {a.bits & ~b.bits}; }
  friend constexpr bool operator==(CoreSet, CoreSet) = default;
};

// The ghost of a block's data. A protocol only copies it, and lets the environment look at it in
// `perform`. In the checker: 1 if this is the last value stored, else 0. In the timed system: the
// number of the store that wrote it. Data{} is "no data here".
struct Data {
  std::uint32_t value = 0;
  friend constexpr bool operator==(Data, Data) = default;
};

// What a core does to a block. An atomic read-modify-write is a store.
enum class Access : std::uint8_t { load, store };

// Virtual networks, in sink order: a message may only wait for messages of higher networks.
enum class Vnet : std::uint8_t { request, forward, response, writeback, memory };
inline constexpr unsigned kVnets = 5;

// One message. `type` is an event of the protocol; the meaning of the other fields is the type's.
// A message with data takes kDataFlits on the network, one without takes 1.
struct Message {
  std::uint64_t block = 0; // the environment sets it: the address over 64 (checker: 0, 1, ...)
  Data data;
  std::uint8_t type = 0;
  Node src, dst;          // the environment sets src (and dst in a multicast)
  Node requester;         // on whose behalf
  std::uint8_t count = 0; // tokens, or acknowledgements
  std::uint8_t flags = 0; // bits named by the protocol
  bool has_data = false;

  // Message::of(Event::data).to(node).on_behalf(requester).carrying(line.data)
  template <class Event> static constexpr Message of(Event event) {
    Message m;
    m.type = static_cast<std::uint8_t>(event);
    return m;
  }
  constexpr Message to(Node node) const {
    Message m = *this;
    m.dst = node;
    return m;
  }
  constexpr Message on_behalf(Node node) const {
    Message m = *this;
    m.requester = node;
    return m;
  }
  constexpr Message carrying(Data d) const {
    Message m = *this;
    m.data = d;
    m.has_data = true;
    return m;
  }
  constexpr Message counting(unsigned number) const {
    Message m = *this;
    m.count = static_cast<std::uint8_t>(number);
    return m;
  }
  constexpr Message flagged(unsigned bits) const {
    Message m = *this;
    m.flags = static_cast<std::uint8_t>(bits);
    return m;
  }
  friend constexpr bool operator==(const Message &, const Message &) = default;
};
static_assert(sizeof(Message) == 24);

} // namespace tandem::machine
