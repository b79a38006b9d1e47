// SPDX-License-Identifier: GPL-2.0-only
//
// Acquires of the chosen subsystems become those of <linux/txlock.h>; releases stay. Run on the files
// that sites.txt names. Locks are chosen by the name of their field, in both spellings of a field.

@spin@
expression E, flags, class;
identifier f =~ "^(list_lock|d_lock|i_lock|s_inode_list_lock|page_table_lock|private_lock|lock|slock|xa_lock|arg_lock)$";
@@
(
- spin_lock
+ spin_lock_tx
  (\(&E->f\|&E.f\))
|
- spin_lock_nested
+ spin_lock_nested_tx
  (\(&E->f\|&E.f\), class)
|
- spin_lock_irq
+ spin_lock_irq_tx
  (\(&E->f\|&E.f\))
|
- spin_lock_bh
+ spin_lock_bh_tx
  (\(&E->f\|&E.f\))
|
- spin_lock_irqsave
+ spin_lock_irqsave_tx
  (\(&E->f\|&E.f\), flags)
|
- spin_trylock
+ spin_trylock_tx
  (\(&E->f\|&E.f\))
)

// Page-table locks, and locks of hash buckets, in local variables.
@pointer@
typedef spinlock_t;
idexpression spinlock_t *p;
@@
(
- spin_lock
+ spin_lock_tx
  (p)
|
- spin_lock_bh
+ spin_lock_bh_tx
  (p)
|
- spin_lock_nested
+ spin_lock_nested_tx
  (p, ...)
)

@fault@
expression E;
@@
- spin_lock
+ spin_lock_tx
  (E->ptl)

@named@
identifier l =~ "^(vmap_area_lock|free_vmap_area_lock|fib_info_lock|fnhe_lock)$";
@@
(
- spin_lock
+ spin_lock_tx
  (&l)
|
- spin_lock_bh
+ spin_lock_bh_tx
  (&l)
|
- spin_trylock
+ spin_trylock_tx
  (&l)
)

@bits@
expression b, n;
@@
(
- hlist_bl_lock
+ hlist_bl_lock_tx
  (b)
|
- bit_spin_lock
+ bit_spin_lock_tx
  (n, b)
)

@rw@
expression E;
identifier f =~ "^(lock|sk_callback_lock)$";
@@
(
- write_lock_bh
+ write_lock_bh_tx
  (\(&E->f\|&E.f\))
|
- read_lock_bh
+ read_lock_bh_tx
  (\(&E->f\|&E.f\))
|
- write_lock
+ write_lock_tx
  (\(&E->f\|&E.f\))
|
- read_lock
+ read_lock_tx
  (\(&E->f\|&E.f\))
)

@header@
@@
  #include <linux/...>
+ #include <linux/txlock.h>
