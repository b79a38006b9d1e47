// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory reached in many ways, by sections of several threads: lists on the heap, arrays in
// structs, function pointers, callbacks, copied structs, unions, variable arguments, container_of.
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ATOMIC __attribute__((atomic))
enum { kThreads = 4, kRounds = 300, kSlots = 8 };

struct link {
  struct link *next;
};
struct node {
  int key;
  struct link in_list;
  int hits[4];
};
#define CONTAINER(pointer) ((struct node *)((char *)(pointer) - offsetof(struct node, in_list)))

static struct link list;
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;

static void add(int key) {
  struct node *fresh = calloc(1, sizeof *fresh);
  if (fresh == NULL)
    abort();
  fresh->key = key;
  pthread_mutex_lock(&list_lock);
  fresh->in_list.next = list.next;
  list.next = &fresh->in_list;
  pthread_mutex_unlock(&list_lock);
}

ATOMIC static int find(int key) {
  for (struct link *at = list.next; at != NULL; at = at->next)
    if (CONTAINER(at)->key == key)
      return ++CONTAINER(at)->hits[key % 4];
  return 0;
}

// Function pointers: in a table, and passed on.
static long sums[2];
static void add_to_first(int by) { sums[0] += by; }
static void add_to_second(int by) { sums[1] += by; }
static void (*const operations[2])(int) = {add_to_first, add_to_second};
static void apply(void (*operation)(int), int by) { operation(by); }
ATOMIC static void through_table(int i) { operations[i % 2](i); }
ATOMIC static void through_argument(int i) { apply(i % 3 == 0 ? add_to_first : add_to_second, i); }

// A callback of the C library, which compares what it is given and counts.
static int slots[kSlots];
static long comparisons;
static int compare(const void *a, const void *b) {
  ++comparisons;
  return *(const int *)a - *(const int *)b;
}
ATOMIC static void sort_slots(int i) {
  slots[i % kSlots] = i * 7919 % 1000;
  qsort(slots, kSlots, sizeof *slots, compare);
}

// Structs with pointers, copied whole and by memcpy.
struct view {
  int *data;
  size_t length;
  char name[24];
};
static struct view current, previous;
ATOMIC static void swap_views(int i) {
  const struct view old = current;
  current = previous;
  memcpy(&previous, &old, sizeof old);
  if (current.length > 0)
    current.data[(size_t)i % current.length] += i;
}
ATOMIC static void by_value_of(struct view copy, int i) { copy.data[(size_t)i % copy.length] -= 1; }

// Unions, and a pointer kept as a number.
union word {
  uintptr_t number;
  int *pointer;
};
static int target;
static union word kept;
ATOMIC static void through_union(int by) { *kept.pointer += by; }
ATOMIC static void through_number(int by) {
  int *pointer = (int *)(kept.number & ~(uintptr_t)1);
  *pointer -= by;
}

// Variable arguments that are pointers.
static int first_total, second_total;
static void add_all(int count, ...) {
  va_list arguments;
  va_start(arguments, count);
  for (int i = 0; i < count; ++i)
    ++*va_arg(arguments, int *);
  va_end(arguments);
}
ATOMIC static void variable(void) { add_all(2, &first_total, &second_total); }

// A stack variable of main that all threads reach.
struct board {
  pthread_rwlock_t lock;
  int cells[kSlots];
  struct board *self;
};
static void on_board(struct board *board, int i) {
  pthread_rwlock_wrlock(&board->lock);
  board->self->cells[i % kSlots] += 1;
  pthread_rwlock_unlock(&board->lock);
  pthread_rwlock_rdlock(&board->lock);
  if (board->cells[0] < 0)
    abort();
  pthread_rwlock_unlock(&board->lock);
}

// Memory that grows, and moves.
static char *text;
static size_t text_length;
ATOMIC static void append(char c) {
  char *longer = realloc(text, text_length + 2);
  if (longer == NULL)
    abort();
  text = longer;
  text[text_length++] = c;
  text[text_length] = '\0';
}

static void *work(void *argument) {
  struct board *board = argument;
  for (int i = 1; i <= kRounds; ++i) {
    if (i % 10 == 0)
      add(i);
    find(i % 50);
    through_table(i);
    through_argument(i);
    sort_slots(i);
    swap_views(i);
    through_union(i);
    through_number(i);
    variable();
    on_board(board, i);
    append((char)('a' + i % 26));
  }
  return NULL;
}

int main(void) {
  struct board board = {.lock = PTHREAD_RWLOCK_INITIALIZER};
  board.self = &board;
  int numbers[2][kSlots] = {{0}};
  current = (struct view){numbers[0], kSlots, "current"};
  previous = (struct view){numbers[1], kSlots, "previous"};
  kept.pointer = &target;
  by_value_of(current, 1);
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i)
    if (pthread_create(&threads[i], NULL, work, &board) != 0)
      return 1;
  for (int i = 0; i < kThreads; ++i)
    pthread_join(threads[i], NULL);
  printf("%ld %d %zu\n", sums[0] + sums[1], first_total - second_total, text_length);
  return target == 0 ? 0 : 1;
}
