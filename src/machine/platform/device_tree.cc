// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/platform/device_tree.h"

#include "machine/devices/exit_device.h"
#include "machine/devices/plic.h"
#include "machine/devices/uart16550.h"
#include "machine/devices/virtio_mmio.h"
#include "machine/platform/map.h"

#include <initializer_list>
#include <string_view>
#include <vector>

extern "C" {
#include <libfdt.h>
}

namespace tandem::machine {
namespace {

constexpr std::uint32_t kSupervisorExternal = 9; // of a hart's interrupt controller
constexpr std::uint32_t kPlicHandle = 1;
constexpr std::uint32_t kExitHandle = 2;
constexpr std::uint32_t kFirstHartHandle = 16;

// Writes nodes and properties in order. The library's errors cannot happen with a buffer that is
// large enough; CHECK says so.
class Writer {
public:
  explicit Writer(std::size_t room) : blob_(room, '\0') {
    done(fdt_create(blob_.data(), static_cast<int>(room)));
    done(fdt_finish_reservemap(blob_.data()));
  }

  void begin(const std::string &name) { done(fdt_begin_node(blob_.data(), name.c_str())); }
  void end() { done(fdt_end_node(blob_.data())); }

  void cells(const char *name, const std::vector<std::uint32_t> &values) {
    std::vector<fdt32_t> big;
    big.reserve(values.size());
    for (const std::uint32_t value : values)
      big.push_back(cpu_to_fdt32(value));
    bytes(name, big.data(), big.size() * sizeof(fdt32_t));
  }
  void number(const char *name, std::uint32_t value) { cells(name, {value}); }
  // As two cells each.
  void wide(const char *name, std::initializer_list<std::uint64_t> values) {
    std::vector<std::uint32_t> halves;
    for (const std::uint64_t value : values) {
      halves.push_back(static_cast<std::uint32_t>(value >> 32));
      halves.push_back(static_cast<std::uint32_t>(value));
    }
    cells(name, halves);
  }
  // Several strings are one property, each with its end.
  void text(const char *name, std::initializer_list<std::string_view> values) {
    std::string all;
    for (const std::string_view value : values)
      all.append(value).push_back('\0');
    bytes(name, all.data(), all.size());
  }
  void mark(const char *name) { bytes(name, nullptr, 0); }
  void bytes(const char *name, const void *data, std::size_t size) {
    done(fdt_property(blob_.data(), name, data, static_cast<int>(size)));
  }

