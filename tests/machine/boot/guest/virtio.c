// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Source: Virtual I/O Device 1.1, 2.6 (split rings), 4.2 (memory-mapped devices).
#include "guest.h"

enum {
  MAGIC = 0x0 / 4,
  KIND = 0x8 / 4,
  DEVICE_FEATURES = 0x10 / 4,
  DEVICE_PAGE = 0x14 / 4,
  DRIVER_FEATURES = 0x20 / 4,
  DRIVER_PAGE = 0x24 / 4,
  QUEUE_SELECT = 0x30 / 4,
  QUEUE_SIZE = 0x38 / 4,
  QUEUE_READY = 0x44 / 4,
  NOTIFY = 0x50 / 4,
  STATUS = 0x70 / 4,
  TABLE = 0x80 / 4,
  DRIVER_RING = 0x90 / 4,
  DEVICE_RING = 0xA0 / 4,
};

static void set_address(volatile u32 *registers, u32 low, const void *address) {
  registers[low] = (u32)(u64)address;
  registers[low + 1] = (u32)((u64)address >> 32);
}

int open_device(struct device *device, u32 kind, u32 number, u32 queues) {
  device->registers = 0;
  for (u32 slot = 0; slot < 8; ++slot) {
    volatile u32 *registers = (volatile u32 *)(0x10001000UL + slot * 0x1000UL);
    if (registers[MAGIC] != 0x74726976 || registers[KIND] != kind || number-- != 0)
      continue;
    registers[STATUS] = 0;
    registers[STATUS] = 3; // acknowledge, driver
    registers[DEVICE_PAGE] = 1;
    if ((registers[DEVICE_FEATURES] & 1) == 0) // VERSION_1
      return 0;
    registers[DRIVER_PAGE] = 0;
    registers[DRIVER_FEATURES] = 0;
    registers[DRIVER_PAGE] = 1;
    registers[DRIVER_FEATURES] = 1;
    registers[STATUS] = 11; // and features
    for (u32 queue = 0; queue < queues; ++queue) {
      struct ring *ring = &device->rings[queue];
      registers[QUEUE_SELECT] = queue;
      registers[QUEUE_SIZE] = QUEUE;
      set_address(registers, TABLE, ring->descriptors);
      set_address(registers, DRIVER_RING, &ring->available);
      set_address(registers, DEVICE_RING, &ring->used);
      registers[QUEUE_READY] = 1;
    }
    registers[STATUS] = 15; // and ready
    device->registers = registers;
    return 1;
  }
  return 0;
}

void give(struct device *device, u32 queue, u16 first, const struct buffer *buffers, u32 count,
          u32 written) {
  struct ring *ring = &device->rings[queue];
  for (u32 i = 0; i < count; ++i) {
    struct descriptor *descriptor = &ring->descriptors[first + i];
    descriptor->address = (u64)buffers[i].data;
    descriptor->size = buffers[i].size;
    descriptor->flags = (u16)((i + 1 < count ? 1 : 0) | (i >= written ? 2 : 0));
    descriptor->next = (u16)(first + i + 1);
  }
  ring->available.ring[ring->available.index % QUEUE] = first;
  __asm__ volatile("fence" ::: "memory");
  ++ring->available.index;
  __asm__ volatile("fence" ::: "memory");
  device->registers[NOTIFY] = queue;
}

int taken(struct device *device, u32 queue) {
  struct ring *ring = &device->rings[queue];
  __asm__ volatile("fence" ::: "memory");
  if (*(volatile u16 *)&ring->used.index == ring->seen)
    return -1;
  return (int)ring->used.ring[ring->seen++ % QUEUE].size;
}
