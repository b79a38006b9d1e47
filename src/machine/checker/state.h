// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The whole system as the checker sees it, and its packed, canonical form.
//
// The packed form is a bit string made from the `fields` of each struct; it is injective, and
// unpack(pack(s)) == s. The canonical form is the smallest packed form over those permutations of
// the cores that sort them by a signature which itself does not depend on core numbers.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/check.h"
#include "machine/checker/options.h"
#include "machine/protocol/environment.h"

namespace tandem::machine::checker {

inline constexpr std::size_t kMessages = 40; // in flight, at most
inline constexpr std::size_t kWords = 64;    // of a packed state, with room to spare

struct Nothing {
  template <class Self, class V> static void fields(Self &, V &) {}
};
// A controller that a protocol does not have.
struct NoController {
  enum class State : std::uint8_t { none };
  struct Line : Nothing {
    State state{};
  };
  using Tbe = Line;
  using Llc = Nothing;
};

template <class C> using OrNone = std::conditional_t<std::is_void_v<C>, NoController, C>;
template <class P> using CoreOf = typename P::Core;
template <class P> using HomeOf = OrNone<typename P::Home>;
template <class P> using MemoryOf = OrNone<typename P::Memory>;

template <class C> struct AgentOfImpl {
  using type = Nothing;
};
template <class C>
  requires requires { typename C::Agent; }
struct AgentOfImpl<C> {
  using type = typename C::Agent;
};
template <class C> using AgentOf = typename AgentOfImpl<C>::type;

template <class C> struct Part {
  typename C::Line line;
  typename C::Tbe tbe;
  template <class Self, class V> static void fields(Self &s, V &v) {
    C::Line::fields(s.line, v);
    C::Tbe::fields(s.tbe, v);
  }
};
template <class C> struct HomePart : Part<C> {
  typename C::Llc llc;
  bool member = false; // of the filter
  template <class Self, class V> static void fields(Self &s, V &v) {
    Part<C>::fields(s, v);
    C::Llc::fields(s.llc, v);
    v("member", s.member, 1);
  }
};

// What a core or a device may have been asked for; 0 is nothing.
enum Asked : std::uint8_t { kLoad = 1, kStore, kLoadReserved, kStoreConditional };
constexpr Access access_of(std::uint8_t asked) {
  return asked == kLoad || asked == kLoadReserved ? Access::load : Access::store;
}

// Of a core, for a block; `broken` still stands, though another core or a device has stored since.
enum class Reservation : std::uint8_t { none, stands, broken };

// What a core's transaction has done to a block, and may insist on until it ends.
enum class Held : std::uint8_t { none, read, write };
constexpr bool conflicts(Held held, Access access) {
  return held == Held::write || (held == Held::read && access == Access::store);
}

template <class P> struct BlockState {
  std::array<Part<CoreOf<P>>, kCheckerCores> cores;
  HomePart<HomeOf<P>> home;
  Part<MemoryOf<P>> memory;
  std::array<bool, kCheckerCores> asked{}; // for the bus
  // The access that each core waits for: 0, or a number of Asked.
  std::array<std::uint8_t, kCheckerCores> pending{};
  std::uint8_t device = 0; // the same, of the device
  std::array<Reservation, kCheckerCores> reserved{};
  std::array<bool, kCheckerCores> transactional{}; // the pending access is a transaction's
  std::array<Held, kCheckerCores> held{};
  std::array<bool, kCheckerCores> refused{}; // the pending access, by another core's transaction
};

template <class P> struct State {
  std::array<BlockState<P>, kCheckerBlocks> blocks;
  std::array<AgentOf<CoreOf<P>>, kCheckerCores> agents;
  AgentOf<HomeOf<P>> home_agent;
  AgentOf<MemoryOf<P>> memory_agent;
  std::uint32_t in_flight = 0;
  std::array<Message, kMessages> messages;

  State() = default;
  State(const State &other) { *this = other; }
  State &operator=(const State &other) {
    static_assert(std::is_trivially_copyable_v<BlockState<P>>);
    blocks = other.blocks;
    agents = other.agents;
    home_agent = other.home_agent;
    memory_agent = other.memory_agent;
    in_flight = other.in_flight;
    std::copy_n(other.messages.begin(), in_flight, messages.begin());
    return *this;
  }
};

// A renaming of cores: to[old] is new.
struct Permutation {
  std::array<std::uint8_t, kCheckerCores> to{0, 1, 2, 3, 4};
  std::array<std::uint8_t, kCheckerCores> from{0, 1, 2, 3, 4};
};

// Widths that depend on the search.
struct Widths {
  unsigned cores = 0, node = 0, block = 0, type = 0, count = 0, flags = 0;
};

namespace detail {

// Nodes as small numbers: cores, then home, memory, bus, none.
inline unsigned small(Node n, unsigned cores) {
  return n.is_core() ? n.id : n.is_none() ? cores + 3 : cores + (n.id - Node::kHome);
}
inline Node large(unsigned number, unsigned cores) {
  return number < cores        ? Node::core(number)
         : number == cores + 3 ? Node::none()
                               : Node{static_cast<std::uint8_t>(Node::kHome + number - cores)};
}

template <class T> constexpr std::uint64_t number(const T &field) {
  return static_cast<std::uint64_t>(field);
}

inline std::uint64_t permuted(CoreSet set, const Permutation &p) {
  std::uint64_t result = 0;
  for (std::uint64_t left = set.bits; left != 0; left &= left - 1)
    result |= std::uint64_t{1} << p.to[static_cast<unsigned>(std::countr_zero(left))];
  return result;
}

// Appends bits to words.
class Writer {
public:
  Writer(std::uint64_t *out, const Widths &widths, const Permutation &permutation)
      : out_(out), w_(widths), p_(permutation) {}
  void put(std::uint64_t value, unsigned bits) {
    overflow_ |= value >> bits;
    word_ |= value << used_;
    used_ += bits;
    if (used_ >= 64) {
      *out_++ = word_;
      used_ -= 64;
      word_ = used_ == 0 ? 0 : value >> (bits - used_);
    }
  }
  template <class T> void operator()(const char *, const T &field, unsigned bits) {
    put(number(field), bits);
  }
  void operator()(const char *, const Data &data) { put(data.value, 1); }
  void operator()(const char *, const Node &node) { put(small_permuted(node), w_.node); }
  void operator()(const char *, const CoreSet &set) { put(permuted(set, p_), w_.cores); }
  unsigned small_permuted(Node node) const {
    return node.is_core() ? p_.to[node.id] : small(node, w_.cores);
  }
  // Notes bits of a field that are more than it says to have.
  void check(std::uint64_t too_many) { overflow_ |= too_many; }
  bool overflowed() const { return overflow_ != 0; }
  // Bytes written from `begin`. Nothing may be put afterwards.
  std::size_t finish(const std::uint64_t *begin) {
    const std::size_t bytes = static_cast<std::size_t>(out_ - begin) * 8 + (used_ + 7) / 8;
    *out_ = word_;
    return bytes;
  }

private:
  std::uint64_t *out_;
  const Widths &w_;
  const Permutation &p_;
  std::uint64_t word_ = 0, overflow_ = 0;
  unsigned used_ = 0;
};

class Reader {
public:
  Reader(const std::uint64_t *in, const Widths &widths) : in_(in), w_(widths) {}
  std::uint64_t get(unsigned bits) {
    std::uint64_t value = *in_ >> used_;
    if (used_ + bits > 64)
      value |= in_[1] << (64 - used_);
    used_ += bits;
    if (used_ >= 64) {
      ++in_;
      used_ -= 64;
    }
    return bits == 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
  }
  template <class T> void operator()(const char *, T &field, unsigned bits) {
    field = static_cast<T>(get(bits));
  }
  void operator()(const char *, Data &data) { data.value = static_cast<std::uint32_t>(get(1)); }
  void operator()(const char *, Node &node) {
    node = large(static_cast<unsigned>(get(w_.node)), w_.cores);
  }
  void operator()(const char *, CoreSet &set) { set.bits = get(w_.cores); }

private:
  const std::uint64_t *in_;
  const Widths &w_;
  unsigned used_ = 0;
};

inline std::uint64_t stir(std::uint64_t h, std::uint64_t value) {
  h = (h ^ value) * 0x9fb21c651e98df25U;
  return h ^ h >> 35;
}

// What one core's own struct says, but for the names of other cores.
struct OwnSignature {
  std::uint64_t h = 0;
  unsigned self = 0, cores = 0;
  template <class T> void operator()(const char *, const T &field, unsigned bits) {
    word = word << bits | number(field);
    used += bits;
    if (used > 48)
      flush();
  }
  void operator()(const char *, const Data &data) { operator()("", data.value, 1); }
  void operator()(const char *, const Node &node) {
    const unsigned n = small(node, cores);
    operator()("", n == self ? 0U : n < cores ? 1U : n - cores + 2, 3);
  }
  void operator()(const char *, const CoreSet &set) {
    operator()("", set.size() * 2 + (set.bits >> self & 1), 4);
  }
  void flush() {
    h = stir(h, word);
    word = 0;
    used = 0;
  }
  std::uint64_t word = 0;
  unsigned used = 0;
};

// How each core is named by a struct of nobody in particular.
struct Roles {
  std::array<std::uint64_t, kCheckerCores> roles{}; // a bit for each Node and CoreSet field
  std::uint32_t named = 0;                          // cores that a Node field names
  unsigned place = 0;
  template <class T> void operator()(const char *, const T &, unsigned) {}
  void operator()(const char *, const Data &) {}
  void operator()(const char *, const Node &node) {
    if (node.is_core()) {
      roles[node.id] |= std::uint64_t{1} << place;
      named |= 1U << node.id;
    }
    ++place;
  }
  void operator()(const char *, const CoreSet &set) {
    for (std::uint64_t left = set.bits; left != 0; left &= left - 1)
      roles[static_cast<unsigned>(std::countr_zero(left))] |= std::uint64_t{1} << place;
    ++place;
  }
};

// Every copy of a block becomes stale.
struct MakeStale {
  template <class T> void operator()(const char *, T &, unsigned) {}
  void operator()(const char *, Data &data) { data = {}; }
  void operator()(const char *, Node &) {}
  void operator()(const char *, CoreSet &) {}
};

struct CountFresh {
  unsigned fresh = 0;
  template <class T> void operator()(const char *, const T &, unsigned) {}
  void operator()(const char *, const Data &data) { fresh += data.value; }
  void operator()(const char *, const Node &) {}
  void operator()(const char *, const CoreSet &) {}
};

} // namespace detail

// Packs, unpacks and canonicalises the states of one search.
template <class P> class Packer {
public:
  explicit Packer(const Options &options, unsigned tokens)
      : cores_(options.cores), blocks_(options.blocks), ordered_(options.ordered),
        symmetry_(options.symmetry && P::kSymmetric), devices_(options.devices),
        reservations_(options.reservations), transactions_(options.transactions) {
    w_.cores = cores_;
    w_.node = static_cast<unsigned>(std::bit_width(cores_ + 3));
    w_.block = blocks_ > 1 ? 1 : 0;
    w_.type = static_cast<unsigned>(std::bit_width(std::size(P::kEvents)));
    w_.count = static_cast<unsigned>(std::bit_width(std::max(tokens, cores_)));
    w_.flags = static_cast<unsigned>(std::size(P::kFlags));
    CHECK(w_.block + w_.type + 3 * w_.node + w_.count + w_.flags + 5 <= 64);
  }

  using Buffer = std::array<std::uint64_t, kWords + 1>;

  // Empty if a number in the state is larger than its field says.
  std::span<const std::uint8_t> canonical(const State<P> &s, Buffer &buffer) const {
    if (!symmetry_ || cores_ == 1)
      return pack(s, Permutation{}, buffer);
    std::array<std::uint64_t, kCheckerCores> signature{};
    const std::uint32_t named = sign(s, signature);
    Permutation p;
    std::array<std::uint8_t, kCheckerCores> order{0, 1, 2, 3, 4};
    for (unsigned i = 1; i < cores_; ++i) // insertion sort: few, often sorted
      for (unsigned j = i; j > 0 && signature[order[j]] < signature[order[j - 1]]; --j)
        std::swap(order[j], order[j - 1]);
    set(p, order);
    std::span<const std::uint8_t> best = pack(s, p, buffer);
    for (unsigned i = 0; i + 1 < cores_; ++i)
      if (signature[order[i]] == signature[order[i + 1]] &&
          ((named >> order[i] | named >> order[i + 1]) & 1) != 0)
        return smallest(s, signature, order, buffer);
    return best;
  }

  std::span<const std::uint8_t> pack(const State<P> &s, const Permutation &p,
                                     Buffer &buffer) const {
    detail::Writer out(buffer.data(), w_, p);
    for (unsigned b = 0; b < blocks_; ++b) {
      for (unsigned c = 0; c < cores_; ++c)
        core_fields(s.blocks[b], p.from[c], out);
      HomePart<HomeOf<P>>::fields(s.blocks[b].home, out);
      Part<MemoryOf<P>>::fields(s.blocks[b].memory, out);
      if (devices_)
        out("device", s.blocks[b].device, 2);
    }
    for (unsigned c = 0; c < cores_; ++c)
      AgentOf<CoreOf<P>>::fields(s.agents[p.from[c]], out);
    AgentOf<HomeOf<P>>::fields(s.home_agent, out);
    AgentOf<MemoryOf<P>>::fields(s.memory_agent, out);
    std::array<std::uint64_t, kMessages> words;
    for (std::uint32_t i = 0; i < s.in_flight; ++i) {
      const std::uint64_t word = message_word(s.messages[i], out);
      std::uint32_t j = i;
      for (; j > 0 && key(word) < key(words[j - 1]); --j)
        words[j] = words[j - 1];
      words[j] = word;
    }
    out.put(s.in_flight, 6);
    for (std::uint32_t i = 0; i < s.in_flight; ++i)
      out.put(words[i], message_bits());
    if (out.overflowed()) // cannot be told apart from other states: the caller must give up
      return {};
    return {reinterpret_cast<const std::uint8_t *>(buffer.data()), out.finish(buffer.data())};
  }

  void unpack(std::span<const std::uint8_t> bytes, State<P> &s) const {
    Buffer words{};
    std::memcpy(words.data(), bytes.data(), bytes.size());
    detail::Reader in(words.data(), w_);
    for (unsigned b = 0; b < blocks_; ++b) {
      for (unsigned c = 0; c < cores_; ++c)
        core_fields(s.blocks[b], c, in);
      HomePart<HomeOf<P>>::fields(s.blocks[b].home, in);
      Part<MemoryOf<P>>::fields(s.blocks[b].memory, in);
      if (devices_)
        in("device", s.blocks[b].device, 2);
    }
    for (unsigned c = 0; c < cores_; ++c)
      AgentOf<CoreOf<P>>::fields(s.agents[c], in);
    AgentOf<HomeOf<P>>::fields(s.home_agent, in);
    AgentOf<MemoryOf<P>>::fields(s.memory_agent, in);
    s.in_flight = static_cast<std::uint32_t>(in.get(6));
    for (std::uint32_t i = 0; i < s.in_flight; ++i)
      s.messages[i] = message_of(in);
  }

private:
  template <class Block, class V> void core_fields(Block &block, unsigned core, V &v) const {
    Part<CoreOf<P>>::fields(block.cores[core], v);
    v("pending", block.pending[core], reservations_ ? 3 : 2);
    if (reservations_)
      v("reserved", block.reserved[core], 2);
    if (transactions_) {
      v("transactional", block.transactional[core], 1);
      v("held", block.held[core], 2);
      if constexpr (!P::kBus)
        v("refused", block.refused[core], 1);
    }
    if constexpr (P::kBus)
      v("asked", block.asked[core], 1);
  }

  // src, dst and virtual network are the high bits, so that they are the order of an ordered
  // network; the order within one pair and network is then kept.
  std::uint64_t message_word(const Message &m, detail::Writer &out) const {
    std::uint64_t word = out.small_permuted(m.src);
    word = word << w_.node | out.small_permuted(m.dst);
    word = word << 3 | static_cast<std::uint64_t>(P::kEvents[m.type].vnet);
    word = word << w_.type | m.type;
    word = word << w_.block | m.block;
    word = word << w_.node | out.small_permuted(m.requester);
    out.check(m.count >> w_.count | m.flags >> w_.flags);
    word = word << w_.count | m.count;
    word = word << w_.flags | m.flags;
    return word << 2 | static_cast<std::uint64_t>(m.has_data) << 1 | m.data.value;
  }
  unsigned low_bits() const { return w_.type + w_.block + w_.node + w_.count + w_.flags + 2; }
  unsigned message_bits() const { return 2 * w_.node + 3 + low_bits(); }
  std::uint64_t key(std::uint64_t word) const { return ordered_ ? word >> low_bits() : word; }

  Message message_of(detail::Reader &in) const {
    std::uint64_t word = in.get(message_bits());
    const auto take = [&word](unsigned bits) {
      const std::uint64_t value = word & ((std::uint64_t{1} << bits) - 1);
      word >>= bits;
      return static_cast<unsigned>(value);
    };
    Message m;
    m.data.value = take(1);
    m.has_data = take(1) != 0;
    m.flags = static_cast<std::uint8_t>(take(w_.flags));
    m.count = static_cast<std::uint8_t>(take(w_.count));
    m.requester = detail::large(take(w_.node), cores_);
    m.block = take(w_.block);
    m.type = static_cast<std::uint8_t>(take(w_.type));
    take(3);
    m.dst = detail::large(take(w_.node), cores_);
    m.src = detail::large(take(w_.node), cores_);
    return m;
  }

  static void set(Permutation &p, const std::array<std::uint8_t, kCheckerCores> &order) {
    p.from = order;
    for (unsigned i = 0; i < kCheckerCores; ++i)
      p.to[order[i]] = static_cast<std::uint8_t>(i);
  }

  // Fills in the signatures; returns the set of cores that something names singly.
  std::uint32_t sign(const State<P> &s, std::array<std::uint64_t, kCheckerCores> &signature) const {
    detail::Roles roles;
    for (unsigned b = 0; b < blocks_; ++b) {
      HomePart<HomeOf<P>>::fields(s.blocks[b].home, roles);
      Part<MemoryOf<P>>::fields(s.blocks[b].memory, roles);
    }
    AgentOf<HomeOf<P>>::fields(s.home_agent, roles);
    AgentOf<MemoryOf<P>>::fields(s.memory_agent, roles);
    for (unsigned c = 0; c < cores_; ++c) {
      detail::OwnSignature own;
      own.h = roles.roles[c];
      own.self = c;
      own.cores = cores_;
      for (unsigned b = 0; b < blocks_; ++b)
        core_fields(s.blocks[b], c, own);
      AgentOf<CoreOf<P>>::fields(s.agents[c], own);
      own.flush();
      signature[c] = own.h;
    }
    if constexpr (!kCoresNameNone)
      for (unsigned b = 0; b < blocks_; ++b)
        for (unsigned c = 0; c < cores_; ++c) {
          detail::Roles inner;
          Part<CoreOf<P>>::fields(s.blocks[b].cores[c], inner);
          for (unsigned d = 0; d < cores_; ++d)
            if (inner.roles[d] != 0)
              roles.named |= 1U << d;
        }
    for (std::uint32_t i = 0; i < s.in_flight; ++i) {
      const Message &m = s.messages[i];
      const std::uint64_t body = (std::uint64_t{m.type} << 32 | std::uint64_t{m.count} << 24 |
                                  std::uint64_t{m.flags} << 16 | m.block << 8 |
                                  std::uint64_t{m.has_data} << 1 | m.data.value);
      const auto name = [&](Node node, std::uint64_t role) {
        if (node.is_core()) {
          roles.named |= 1U << node.id;
          signature[node.id] += detail::stir(body, role);
        }
      };
      name(m.src, 1);
      name(m.dst, 2);
      name(m.requester, 3);
    }
    return roles.named;
  }
  static constexpr bool kCoresNameNone = false;

  // Over all orders that keep the signatures sorted.
  std::span<const std::uint8_t> smallest(const State<P> &s,
                                         const std::array<std::uint64_t, kCheckerCores> &signature,
                                         std::array<std::uint8_t, kCheckerCores> order,
                                         Buffer &buffer) const {
    std::sort(order.begin(), order.begin() + cores_, [&](unsigned a, unsigned b) {
      return signature[a] != signature[b] ? signature[a] < signature[b] : a < b;
    });
    Buffer other;
    std::span<const std::uint8_t> best;
    bool first = true;
    do {
      Permutation p;
      set(p, order);
      const auto packed = pack(s, p, first ? buffer : other);
      if (packed.empty())
        return packed;
      if (std::exchange(first, false)) {
        best = packed;
      } else if (packed.size() < best.size() ||
                 std::memcmp(packed.data(), best.data(), best.size()) < 0) {
        std::memcpy(buffer.data(), other.data(), packed.size());
        best = {reinterpret_cast<const std::uint8_t *>(buffer.data()), packed.size()};
      }
    } while (next_order(order, signature));
    return best;
  }

  // The next permutation within groups of equal signatures, the last group fastest.
  bool next_order(std::array<std::uint8_t, kCheckerCores> &order,
                  const std::array<std::uint64_t, kCheckerCores> &signature) const {
    unsigned end = cores_;
    while (end > 0) {
      unsigned begin = end - 1;
      while (begin > 0 && signature[order[begin - 1]] == signature[order[end - 1]])
        --begin;
      if (std::next_permutation(order.begin() + begin, order.begin() + end))
        return true;
      end = begin;
    }
    return false;
  }

  Widths w_;
  unsigned cores_, blocks_;
  bool ordered_, symmetry_, devices_, reservations_, transactions_;
};

} // namespace tandem::machine::checker