  std::string finish() {
    done(fdt_finish(blob_.data()));
    blob_.resize(fdt_totalsize(blob_.data()));
    return std::move(blob_);
  }

private:
  static void done(int error) { CHECK(error == 0, "{}", fdt_strerror(error)); }
  std::string blob_;
};

void write_chosen(Writer &tree, const TreeOptions &options) {
  tree.begin("chosen");
  tree.text("bootargs", {options.arguments});
  if (options.uart_is_console)
    tree.text("stdout-path", {fmt::format("/soc/serial@{:x}", map::kUart)});
  if (options.initrd) {
    tree.wide("linux,initrd-start", {options.initrd->first});
    tree.wide("linux,initrd-end", {options.initrd->second});
  }
  tree.bytes("rng-seed", options.random.data(), options.random.size());
  tree.end();
}

void write_harts(Writer &tree, unsigned harts) {
  tree.begin("cpus");
  tree.number("#address-cells", 1);
  tree.number("#size-cells", 0);
  tree.number("timebase-frequency", map::kTimebaseHz);
  for (unsigned hart = 0; hart < harts; ++hart) {
    tree.begin(fmt::format("cpu@{:x}", hart));
    tree.text("device_type", {"cpu"});
    tree.number("reg", hart);
    tree.text("status", {"okay"});
    tree.text("compatible", {"riscv"});
    tree.text("riscv,isa", {"rv64imafdc_sstc"});
    tree.text("mmu-type", {"riscv,sv39"});
    tree.begin("interrupt-controller");
    tree.number("#interrupt-cells", 1);
    tree.mark("interrupt-controller");
    tree.text("compatible", {"riscv,cpu-intc"});
    tree.number("phandle", kFirstHartHandle + hart);
    tree.end();
    tree.end();
  }
  tree.end();
}

void write_plic(Writer &tree, unsigned harts) {
  tree.begin(fmt::format("plic@{:x}", map::kPlic));
  tree.text("compatible", {"sifive,plic-1.0.0", "riscv,plic0"});
  tree.number("#address-cells", 0);
  tree.number("#interrupt-cells", 1);
  tree.mark("interrupt-controller");
  std::vector<std::uint32_t> lines;
  for (unsigned hart = 0; hart < harts; ++hart) {
    lines.push_back(kFirstHartHandle + hart);
    lines.push_back(kSupervisorExternal);
  }
  tree.cells("interrupts-extended", lines);
  tree.number("riscv,ndev", Plic::kSources - 1);
  tree.wide("reg", {map::kPlic, Plic::kSize});
  tree.number("phandle", kPlicHandle);
  tree.end();
}

void write_devices(Writer &tree, const TreeOptions &options) {
  tree.begin(fmt::format("serial@{:x}", map::kUart));
  tree.text("compatible", {"ns16550a"});
  tree.wide("reg", {map::kUart, Uart16550::kSize});
  tree.number("clock-frequency", 3'686'400); // as QEMU's; the line has no speed
  tree.number("interrupts", map::kUartInterrupt);
  tree.number("interrupt-parent", kPlicHandle);
  tree.end();
  for (unsigned slot = 0; slot < options.virtio_slots; ++slot) {
    const std::uint64_t base = map::kVirtio + slot * map::kVirtioStride;
    tree.begin(fmt::format("virtio_mmio@{:x}", base));
    tree.text("compatible", {"virtio,mmio"});
    tree.wide("reg", {base, VirtioDevice::kSize});
    tree.number("interrupts", map::kVirtioInterrupt + slot);
    tree.number("interrupt-parent", kPlicHandle);
    tree.end();
  }
  tree.begin(fmt::format("test@{:x}", map::kExit));
  tree.text("compatible", {"sifive,test1", "sifive,test0", "syscon"});
  tree.wide("reg", {map::kExit, ExitDevice::kSize});
  tree.number("phandle", kExitHandle);
  tree.end();
}

void write_ends(Writer &tree) {
  for (const auto &[name, value] : {std::pair("poweroff", 0x5555U), std::pair("reboot", 0x7777U)}) {
    tree.begin(name);
    tree.text("compatible", {fmt::format("syscon-{}", name)});
    tree.number("regmap", kExitHandle);
    tree.number("offset", 0);
    tree.number("value", value);
    tree.end();
  }
}

} // namespace

std::string make_device_tree(const TreeOptions &options) {
  // A hart takes less than 400 bytes.
  Writer tree(16'384 + 512ULL * options.harts + options.arguments.size());
  tree.begin("");
  tree.number("#address-cells", 2);
  tree.number("#size-cells", 2);
  tree.text("compatible", {"riscv-virtio"});
  tree.text("model", {"riscv-virtio,tandem"});
  write_chosen(tree, options);
  tree.begin(fmt::format("memory@{:x}", map::kMemory));
  tree.text("device_type", {"memory"});
  tree.wide("reg", {map::kMemory, options.memory});
  tree.end();
  write_harts(tree, options.harts);
  tree.begin("soc");
  tree.number("#address-cells", 2);
  tree.number("#size-cells", 2);
  tree.text("compatible", {"simple-bus"});
  tree.mark("ranges");
  write_plic(tree, options.harts);
  write_devices(tree, options);
  tree.end();
  write_ends(tree);
  tree.end();
  return tree.finish();
}

Status check_device_tree(const std::string &path, const std::string &blob) {
  // libfdt wants alignment, which a string's buffer has. It follows null pointers in trees of
  // versions before 16, which no tool writes any more.
  const int error = blob.size() < sizeof(fdt_header) ? -FDT_ERR_TRUNCATED
                    : fdt_magic(blob.data()) == FDT_MAGIC && fdt_version(blob.data()) < 16
                        ? -FDT_ERR_BADVERSION
                        : fdt_check_full(blob.data(), blob.size());
  if (error != 0)
    return Error{
        fmt::format("{}: is no device tree: {}; make one with dtc", path, fdt_strerror(error))};
  return Unit{};
}

} // namespace tandem::machine
