#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a C program of about so many IR instructions, always the same for a seed.

    generate.py INSTRUCTIONS [SEED]      to standard output

A program is modules over a common core, as large programs are: a module has structures, lists, a
hash table, heap, callbacks and a table of operations of its own, each eighth a lock and sections,
and its functions call each other (some recursively) and the core's, which all modules give their
data to. Every tenth module brings a thread. So the program's shape (fan-out, depth, sections for
each instruction) is the same at every size.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator

# What clang makes of a module, without its passes: measured over 100 modules.
INSTRUCTIONS_PER_MODULE = 600
MODULES_PER_THREAD = 10
# The others keep to the thread that they belong to.
MODULES_PER_LOCK = 8

CORE = """\
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct link { struct link *next, *previous; };
struct buffer { char *data; size_t used, size; };
static pthread_mutex_t core_lock = PTHREAD_MUTEX_INITIALIZER;
static long core_operations;
static void core_add(struct link *head, struct link *link) {
  link->next = head->next, link->previous = head;
  if (head->next) head->next->previous = link;
  head->next = link;
}
static void core_remove(struct link *link) {
  if (link->next) link->next->previous = link->previous;
  if (link->previous) link->previous->next = link->next;
  link->next = link->previous = NULL;
}
static unsigned long core_hash(const char *text, size_t size) {
  unsigned long hash = 5381;
  for (size_t i = 0; i < size; ++i) hash = hash * 33 ^ (unsigned char)text[i];
  return hash;
}
static void core_append(struct buffer *buffer, const void *data, size_t size) {
  if (buffer->used + size > buffer->size) {
    buffer->size = 2 * (buffer->used + size);
    buffer->data = realloc(buffer->data, buffer->size);
  }
  memcpy(buffer->data + buffer->used, data, size);
  buffer->used += size;
}
static void core_each(struct link *head, void (*visit)(struct link *, void *), void *with) {
  for (struct link *link = head->next; link; link = link->next) visit(link, with);
}
static void core_count(void) {
  pthread_mutex_lock(&core_lock);
  ++core_operations;
  pthread_mutex_unlock(&core_lock);
}
"""

MODULE = """
struct node_@ {{
  struct node_@ *left, *right, *chain;
  struct link link;
  long key, values[6];
  char name[16];
  void (*act)(struct node_@ *, long);
}};
struct state_@ {{
  pthread_mutex_t lock;
  struct link all;
  struct node_@ *root, *table[32];
  struct buffer buffer;
  long hits, misses, sizes[8];
  const struct operations_@ *operations;
}};
struct operations_@ {{
  long (*read)(struct state_@ *, struct node_@ *, long);
  void (*write)(struct state_@ *, struct node_@ *, long);
}};
static struct state_@ state_@;
static struct node_@ *find_@(struct state_@ *state, const char *name) {{
  struct node_@ *node = state->table[core_hash(name, sizeof node->name) % 32];
  while (node && memcmp(node->name, name, sizeof node->name) != 0) node = node->chain;
  if (node) ++state->hits; else ++state->misses;
  return node;
}}
static struct node_@ *insert_@(struct state_@ *state, const char *name, long key) {{
  struct node_@ *node = calloc(1, sizeof *node);
  memcpy(node->name, name, sizeof node->name);
  node->key = key;
  struct node_@ **slot = &state->table[core_hash(node->name, sizeof node->name) % 32];
  node->chain = *slot, *slot = node;
  core_add(&state->all, &node->link);
  struct node_@ **at = &state->root;
  while (*at) at = key < (*at)->key ? &(*at)->left : &(*at)->right;
  *at = node;
  return node;
}}
static long depth_@(const struct node_@ *node) {{
  if (!node) return 0;
  const long left = depth_@(node->left), right = depth_@(node->right);
  return 1 + (left > right ? left : right);
}}
static void visit_@(struct link *link, void *with) {{
  struct node_@ *node = (struct node_@ *)((char *)link - offsetof(struct node_@, link));
  long *sum = with;
  for (int i = 0; i < 6; ++i) *sum += node->values[i];
  if (node->act) node->act(node, *sum);
}}
"""


