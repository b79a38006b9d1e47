// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What holds in every reachable state of FLASK and MOSAIC, beyond what the checker asks of every
// protocol.
#pragma once

#include "machine/protocol/flask/messages.h"

namespace tandem::machine::flask {

struct Census {
  unsigned tokens = 0, owners = 0;
  bool dirty = false; // some copy says that memory's is stale
  void add(unsigned count, unsigned flags) {
    tokens += count;
    owners += (flags & kOwner) != 0 && count != 0;
    dirty = dirty || (flags & kDirty) != 0;
  }
};

template <class View> Census census(const View &view) {
  using Core = std::remove_cvref_t<decltype(view.core(0))>;
  Census all;
  for (unsigned c = 0; c < view.cores(); ++c) {
    using L = decltype(Core{}.line.state);
    const auto &line = view.core(c).line;
    const bool owner = line.state != L::I && line.state != L::N && line.state != L::S;
    const bool dirty = line.state == L::D || line.state == L::M;
    all.add(line.tokens, (owner ? kOwner : 0U) | (dirty ? kDirty : 0U));
  }
  all.add(view.home().llc.tokens, view.home().llc.flags);
  using L = decltype(view.memory().line.state);
  if (view.memory().line.state == L::full)
    all.add(view.tokens(), kOwner);
  view.each_message([&](const Message &m) {
    const auto event = static_cast<Event>(m.type);
    if (event == Event::tokens || event == Event::put || event == Event::recalled ||
        event == Event::write_back)
      all.add(m.count, m.flags);
  });
  return all;
}

template <class View> bool holders_tracked(const View &view) {
  const auto &home = view.home();
  using L = decltype(home.line.state);
  if (home.line.state != L::T)
    return true;
  for (unsigned c = 0; c < view.cores(); ++c)
    if (view.core(c).line.tokens != 0 && !home.line.sharers.contains(Node::core(c)) &&
        home.tbe.requester != Node::core(c))
      return false;
  return true;
}

// With nothing under way, an entry is for someone. It may name more cores than hold tokens: a Put
// overtakes its core's Unblock.
template <class View> bool entry_of_use(const View &view) {
  const auto &home = view.home();
  using L = decltype(home.line.state);
  if (home.line.state != L::T || !view.quiet())
    return true;
  for (unsigned c = 0; c < view.cores(); ++c)
    if (view.core(c).line.tokens != 0)
      return true;
  return false;
}

// Whether the home asks as the options say: `parallel`, memory together with the cores; two phases,
// only whom it has found, each once it has said what it holds.
template <class View> const char *asked_wrongly(const View &view, bool parallel) {
  const auto &tbe = view.home().tbe;
  using T = decltype(tbe.state);
  CoreSet told;    // to give tokens
  CoreSet queried; // what they hold
  view.each_message([&](const Message &m) {
    if (m.type == static_cast<std::uint8_t>(Event::fwd_s) ||
        m.type == static_cast<std::uint8_t>(Event::fwd_x))
      told = told.with(m.dst);
    if (m.type == static_cast<std::uint8_t>(Event::query))
      queried = queried.with(m.dst);
  });
  const bool forwards = !told.empty();
  const bool queries = tbe.state == T::load_query || tbe.state == T::store_query;
  if (queries && !view.config().two_phase)
    return "the home counts holders, though reconstruction is in one phase";
  if (queries && tbe.answers == 0)
    return "the home counts holders, and nobody is to answer";
  if (queries && tbe.asked && !parallel)
    return "the home counts holders, and has asked memory";
  if (tbe.state == T::load_query && forwards)
    return "the home looks for the owner, and has told a core to give";
  for (unsigned c = 0; c < view.cores(); ++c)
    if (told.contains(Node::core(c)) && queried.contains(Node::core(c)))
      return "a core is told to give tokens before it has said what it holds";
  if (view.config().two_phase && forwards && !tbe.seen)
    return "cores are asked for tokens before holders were found";
  const bool asks = queries || (forwards && (tbe.state == T::load || tbe.state == T::store));
  if (parallel && asks && !tbe.seen && !tbe.asked)
    return "cores are asked, and memory is not";
  return nullptr;
}

// `chip_scope`: what membership means, between transactions.
template <class View>
const char *violated(const View &view, bool filter, bool chip_scope, bool parallel) {
  const Census all = census(view);
  const auto &home = view.home();
  if (all.tokens != view.tokens())
    return "tokens were made or lost";
  if (all.owners != 1)
    return "there is not exactly one owner token";
  if (!all.dirty && view.memory().line.data.value == 0)
    return "no copy is dirty, and memory's is stale";
  if (all.dirty && view.memory().line.data.value != 0 && !view.conditional_stores())
    return "a copy is called dirty, and memory has the last value";
  if (const char *what = asked_wrongly(view, parallel); what != nullptr)
    return what;
  if (home.llc.tokens != 0 && home.llc.data.value == 0 &&
      home.tbe.state != decltype(home.tbe.state)::device)
    return "the LLC has tokens and stale data";
  if (!holders_tracked(view))
    return "the directory's sharers are no superset of the holders";
  if (!entry_of_use(view))
    return "a directory entry for nobody";
  using Memory = decltype(view.memory().line.state);
  using T = decltype(home.tbe.state);
  if (filter && home.tbe.state == T::none) {
    const bool in_memory = view.memory().line.state == Memory::full;
    const bool member = !in_memory && (chip_scope || home.llc.tokens != view.tokens());
    if (member && !home.member)
      return "the filter has a false negative";
    if (!member && home.member)
      return "the filter leaks";
  }
  return nullptr;
}

} // namespace tandem::machine::flask
