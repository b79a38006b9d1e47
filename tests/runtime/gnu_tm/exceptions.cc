// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exceptions that leave transactions, are handled in them, and are undone in the middle, while
// other threads make the transactions restart.
#include "check.h"

#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string.h>

static long shared[4];
static long rounds = 3000; // the first argument
static bool failed;

struct Trouble {
  long value;
};

static void leave(long value) {
  try {
    __transaction_atomic {
      ++shared[0];
      ++shared[1];
      throw Trouble{value};
    }
  } catch (const Trouble &trouble) {
    if (trouble.value != value || std::uncaught_exceptions() != 0)
      failed = true;
  }
}

__attribute__((transaction_safe)) static long handle(long value) {
  long caught = 0;
  try {
    ++shared[2];
    if (value % 2 == 0)
      throw value;
  } catch (long inner) {
    caught = inner + 1;
  }
  ++shared[3];
  return caught;
}

static void inside(long value) {
  long caught = 0;
  __transaction_atomic { caught = handle(value); }
  if (caught != (value % 2 == 0 ? value + 1 : 0) || std::uncaught_exceptions() != 0)
    failed = true;
}

static void cancelled_in_handler(long value) {
  __transaction_atomic {
    ++shared[0];
    try {
      throw value;
    } catch (long) {
      __transaction_cancel;
    }
  }
  if (std::uncaught_exceptions() != 0 || std::current_exception() != nullptr)
    failed = true;
}

// libstdc++'s own clones fill the exception by plain stores.
static void library(long value) {
  try {
    __transaction_atomic {
      ++shared[0];
      ++shared[1];
      throw std::runtime_error("trouble");
    }
  } catch (const std::runtime_error &error) {
    if (strcmp(error.what(), "trouble") != 0)
      failed = true;
  }
  (void)value;
}

static void *work(void *argument) {
  for (long i = 0; i < rounds; ++i) {
    leave(i);
    inside(i);
    cancelled_in_handler(i);
    library(i);
  }
  return argument;
}

int main(int argc, char **argv) {
  if (argc > 1)
    rounds = std::atol(argv[1]);
  work(nullptr);
  EXPECT(shared[0] == 2 * rounds && shared[1] == 2 * rounds && shared[2] == rounds &&
         shared[3] == rounds);
  pthread_t threads[3];
  for (pthread_t &thread : threads)
    EXPECT(pthread_create(&thread, nullptr, work, nullptr) == 0);
  for (pthread_t &thread : threads)
    pthread_join(thread, nullptr);
  EXPECT(!failed);
  EXPECT(shared[0] == 8 * rounds && shared[1] == 8 * rounds && shared[2] == 4 * rounds &&
         shared[3] == 4 * rounds);
}
