// A strict section that can be undone links, under every enforcement, and the report calls it strict.
// RUN: %cc %s > %t.before.ll
// RUN: env TANDEM_ENFORCE=none %tandem < %t.before.ll > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
// RUN: env TANDEM_ENFORCE=global-lock %tandem < %t.before.ll > %t.ll
// RUN: env TANDEM_ENFORCE=stm %tandem < %t.before.ll > %t.ll
// CHECK: "name": "push",
// CHECK: "strict": true
#include <stdlib.h>
#include <string.h>
#include <tandem/tandem.h>
struct node {
  struct node *next;
  char name[16];
};
static struct node *first;
TANDEM_ATOMIC_STRICT void push(const char *name) {
  struct node *node = malloc(sizeof *node);
  if (node == 0)
    return;
  memcpy(node->name, name, 16);
  node->next = first;
  first = node;
}
int main(void) {
  push("0123456789abcdef");
  return first != 0;
}
