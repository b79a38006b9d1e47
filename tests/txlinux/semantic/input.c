// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <linux/fs.h>

struct node {
  spinlock_t list_lock, other_lock;
  rwlock_t lock;
};

static void spins(struct node *n, struct node m, unsigned long flags) {
  spin_lock(&n->list_lock);
  spin_unlock(&n->list_lock);
  spin_lock(&m.list_lock);
  spin_unlock(&m.list_lock);
  spin_lock_irqsave(&n->list_lock, flags);
  spin_unlock_irqrestore(&n->list_lock, flags);
  spin_lock_irqsave(&m.list_lock, flags);
  spin_lock_irq(&n->list_lock);
  spin_lock_bh(&n->list_lock);
  spin_lock_bh(&m.list_lock);
  spin_lock_nested(&n->list_lock, DENTRY_D_LOCK_NESTED);
  if (spin_trylock(&n->list_lock))
    spin_unlock(&n->list_lock);
  spin_lock(&n->other_lock);
  mutex_lock(&n->mutex);
}

static void pointers(struct vm_fault *fault, pmd_t *pmd) {
  spinlock_t *guard = pmd_lockptr(pmd);
  spin_lock(guard);
  spin_lock(fault->ptl);
  spin_lock(&vmap_area_lock);
  spin_lock(&free_lock);
}

static void bits(struct hlist_bl_head *b, unsigned long *word) {
  hlist_bl_lock(b);
  hlist_bl_unlock(b);
  bit_spin_lock(0, word);
}

static void readers(struct node *n) {
  read_lock(&n->lock);
  write_lock_bh(&n->lock);
}

static int sequence(void) {
  unsigned seq;
  int found;

  do {
    seq = read_seqbegin(&rename_lock);
    found = look();
  } while (read_seqretry(&rename_lock, seq));
  return found;
}
