// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same for C++: containers, lambdas, virtual functions, shared pointers, std::thread and
// guards.
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Account {
  virtual ~Account() = default;
  virtual void add(int by) = 0;
  long balance = 0;
};
struct Plain : Account {
  void add(int by) override { balance += by; }
};
struct Counted : Account {
  void add(int by) override {
    balance += by;
    ++operations;
  }
  long operations = 0;
};

std::mutex gate;
std::map<int, std::string> names;
std::vector<int> values;
std::vector<std::unique_ptr<Account>> accounts;
std::shared_ptr<std::vector<long>> history;
thread_local int calls;

void put(int key) {
  const std::lock_guard<std::mutex> guard(gate);
  names[key % 16] += 'x';
  if (names[key % 16].size() > 40)
    names.erase(key % 16);
}

__attribute__((atomic)) void push(int value) {
  values.push_back(value);
  ++calls;
  if (values.size() > 100)
    values.clear();
}

__attribute__((atomic)) void pay(int i) { accounts[static_cast<unsigned>(i) % 2]->add(i); }

void remember(long what) {
  const auto own = history;
  std::unique_lock<std::mutex> lock(gate);
  own->push_back(what);
  lock.unlock();
}

} // namespace

int main() {
  accounts.push_back(std::make_unique<Plain>());
  accounts.push_back(std::make_unique<Counted>());
  history = std::make_shared<std::vector<long>>();
  long sum = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t, &sum] {
      for (int i = 0; i < 300; ++i) {
        put(i + t);
        push(i);
        pay(i);
        remember(i);
        const std::lock_guard<std::mutex> guard(gate);
        sum += i;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  return sum == 4L * 300 * 299 / 2 ? 0 : 1;
}
