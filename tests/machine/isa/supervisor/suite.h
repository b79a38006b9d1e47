// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the parts of the suite share. It runs in S-mode on a bare machine and on QEMU, and prints
// what it finds; the two must print the same.
#pragma once

typedef unsigned long u64;
typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned char u8;

struct run {
  u64 pc, status;        // in
  u64 a[4];              // in and out
  u64 cause, value, epc; // out
  u64 after;             // sstatus in the handler
  u64 pending;           // sip in the handler
  u64 unused[3];
  u64 vectored;
};
_Static_assert(sizeof(struct run) == 120, "start.S knows where the fields are");

void enter(struct run *run);

#define SIE 2UL
#define SPIE 0x20UL
#define SPP 0x100UL
#define FS_DIRTY 0x6000UL
#define FS_INITIAL 0x2000UL
#define SUM 0x40000UL
#define MXR 0x80000UL

#define READ(name)                                                                                 \
  ({                                                                                               \
    u64 value_;                                                                                    \
    asm volatile("csrr %0, " #name : "=r"(value_));                                                \
    value_;                                                                                        \
  })
#define WRITE(name, value) asm volatile("csrw " #name ", %0" ::"r"((u64)(value)) : "memory")
#define STIMECMP 0x14d
#define FENCE() asm volatile("sfence.vma" ::: "memory")

void put(const char *text);
void number(u64 value);
void line(const char *name, int count, ...); // name and so many numbers

// Words of code that run until they trap.
struct run run_words(const u32 *words, int count, u64 status, u64 a0, u64 a1);
// The same where it is: in a page that U may run, if `status` has SPP clear.
struct run run_at(u64 pc, u64 status, u64 a0, u64 a1);
void told(const char *name, struct run run); // prints what matters of a run

// Sv39. Addresses 0x4000'0000 and above are free for tests.
#define PTE_V 1UL
#define PTE_R 2UL
#define PTE_W 4UL
#define PTE_X 8UL
#define PTE_U 16UL
#define PTE_G 32UL
#define PTE_A 64UL
#define PTE_D 128UL
extern u64 root[512], middle[512], leaves[512];
extern u8 frames[8][4096]; // for tests to map
void map_on(void);         // kernel by 2 MiB pages, root[1] -> middle[0] -> leaves
void map_off(void);
static inline u64 entry(const void *frame, u64 flags) { return (u64)frame >> 12 << 10 | flags; }
#define VIRTUAL 0x40000000UL

void test_registers(void);
void test_illegal(void);
void test_exceptions(void);
void test_permissions(void);
void test_tables(void);
void test_pages(void);
void test_interrupts(void);
void test_floats(void);
void test_code(void);