def statement(rng: random.Random, functions: int) -> str:
    """A statement of a module's function, which calls only functions of lower numbers."""
    index, other = rng.randrange(6), rng.randrange(6)
    choices = [
        f"node->values[{index}] += key * {other + 1};",
        f"if (node->values[{index}] > key) node->values[{other}] -= state->sizes[{index}];",
        f"for (long i = 0; i < key % 8; ++i) state->sizes[i] += node->values[i % 6] << {other};",
        "core_append(&state->buffer, node->name, sizeof node->name);",
        f"if (node->left) node->left->values[{index}] = node->key; else node->left = node->right;",
        "core_each(&state->all, visit_@, &key);",
        "if (node->chain) { struct node_@ copy = *node->chain; copy.key = key; *node = copy; }",
        "core_remove(&node->link), core_add(&state->all, &node->link);",
        f"memmove(node->values, node->values + 1, {index} * sizeof(long));",
        "key += depth_@(node->right);",
        f"{{ struct node_@ *found = find_@(state, node->name); "
        f"if (found) found->values[{index}]++; }}",
    ]
    if functions > 0:
        callee = rng.randrange(max(0, functions - 4), functions)
        choices += [f"call_{callee}_@(state, node->right ? node->right : node, key + {index});"] * 3
        choices += [f"node->act = act_{callee}_@;", "if (node->act) node->act(node, key);"]
    return rng.choice(choices)


def function(rng: random.Random, number: int) -> Iterator[str]:
    yield f"static long call_{number}_@(struct state_@ *state, struct node_@ *node, long key) {{"
    for _ in range(rng.randrange(3, 7)):
        yield "  " + statement(rng, number)
    yield f"  return node->values[{rng.randrange(6)}] + key;"
    yield "}"
    yield f"static void act_{number}_@(struct node_@ *node, long key) {{"
    yield f"  node->values[{rng.randrange(6)}] ^= key;"
    yield f"  if (key > 0) call_{number}_@(&state_@, node, key - 1);"
    yield "}"


def module(rng: random.Random, locks: bool) -> Iterator[str]:
    """A module; @ stands for its number."""
    yield MODULE.format()
    functions = 8
    for number in range(functions):
        yield from function(rng, number)
    yield "static long read_@(struct state_@ *state, struct node_@ *node, long key) {"
    yield f"  return call_{rng.randrange(functions)}_@(state, node, key);"
    yield "}"
    yield "static void write_@(struct state_@ *state, struct node_@ *node, long key) {"
    yield f"  node->key = call_{rng.randrange(functions)}_@(state, node, key);"
    yield "}"
    yield "static const struct operations_@ operations_@ = {read_@, write_@};"
    lock = "  pthread_mutex_lock(&state_@.lock);" if locks else ""
    unlock = "  pthread_mutex_unlock(&state_@.lock);" if locks else ""
    yield "static void run_@(const char *name, long key) {"
    yield lock
    yield "  struct node_@ *node = find_@(&state_@, name);"
    yield "  if (!node) node = insert_@(&state_@, name, key);"
    yield f"  call_{rng.randrange(functions)}_@(&state_@, node, key);"
    yield unlock
    yield "  core_count();"
    yield "  if (key % 7 == 0) {"
    yield "  " + lock
    yield "    if (state_@.root) state_@.operations->write(&state_@, state_@.root, key);"
    yield "  " + unlock
    yield "  }"
    yield "}"


def program(instructions: int, seed: int) -> Iterator[str]:
    rng = random.Random(seed)
    yield CORE
    modules = max(1, instructions // INSTRUCTIONS_PER_MODULE)
    for number in range(modules):
        for text in module(rng, number % MODULES_PER_LOCK == 0):
            yield text.replace("@", str(number))
    threads = [
        range(x, min(x + MODULES_PER_THREAD, modules))
        for x in range(0, modules, MODULES_PER_THREAD)
    ]
    for number, mine in enumerate(threads):
        yield f"static void *thread_{number}(void *name) {{"
        yield "  for (long key = 0; key < 1000; ++key) {"
        for own in mine:
            yield f"    run_{own}(name, key);"
        yield "  }"
        yield "  return NULL;"
        yield "}"
    yield "int main(void) {"
    yield f"  pthread_t threads[{2 * len(threads)}];"
    for number in range(modules):
        yield f"  pthread_mutex_init(&state_{number}.lock, NULL);"
        yield f"  state_{number}.operations = &operations_{number};"
    for number in range(2 * len(threads)):
        function_ = f"thread_{number // 2}"
        name = '(char *)"name of 16 bytes"'
        yield f"  pthread_create(&threads[{number}], NULL, {function_}, {name});"
    yield f"  for (int i = 0; i < {2 * len(threads)}; ++i) pthread_join(threads[i], NULL);"
    yield "  return 0;"
    yield "}"


def main(arguments: list[str]) -> int:
    if not 1 <= len(arguments) <= 2 or not all(x.isascii() and x.isdigit() for x in arguments):
        print("generate.py: give a number of instructions and, maybe, a seed", file=sys.stderr)
        return 2
    seed = int(arguments[1]) if len(arguments) == 2 else 1
    for text in program(int(arguments[0]), seed):
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
