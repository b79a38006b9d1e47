// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The board with programs of a few words: firmware, devices, loading, saving.
#include "machine/platform/board.h"

#include "base/file.h"
#include "machine/platform/boot.h"
#include "machine/platform/checkpoint.h"
#include "machine/platform/device_tree.h"
#include "machine/platform/map.h"
#include "machine/platform/testing/tiny_elf.h"

extern "C" {
#include <libfdt.h>
}

#include <cstdlib>
#include <gmock/gmock.h>
#include <random>
#include <unistd.h>

namespace tandem::machine {
namespace {

using ::testing::HasSubstr;
using testing::TinyElf;

constexpr std::uint64_t kMegabyte = 1 << 20;

class Sink final : public ConsoleSink {
public:
  void output(std::uint8_t byte) override { text.push_back(static_cast<char>(byte)); }
  std::string text;
};

// Words of a program at kStart.
class Program {
public:
  Program &word(std::uint32_t value) {
    code_.append(reinterpret_cast<const char *>(&value), 4);
    return *this;
  }
  // addi rd, x0, value
  Program &set(unsigned rd, int value) {
    return word(static_cast<std::uint32_t>(value) << 20 | rd << 7 | 0x13);
  }
  // lui rd, value >> 12; addi rd, rd, value & 0xFFF
  Program &set_wide(unsigned rd, std::uint32_t value) {
    const std::uint32_t low = value & 0xFFF;
    const std::uint32_t high = (value + 0x800) & 0xFFFF'F000;
    return word(high | rd << 7 | 0x37).word(low << 20 | rd << 15 | rd << 7 | 0x1B);
  }
  Program &ecall() { return word(0x73); }
  Program &wfi() { return word(0x1050'0073); }
  Program &jump_here() { return word(0x6F); }
  [[nodiscard]] const std::string &code() const { return code_; }

private:
  std::string code_;
};

constexpr unsigned a0 = 10;
constexpr unsigned a1 = 11;
constexpr unsigned a2 = 12;
constexpr unsigned a6 = 16;
constexpr unsigned a7 = 17;
constexpr unsigned t0 = 5;
constexpr unsigned t1 = 6;

class BoardTest : public ::testing::Test {
protected:
  void make(unsigned harts = 1) {
    Result<std::unique_ptr<Board>> made = Board::make({.harts = harts, .memory = 16 * kMegabyte});
    ASSERT_TRUE(made.ok()) << made.error().message;
    board = std::move(made).value();
    board->show(&sink);
  }
  void load(const Program &program) {
    TinyElf elf{.address = map::kStart, .code = program.code()};
    const Result<ElfFile> file = ElfFile::parse("program", elf.bytes());
    ASSERT_TRUE(file.ok()) << file.error().message;
    const Result<Symbols> symbols = load_bare(*board, *file, 1);
    ASSERT_TRUE(symbols.ok()) << symbols.error().message;
  }
  // a0 and a1 after an ecall.
  std::pair<std::int64_t, std::uint64_t> call(std::uint64_t extension, std::uint64_t function,
                                              std::uint64_t x0 = 0, std::uint64_t x1 = 0,
                                              std::uint64_t x2 = 0) {
    Hart &hart = board->harts()[0];
    HartState &state = hart.state();
    state.activity = Activity::running;
    state.privilege = Privilege::supervisor;
    state.pc = map::kStart;
    EXPECT_TRUE(board->memory().write_value(map::kStart, std::uint32_t{0x73}));
    state.x[a7] = extension;
    state.x[a6] = function;
    state.x[a0] = x0;
    state.x[a1] = x1;
    state.x[a2] = x2;
    hart.changed();
    board->cores().restore(
        {.round = board->cores().schedule().round, .hart = 0, .done = 0, .instructions = 0});
    board->cores().run(1);
    return {static_cast<std::int64_t>(state.x[a0]), state.x[a1]};
  }

  Sink sink;
  std::unique_ptr<Board> board;
};

constexpr std::uint64_t kBase = 0x10;
constexpr std::uint64_t kHsm = 0x48534D;
constexpr std::uint64_t kIpi = 0x735049;
constexpr std::uint64_t kRfence = 0x52464E43;
constexpr std::uint64_t kTime = 0x54494D45;
constexpr std::uint64_t kSrst = 0x53525354;

TEST_F(BoardTest, TheFirmwareSaysWhatItHas) {
  make(2);
  EXPECT_EQ(call(kBase, 0).second, 1U << 24);
  for (const std::uint64_t extension : {kBase, kHsm, kIpi, kRfence, kTime, kSrst})
    EXPECT_EQ(call(kBase, 3, extension).second, 1U) << extension;
  EXPECT_EQ(call(kBase, 3, 0x12345).second, 0U);
  EXPECT_EQ(call(kBase, 7).first, -2);
  EXPECT_EQ(call(0x999, 0).first, -2);
  EXPECT_EQ(board->sbi().calls()[Sbi::unknown], 1U);
}

TEST_F(BoardTest, HartsStartStopAndTell) {
  make(3);
  EXPECT_EQ(call(kHsm, 2, 1).second, 1U); // stopped
  EXPECT_EQ(call(kHsm, 0, 1, map::kStart + 0x100, 77).first, 0);
  EXPECT_EQ(board->harts()[1].state().pc, map::kStart + 0x100);
  EXPECT_EQ(board->harts()[1].state().x[a0], 1U);
  EXPECT_EQ(board->harts()[1].state().x[a1], 77U);
  EXPECT_EQ(board->harts()[1].state().scounteren, 7U);
  EXPECT_EQ(call(kHsm, 2, 1).second, 0U);
  EXPECT_EQ(call(kHsm, 0, 1, map::kStart, 0).first, -6);
  EXPECT_EQ(call(kHsm, 0, 2, 0x1000, 0).first, -5);
  EXPECT_EQ(call(kHsm, 0, 9, map::kStart, 0).first, -3);
  EXPECT_EQ(call(kHsm, 2, 9).first, -3);
  EXPECT_EQ(call(kHsm, 3, 0x8000'0000).first, -2);
  call(kHsm, 1);
  EXPECT_EQ(board->harts()[0].state().activity, Activity::stopped);
}

TEST_F(BoardTest, InterruptsOfOthers) {
  make(4);
  constexpr std::uint64_t kBit = bit(Interrupt::supervisor_software);
  EXPECT_EQ(call(kIpi, 0, 0b101, 1).first, 0);
  EXPECT_EQ(board->harts()[1].state().ip & kBit, kBit);
  EXPECT_EQ(board->harts()[2].state().ip & kBit, 0U);
  EXPECT_EQ(board->harts()[3].state().ip & kBit, kBit);
  EXPECT_EQ(call(kIpi, 0, 0b1000, 1).first, -3);
  EXPECT_EQ(call(kIpi, 0, 0, ~0ULL).first, 0);
  EXPECT_EQ(board->harts()[2].state().ip & kBit, kBit);
  EXPECT_EQ(call(kRfence, 1, 0b11, 0).first, 0);
  EXPECT_EQ(call(kRfence, 2, 0b1'0000, 0).first, -3);
  EXPECT_EQ(call(kRfence, 3).first, -2);
}

TEST_F(BoardTest, LegacyConsole) {
  make();
  call(1, 0, 'x');
  EXPECT_EQ(sink.text, "x");
  EXPECT_EQ(call(2, 0).first, -1);
  EXPECT_EQ(call(8, 0).first, 0);
  ASSERT_TRUE(board->end());
  EXPECT_EQ(board->end()->kind, BoardEnd::Kind::shutdown);
}

TEST_F(BoardTest, ResetsAreTold) {
  for (const auto &[type, reason, kind] :
       {std::tuple(0, 0, BoardEnd::Kind::shutdown), std::tuple(1, 0, BoardEnd::Kind::reboot),
        std::tuple(0, 1, BoardEnd::Kind::failure)}) {
    make();
    call(kSrst, 0, static_cast<std::uint64_t>(type), static_cast<std::uint64_t>(reason));
    ASSERT_TRUE(board->end());
    EXPECT_EQ(board->end()->kind, kind);
  }
  make();
  EXPECT_EQ(call(kSrst, 0, 9).first, -3);
  EXPECT_FALSE(board->end());
}

TEST_F(BoardTest, TheExitDeviceEndsTheMachine) {
  make();
  Program program;
  program.set_wide(t0, map::kExit)
      .set_wide(t1, 0x7'3333)
      .word(t1 << 20 | t0 << 15 | 2 << 12 | 0x23);
  program.jump_here();
  load(program);
  EXPECT_EQ(board->cores().run(1000), FunctionalCores::End::asked);
  ASSERT_TRUE(board->end());
  EXPECT_EQ(board->end()->kind, BoardEnd::Kind::exit_fail);
  EXPECT_EQ(board->end()->code, 7);
  EXPECT_EQ(board->cores().schedule().instructions, 5U);
}

TEST_F(BoardTest, AGuestWithoutAHandlerCrashes) {
  make();
  load(Program().word(0));
  EXPECT_EQ(board->harts()[0].state().scounteren, 7U);
  board->cores().run(1000);
  ASSERT_TRUE(board->end());
  EXPECT_EQ(board->end()->kind, BoardEnd::Kind::crash);
  EXPECT_EQ(board->end()->crash->trap.cause, Exception::instruction_access);
  ASSERT_TRUE(board->end()->crash->first);
  EXPECT_EQ(board->end()->crash->first->pc, map::kStart);
  EXPECT_EQ(board->end()->crash->first->cause,
            static_cast<std::uint64_t>(Exception::illegal_instruction));
}

TEST_F(BoardTest, NothingToDoIsADeadlock) {
  make(2);
  load(Program().wfi().jump_here());
  EXPECT_EQ(board->cores().run(1000), FunctionalCores::End::deadlock);
  EXPECT_EQ(board->cores().schedule().instructions, 1U);
}

// A program that prints its typed characters in upper case, from its interrupt's line by polling.
TEST_F(BoardTest, TypedCharactersArrive) {
  make();
  Program program;
  program.set_wide(t0, map::kUart);
  program.set(t1, 1).word(t1 << 20 | t0 << 15 | 0 << 12 | 1 << 7 | 0x23); // IER = 1
  program.word(5 << 20 | t0 << 15 | 4 << 12 | t1 << 7 | 0x03);            // lbu t1, 5(t0)
  program.word(1 << 20 | t1 << 15 | 7 << 12 | t1 << 7 | 0x13);            // andi t1, t1, 1
  program.word(0xFE03'0CE3);                                              // beq t1, x0, -8
  program.word(0 << 20 | t0 << 15 | 4 << 12 | t1 << 7 | 0x03);            // lbu t1, 0(t0)
  program.word(t1 << 20 | t0 << 15 | 0 << 12 | 0x23);                     // sb t1, 0(t0)
  program.word(0xFEDF'F06F);                                              // j -20
  load(program);
  board->feed().type("abc", 0);
  board->cores().run(10);
  EXPECT_EQ(sink.text, "");
  board->cores().run(4 * ConsoleFeed::kCharacter);
  EXPECT_EQ(sink.text, "abc");
}

std::vector<std::string> names_in(const void *tree, const char *path) {
  std::vector<std::string> names;
  const int node = fdt_path_offset(tree, path);
  for (int child = fdt_first_subnode(tree, node); child >= 0; child = fdt_next_subnode(tree, child))
    names.emplace_back(fdt_get_name(tree, child, nullptr));
  return names;
}

TEST(DeviceTree, IsWholeAndTellsEverything) {
  TreeOptions options{.harts = 64,
                      .memory = 256 * kMegabyte,
                      .virtio_slots = 3,
                      .arguments = "console=ttyS0",
                      .initrd = std::pair<std::uint64_t, std::uint64_t>(0x8800'0000, 0x8900'0000)};
  const std::string blob = make_device_tree(options);
  ASSERT_EQ(fdt_check_full(blob.data(), blob.size()), 0);
  EXPECT_TRUE(check_device_tree("tree", blob).ok());
  const void *tree = blob.data();
  EXPECT_EQ(names_in(tree, "/cpus").size(), 64U);
  EXPECT_THAT(names_in(tree, "/soc"),
              ::testing::UnorderedElementsAre("plic@c000000", "serial@10000000",
                                              "virtio_mmio@10001000", "virtio_mmio@10002000",
                                              "virtio_mmio@10003000", "test@100000"));
  const int chosen = fdt_path_offset(tree, "/chosen");
  EXPECT_STREQ(static_cast<const char *>(fdt_getprop(tree, chosen, "bootargs", nullptr)),
               "console=ttyS0");
  int size = 0;
  ASSERT_NE(fdt_getprop(tree, chosen, "rng-seed", &size), nullptr);
  EXPECT_EQ(size, 32);
  const int plic = fdt_path_offset(tree, "/soc/plic@c000000");
  ASSERT_NE(fdt_getprop(tree, plic, "interrupts-extended", &size), nullptr);
  EXPECT_EQ(size, 64 * 8);
  const int hart = fdt_path_offset(tree, "/cpus/cpu@3f/interrupt-controller");
  ASSERT_GE(hart, 0);
  EXPECT_EQ(fdt_get_phandle(tree, hart), 16U + 63);
}

TEST(DeviceTree, DamagedOnesAreRefused) {
  const std::string blob = make_device_tree({.harts = 2, .memory = 16 * kMegabyte});
  const unsigned seed = 3;
  std::mt19937 random(seed);
  SCOPED_TRACE(seed);
  EXPECT_FALSE(check_device_tree("tree", "").ok());
  EXPECT_FALSE(check_device_tree("tree", "hello, this is no device tree at all, really").ok());
  for (std::size_t size = 0; size < blob.size(); size += 7)
    EXPECT_FALSE(check_device_tree("tree", blob.substr(0, size)).ok()) << size;
  for (unsigned round = 0; round < 5000; ++round) {
    std::string damaged = blob;
    for (unsigned count = 0; count < 3; ++count)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    (void)check_device_tree("tree", damaged).ok(); // either, without harm
  }
}

class BootTest : public BoardTest {
protected:
  BootTest() {
    char name[] = "/tmp/tandem-boot-XXXXXX";
    folder = ::mkdtemp(name);
    make();
  }
  ~BootTest() override { (void)std::system(("rm -rf " + folder).c_str()); }
  std::string file(const std::string &name, const std::string &bytes) {
    EXPECT_TRUE(write_file(folder + "/" + name, bytes).ok());
    return folder + "/" + name;
  }
  std::string mistake(const BootOptions &options) {
    const Result<Symbols> loaded = load_kernel(*board, options);
    return loaded ? "" : loaded.error().message;
  }
  // With the header of a kernel's Image.
  static std::string image(std::uint64_t size, std::uint64_t bytes = 4096) {
    std::string text(bytes, '\0');
    const std::uint64_t offset = 0x20'0000;
    const std::uint32_t magic = 0x05435352;
    std::memcpy(text.data() + 8, &offset, 8);
    std::memcpy(text.data() + 16, &size, 8);
    std::memcpy(text.data() + 56, &magic, 4);
    return text;
  }
  std::string folder;
};

TEST_F(BootTest, PutsKernelInitrdAndTree) {
  const std::string kernel = file("Image", image(kMegabyte));
  const std::string initrd = file("initrd", std::string(10'000, 'i'));
  ASSERT_EQ(mistake({.kernel = kernel, .initrd = initrd, .arguments = "x=1"}), "");
  const HartState &state = board->harts()[0].state();
  EXPECT_EQ(state.pc, map::kStart);
  EXPECT_EQ(state.x[a0], 0U);
  EXPECT_EQ(state.satp, 0U);
  const std::uint64_t tree = state.x[a1];
  ASSERT_TRUE(board->memory().contains(tree, 64));
  const std::byte *blob = board->memory().host(tree);
  ASSERT_EQ(fdt_check_header(blob), 0);
  const int chosen = fdt_path_offset(blob, "/chosen");
  const auto *start =
      static_cast<const fdt64_t *>(fdt_getprop(blob, chosen, "linux,initrd-start", nullptr));
  ASSERT_NE(start, nullptr);
  const std::uint64_t at = fdt64_to_cpu(*start);
  EXPECT_EQ(std::to_integer<char>(*board->memory().host(at)), 'i');
}

TEST_F(BootTest, SaysWhatDoesNotFit) {
  EXPECT_THAT(mistake({.kernel = folder + "/none"}), HasSubstr("cannot be read"));
  EXPECT_THAT(mistake({.kernel = file("text", "hello")}),
              HasSubstr("neither a RISC-V kernel Image"));
  EXPECT_THAT(mistake({.kernel = file("gz", "\x1F\x8B compressed")}), HasSubstr("gunzip"));
  EXPECT_THAT(mistake({.kernel = file("big", image(32 * kMegabyte))}),
              HasSubstr("big: does not fit: it needs 34 MB of the machine's 16 MB"));
  const std::string kernel = file("Image", image(kMegabyte));
  EXPECT_THAT(mistake({.kernel = kernel, .initrd = file("i", std::string(15 * kMegabyte, 'i'))}),
              HasSubstr("i: does not fit"));
  EXPECT_THAT(mistake({.kernel = kernel, .tree = file("t.dtb", "no tree")}),
              HasSubstr("t.dtb: is no device tree"));
  TinyElf other{.machine = EM_X86_64};
  EXPECT_THAT(mistake({.kernel = file("vmlinuz", other.bytes())}), HasSubstr("x86-64"));
  TinyElf far{.address = map::kMemory + (15ULL << 20), .memory_size = 4 << 20};
  EXPECT_THAT(mistake({.kernel = file("far", far.bytes())}), HasSubstr("does not fit"));
  TinyElf lost{.address = map::kStart, .entry = 0x1234};
  EXPECT_THAT(mistake({.kernel = file("lost", lost.bytes())}), HasSubstr("its entry 0x1234"));
  EXPECT_EQ(board->harts()[0].state().activity, Activity::stopped); // nothing has started
}

TEST_F(BootTest, TooManyDevices) {
  const std::string disk = file("disk", std::string(512, '\0'));
  const BoardOptions nine{.memory = 16 * kMegabyte, .disks = std::vector(9, DiskOptions{disk})};
  const Result<std::unique_ptr<Board>> made = Board::make(nine);
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().message, HasSubstr("9 virtio devices"));
}

// A board that goes on from a checkpoint does what the one that was saved does.
TEST_F(BootTest, CheckpointsGoOn) {
  Program program; // counts in a0, and stores it behind itself for ever
  program.set_wide(t0, static_cast<std::uint32_t>(map::kStart) + 0x1000);
  program.word(1 << 20 | a0 << 15 | a0 << 7 | 0x13);
  program.word(a0 << 20 | t0 << 15 | 3 << 12 | 0x23);
  program.word(0xFF9F'F06F); // j -8
  load(program);
  board->cores().run(12'345);
  const std::string path = folder + "/saved";
  ASSERT_TRUE(save_checkpoint(*board, path).ok());
  Result<std::unique_ptr<Board>> other = restore_checkpoint(path);
  ASSERT_TRUE(other.ok()) << other.error().message;
  board->cores().run(54'321);
  (*other)->cores().run(54'321);
  EXPECT_EQ(board->harts()[0].state(), (*other)->harts()[0].state());
  EXPECT_EQ(board->cores().schedule(), (*other)->cores().schedule());
  EXPECT_TRUE(std::ranges::equal(board->memory().bytes(), (*other)->memory().bytes()));
}

TEST_F(BootTest, DamagedCheckpointsAreRefused) {
  const std::string disk = file("disk", std::string(4096, 'd'));
  Result<std::unique_ptr<Board>> made =
      Board::make({.memory = 16 * kMegabyte, .disks = {DiskOptions{disk}}});
  ASSERT_TRUE(made.ok());
  const std::string path = folder + "/saved";
  ASSERT_TRUE(save_checkpoint(**made, path).ok());
  ASSERT_TRUE(restore_checkpoint(path).ok());
  const std::string bytes = std::move(read_file(path)).value();
  const auto refused = [&](const std::string &text) {
    const Result<std::unique_ptr<Board>> board_of = restore_checkpoint(file("bad", text));
    return board_of ? std::string() : board_of.error().message;
  };
  EXPECT_THAT(refused("hello"), HasSubstr("is no checkpoint"));
  EXPECT_THAT(refused(bytes.substr(0, bytes.size() / 2)), HasSubstr("is damaged"));
  for (std::size_t place = 0; place < bytes.size(); place += 97) {
    std::string damaged = bytes;
    damaged[place] = static_cast<char>(damaged[place] ^ 0x40);
    EXPECT_NE(refused(damaged), "") << place;
  }
  file("disk", std::string(4096, 'e'));
  EXPECT_THAT(refused(bytes), HasSubstr("disk: has changed since"));
}

} // namespace
} // namespace tandem::machine
