#include "shapes.h"

#include <iostream>
#include <mutex>
#include <thread>
#include <vector>

static std::mutex lock;
static double total = 0;

int main() {
  std::vector<std::thread> threads;
  for (int i = 1; i <= 4; ++i)
    threads.emplace_back([i] {
      const auto shape = make_shape("square", i);
      const std::lock_guard<std::mutex> guard(lock);
      total += shape->area();
    });
  for (std::thread &thread : threads)
    thread.join();
  std::cout << "total " << total << " " << make_shape("unit", 0)->name() << "\n";
  try {
    make_shape("circle", 1);
  } catch (const NoSuchShape &error) {
    std::cout << "caught " << error.what() << "\n";
  }
  return dynamic_cast<NoSuchShape *>(static_cast<std::exception *>(nullptr)) == nullptr ? 0 : 1;
}
