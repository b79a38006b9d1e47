/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The snooping protocol of src/machine/protocol/mesi_snoop for one block and N cores, written again in Promela: the
 * same states and steps, so that the number of states that both checkers reach must be the same. One process; each
 * alternative of its loop is one atomic step of a controller.
 */
#define I 0
#define S 1
#define E 2
#define M 3

#define NONE 0
#define IS_B 1
#define IM_B 2
#define SM_B 3
#define MI_B 4
#define II_B 5
#define S_D 6 /* from here on the bus transaction is done, and the data under way */
#define E_D 7
#define M_D 8

/* A message in its only place: 0 is none, else 1 + whether it has the last value stored. */
typedef Core {
  byte line;
  byte tbe;
  bit fresh;     /* the line has the last value stored */
  bit put_fresh; /* the block to be written back has */
  byte data;     /* Data for this core */
  byte from;     /* who sent it, N is memory */
}
Core core[N];
bit memory_fresh = 1;
bit promised; /* memory waits for a Flush */
byte flushed; /* Flush for memory */
byte flushed_by;

/* What a step computes and no state keeps. */
hidden byte o;
hidden byte nack;
hidden byte shared;
hidden byte dirty;
hidden byte owner;
hidden byte readers;
hidden byte writers;
hidden byte anywhere;
hidden byte answers;

#define others for (o : 0 .. N - 1)

inline stored(c) {
  others {
    core[o].fresh = 0;
    core[o].put_fresh = 0;
    if
    :: core[o].data -> core[o].data = 1
    :: else
    fi
  }
  memory_fresh = 0;
  if
  :: flushed -> flushed = 1
  :: else
  fi;
  core[c].fresh = 1;
}

inline send_data(c, value, sender) {
  assert(core[c].data == 0);
  core[c].data = 1 + value;
  core[c].from = sender;
}

inline send_flush(value, sender) {
  assert(flushed == 0);
  flushed = 1 + value;
  flushed_by = sender;
}

inline drop(c) {
  core[c].line = I;
  core[c].fresh = 0;
}

/* The invariants of every protocol, and this one's. */
inline check() {
  readers = 0;
  writers = 0;
  anywhere = memory_fresh || flushed == 2;
  answers = memory_fresh || promised;
  others {
    if
    :: core[o].line != I -> readers++; assert(core[o].fresh)
    :: else
    fi;
    if
    :: core[o].line >= E -> writers++
    :: else
    fi;
    anywhere = anywhere || core[o].fresh || core[o].put_fresh || core[o].data == 2;
    answers = answers || core[o].line == M || core[o].tbe == MI_B || core[o].tbe == M_D;
    assert(!(core[o].tbe == II_B && core[o].put_fresh))
  }
  assert(writers == 0 || readers == 1);
  assert(anywhere);
  assert(answers);
}

/* Whether anybody refuses: a core whose data is under way; memory while it waits for a Flush. */
inline ask(c, memory_refuses) {
  nack = memory_refuses;
  others {
    nack = nack || (o != c && core[o].tbe >= S_D)
  }
}

inline bus_rd(c) {
  shared = 0;
  dirty = 0;
  owner = 0;
  others {
    if
    :: o == c
    :: o != c && core[o].line == S -> shared = 1
    :: o != c && core[o].line == E ->
      shared = 1;
      owner = 1;
      send_data(c, core[o].fresh, o);
      core[o].line = S
    :: o != c && core[o].line == M ->
      shared = 1;
      owner = 1;
      dirty = 1;
      send_data(c, core[o].fresh, o);
      send_flush(core[o].fresh, o);
      core[o].line = S
    :: o != c && core[o].tbe == MI_B ->
      owner = 1;
      dirty = 1;
      send_data(c, core[o].put_fresh, o);
      send_flush(core[o].put_fresh, o);
      core[o].put_fresh = 0;
      core[o].tbe = II_B
    :: else
    fi
  }
  promised = dirty;
  if
  :: !owner -> send_data(c, memory_fresh, N)
  :: else
  fi;
  core[c].tbe = (shared -> S_D : E_D);
}

