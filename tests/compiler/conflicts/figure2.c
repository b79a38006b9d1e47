// The LockSTM paper's Figure 2 gives the colours of its Figure 3 and the locks of its Figure 5.
// RUN: %cc %workloads/figure2/figure2.c | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/figure2.py %t.json
