// Two objects' locks whose order nothing decides, although something is asked of the two before.
// RUN: %cxx -std=c++20 %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json lock-order | %FileCheck %s
#include <cstring>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
struct by_nothing {
  std::mutex lock;
  long balance = 0;
};
struct by_equality {
  std::mutex lock;
  long balance = 0;
  char name[8] = "";
};
struct by_a_limit {
  std::mutex lock;
  long balance = 0;
};
struct by_both {
  std::mutex lock;
  long balance = 0;
};
struct by_a_sum {
  std::mutex lock;
  long balance = 0;
};
struct table {
  unsigned count = 2;
  struct item {
    std::mutex lock;
    long balance = 0;
  } items[4];
};
static long limit = 3;

static void swapped(by_nothing *from, by_nothing *to) {
  std::swap(from, to);
  std::lock_guard<std::mutex> one(from->lock);
  std::lock_guard<std::mutex> two(to->lock);
  --from->balance;
}
static bool same(const by_equality *a, const by_equality *b) {
  return a == b || std::strcmp(a->name, b->name) == 0;
}
static void unless_same(by_equality *from, by_equality *to) {
  if (std::equal_to<>{}(from, to) || same(from, to) || std::strcmp(from->name, to->name) == 0)
    return;
  std::lock_guard<std::mutex> one(from->lock);
  std::lock_guard<std::mutex> two(to->lock);
  --from->balance;
}
static void if_enough(by_a_limit *from, by_a_limit *to) {
  if (std::less<>{}(from->balance, limit))
    return;
  std::lock_guard<std::mutex> one(from->lock);
  std::lock_guard<std::mutex> two(to->lock);
  --from->balance;
}
static void behind_one(by_both *from, by_both *to) {
  std::lock_guard<std::mutex> one(from->lock);
  std::lock_guard<std::mutex> two(to->lock);
  if (std::less<>{}(from, to))
    --from->balance;
}
static long sum(by_a_sum *a, by_a_sum *b) {
  const long all = a->balance + b->balance;
  return all < limit ? limit : all;
}
static void if_rich(by_a_sum *from, by_a_sum *to) {
  if (sum(from, to) < 100)
    return;
  std::lock_guard<std::mutex> one(from->lock);
  std::lock_guard<std::mutex> two(to->lock);
  --from->balance;
}
static void within_bounds(table *all, unsigned from, unsigned to) {
  if (from >= all->count || to >= all->count)
    return;
  std::lock_guard<std::mutex> one(all->items[from].lock);
  std::lock_guard<std::mutex> two(all->items[to].lock);
  --all->items[from].balance;
}
static table everything;
static by_nothing nothings[2];
static by_equality equalities[2];
static by_a_limit limits[2];
static by_both boths[2];
static by_a_sum sums[2];
static void all(int from, int to) {
  swapped(&nothings[from], &nothings[to]);
  unless_same(&equalities[from], &equalities[to]);
  if_enough(&limits[from], &limits[to]);
  behind_one(&boths[from], &boths[to]);
  if_rich(&sums[from], &sums[to]);
  within_bounds(&everything, static_cast<unsigned>(from), static_cast<unsigned>(to));
}
int main() {
  std::thread one([] { all(0, 1); });
  std::thread two([] { all(1, 0); });
  one.join();
  two.join();
}
// CHECK: {{^}}6 findings
