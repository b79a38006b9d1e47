// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sparse directory protocol, whole: its controllers and its invariants.
#pragma once

#include "machine/protocol/sparse_directory/core.h"
#include "machine/protocol/sparse_directory/home.h"
#include "machine/protocol/sparse_directory/memory.h"
#include "machine/protocol/sparse_directory/protocol.h"

namespace tandem::machine {

// While the home has no transaction: owner and sharers cover all holders, each with what it may
// hold; sharers that do not leave silently hold a copy or have said that they dropped it; an LLC of
// victims keeps no clean copy of what a core owns; and without an owner the LLC, else memory, has
// the last value. A core that has given a block away keeps nothing of it.
template <class View> const char *SparseDirectory::violated(const View &view) {
  using L = Core::LineState;
  const auto &home = view.home();
  for (unsigned c = 0; c < view.cores(); ++c)
    if (view.core(c).tbe.state == Core::TbeState::II && view.core(c).tbe.data.value != 0)
      return "a core keeps what it has given away";
  if (home.tbe.state != Home::TbeState::none)
    return nullptr;
  if (home.line.state == Home::LineState::S && home.line.sharers.empty())
    return "a directory entry for nobody";
  for (unsigned c = 0; c < view.cores(); ++c) {
    const L state = view.core(c).line.state;
    if (!view.config().silent_shared && !view.config().transactions &&
        home.line.sharers.contains(Node::core(c)) && state != L::S &&
        view.core(c).tbe.state != Core::TbeState::II)
      return "a sharer that has no copy, and has nothing to tell";
    const bool owner = home.line.owner == Node::core(c);
    if (state == L::S && !home.line.sharers.contains(Node::core(c)))
      return "directory superset: a sharer that the directory does not know";
    if ((state == L::E || state == L::M) && !(owner && home.line.state == Home::LineState::EM))
      return "directory superset: an owner that the directory does not know";
    if (state == L::O && !(owner && home.line.state == Home::LineState::O))
      return "directory superset: an owner of a shared block that the directory does not know";
  }
  if (view.config().victim_llc && home.line.state == Home::LineState::EM && home.llc.present &&
      !home.llc.dirty)
    return "the LLC keeps a clean copy that it gave away";
  if (home.line.owner.is_none() &&
      (home.llc.present ? home.llc.data : view.memory().line.data).value == 0)
    return "nobody owns the block, and the home would hand out an old value";
  return nullptr;
}

} // namespace tandem::machine
