// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Source: DWARF Debugging Information Format, version 5, section 6.2; versions 2 to 4 have the
// directory and file tables of their section 6.2.4.
#include "runtime/profile/line_table.h"

#include "runtime/memory/log.h"

#include <algorithm>
#include <cstring>

namespace tandem::profile {
namespace {

// Reads from the front; past the end everything is 0, and `good` is false.
class Cursor {
public:
  Cursor() = default;
  Cursor(const std::uint8_t *at, const std::uint8_t *end) : at_(at), end_(end) {}

  template <class T> T read() noexcept {
    T value{};
    if (static_cast<std::size_t>(end_ - at_) < sizeof value) {
      fail();
      return value;
    }
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::uint64_t offset(bool wide) noexcept {
    return wide ? read<std::uint64_t>() : read<std::uint32_t>();
  }
  std::uint64_t uleb() noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = read<std::uint8_t>();
      if (shift < 64)
        value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0)
        return value;
    }
  }
  std::int64_t sleb() noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0;;) {
      const auto byte = read<std::uint8_t>();
      if (shift < 64)
        value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      shift += 7;
      if ((byte & 0x80) != 0)
        continue;
      if (shift < 64 && (byte & 0x40) != 0)
        value |= ~std::uint64_t{0} << shift;
      return static_cast<std::int64_t>(value);
    }
  }
  const char *string() noexcept {
    const auto *start = reinterpret_cast<const char *>(at_);
    const void *zero = std::memchr(at_, 0, left());
    if (zero == nullptr) {
      fail();
      return "";
    }
    at_ = static_cast<const std::uint8_t *>(zero) + 1;
    return start;
  }
  void skip(std::uint64_t bytes) noexcept {
    if (bytes > left())
      fail();
    else
      at_ += bytes;
  }
  // The next `bytes`, taken off.
  Cursor part(std::uint64_t bytes) noexcept {
    const std::uint8_t *start = at_;
    skip(bytes);
    return good_ ? Cursor(start, at_) : Cursor();
  }
  [[nodiscard]] bool empty() const noexcept { return at_ == end_; }
  [[nodiscard]] bool good() const noexcept { return good_; }
  [[nodiscard]] std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - at_); }

private:
  void fail() noexcept {
    at_ = end_;
    good_ = false;
  }

  const std::uint8_t *at_ = nullptr;
  const std::uint8_t *end_ = nullptr;
  bool good_ = true;
};

struct FileEntry {
  const char *name;
  std::uint64_t folder; // position in Unit::folders
};

enum : std::uint64_t { // forms and contents that these tables use
  kFormBlock = 0x09,
  kFormData1 = 0x0b,
  kFormData2 = 0x05,
  kFormData4 = 0x06,
  kFormData8 = 0x07,
  kFormData16 = 0x1e,
  kFormString = 0x08,
  kFormStrp = 0x0e,
  kFormLineStrp = 0x1f,
  kFormUdata = 0x0f,
  kContentPath = 1,
  kContentFolder = 2
};

// One line number program with its tables.
struct Unit {
  bool wide = false; // 64-bit DWARF
  std::uint16_t version = 0;
  std::uint8_t instruction_bytes = 1;
  std::int8_t line_base = 0;
  std::uint8_t line_range = 1;
  std::uint8_t opcode_base = 1;
  std::uint8_t operands[256] = {}; // of standard opcodes
  memory::Log<const char *> folders;
  memory::Log<FileEntry> files;
  Cursor program;
};

const char *string_at(Span strings, std::uint64_t offset) noexcept {
  if (offset >= strings.size ||
      std::memchr(strings.start + offset, 0, strings.size - offset) == nullptr)
    return "";
  return reinterpret_cast<const char *>(strings.start) + offset;
}

// A value of a table of version 5: a string, or a number.
struct FormValue {
  const char *text = "";
  std::uint64_t number = 0;
};

