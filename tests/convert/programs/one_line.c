// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Records without a name, two by two in one line: the locks of some are sections, those of the
// others stay real.
#include "threads.h"

// clang-format off
typedef struct { pthread_mutex_t lock; long n; } first; typedef struct { pthread_mutex_t lock; long n; } second;
struct both { struct { pthread_mutex_t lock; long n; } left; struct { pthread_mutex_t lock; long n; } right; };
// clang-format on

static first *a;
static second *b;
static struct both *c;

static void work(unsigned thread) {
  (void)thread;
  for (long i = 0; i < kRounds; ++i) {
    pthread_mutex_lock(&a->lock);
    ++a->n;
    pthread_mutex_unlock(&a->lock);
    pthread_mutex_lock(&b->lock);
    ++b->n;
    pthread_mutex_unlock(&b->lock);
    pthread_mutex_lock(&c->left.lock);
    ++c->left.n;
    pthread_mutex_unlock(&c->left.lock);
    pthread_mutex_lock(&c->right.lock);
    ++c->right.n;
    pthread_mutex_unlock(&c->right.lock);
  }
}

int main(int argc, char **argv) {
  a = calloc(1, sizeof *a);
  b = calloc(1, sizeof *b);
  c = calloc(1, sizeof *c);
  const long all = kRounds * (long)run(argc, argv, work);
  return expect("first", a->n, all) + expect("second", b->n, all) + expect("left", c->left.n, all) +
         expect("right", c->right.n, all);
}
