// Two objects' locks in an order that a comparison decides, in the spellings of C++.
// RUN: %cxx -std=c++20 %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json lock-order | %FileCheck %s --match-full-lines --strict-whitespace
#include <algorithm>
#include <compare>
#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
struct account {
  std::mutex lock;
  long balance = 0;
  int number = 0;
  char name[8] = "";
  bool operator<(const account &other) const { return number < other.number; }
};
static account accounts[3];

static void by_less(account *from, account *to) {
  account *first = from, *second = to;
  if (std::less<>{}(second, first))
    std::swap(first, second);
  std::lock_guard<std::mutex> one(first->lock);
  std::lock_guard<std::mutex> two(second->lock);
  --from->balance;
}
static void by_less_of_pointers(account &from, account &to) {
  const bool forward = std::less<account *>()(&from, &to);
  account &first = forward ? from : to, &second = forward ? to : from;
  std::unique_lock<std::mutex> one(first.lock);
  std::unique_lock<std::mutex> two(second.lock);
  --from.balance;
}
static void by_greater(account *from, account *to) {
  if (std::greater<const account *>{}(from, to))
    std::swap(from, to);
  std::lock_guard<std::mutex> one(from->lock);
  std::lock_guard<std::mutex> two(to->lock);
  --from->balance;
}
static void by_three_ways(account *from, account *to) {
  if (std::compare_three_way{}(from, to) > 0)
    std::swap(from, to);
  std::lock_guard<std::mutex> one(from->lock);
  std::lock_guard<std::mutex> two(to->lock);
  --from->balance;
}
static void by_spaceship(account *from, account *to) {
  if ((from <=> to) == std::strong_ordering::greater)
    std::swap(from, to);
  std::lock_guard<std::mutex> one(from->lock);
  std::lock_guard<std::mutex> two(to->lock);
  --from->balance;
}
static void by_numbers(account *from, account *to) {
  const auto here = reinterpret_cast<std::uintptr_t>(from);
  const auto there = reinterpret_cast<std::uintptr_t>(to);
  if (here > there)
    std::swap(from, to);
  std::lock_guard<std::mutex> one(from->lock);
  std::lock_guard<std::mutex> two(to->lock);
  --from->balance;
}
static void by_minmax(account *from, account *to) {
  const auto [first, second] = std::minmax(from, to);
  std::lock_guard<std::mutex> one(first->lock);
  std::lock_guard<std::mutex> two(second->lock);
  --from->balance;
}
static void by_min_and_max(account *from, account *to) {
  account *first = std::min(from, to), *second = std::max(from, to);
  std::lock_guard<std::mutex> one(first->lock);
  std::lock_guard<std::mutex> two(second->lock);
  --from->balance;
}
static void by_operator(account *from, account *to) {
  if (*to < *from)
    std::swap(from, to);
  std::lock_guard<std::mutex> one(from->lock);
  std::lock_guard<std::mutex> two(to->lock);
  --from->balance;
}
static void by_name(account *from, account *to) {
  const int order = std::strcmp(from->name, to->name);
  if (order > 0)
    std::swap(from, to);
  std::lock_guard<std::mutex> one(from->lock);
  std::lock_guard<std::mutex> two(to->lock);
  --from->balance;
}
static int compare(const account *a, const account *b) {
  return (a->number > b->number) - (a->number < b->number);
}
static void by_comparator(account *from, account *to) {
  if (compare(from, to) > 0) {
    account *other = from;
    from = to;
    to = other;
  }
  std::lock_guard<std::mutex> one(from->lock);
  std::lock_guard<std::mutex> two(to->lock);
  --from->balance;
}
static void by_lambda(account *from, account *to) {
  const auto before = [](const account *a, const account *b) { return a->number < b->number; };
  if (before(to, from))
    std::swap(from, to);
  std::lock_guard<std::mutex> one(from->lock);
  std::lock_guard<std::mutex> two(to->lock);
  --from->balance;
}
static void all(account *from, account *to) {
  by_less(from, to);
  by_less_of_pointers(*from, *to);
  by_greater(from, to);
  by_three_ways(from, to);
  by_spaceship(from, to);
  by_numbers(from, to);
  by_minmax(from, to);
  by_min_and_max(from, to);
  by_operator(from, to);
  by_name(from, to);
  by_comparator(from, to);
  by_lambda(from, to);
}
int main() {
  std::thread one([] { all(&accounts[0], &accounts[1]); });
  std::thread two([] { all(&accounts[1], &accounts[0]); });
  one.join();
  two.join();
}
// CHECK:0 findings
