// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "guest.h"

enum { ROUNDS = 1000, SECTOR = 512 };

static struct device devices[2];
static u8 stacks[64][2048] __attribute__((aligned(16)));
static u64 counted;     // by LR and SC
static u64 added;       // by AMO
static u64 interrupted; // harts that have had a software interrupt
void start_other(void);
void fall(void);

static int same(const char *a, const char *b) {
  while (*a != 0 && *a == *b)
    ++a, ++b;
  return *a == *b;
}

static u64 number(const char *text) {
  u64 value = 0;
  for (; *text >= '0' && *text <= '9'; ++text)
    value = value * 10 + (u64)(*text - '0');
  return value;
}

static void count(void) {
  for (u32 round = 0; round < ROUNDS; ++round) {
    u64 old;
    u64 failed;
    __asm__ volatile("1: lr.d %0, %2\n\taddi %0, %0, 1\n\tsc.d %1, %0, %2\n\tbnez %1, 1b"
                     : "=&r"(old), "=&r"(failed), "+A"(counted)::"memory");
    __atomic_fetch_add(&added, 1, __ATOMIC_RELAXED);
  }
}

void other(void) {
  count();
  __asm__ volatile("csrs sie, %0" ::"r"(1 << 1));
  u64 pending;
  do {
    __asm__ volatile("wfi");
    __asm__ volatile("csrr %0, sip" : "=r"(pending));
  } while ((pending & 2) == 0);
  __asm__ volatile("csrc sip, %0" ::"r"(1 << 1));
  __atomic_fetch_add(&interrupted, 1, __ATOMIC_SEQ_CST);
  firmware(SBI_HSM, 1, 0, 0, 0);
}

// All harts count to the same number, take an interrupt each, and stop. Any may be the first.
static void all_harts(u64 self) {
  u64 others = 0;
  counted = added = interrupted = 0;
  for (u64 hart = 0; hart < harts; ++hart) {
    if (hart == self)
      continue;
    if (firmware(SBI_HSM, 0, hart, (u64)start_other, (u64)stacks[hart] + sizeof stacks[hart]).error)
      put("a hart did not start\n");
    ++others;
  }
  count();
  while (__atomic_load_n(&added, __ATOMIC_SEQ_CST) != harts * ROUNDS)
    ;
  if (others > 0)
    firmware(SBI_IPI, 0, ((harts == 64 ? 0 : 1UL << harts) - 1) & ~(1UL << self), 0, 0);
  for (u64 hart = 0; hart < harts; ++hart)
    while (hart != self && firmware(SBI_HSM, 2, hart, 0, 0).value != 1)
      ;
  put("harts ");
  put_number(harts);
  put(", counted ");
  put_number(counted);
  put(", interrupted ");
  put_number(interrupted);
  put("\n");
}

// 0, or the device's answer.
static int transfer(u32 kind, u64 sector, u8 *data) {
  static struct {
    u32 kind;
    u32 zero;
    u64 sector;
  } header;
  static u8 status;
  header.kind = kind;
  header.sector = sector;
  status = 0xFF;
  const struct buffer chain[3] = {{&header, 16}, {data, SECTOR}, {&status, 1}};
  give(&devices[0], 0, 0, chain, 3, kind == 0 ? 1 : 2);
  while (taken(&devices[0], 0) < 0)
    ;
  return status;
}

// Shows the first line of the disk, writes behind it, and reads that back.
static void disk(void) {
  static u8 data[SECTOR + 1];
  static u8 back[SECTOR];
  if (!open_device(&devices[0], BLOCK, 0, 1)) {
    put("no disk\n");
    return;
  }
  u64 begin = now();
  int status = transfer(0, 0, data);
  u64 ticks = now() - begin;
  for (u32 i = 0; i < SECTOR; ++i)
    if (data[i] == '\n')
      data[i] = 0;
  put("disk ");
  put((char *)data);
  put(ticks < 10 ? ", fast" : ", slow");
  put(", ");
  put_number((u64)status);
  for (u32 i = 0; i < SECTOR; ++i)
    data[i] = (u8)(i * 7);
  put(", ");
  put_number((u64)transfer(1, 1, data));
  transfer(0, 1, back);
  u32 wrong = 0;
  for (u32 i = 0; i < SECTOR; ++i)
    wrong += back[i] != (u8)(i * 7);
  put(wrong ? ", differs" : ", same");
  put(", outside ");
  put_number((u64)transfer(0, 1UL << 40, back));
  put("\n");
}

