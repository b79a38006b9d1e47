// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What follows from a hart's state: contexts of its TLBs, the host's floating-point environment.
#include "machine/hart/core.h"

namespace tandem::machine {

void HartCore::update_contexts() {
  const bool sv39 = satp::mode(state.satp) == satp::kSv39;
  const bool mprv = state.privilege == Privilege::machine && (state.status & status::kMprv) != 0;
  const auto data =
      mprv ? Privilege((state.status & status::kMpp) >> status::kMppShift) : state.privilege;
  data_translated = sv39 && data != Privilege::machine;
  fetch_translated = sv39 && state.privilege != Privilege::machine;
  const bool sum = (state.status & status::kSum) != 0;
  const bool mxr = (state.status & status::kMxr) != 0;
  data_walk = {state.satp, data == Privilege::user, sum, mxr};
  fetch_walk = {state.satp, state.privilege == Privilege::user, false, false};

  bool flush = false;
  std::uint64_t bare = 0;
  std::uint64_t mapped = 0;
  for (bool again = true; again;) {
    again = false;
    bare = spaces.slot(0, again);
    mapped = sv39 ? spaces.slot(state.satp, again) : bare;
    flush |= again;
  }
  if (flush)
    flush_all();
  tlb_context = bare << context::kSpaceShift;
  fetch_context = bare << context::kSpaceShift;
  if (data_translated)
    tlb_context = mapped << context::kSpaceShift | (mxr ? context::kMxr : 0) |
                  (data_walk.user ? context::kUser : 0) |
                  (sum && !data_walk.user ? context::kSum : 0);
  data_context = asks || timing.buffer.on() ? tlb_context | context::kNever : tlb_context;
  if (fetch_translated)
    fetch_context = mapped << context::kSpaceShift | (fetch_walk.user ? context::kUser : 0);
}

void HartCore::update_float() {
  fold_flags();
  const bool was = float_ready;
  float_ready = (state.status & status::kFs) == status::kFs;
  float_dynamic = float_ready && state.frm < host_float::kHostModes;
  if (in_burst && (was || float_ready))
    host_float::set(float_dynamic ? state.frm : 0);
}

void HartCore::make_float_dirty() {
  state.status |= status::kFs;
  update_float();
}

void HartCore::begin_float() {
  if (float_ready)
    host_float::set(float_dynamic ? state.frm : 0);
}

void HartCore::end_float() { fold_flags(); }

void HartCore::forget_code() {
  for (FetchEntry &entry : fetch_tlb)
    entry.tag = kNoTag;
}

void HartCore::flush_all() {
  tlb.flush();
  fetch_tlb.fill({});
  fetch_large.clear();
  walks.clear();
}

void HartCore::fence(const FenceRange &range) {
  const std::uint64_t slots_hit = range.asid ? spaces.with_asid(*range.asid) : ~std::uint64_t{0};
  if (!range.asid && range.start == 0 && range.size == ~std::uint64_t{0}) {
    flush_all();
    return;
  }
  if (timing.lines != nullptr)
    walks.clear();
  tlb.flush(range.start, range.size, slots_hit);
  const auto look = [&](FetchEntry &entry) {
    if (entry.translated != kNoTag &&
        (slots_hit >> (entry.translated >> context::kSpaceShift & (context::kSpaces - 1)) & 1) !=
            0 &&
        fence_covers(range.start, range.size, entry.translated & kPageMask,
                     static_cast<unsigned>(entry.level)))
      entry = {};
  };
  if (is_small_fence(range.start, range.size) && !fetch_large.near(range.start, range.size)) {
    const std::uint64_t last = (range.start + range.size - 1) >> kPageShift;
    for (std::uint64_t number = range.start >> kPageShift; number <= last; ++number)
      look(fetch_tlb[number & (fetch_tlb.size() - 1)]);
    return;
  }
  for (FetchEntry &entry : fetch_tlb)
    look(entry);
}

} // namespace tandem::machine
