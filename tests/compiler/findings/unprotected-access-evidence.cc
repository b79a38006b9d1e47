// No evidence: behind a call by pointer into many functions; into an object that the caller has just made; run once.
// RUN: %cxx %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json unprotected-access | %FileCheck %s --match-full-lines --strict-whitespace
#include <mutex>
#include <thread>
struct Item {
  int count;
  Item *next;
};
static std::mutex lock;
static std::once_flag once;
static Item *list, *table;
static int one, two, three, four, five, chosen;
static void first() { ++one; }
static void second() { ++two; }
static void third() { ++three; }
static void fourth() { ++four; }
static void fifth() { ++five; }
static void (*const all[])() = {first, second, third, fourth, fifth};
static void (*pick(int n))() { return all[n % 5]; }
static void clear(Item *item) { item->count = 0; }
static Item *get() {
  std::call_once(once, [] { table = new Item{0, nullptr}; });
  return table;
}
static void push() {
  Item *fresh = new Item{0, nullptr};
  clear(fresh);
  std::lock_guard<std::mutex> guard(lock);
  fresh->next = list;
  list = fresh;
  clear(list);
}
static void work(int n) {
  pick(n)();
  push();
  {
    std::lock_guard<std::mutex> guard(lock);
    get()->count += n;
    pick(n)();
    ++chosen;
  }
  get();
  ++chosen; // the one that is
}
int main() {
  std::thread a(work, 3), b(work, 4);
  a.join();
  b.join();
}
// CHECK:44: 'chosen' is written here outside all sections, and written in section 'work(int)_1'
// CHECK-NEXT:  41: written here in section 'work(int)_1'
// CHECK:1 findings
