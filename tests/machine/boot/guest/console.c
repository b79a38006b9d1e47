// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The serial port (its interrupt by the PLIC, taken by polling after WFI), the firmware's console,
// or virtio's.
#include "guest.h"

enum { UART = 0x10000000, PLIC = 0x0C000000, UART_SOURCE = 10 };

static int serial;
static struct device console;
static char typed[64]; // what virtio writes to
static u32 typed_size;
static u32 typed_place;

static void listen(void) { give(&console, 0, 0, &(struct buffer){typed, sizeof typed}, 1, 0); }

void open_console(void) {
  char name[16] = "";
  argument("console", name, sizeof name);
  serial = name[0] == 't';
  if (serial) {
    IO8(UART + 1) = 1; // received data interrupt
    IO32(PLIC + 4 * UART_SOURCE) = 1;
    // Hart 0 in S-mode is context 0 here and context 1 where there is a machine mode.
    for (u64 context = 0; context < 2; ++context)
      IO32(PLIC + 0x2000 + 0x80 * context) = 1 << UART_SOURCE;
  } else if (open_device(&console, CONSOLE, 0, 2)) {
    listen();
  }
}

static void put_byte(char byte) {
  if (serial) {
    while ((IO8(UART + 5) & 0x20) == 0)
      ;
    IO8(UART) = (u8)byte;
  } else if (console.registers) {
    static char out;
    out = byte;
    give(&console, 1, 0, &(struct buffer){&out, 1}, 1, 1);
    while (taken(&console, 1) < 0)
      ;
  } else {
    firmware(1, 0, (u8)byte, 0, 0);
  }
}

// The serial port's interrupt, so that WFI ends.
static int serial_byte(void) {
  while ((IO8(UART + 5) & 1) == 0) {
    __asm__ volatile("csrs sie, %0\n\twfi" ::"r"(1 << 9));
    for (u64 context = 0; context < 2; ++context) {
      u32 source = IO32(PLIC + 0x200004 + 0x1000 * context);
      if (source != 0)
        IO32(PLIC + 0x200004 + 0x1000 * context) = source;
    }
  }
  return IO8(UART);
}

// Looks now and then: neither has an interrupt here.
static int other_byte(void) {
  while (1) {
    if (console.registers) {
      if (typed_place < typed_size)
        return typed[typed_place++];
      int size = taken(&console, 0);
      if (size >= 0) {
        typed_size = (u32)size;
        typed_place = 0;
        if (typed_size > 0)
          continue;
      }
      if (typed_size > 0 || size == 0) {
        typed_size = 0;
        listen();
      }
    } else {
      long byte = firmware(2, 0, 0, 0, 0).error;
      if (byte >= 0)
        return (int)byte;
    }
    sleep_until(now() + 1000);
  }
}

void put(const char *text) {
  for (; *text != 0; ++text) {
    if (*text == '\n')
      put_byte('\r');
    put_byte(*text);
  }
}

void put_number(u64 value) {
  char text[24];
  char *at = text + sizeof text;
  *--at = 0;
  do
    *--at = (char)('0' + value % 10);
  while ((value /= 10) != 0);
  put(at);
}

void read_line(char *line, u64 room) {
  u64 size = 0;
  while (1) {
    int byte = serial ? serial_byte() : other_byte();
    if (byte == '\r' || byte == '\n')
      break;
    if (size + 1 < room)
      line[size++] = (char)byte;
    put_byte((char)byte);
  }
  line[size] = 0;
  put("\n");
}