/* BusRdX; BusUpgr, whose requester has the data, is the same without. */
inline bus_rd_x(c, upgrade) {
  owner = 0;
  others {
    if
    :: o == c
    :: o != c && core[o].line == S ->
      if
      :: core[o].tbe == SM_B -> core[o].tbe = IM_B
      :: else
      fi;
      drop(o)
    :: o != c && core[o].line >= E ->
      assert(!upgrade);
      owner = 1;
      send_data(c, core[o].fresh, o);
      drop(o)
    :: o != c && core[o].tbe == MI_B ->
      assert(!upgrade);
      owner = 1;
      send_data(c, core[o].put_fresh, o);
      core[o].put_fresh = 0;
      core[o].tbe = II_B
    :: else
    fi
  }
}

#define STEPS(c)                                                                                       \
  :: d_step { core[c].line == I && core[c].tbe == NONE -> core[c].tbe = IS_B; check() }                \
  :: d_step { core[c].line == I && core[c].tbe == NONE -> core[c].tbe = IM_B; check() }                \
  :: d_step { core[c].line == S && core[c].tbe == NONE -> core[c].tbe = SM_B; check() }                \
  :: d_step { core[c].line >= E && core[c].tbe == NONE -> core[c].line = M; stored(c); check() }       \
  :: d_step { (core[c].line == S || core[c].line == E) && core[c].tbe == NONE -> drop(c); check() }    \
  :: d_step {                                                                                          \
       core[c].line == M && core[c].tbe == NONE ->                                                     \
         core[c].put_fresh = core[c].fresh; drop(c); core[c].tbe = MI_B; check()                       \
     }                                                                                                 \
  :: d_step {                                                                                          \
       core[c].tbe == IS_B -> ask(c, promised);                                                        \
       if :: !nack -> bus_rd(c) :: else fi; check()                                                    \
     }                                                                                                 \
  :: d_step {                                                                                          \
       core[c].tbe == IM_B -> ask(c, promised);                                                        \
       if                                                                                              \
       :: !nack ->                                                                                     \
         bus_rd_x(c, 0);                                                                               \
         if :: !owner -> send_data(c, memory_fresh, N) :: else fi;                                        \
         core[c].tbe = M_D                                                                             \
       :: else                                                                                         \
       fi;                                                                                             \
       check()                                                                                         \
     }                                                                                                 \
  :: d_step {                                                                                          \
       core[c].tbe == SM_B -> ask(c, 0);                                                               \
       if                                                                                              \
       :: !nack -> bus_rd_x(c, 1); core[c].line = M; core[c].tbe = NONE; stored(c)                     \
       :: else                                                                                         \
       fi;                                                                                             \
       check()                                                                                         \
     }                                                                                                 \
  :: d_step {                                                                                          \
       core[c].tbe == MI_B ->                                                                          \
       if                                                                                              \
       :: !promised ->                                                                                 \
         others { assert(o == c || core[o].line == I && core[o].tbe < S_D) };                          \
         promised = 1; send_flush(core[c].put_fresh, c); core[c].put_fresh = 0; core[c].tbe = NONE        \
       :: else                                                                                         \
       fi;                                                                                             \
       check()                                                                                         \
     }                                                                                                 \
  :: d_step { core[c].tbe == II_B -> core[c].tbe = NONE; check() }                                     \
  :: d_step {                                                                                          \
       core[c].data != 0 ->                                                                            \
       core[c].fresh = core[c].data - 1; core[c].data = 0; core[c].from = 0;                                           \
       assert(core[c].tbe >= S_D);                                                                     \
       core[c].line = (core[c].tbe == S_D -> S : (core[c].tbe == E_D -> E : M));                       \
       if :: core[c].tbe == M_D -> assert(core[c].fresh); stored(c) :: else fi;                        \
       core[c].tbe = NONE; check()                                                                     \
     }

active proctype system() {
  do
  STEPS(0)
#if N > 1
  STEPS(1)
#endif
#if N > 2
  STEPS(2)
#endif
#if N > 3
  STEPS(3)
#endif
#if N > 4
  STEPS(4)
#endif
  :: d_step { flushed != 0 -> assert(promised); memory_fresh = flushed - 1; flushed = 0; flushed_by = 0; promised = 0; check() }
  od
}
