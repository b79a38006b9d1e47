// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/platform/checkpoint.h"

#include "base/file.h"
#include "machine/htm/transactional_memory.h"
#include "machine/platform/map.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <utility>

namespace tandem::machine {
namespace {

constexpr std::array<char, 8> kMagic = {'t', 'a', 'n', 'd', 'e', 'm', 'c', 'p'};
constexpr std::uint32_t kVersion = 2;

// A disk, by what it held when the machine began.
struct Disk {
  std::string path;
  bool read_only = false;
  Cycle latency = 0;
  std::uint64_t fingerprint = 0;
  void fields(Archive &archive) { archive(path, read_only, latency, fingerprint); }
};

struct Header {
  std::uint32_t harts = 0;
  std::uint64_t memory = 0;
  std::vector<Disk> disks;
  std::vector<NetworkChoice> networks;
  ConsoleKind console = ConsoleKind::uart;
  void fields(Archive &archive) { archive(harts, memory, disks, networks, console); }
};

Result<std::uint64_t> fingerprint(const std::string &path) {
  std::FILE *file = std::fopen(path.c_str(), "rb");
  if (file == nullptr)
    return Error{fmt::format("{}: cannot be read: {}", path, std::strerror(errno))};
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  std::vector<char> part(1 << 20);
  while (const std::size_t count = std::fread(part.data(), 1, part.size(), file))
    XXH3_64bits_update(&state, part.data(), count);
  std::fclose(file);
  return XXH3_64bits_digest(&state);
}

// Pages that are not zero, each after its number.
void save_memory(Memory &memory, std::string &out) {
  static constexpr std::array<std::byte, kPageBytes> kZeros{};
  const std::span<const std::byte> bytes = std::as_const(memory).bytes();
  for (std::uint64_t page = 0; page < bytes.size() / kPageBytes; ++page) {
    const auto data = bytes.subspan(page * kPageBytes, kPageBytes);
    if (std::memcmp(data.data(), kZeros.data(), kPageBytes) == 0)
      continue;
    out.append(reinterpret_cast<const char *>(&page), sizeof page);
    out.append(reinterpret_cast<const char *>(data.data()), data.size());
  }
}

bool restore_memory(Memory &memory, std::string_view in) {
  const std::span<std::byte> bytes = memory.bytes();
  while (!in.empty()) {
    std::uint64_t page = 0;
    if (in.size() < sizeof page + kPageBytes)
      return false;
    std::memcpy(&page, in.data(), sizeof page);
    if (page >= bytes.size() / kPageBytes)
      return false;
    std::memcpy(bytes.data() + page * kPageBytes, in.data() + sizeof page, kPageBytes);
    in.remove_prefix(sizeof page + kPageBytes);
  }
  memory.code_changed();
  return true;
}

bool plausible(const Header &header) {
  constexpr std::uint64_t kLarge = std::uint64_t{2} << 20;
  const auto known = [](NetworkChoice kind) {
    return kind == NetworkChoice::none || kind == NetworkChoice::pair;
  };
  return header.harts >= 1 && header.harts <= map::kHartsMaximum && header.memory > 0 &&
         header.memory % kLarge == 0 && std::ranges::all_of(header.networks, known) &&
         header.console <= ConsoleKind::virtio;
}

Result<BoardOptions> options_of(const Header &header, const std::string &path) {
  BoardOptions options{.harts = header.harts,
                       .memory = header.memory,
                       .networks = header.networks,
                       .console = header.console};
  for (const Disk &disk : header.disks) {
    const Result<std::uint64_t> now = fingerprint(disk.path);
    if (!now)
      return now.error();
    if (*now != disk.fingerprint)
      return Error{fmt::format("{}: has changed since {} was saved; give it back its contents",
                               disk.path, path)};
    options.disks.push_back(
        {.path = disk.path, .read_only = disk.read_only, .latency = disk.latency});
  }
  return options;
}

} // namespace

Status save_checkpoint(Board &board, const std::string &path) {
  const BoardOptions &options = board.options();
  Header header{.harts = options.harts,
                .memory = options.memory,
                .disks = {},
                .networks = options.networks,
                .console = options.console};
  if (std::ranges::find(options.networks, NetworkChoice::relay) != options.networks.end())
    return Error{fmt::format("{}: a machine with a relay cannot be saved: its connections are the "
                             "host's; leave out --net relay",
                             path)};
  for (const DiskOptions &disk : options.disks) {
    const Result<std::uint64_t> now = fingerprint(disk.path);
    if (!now)
      return now.error();
    header.disks.push_back({.path = disk.path,
                            .read_only = disk.read_only,
                            .latency = disk.latency,
                            .fingerprint = *now});
  }
  if (board.harts().transactions().any_live())
    return Error{fmt::format("{}: a hardware transaction is under way, which no checkpoint holds; "
                             "save at another cycle",
                             path)};
  std::string body;
  Archive archive = Archive::writer(body);
  archive(header, board);
  std::string all(kMagic.data(), kMagic.size());
  const std::uint64_t size = body.size();
  all.append(reinterpret_cast<const char *>(&kVersion), sizeof kVersion);
  all.append(reinterpret_cast<const char *>(&size), sizeof size);
  all += body;
  save_memory(board.memory(), all);
  const std::uint64_t sum = XXH3_64bits(all.data(), all.size());
  all.append(reinterpret_cast<const char *>(&sum), sizeof sum);
  return write_file(path, all);
}

Result<std::unique_ptr<Board>> restore_checkpoint(const std::string &path) {
  const Result<std::string> bytes = read_file(path);
  if (!bytes)
    return bytes.error();
  const auto refuse = [&path](const char *what) {
    return Error{fmt::format("{}: {}; make one with tandem machine boot --save", path, what)};
  };
  constexpr std::size_t kFixed = kMagic.size() + sizeof kVersion + 2 * sizeof(std::uint64_t);
  if (bytes->size() < kFixed || !bytes->starts_with({kMagic.data(), kMagic.size()}))
    return refuse("is no checkpoint");
  std::uint32_t version = 0;
  std::uint64_t size = 0;
  std::uint64_t sum = 0;
  std::memcpy(&version, bytes->data() + kMagic.size(), sizeof version);
  std::memcpy(&size, bytes->data() + kMagic.size() + sizeof version, sizeof size);
  std::memcpy(&sum, bytes->data() + bytes->size() - sizeof sum, sizeof sum);
  if (version != kVersion)
    return refuse("is a checkpoint of another version");
  if (size > bytes->size() - kFixed ||
      sum != XXH3_64bits(bytes->data(), bytes->size() - sizeof sum))
    return refuse("is damaged");
  const std::string_view body = std::string_view(*bytes).substr(kFixed - sizeof sum, size);
  const std::string_view pages =
      std::string_view(*bytes).substr(kFixed - sizeof sum + size, bytes->size() - kFixed - size);
  Header header;
  Archive archive = Archive::reader(body);
  archive(header);
  if (archive.failed() || !plausible(header))
    return refuse("is damaged");
  const Result<BoardOptions> options = options_of(header, path);
  if (!options)
    return options.error();
  Result<std::unique_ptr<Board>> board = Board::make(*options);
  if (!board)
    return board.error();
  if (!restore_memory((*board)->memory(), pages))
    return refuse("is damaged");
  archive(**board);
  if (archive.failed() || archive.left() != 0)
    return refuse("is damaged");
  return board;
}

} // namespace tandem::machine