FormValue read_form(Cursor &cursor, std::uint64_t form, bool wide,
                    const LineSections &sections) noexcept {
  switch (form) {
  case kFormString:
    return {cursor.string(), 0};
  case kFormStrp:
    return {string_at(sections.strings, cursor.offset(wide)), 0};
  case kFormLineStrp:
    return {string_at(sections.line_strings, cursor.offset(wide)), 0};
  case kFormUdata:
    return {"", cursor.uleb()};
  case kFormData1:
    return {"", cursor.read<std::uint8_t>()};
  case kFormData2:
    return {"", cursor.read<std::uint16_t>()};
  case kFormData4:
    return {"", cursor.read<std::uint32_t>()};
  case kFormData8:
    return {"", cursor.read<std::uint64_t>()};
  case kFormData16:
    cursor.skip(16);
    return {};
  case kFormBlock:
    cursor.skip(cursor.uleb());
    return {};
  default:
    cursor.skip(cursor.left() + 1); // unknown: the unit is given up
    return {};
  }
}

template <class Add>
void read_table(Cursor &cursor, bool wide, const LineSections &sections, Add add) noexcept {
  constexpr std::size_t kMostFormats = 16;
  std::uint64_t contents[kMostFormats];
  std::uint64_t forms[kMostFormats];
  const std::size_t formats = cursor.read<std::uint8_t>();
  for (std::size_t i = 0; i < formats; ++i) {
    contents[i % kMostFormats] = cursor.uleb();
    forms[i % kMostFormats] = cursor.uleb();
  }
  const std::uint64_t count = cursor.uleb();
  for (std::uint64_t n = 0; n < count && cursor.good() && formats <= kMostFormats; ++n) {
    FileEntry entry{"", 0};
    for (std::size_t i = 0; i < formats; ++i) {
      const FormValue value = read_form(cursor, forms[i], wide, sections);
      if (contents[i] == kContentPath)
        entry.name = value.text;
      else if (contents[i] == kContentFolder)
        entry.folder = value.number;
    }
    add(entry);
  }
}

// The tables before version 5: number 0 is the compiler's folder, and no file.
void read_old_tables(Cursor &cursor, Unit &unit) noexcept {
  unit.folders.push("");
  while (const char *folder = cursor.string()) {
    if (*folder == '\0')
      break;
    unit.folders.push(folder);
  }
  unit.files.push({"", 0});
  while (const char *name = cursor.string()) {
    if (*name == '\0')
      break;
    const std::uint64_t folder = cursor.uleb();
    cursor.uleb(); // time
    cursor.uleb(); // bytes
    unit.files.push({name, folder});
  }
}

// Takes the next unit off `all`. False where it cannot be read.
bool read_unit(Cursor &all, const LineSections &sections, Unit &unit) noexcept {
  std::uint64_t bytes = all.read<std::uint32_t>();
  unit.wide = bytes == 0xffffffff;
  if (unit.wide)
    bytes = all.read<std::uint64_t>();
  Cursor cursor = all.part(bytes);
  unit.version = cursor.read<std::uint16_t>();
  if (unit.version < 2 || unit.version > 5)
    return false;
  if (unit.version == 5)
    cursor.skip(2); // sizes of addresses and of segment selectors
  Cursor header = cursor.part(cursor.offset(unit.wide));
  unit.program = cursor;
  unit.instruction_bytes = header.read<std::uint8_t>();
  if (unit.version >= 4)
    header.skip(1); // operations per instruction: 1 on x86
  header.skip(1);   // whether rows are statements at first: all rows count here
  unit.line_base = header.read<std::int8_t>();
  unit.line_range = header.read<std::uint8_t>();
  unit.opcode_base = header.read<std::uint8_t>();
  for (unsigned opcode = 1; opcode < unit.opcode_base; ++opcode)
    unit.operands[opcode] = header.read<std::uint8_t>();
  if (unit.version < 5) {
    read_old_tables(header, unit);
  } else {
    read_table(header, unit.wide, sections,
               [&](const FileEntry &entry) { unit.folders.push(entry.name); });
    read_table(header, unit.wide, sections,
               [&](const FileEntry &entry) { unit.files.push(entry); });
  }
  return header.good() && unit.line_range != 0;
}

