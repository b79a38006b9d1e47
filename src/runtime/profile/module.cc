// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/profile/module.h"

#include "runtime/memory/pages.h"

#include <atomic>
#include <cstddef>
#include <cstring>
#include <dlfcn.h>
#include <link.h>

namespace tandem::profile {
namespace {

std::atomic<const Module *> newest{nullptr};

const Module *find(const char *path, std::uint64_t base, const Module *from,
                   const Module *end) noexcept {
  for (; from != end; from = from->next)
    if (from->base == base && std::strcmp(from->path, path) == 0)
      return from;
  return nullptr;
}

} // namespace

// Unlike dladdr, _dl_find_object waits for nobody who loads a library.
const Module *module_of(const void *address) noexcept {
  dl_find_object found;
  if (::_dl_find_object(const_cast<void *>(address), &found) != 0)
    return nullptr;
  const char *path = found.dlfo_link_map->l_name;
  const std::uint64_t base = found.dlfo_link_map->l_addr;
  const Module *first = newest.load(std::memory_order_acquire);
  if (const Module *known = find(path, base, first, nullptr); known != nullptr)
    return known;
  const std::size_t bytes = std::strlen(path) + 1;
  auto *made = static_cast<Module *>(
      memory::allocate_pages(sizeof(Module) + bytes, "the profile of a library"));
  auto *copy = reinterpret_cast<char *>(made + 1);
  std::memcpy(copy, path, bytes);
  *made = {copy, base, first};
  while (!newest.compare_exchange_weak(made->next, made, std::memory_order_acq_rel))
    if (const Module *known = find(path, base, made->next, first); known != nullptr) {
      memory::release_pages(made, sizeof(Module) + bytes);
      return known;
    }
  return made;
}

const Module *remembered_modules() noexcept { return newest.load(std::memory_order_acquire); }

} // namespace tandem::profile