// A frame from the first port to the second.
static void net(void) {
  static u8 sent[12 + 60];
  static u8 came[12 + 1514];
  if (!open_device(&devices[0], NET, 0, 2) || !open_device(&devices[1], NET, 1, 2)) {
    put("no two ports\n");
    return;
  }
  for (u32 i = 0; i < 60; ++i)
    sent[12 + i] = i < 6 ? 0xFF : (u8)(i * 3);
  give(&devices[1], 0, 0, &(struct buffer){came, sizeof came}, 1, 0);
  u64 begin = now();
  give(&devices[0], 1, 0, &(struct buffer){sent, sizeof sent}, 1, 1);
  int size;
  while ((size = taken(&devices[1], 0)) < 0)
    ;
  u64 ticks = now() - begin;
  u32 wrong = 0;
  for (u32 i = 0; i < 60; ++i)
    wrong += came[12 + i] != sent[12 + i];
  put("frame of ");
  put_number((u64)size);
  put(wrong ? ", differs" : ", same");
  put(ticks >= 1000 ? ", 0.1 ms\n" : ", too early\n");
}

// So many rounds of two instructions in U, and back by ecall.
static void user(u64 rounds) {
  __asm__ volatile("la t0, 2f\n\tcsrrw t2, stvec, t0\n\tli t0, 0x100\n\tcsrc sstatus, t0\n\t"
                   "la t0, 1f\n\tcsrw sepc, t0\n\tmv t1, %0\n\tsret\n\t"
                   ".balign 4\n1:\taddi t1, t1, -1\n\tbnez t1, 1b\n\tecall\n\t"
                   ".balign 4\n2:\tcsrw stvec, t2"
                   :
                   : "r"(rounds)
                   : "t0", "t1", "t2", "memory");
}

// So many transactions, each of which adds 1.
static void transactions(u64 rounds) {
  static u64 sum;
  for (u64 i = 0; i < rounds; ++i)
    __asm__ volatile(".insn i 0x0b, 0, t0, x0, 0\n\tld t1, %0\n\taddi t1, t1, 1\n\tsd t1, %0\n\t"
                     ".insn i 0x0b, 1, x0, x0, 0"
                     : "+m"(sum)
                     :
                     : "t0", "t1", "memory");
  put_number(sum);
  put("\n");
}

static void finish(u64 status) {
  IO32(0x100000) = status == 0 ? 0x5555 : (u32)(status << 16 | 0x3333);
}

static void command(char *line, u64 self) {
  char *rest = line;
  while (*rest != 0 && *rest != ' ')
    ++rest;
  if (*rest == ' ')
    *rest++ = 0;
  if (same(line, "echo")) {
    put(rest);
    put("\n");
  } else if (same(line, "arguments")) {
    put(arguments);
    put("\n");
  } else if (same(line, "memory")) {
    put_number(memory_bytes >> 20);
    put(" MB\n");
  } else if (same(line, "harts")) {
    all_harts(self);
  } else if (same(line, "disk")) {
    disk();
  } else if (same(line, "net")) {
    net();
  } else if (same(line, "user")) {
    user(number(rest));
  } else if (same(line, "transactions")) {
    transactions(number(rest));
  } else if (same(line, "sleep")) { // milliseconds
    sleep_until(now() + number(rest) * 10000);
  } else if (same(line, "exit")) {
    finish(number(rest));
  } else if (same(line, "off")) {
    firmware(SBI_RESET, 0, number(rest), 0, 0);
  } else if (same(line, "failure")) {
    firmware(SBI_RESET, 0, 0, 1, 0);
  } else if (same(line, "crash")) {
    fall();
  } else if (same(line, "panic")) {
    put("Kernel panic - not syncing: no root\n---[ end Kernel panic - not syncing: no root ]---\n");
    while (1)
      ;
  } else if (same(line, "spin")) {
    while (1)
      __asm__ volatile("");
  } else if (same(line, "wait")) {
    __asm__ volatile("csrw sie, zero");
    while (1)
      __asm__ volatile("wfi");
  } else if (*line != 0) {
    put("no such command\n");
  }
}

int main(u64 self, const u8 *tree) {
  static char line[128];
  read_tree(tree);
  open_console();
  if (argument("run", line, sizeof line)) {
    command(line, self);
    finish(0);
  }
  put("ready\n");
  while (1) {
    put("# ");
    read_line(line, sizeof line);
    command(line, self);
  }
}
