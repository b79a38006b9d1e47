// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/hart/code_cache.h"

#include <algorithm>
#include <cstring>

namespace tandem::machine {

CodeCache::CodeCache(Memory &memory, std::function<void(std::uint64_t)> withdraw,
                     std::function<void()> forget)
    : memory_(&memory), withdraw_(std::move(withdraw)), forget_(std::move(forget)),
      by_page_(memory.size() >> kPageShift) {
  memory.observe_code(this);
}

CodeCache::~CodeCache() { memory_->observe_code(nullptr); }

void CodeCache::reset(CodePage &page) {
  // Only the handlers: the instruction that causes this may be in the page and still needs the
  // rest.
  for (Slot &slot : page.slots)
    slot.handler = handlers_->decode;
  page.slots[CodePage::kSlots].handler = handlers_->page_end;
  page.slots[CodePage::kSlots + 1].handler = handlers_->page_end;
}

// From now on every store to the page is heard of.
void CodeCache::mark(CodePage &page) {
  page.marked = true;
  page.stores = 0;
  memory_->set_holds_code(page.physical, true);
  withdraw_(page.physical);
}

CodePage &CodeCache::page(std::uint64_t physical) {
  CodePage *&place = by_page_[(physical - memory_->base()) >> kPageShift];
  if (place != nullptr)
    return *place;
  if (pages_.size() < kPages) {
    pages_.push_back(std::make_unique<CodePage>());
    place = pages_.back().get();
  } else {
    place = pages_[oldest_].get();
    oldest_ = (oldest_ + 1) % kPages;
    by_page_[(place->physical - memory_->base()) >> kPageShift] = nullptr;
    memory_->set_holds_code(place->physical, false);
    forget_();
  }
  CodePage &page = *place;
  page.physical = physical & ~(kPageBytes - 1);
  page.marked = false; // until something is decoded
  reset(page);
  return page;
}

// Of a word that begins in the page; a 32-bit one that ends behind it is told by its length alone.
Instruction CodeCache::instruction_at(const CodePage &page, unsigned index) const {
  const std::byte *at = memory_->host(page.physical) + std::size_t{2} * index;
  std::uint16_t low = 0;
  std::memcpy(&low, at, sizeof low);
  std::uint32_t word = low;
  if (!is_compressed(word) && index + 1 < CodePage::kSlots)
    std::memcpy(&word, at, sizeof word);
  return decode(word);
}

void CodeCache::decode_slot(CodePage &page, unsigned index) {
  if (!page.marked)
    mark(page);
  const Instruction instruction = instruction_at(page, index);
  const unsigned next = index + instruction.length / 2;
  Slot &slot = page.slots[index];
  if (next > CodePage::kSlots) {
    slot.handler = handlers_->cross;
    return;
  }
  handlers_->fill_slot(slot, instruction, std::uint64_t{2} * index, false);
  if (watches(instruction)) {
    if (!page.watched)
      page.watched = std::make_unique<std::array<Handler, CodePage::kSlots>>();
    (*page.watched)[index] = slot.handler;
    slot.handler = handlers_->watched;
  } else {
    pair_up(page, index, next);
  }
  if (in_two_lines(index, instruction.length)) {
    page.crossing[index / (kLineBytes / 2)] = slot.handler;
    slot.handler = handlers_->two_lines;
  }
}

bool CodeCache::in_two_lines(unsigned index, unsigned length) const {
  constexpr unsigned kSlotsOfLine = kLineBytes / 2;
  return handlers_->two_lines != nullptr && length == 4 && index % kSlotsOfLine == kSlotsOfLine - 1;
}

// Gives the slot at `index` the handler of a pair, if there is one for it and the next.
void CodeCache::pair_up(CodePage &page, unsigned index, unsigned next) {
  if (next >= CodePage::kSlots)
    return;
  const Instruction second = instruction_at(page, next);
  if (next + second.length / 2 > CodePage::kSlots || in_two_lines(next, second.length) ||
      watches(second))
    return;
  Slot &slot = page.slots[index];
  Slot after{};
  handlers_->fill_slot(after, second, std::uint64_t{2} * next, false);
  if (const Handler both = handlers_->pair_of(slot.handler, after.handler)) {
    after.handler = page.slots[next].handler;
    page.slots[next] = after;
    slot.handler = both;
  }
}

bool CodeCache::writes_x(const Instruction &instruction) {
  switch (row_of(instruction.opcode).format) {
  case Format::store:
  case Format::b:
  case Format::fence:
  case Format::sfence:
  case Format::plain:
  case Format::from_register:
  case Format::float_load:
  case Format::float_store:
  case Format::float_r:
  case Format::float_r_rm:
  case Format::float_r4:
  case Format::float_rr_rm:
  case Format::float_rr_exact:
  case Format::int_to_float:
  case Format::int_to_float_rm:
  case Format::int_to_float_exact:
    return false;
  default:
    return instruction.opcode != Opcode::illegal;
  }
}

void CodeCache::watch_stack_pointer() {
  if (watch_)
    return;
  watch_ = true;
  for (const std::unique_ptr<CodePage> &page : pages_)
    reset(*page);
}

void CodeCache::use(const HandlerSet &handlers) {
  handlers_ = &handlers;
  for (const std::unique_ptr<CodePage> &page : pages_)
    reset(*page);
  forget_();
}

void CodeCache::code_written(std::uint64_t address, std::uint64_t size) {
  CodePage *page = by_page_[(address - memory_->base()) >> kPageShift];
  if (page == nullptr || !page->marked)
    return;
  if (++page->stores > kStores) {
    // Mostly data by now. What runs in it meets the decoder, which marks it again.
    reset(*page);
    page->marked = false;
    memory_->set_holds_code(page->physical, false);
    return;
  }
  // An instruction that holds a byte of the range may begin a halfword before it, and be the second
  // of a pair that begins two before that.
  const std::uint64_t offset = address & (kPageBytes - 1);
  const std::uint64_t first = offset / 2 - std::min<std::uint64_t>(offset / 2, 3);
  const std::uint64_t last = (offset + size - 1) / 2;
  for (std::uint64_t slot = first; slot <= last; ++slot)
    page->slots[slot].handler = handlers_->decode;
}

} // namespace tandem::machine
