// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/json.h"

#include <algorithm>
#include <utility>

namespace tandem::json_detail {

Error mistake_at(std::string_view text, const std::string &place, std::size_t read,
                 std::string_view message) {
  const std::string_view before = text.substr(0, std::min(read == 0 ? 0 : read - 1, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t newline = before.rfind('\n');
  const std::size_t column =
      newline == std::string_view::npos ? before.size() + 1 : before.size() - newline;
  return Error{fmt::format("{}:{}:{}: {}", place, line, column, message)};
}

bool Limits::refuse(std::string message) {
  if (mistake_.empty())
    mistake_ = std::move(message);
  return false;
}

bool Limits::spend(std::size_t bytes) {
  memory_ += bytes;
  return memory_ <= kMostJsonMemory ||
         refuse(fmt::format("would take more than {} MiB of memory, more than is given to a file",
                            kMostJsonMemory >> 20));
}

bool Limits::value(std::size_t bytes, bool plain) {
  plain_ = plain ? plain_ + 1 : 0;
  if (depth_ == 0)
    return refuse(fmt::format("/: must be {}, not one value",
                              root_ == JsonRoot::object ? "an object" : "a list"));
  if (plain_ > kMostJsonNumbers)
    return refuse(fmt::format("has a list of more than {} numbers, which no file that is read here "
                              "has",
                              kMostJsonNumbers));
  return spend(kValue + bytes);
}

bool Limits::open(JsonRoot kind) {
  plain_ = 0;
  if (depth_ == 0 && kind != root_)
    return refuse(root_ == JsonRoot::object ? "/: must be an object, not array"
                                            : "/: must be a list, not object");
  if (++depth_ > kMostJsonDepth)
    return refuse(fmt::format("nested more than {} deep", kMostJsonDepth));
  return spend(kValue + kContainer);
}

bool Limits::close() {
  plain_ = 0;
  --depth_;
  return true;
}

} // namespace tandem::json_detail
