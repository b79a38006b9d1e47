// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/cores/testing/bare.h"

#include "base/file.h"

#include <algorithm>
#include <cstring>
#include <elf.h>

namespace tandem::machine::testing {

class BareMachine::Console final : public Device {
public:
  explicit Console(std::string &output) : output_(&output) {}
  bool load(std::uint64_t offset, unsigned /*size*/, std::uint64_t &value) override {
    value = offset == 5 ? 0x60 : 0; // line status: can take a byte
    return true;
  }
  bool store(std::uint64_t offset, unsigned size, std::uint64_t value) override {
    if (offset == 0 && size == 1)
      output_->push_back(static_cast<char>(value));
    return true;
  }

private:
  std::string *output_;
};

class BareMachine::Exit final : public Device {
public:
  explicit Exit(BareMachine &machine) : machine_(&machine) {}
  bool load(std::uint64_t /*offset*/, unsigned /*size*/, std::uint64_t &value) override {
    value = 0;
    return true;
  }
  bool store(std::uint64_t /*offset*/, unsigned /*size*/, std::uint64_t value) override {
    if ((value & 0xffff) == 0x5555)
      machine_->ended(0);
    else if ((value & 0xffff) == 0x3333)
      machine_->ended(static_cast<int>(value >> 16 & 0xffff));
    return true;
  }

private:
  BareMachine *machine_;
};

Result<std::unique_ptr<BareMachine>> BareMachine::create(const BareOptions &options) {
  auto memory = Memory::create(options.memory_base, options.memory_size);
  if (!memory)
    return memory.error();
  return std::unique_ptr<BareMachine>(new BareMachine(options, std::move(memory).value()));
}

BareMachine::BareMachine(const BareOptions &options, std::unique_ptr<Memory> memory)
    : options_(options), memory_(std::move(memory)), bus_(*memory_),
      console_(std::make_unique<Console>(output_)), exit_(std::make_unique<Exit>(*this)) {
  if (options.memory_base >= 0x8000'0000) {
    CHECK(bus_.attach("console", 0x1000'0000, 0x100, *console_).ok());
    CHECK(bus_.attach("exit", 0x10'0000, 0x1000, *exit_).ok());
  }
  harts_ = std::make_unique<Harts>(
      bus_, clock_,
      HartOptions{.count = options.harts, .machine_mode = options.way == Way::machine});
  cores_ = std::make_unique<FunctionalCores>(*harts_, clock_, nullptr);
  if (options.way == Way::user)
    for (auto &hart : *harts_)
      hart->intercept(this, ~std::uint64_t{0}, 0);
}

BareMachine::~BareMachine() = default;

namespace {

// An ELF file, as far as it is needed here.
class Elf {
public:
  static Result<Elf> read(const std::string &path) {
    auto file = read_file(path);
    if (!file)
      return file.error();
    Elf elf;
    elf.bytes_ = std::move(file).value();
    const Elf64_Ehdr &h = elf.header_;
    if (!elf.get(0, elf.header_) || std::memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 ||
        h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_machine != EM_RISCV)
      return Error{path + ": not a program for 64-bit RISC-V"};
    return elf;
  }

  [[nodiscard]] std::uint64_t entry() const { return header_.e_entry; }

  [[nodiscard]] std::vector<Elf64_Phdr> segments() const {
    return records<Elf64_Phdr>(header_.e_phoff, header_.e_phnum);
  }
  [[nodiscard]] std::span<const std::byte> bytes(const Elf64_Phdr &segment) const {
    const auto all = std::as_bytes(std::span(bytes_));
    if (segment.p_offset > all.size() || segment.p_filesz > all.size() - segment.p_offset)
      return {};
    return all.subspan(segment.p_offset, segment.p_filesz);
  }

  [[nodiscard]] std::map<std::string, std::uint64_t> symbols() const {
    std::map<std::string, std::uint64_t> found;
    const auto sections = records<Elf64_Shdr>(header_.e_shoff, header_.e_shnum);
    for (const Elf64_Shdr &section : sections) {
      if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size())
        continue;
      const Elf64_Shdr &strings = sections[section.sh_link];
      for (const auto &symbol :
           records<Elf64_Sym>(section.sh_offset, section.sh_size / sizeof(Elf64_Sym))) {
        const std::uint64_t name = strings.sh_offset + symbol.st_name;
        if (name < bytes_.size())
          found.emplace(bytes_.c_str() + name, symbol.st_value);
      }
    }
    return found;
  }

private:
  template <typename T> bool get(std::uint64_t offset, T &value) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof value)
      return false;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return true;
  }
  template <typename T>
  [[nodiscard]] std::vector<T> records(std::uint64_t offset, std::uint64_t count) const {
    std::vector<T> found;
    T record{};
    for (std::uint64_t i = 0; i < count && get(offset + i * sizeof record, record); ++i)
      found.push_back(record);
    return found;
  }

  std::string bytes_;
  Elf64_Ehdr header_{};
};

} // namespace

Result<BareOptions> BareMachine::options_for(const std::string &path) {
  auto elf = Elf::read(path);
  if (!elf)
    return elf.error();
  if (elf->symbols().contains("tohost"))
    return BareOptions{.way = Way::machine};
  if (elf->entry() < 0x8000'0000)
    return BareOptions{.way = Way::user, .memory_base = 0x10000};
  return BareOptions{};
}

Status BareMachine::load(const std::string &path) {
  auto elf = Elf::read(path);
  if (!elf)
    return elf.error();
  for (const Elf64_Phdr &segment : elf->segments()) {
    if (segment.p_type != PT_LOAD || segment.p_memsz == 0)
      continue;
    const auto bytes = elf->bytes(segment);
    if (bytes.size() != segment.p_filesz || segment.p_filesz > segment.p_memsz ||
        !memory_->contains(segment.p_paddr, segment.p_memsz))
      return Error{fmt::format("{}: the segment at {:#x} does not fit", path, segment.p_paddr)};
    CHECK(memory_->write(segment.p_paddr, bytes));
  }
  symbols_ = elf->symbols();
  if (const auto found = symbols_.find("tohost"); found != symbols_.end())
    tohost_ = found->second;
  for (auto &hart : *harts_) {
    HartState &state = hart->state();
    state.pc = elf->entry();
    if (options_.way != Way::machine && hart->id() == 0)
      hart->start(elf->entry(), 0, 0);
    if (options_.way == Way::user) {
      state.privilege = Privilege::user;
      state.scounteren = 7;
      state.x[2] = memory_->base() + memory_->size() - 4096;
      state.status |= std::uint64_t{1} << status::kFsShift;
      hart->changed();
    }
  }
  return Unit{};
}

std::string BareMachine::signature() const {
  const auto begin = symbols_.find("begin_signature");
  const auto end = symbols_.find("end_signature");
  std::string lines;
  if (begin == symbols_.end() || end == symbols_.end())
    return lines;
  for (std::uint64_t at = begin->second; at < end->second; at += 4) {
    std::uint32_t word = 0;
    if (!memory_->read_value(at, word))
      break;
    lines += fmt::format("{:08x}\n", word);
  }
  return lines;
}

void BareMachine::place(std::uint64_t address, std::span<const std::uint32_t> words) {
  CHECK(memory_->write(address, std::as_bytes(words)));
  if (options_.way == Way::machine) {
    hart().state().pc = address;
    return;
  }
  if (hart().state().activity == Activity::running)
    hart().stop();
  hart().start(address, 0, 0);
}

std::optional<int> BareMachine::run(std::uint64_t instructions) {
  // tohost is polled: often enough for its reader, rarely enough for speed.
  constexpr std::uint64_t kPoll = 10'000;
  while (instructions > 0 && !status_) {
    const std::uint64_t part = tohost_ ? std::min(instructions, kPoll) : instructions;
    if (cores_->run(part) == FunctionalCores::End::deadlock)
      break;
    instructions -= part;
    std::uint64_t word = 0;
    if (tohost_ && memory_->read_value(*tohost_, word) && word != 0) {
      if ((word & 1) != 0) {
        ended(static_cast<int>(word >> 1));
        continue;
      }
      // A system call of riscv-pk's kind: the virtual environment writes characters so.
      CHECK(memory_->write_value(*tohost_, std::uint64_t{0}));
      if (word >> 56 == 1)
        output_.push_back(static_cast<char>(word));
    }
  }
  return status_;
}

void BareMachine::ended(int status) {
  status_ = status;
  cores_->request_stop();
}

HartEnvironment::Action BareMachine::trap(Hart &hart, const Trap &trap) {
  HartState &state = hart.state();
  if (trap.cause != Exception::ecall_user) {
    output_ += fmt::format("{} at {:#x}, value {:#x}\n", name_of(trap.cause), state.pc, trap.value);
    ended(128);
    return Action::resume;
  }
  constexpr std::uint64_t kWrite = 64;
  if (state.x[17] == kWrite) {
    std::string text(state.x[12], '\0');
    const auto bytes = std::as_writable_bytes(std::span(text));
    state.x[10] = memory_->read(state.x[11], bytes) ? text.size() : ~std::uint64_t{13};
    output_ += text;
  } else { // exit, exit_group
    ended(static_cast<int>(state.x[10] & 0xff));
  }
  state.pc += 4;
  return Action::resume;
}

} // namespace tandem::machine::testing
