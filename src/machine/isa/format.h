// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Formats of instructions: where the operands are in the word, and how the instruction is written.
// Also the classes of access to memory, extensions and constraints of instructions.def.
#pragma once

#include <cstdint>

namespace tandem::machine {

enum class Format : std::uint8_t {
  plain,              // no operands
  r,                  // rd,rs1,rs2
  i,                  // rd,rs1,imm
  shift6,             // rd,rs1,imm of 6 bits
  shift5,             // rd,rs1,imm of 5 bits
  load,               // rd,imm(rs1)
  store,              // rs2,imm(rs1)
  b,                  // rs1,rs2,target
  u,                  // rd,imm over 4096
  j,                  // rd,target
  jalr,               // rd,imm(rs1)
  fence,              // predecessors,successors
  csr,                // rd,csr,rs1
  csri,               // rd,csr,imm of 5 bits
  sfence,             // rs1,rs2
  to_register,        // rd
  from_register,      // rs1
  begin,              // rd,rs1; rd alone where rs1 is x0
  lr,                 // rd,(rs1), with aq and rl
  amo,                // rd,rs2,(rs1), with aq and rl
  float_load,         // fd,imm(rs1)
  float_store,        // fs2,imm(rs1)
  float_r,            // fd,fs1,fs2
  float_r_rm,         // fd,fs1,fs2,rm
  float_r4,           // fd,fs1,fs2,fs3,rm
  float_rr_rm,        // fd,fs1,rm
  float_rr_exact,     // fd,fs1; rm is there and does nothing
  float_compare,      // rd,fs1,fs2
  float_to_int,       // rd,fs1
  float_to_int_rm,    // rd,fs1,rm
  int_to_float,       // fd,rs1
  int_to_float_rm,    // fd,rs1,rm
  int_to_float_exact, // fd,rs1; rm is there and does nothing
  c_plain,            // no operands
  ciw,                // rd',sp,imm
  cl_w,
  cl_d,  // rd',imm(rs1')
  cl_fd, // fd',imm(rs1')
  cs_w,
  cs_d,  // rs2',imm(rs1')
  cs_fd, // fs2',imm(rs1')
  ci,
  ci_nop,
  ci_li,    // rd,imm
  ci_16sp,  // sp,imm
  ci_lui,   // rd,imm over 4096
  ci_shift, // rd,imm
  ci_wsp,
  ci_dsp,  // rd,imm(sp)
  ci_fdsp, // fd,imm(sp)
  css_w,
  css_d,    // rs2,imm(sp)
  css_fd,   // fs2,imm(sp)
  cb_shift, // rd',imm
  cb_andi,  // rd',imm
  ca,       // rd',rs2'
  cj,       // target
  cb,       // rs1',target
  cr_jr,
  cr_jalr, // rs1
  cr_mv,
  cr_add, // rd,rs2
};

// What an instruction does to memory: what a core with timing asks permission for before it runs
// the instruction. Misaligned plain accesses that cross a block are two of the class.
enum class AccessClass : std::uint8_t {
  none,
  load,
  store,
  load_reserved,
  store_conditional,
  atomic, // reads and writes at once
  fence,
  system, // no access of its own; sees or changes time, translation, privilege
};

enum class Extension : std::uint8_t { i, m, a, f, d, c, zicsr, zifencei, s, m_mode, xtm };

enum class Constraint : std::uint8_t { any, rounding, rd, rs2, imm, imm_not_sp };

} // namespace tandem::machine