struct Row {
  std::uint64_t address = 0;
  std::uint64_t file = 1;
  std::int64_t line = 1;
};

// Runs a program and tells the places that are between two of its rows.
class LineMachine {
public:
  LineMachine(Unit &unit, std::uint64_t base, Place *begin, Place *end)
      : unit_(unit), base_(base), begin_(begin), end_(end) {}

  void run() noexcept {
    Cursor &code = unit_.program;
    while (!code.empty()) {
      const auto opcode = code.read<std::uint8_t>();
      if (opcode >= unit_.opcode_base)
        special(opcode - unit_.opcode_base);
      else if (opcode == 0)
        extended(code);
      else
        standard(opcode, code);
    }
  }

private:
  void advance(std::uint64_t operation) noexcept {
    row_.address += operation * unit_.instruction_bytes;
  }
  void special(unsigned adjusted) noexcept {
    advance(adjusted / unit_.line_range);
    row_.line += unit_.line_base + static_cast<int>(adjusted % unit_.line_range);
    emit();
  }
  void extended(Cursor &code) noexcept {
    Cursor operation = code.part(code.uleb());
    switch (operation.read<std::uint8_t>()) {
    case 1: // end_sequence
      emit();
      row_ = Row();
      open_ = false;
      break;
    case 2: // set_address
      row_.address = operation.read<std::uint64_t>();
      break;
    default:
      break;
    }
  }
  void standard(unsigned opcode, Cursor &code) noexcept {
    switch (opcode) {
    case 1: // copy
      return emit();
    case 2: // advance_pc
      return advance(code.uleb());
    case 3: // advance_line
      row_.line += code.sleb();
      return;
    case 4: // set_file
      row_.file = code.uleb();
      return;
    case 8: // const_add_pc
      return advance((255U - unit_.opcode_base) / unit_.line_range);
    case 9: // fixed_advance_pc
      row_.address += code.read<std::uint16_t>();
      return;
    default: // what changes nothing that counts here
      for (unsigned i = 0; i < unit_.operands[opcode]; ++i)
        code.uleb();
    }
  }
  // The row before this one ends here.
  void emit() noexcept {
    // Addresses near 0 are of functions that the linker has dropped.
    if (open_ && before_.address != 0 && before_.address < row_.address)
      tell(before_, row_.address);
    before_ = row_;
    open_ = true;
  }
  void tell(const Row &row, std::uint64_t end) noexcept {
    Place key;
    key.address = base_ + row.address;
    Place *place = std::lower_bound(
        begin_, end_, key, [](const Place &a, const Place &b) { return a.address < b.address; });
    for (; place != end_ && place->address < base_ + end; ++place) {
      if (place->data || row.file >= unit_.files.size())
        continue;
      const FileEntry &file = unit_.files[row.file];
      place->file = file.name;
      place->folder = file.folder != 0 && file.folder < unit_.folders.size() && *file.name != '/'
                          ? unit_.folders[file.folder]
                          : "";
      place->line = static_cast<std::uint32_t>(row.line);
    }
  }

  Unit &unit_;
  std::uint64_t base_;
  Place *begin_;
  Place *end_;
  Row row_;
  Row before_;
  bool open_ = false;
};

} // namespace

void find_lines(const LineSections &sections, std::uint64_t base, Place *begin,
                Place *end) noexcept {
  Cursor all(sections.lines.start, sections.lines.start + sections.lines.size);
  while (!all.empty() && all.good()) {
    Unit unit;
    if (read_unit(all, sections, unit))
      LineMachine(unit, base, begin, end).run();
    unit.folders.release();
    unit.files.release();
  }
}

} // namespace tandem::profile
