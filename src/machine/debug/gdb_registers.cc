// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/debug/gdb_registers.h"

#include "machine/debug/packets.h"
#include "machine/isa/decode.h"

#include <cstring>
#include <fmt/format.h>

namespace tandem::machine {
namespace {

struct Csr {
  unsigned number;
  const char *name;
};
constexpr Csr kFloatCsrs[] = {{1, "fflags"}, {2, "frm"}, {3, "fcsr"}};
constexpr Csr kCsrs[] = {
    {0x100, "sstatus"},  {0x104, "sie"},      {0x105, "stvec"},  {0x106, "scounteren"},
    {0x140, "sscratch"}, {0x141, "sepc"},     {0x142, "scause"}, {0x143, "stval"},
    {0x144, "sip"},      {0x14D, "stimecmp"}, {0x180, "satp"},   {0xC00, "cycle"},
    {0xC01, "time"},     {0xC02, "instret"},
};

std::string hex_of(std::uint64_t value, std::size_t size = 8) {
  return to_hex(std::as_bytes(std::span(&value, 1)).first(size));
}

std::string register_line(std::string_view name, unsigned bits, unsigned number,
                          std::string_view type) {
  return fmt::format("<reg name=\"{}\" bitsize=\"{}\" regnum=\"{}\" type=\"{}\"/>\n", name, bits,
                     number, type);
}

} // namespace

std::string gdb_description() {
  std::string text = "<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n"
                     "<target version=\"1.0\">\n<architecture>riscv:rv64</architecture>\n"
                     "<feature name=\"org.gnu.gdb.riscv.cpu\">\n";
  for (unsigned index = 0; index < 32; ++index) {
    const bool pointer = index == 2 || index == 3 || index == 4 || index == 8;
    text += register_line(kRegisterNames[index], 64, index,
                          index == 1 ? "code_ptr"
                          : pointer  ? "data_ptr"
                                     : "int");
  }
  text += register_line("pc", 64, kGdbPc, "code_ptr");
  text += "</feature>\n<feature name=\"org.gnu.gdb.riscv.fpu\">\n"
          "<union id=\"riscv_double\"><field name=\"float\" type=\"ieee_single\"/>"
          "<field name=\"double\" type=\"ieee_double\"/></union>\n";
  for (unsigned index = 0; index < 32; ++index)
    text += register_line(kFloatRegisterNames[index], 64, kGdbFloat + index, "riscv_double");
  for (const Csr &csr : kFloatCsrs)
    text += register_line(csr.name, 32, kGdbCsr + csr.number, "int");
  text += "</feature>\n<feature name=\"org.gnu.gdb.riscv.csr\">\n";
  for (const Csr &csr : kCsrs)
    text += register_line(csr.name, 64, kGdbCsr + csr.number, "int");
  return text + "</feature>\n</target>\n";
}

std::optional<std::string> gdb_register(const Hart &hart, unsigned number) {
  const HartState &state = hart.state();
  if (number < 32)
    return hex_of(state.x[number]);
  if (number == kGdbPc)
    return hex_of(state.pc);
  if (number < kGdbCsr)
    return hex_of(state.f[number - kGdbFloat]);
  const unsigned csr = number - kGdbCsr;
  const std::optional<std::uint64_t> value = hart.csr(csr);
  if (!value)
    return std::nullopt;
  return hex_of(*value, csr <= 3 ? 4 : 8);
}

std::string gdb_general(const Hart &hart) {
  std::string all;
  for (unsigned number = 0; number <= kGdbPc; ++number)
    all += *gdb_register(hart, number);
  return all;
}

bool set_gdb_register(Hart &hart, unsigned number, std::string_view hex) {
  const std::optional<std::string> bytes = from_hex(hex);
  std::uint64_t value = 0;
  if (!bytes || bytes->size() > sizeof value)
    return false;
  std::memcpy(&value, bytes->data(), bytes->size());
  HartState &state = hart.state();
  if (number == 0)
    return true;
  if (number < 32) {
    state.x[number] = value;
  } else if (number == kGdbPc) {
    state.pc = value & ~std::uint64_t{1};
  } else if (number < kGdbCsr) {
    state.f[number - kGdbFloat] = value;
  } else if (number <= kGdbCsr + 3 && number > kGdbCsr) {
    if (number != kGdbCsr + 2)
      state.fflags = value & 31;
    if (number != kGdbCsr + 1)
      state.frm = (number == kGdbCsr + 3 ? value >> 5 : value) & 7;
    hart.changed();
  } else {
    return false;
  }
  return true;
}

} // namespace tandem::machine
