// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The files that the machine itself provides: /dev, /proc, /sys.
#include "machine/proxy/kernel.h"

#include <fcntl.h>

namespace tandem::machine::proxy {
namespace {

std::string list_of_harts(unsigned harts) {
  return harts == 1 ? "0\n" : fmt::format("0-{}\n", harts - 1);
}

std::string processor_information(unsigned harts) {
  std::string text;
  for (unsigned hart = 0; hart < harts; ++hart)
    text += fmt::format("processor\t: {0}\nhart\t\t: {0}\nisa\t\t: rv64imafdc\nmmu\t\t: sv39\n\n",
                        hart);
  return text;
}

std::string memory_information(const Frames &frames) {
  const std::uint64_t total = frames.total() * kPageBytes / 1024;
  const std::uint64_t free = (frames.total() - frames.in_use()) * kPageBytes / 1024;
  return fmt::format("MemTotal: {:>15} kB\nMemFree: {:>16} kB\nMemAvailable: {:>11} kB\n", total,
                     free, free);
}

std::string maps_of(const AddressSpace &space) {
  std::string text;
  for (const auto &[start, mapping] : space.mappings())
    text += fmt::format("{:08x}-{:08x} {}{}{}{} {:08x} 00:01 0 {:>20}\n", start, mapping.end,
                        mapping.protection.read ? 'r' : '-', mapping.protection.write ? 'w' : '-',
                        mapping.protection.execute ? 'x' : '-', mapping.shared ? 's' : 'p',
                        mapping.file == nullptr ? 0 : mapping.offset, mapping.name);
  return text;
}

std::string status_of(const std::string &name, std::size_t threads, std::uint64_t pages) {
  return fmt::format(
      "Name:\t{0}\nState:\tR (running)\nTgid:\t{1}\nPid:\t{1}\nPPid:\t1\nVmRSS:\t{2} "
      "kB\nThreads:\t{3}\n",
      name, Kernel::kProcess, pages * kPageBytes / 1024, threads);
}

} // namespace

void Kernel::provide_files() {
  using Kind = Node::Kind;
  Tree &tree = *tree_;
  tree.provide("/dev/null", Kind::null, {});
  tree.provide("/dev/zero", Kind::zero, {});
  tree.provide("/dev/full", Kind::full, {});
  tree.provide("/dev/random", Kind::random, {});
  tree.provide("/dev/urandom", Kind::random, {});
  tree.provide("/dev/shm", Kind::folder, {});
  tree.provide("/dev/fd", Kind::link, {}, "/proc/self/fd");
  const char *const names[] = {"stdin", "stdout", "stderr"};
  for (int stream = 0; stream < 3; ++stream) {
    tree.provide(fmt::format("/dev/{}", names[stream]), Kind::link, {},
                 fmt::format("/proc/self/fd/{}", stream));
    tree.provide(fmt::format("/proc/self/fd/{}", stream), Kind::stream, {})->stream = stream;
  }
  tree.provide("/proc/self/exe", Kind::link, {}, options_.program);
  tree.provide("/proc/self/maps", Kind::file, [this] { return maps_of(*space_); });
  tree.provide("/proc/self/status", Kind::file,
               [this] { return status_of(name, threads_->size(), space_->frames().in_use()); });
  tree.provide("/proc/self/cmdline", Kind::file, [this] {
    std::string text;
    for (const std::string &argument : options_.arguments)
      text.append(argument).push_back('\0');
    return text;
  });
  tree.provide("/proc/meminfo", Kind::file,
               [this] { return memory_information(space_->frames()); });
  const unsigned harts = harts_->size();
  tree.provide("/proc/cpuinfo", Kind::file, [harts] { return processor_information(harts); });
  tree.provide("/proc/sys/vm/overcommit_memory", Kind::file, [] { return std::string("1\n"); });
  for (const char *which : {"online", "possible", "present"})
    tree.provide(fmt::format("/sys/devices/system/cpu/{}", which), Kind::file,
                 [harts] { return list_of_harts(harts); });
  const Tree::Found start = tree.walk(tree.root(), options_.folder, true);
  folder = start.error == 0 && start.node != nullptr && start.node->kind == Kind::folder
               ? start.node
               : tree.root();
}

void Kernel::open_streams() {
  for (int stream = 0; stream < 3; ++stream) {
    const auto file = std::make_shared<StreamFile>(stream);
    file->flags = stream == 0 ? O_RDONLY : O_WRONLY;
    descriptors_.put(stream, file, false);
  }
}

} // namespace tandem::machine::proxy
