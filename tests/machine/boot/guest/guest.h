// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A guest for tests: a prompt in S-mode with a few commands, each about a part of the machine. Runs
// on QEMU's `virt` too. What the parts share.
#pragma once

typedef unsigned long u64;
typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned char u8;

// tree.c: what the device tree says.
extern char arguments[512]; // of the kernel
extern u64 harts;
extern u64 memory_bytes;
void read_tree(const u8 *tree);
// The value of `name=` or of `name="..."` among the arguments; returns whether it is there.
int argument(const char *name, char *value, u64 room);

// console.c: the console that the arguments and devices say.
void open_console(void);
void put(const char *text);
void put_number(u64 value);
// A line without its end; characters are echoed.
void read_line(char *line, u64 room);
u64 now(void); // ticks of 100 ns
void sleep_until(u64 tick);

// firmware.c
struct answer {
  long error;
  long value;
};
struct answer firmware(u64 extension, u64 function, u64 a0, u64 a1, u64 a2);
#define SBI_TIME 0x54494D45
#define SBI_IPI 0x735049
#define SBI_HSM 0x48534D
#define SBI_RESET 0x53525354

// virtio.c: the n-th device of a kind, polled.
#define QUEUE 8
struct ring {
  struct descriptor {
    u64 address;
    u32 size;
    u16 flags;
    u16 next;
  } descriptors[QUEUE];
  struct {
    u16 flags;
    u16 index;
    u16 ring[QUEUE];
    u16 event;
  } available;
  struct {
    u16 flags;
    u16 index;
    struct {
      u32 id;
      u32 size;
    } ring[QUEUE];
    u16 event;
  } used __attribute__((aligned(8)));
  u16 seen; // of used.index
} __attribute__((aligned(16)));
struct device {
  volatile u32 *registers; // null: there is none
  struct ring rings[2];
};
enum { NET = 1, BLOCK = 2, CONSOLE = 3 };
int open_device(struct device *device, u32 kind, u32 number, u32 queues);
// Gives a chain of up to 3 buffers from descriptor `first` on; those from `written` on the device
// writes.
struct buffer {
  void *data;
  u32 size;
};
void give(struct device *device, u32 queue, u16 first, const struct buffer *buffers, u32 count,
          u32 written);
// How many bytes it wrote into the next chain that it gave back; -1: none has come back.
int taken(struct device *device, u32 queue);

#define IO8(address) (*(volatile u8 *)(address))
#define IO32(address) (*(volatile u32 *)(address))
