// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a path of canonical states to a chart of what happens, with core numbers that stay.
#pragma once

#include <fmt/format.h>

#include "machine/checker/chart.h"
#include "machine/checker/engine.h"

namespace tandem::machine::checker {

// `name=value` of the fields that are not zero.
struct Describe {
  std::string text;
  template <class T> void operator()(const char *name, const T &field, unsigned) {
    if (detail::number(field) != 0 && std::string_view(name) != "state")
      add(name, fmt::format("{}", detail::number(field)));
  }
  void operator()(const char *name, const Data &data) {
    if (data.value != 0)
      add(name, "fresh");
  }
  void operator()(const char *name, const Node &node) {
    if (!node.is_none())
      add(name, node_name(node));
  }
  void operator()(const char *name, const CoreSet &set) {
    if (set.empty())
      return;
    std::string members;
    for (std::uint64_t left = set.bits; left != 0; left &= left - 1)
      members += fmt::format("{}{}", members.empty() ? "" : ",", std::countr_zero(left));
    add(name, "{" + members + "}");
  }
  void add(const char *name, const std::string &value) {
    text += fmt::format(" {}={}", name, value);
  }
  static std::string node_name(Node node) {
    return node.is_core()           ? fmt::format("C{}", node.id)
           : node == Node::home()   ? "H"
           : node == Node::memory() ? "M"
           : node == Node::bus()    ? "bus"
                                    : "nobody";
  }
};

template <class P> std::string describe_message(const Message &m, unsigned blocks) {
  std::string text = P::kEvents[m.type].name;
  if (m.count != 0)
    text += fmt::format(" n={}", m.count);
  if (!m.requester.is_none())
    text += " for " + Describe::node_name(m.requester);
  for (std::size_t f = 0; f < std::size(P::kFlags); ++f)
    if ((m.flags >> f & 1) != 0)
      text += fmt::format(" {}", P::kFlags[f]);
  if (m.has_data)
    text += m.data.value != 0 ? " data" : " (stale data)";
  if (blocks > 1)
    text += fmt::format(" [{}]", m.block);
  return text;
}

template <class P> class Tracer {
public:
  Tracer(Engine<P> &engine, const Packer<P> &packer)
      : engine_(engine), packer_(packer), columns_(column_names()), chart_(columns_) {}

  // Draws the steps from the initial state through the canonical states of `path`. With `last`,
  // then one more step, which fails; returns false if it does not fail from here.
  std::string draw(const std::vector<std::vector<std::uint8_t>> &path, bool then_fail,
                   const std::string &violation) {
    State<P> s = engine_.initial();
    for (std::size_t i = 1; i < path.size(); ++i)
      CHECK(step_to(s, path[i]), "the path of a counterexample cannot be followed");
    if (then_fail)
      fail_from(s, violation);
    chart_.text("");
    chart_.text("at the end: " + violation);
    state_of(s);
    return chart_.str();
  }

private:
  std::vector<std::string> column_names() const {
    std::vector<std::string> names;
    for (unsigned c = 0; c < engine_.options().cores; ++c)
      names.push_back(fmt::format("C{}", c));
    if (Engine<P>::kHasHome)
      names.emplace_back("Home");
    if (Engine<P>::kHasMemory)
      names.emplace_back("Memory");
    return names;
  }
  std::size_t column(Node n) const {
    const unsigned cores = engine_.options().cores;
    return n.is_core() ? n.id : n == Node::home() ? cores : cores + (Engine<P>::kHasHome ? 1 : 0);
  }

  bool step_to(State<P> &s, const std::vector<std::uint8_t> &wanted) {
    std::vector<Move> moves;
    engine_.each_move(s, [&](const Move &move) { moves.push_back(move); });
    for (Move move : moves)
      do {
        State<P> next = s;
        Record record;
        std::uint32_t choice = 0;
        const Outcome outcome = engine_.run(s, next, move, &choice, &record);
        typename Packer<P>::Buffer buffer;
        if (outcome == Outcome::done) {
          const auto packed = packer_.canonical(next, buffer);
          if (std::equal(packed.begin(), packed.end(), wanted.begin(), wanted.end())) {
            show(s, next, record);
            s = next;
            return true;
          }
        }
        move.choice = choice;
      } while (move.choice != 0);
    return false;
  }

  void fail_from(State<P> &s, const std::string &violation) {
    std::vector<Move> moves;
    engine_.each_move(s, [&](const Move &move) { moves.push_back(move); });
    for (Move move : moves)
      do {
        State<P> next = s;
        Record record;
        std::uint32_t choice = 0;
        if (engine_.run(s, next, move, &choice, &record) == Outcome::failed &&
            engine_.failure() == violation) {
          show(s, next, record);
          s = next;
          return;
        }
        move.choice = choice;
      } while (move.choice != 0);
  }

  template <class C> std::string state_name(const Part<C> &part) const {
    return fmt::format("{}/{}", C::kLineStates[static_cast<std::size_t>(part.line.state)].name,
                       C::kTbeStates[static_cast<std::size_t>(part.tbe.state)].name);
  }
  std::string state_name(const State<P> &s, Node at, unsigned block) const {
    if (at.is_core())
      return state_name<typename P::Core>(s.blocks[block].cores[at.id]);
    if constexpr (Engine<P>::kHasHome)
      if (at == Node::home())
        return state_name<typename P::Home>(s.blocks[block].home);
    if constexpr (Engine<P>::kHasMemory)
      if (at == Node::memory())
        return state_name<typename P::Memory>(s.blocks[block].memory);
    return "";
  }

  void show(const State<P> &before, const State<P> &after, const Record &record) {
    const unsigned blocks = engine_.options().blocks;
    if (record.move.message)
      chart_.arrow(column(record.delivered.src), column(record.delivered.dst),
                   describe_message<P>(record.delivered, blocks));
    const unsigned block = record.move.block;
    if (record.move.release) {
      chart_.note(column(record.move.at), fmt::format("its transaction ends [{}]", block));
      return;
    }
    std::string line = record.move.message ? "" : std::string(P::kEvents[record.move.event].name);
    if (!record.move.message && blocks > 1)
      line += fmt::format(" [{}]", block);
    if (record.move.transactional)
      line += " in a transaction";
    const std::string was = state_name(before, record.move.at, block);
    const std::string is = state_name(after, record.move.at, block);
    line += fmt::format("{}{}", line.empty() ? "" : "  ", was == is ? is : was + " -> " + is);
    for (const Message &m : record.sent)
      line += fmt::format("; sends {} to {}", describe_message<P>(m, blocks),
                          Describe::node_name(m.dst));
    chart_.note(column(record.move.at), line);
    for (const auto &taken : record.rows)
      if (taken.at != record.move.at) {
        const std::string then = state_name(before, taken.at, block);
        const std::string now = state_name(after, taken.at, block);
        chart_.note(column(taken.at), fmt::format("{}  {}", P::kEvents[taken.event].name,
                                                  then == now ? now : then + " -> " + now));
      }
  }

  template <class C> void part_of(const char *name, const Part<C> &part) {
    Describe d;
    Part<C>::fields(part, d);
    chart_.text(fmt::format("  {:<7} {}{}", name, state_name<C>(part), d.text));
  }

  // All of the state, field by field.
  void state_of(const State<P> &s) {
    const Options &o = engine_.options();
    for (unsigned b = 0; b < o.blocks; ++b) {
      if (o.blocks > 1)
        chart_.text(fmt::format("block {}", b));
      for (unsigned c = 0; c < o.cores; ++c) {
        part_of<typename P::Core>(fmt::format("C{}", c).c_str(), s.blocks[b].cores[c]);
        if (s.blocks[b].held[c] != Held::none)
          chart_.text(fmt::format("          its transaction has {} it",
                                  s.blocks[b].held[c] == Held::read ? "read" : "written"));
      }
      if constexpr (Engine<P>::kHasHome) {
        Describe d;
        HomePart<typename P::Home>::fields(s.blocks[b].home, d);
        chart_.text(fmt::format("  {:<7} {}{}", "Home",
                                state_name<typename P::Home>(s.blocks[b].home), d.text));
      }
      if constexpr (Engine<P>::kHasMemory)
        part_of<typename P::Memory>("Memory", s.blocks[b].memory);
    }
    for (std::uint32_t i = 0; i < s.in_flight; ++i)
      chart_.text(fmt::format("  in flight: {} -> {}: {}", Describe::node_name(s.messages[i].src),
                              Describe::node_name(s.messages[i].dst),
                              describe_message<P>(s.messages[i], o.blocks)));
  }

  Engine<P> &engine_;
  const Packer<P> &packer_;
  std::vector<std::string> columns_;
  Chart chart_;
};

} // namespace tandem::machine::checker
