// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ordered containers whose nodes come from several places: what libstdc++ does when it links,
// rotates and unlinks nodes is only described to the analysis.
#include <map>
#include <set>
#include <thread>
#include <vector>

#include <tandem/tandem.hpp>

namespace {

std::map<int, long> accounts;
std::map<int, int *> owners;
std::set<int> names;
int people[64];
long paid;

void open(int key) {
  tandem::atomic([&] {
    accounts[key] += 1;
    owners.emplace(key, &people[key % 64]);
    names.insert(key * 7 % 64);
  });
}

void hint(int key) {
  tandem::atomic([&] { accounts.emplace_hint(accounts.end(), key + 1000, 1); });
}

void close_lowest() {
  tandem::atomic([&] {
    if (!names.empty())
      names.erase(names.begin());
    if (const auto last = accounts.rbegin(); last != accounts.rend())
      accounts.erase(last->first);
  });
}

void pay() {
  tandem::atomic([&] {
    for (auto &[key, owner] : owners)
      ++*owner;
    for (auto at = accounts.rbegin(); at != accounts.rend(); ++at)
      at->second++;
    ++paid;
  });
}

} // namespace

int main() {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < 120; ++i) {
        open((i * 13 + t) % 97);
        hint(i);
        close_lowest();
        if (i % 4 == 0)
          pay();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  return paid == 4L * 30 ? 0 : 1;
}
