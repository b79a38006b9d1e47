// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Open files of the process, and its table of descriptors. For one thread.
#pragma once

#include "machine/proxy/tree.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tandem::machine::proxy {

// An answer that is not there yet: the caller waits for a change and asks again.
inline constexpr std::int64_t kNotYet = -100'000;

// What several descriptors may share. Answers are counts of bytes, or errors.
class OpenFile {
public:
  virtual ~OpenFile() = default;
  virtual std::int64_t read(std::span<std::byte> to);
  virtual std::int64_t write(std::span<const std::byte> from);
  // At a place of one's own; -ESPIPE where there are none.
  virtual std::int64_t read_at(std::uint64_t offset, std::span<std::byte> to);
  virtual std::int64_t write_at(std::uint64_t offset, std::span<const std::byte> from);
  virtual std::int64_t seek(std::int64_t offset, int whence);
  // What poll() would say now: POLLIN, POLLOUT, POLLHUP, POLLERR.
  [[nodiscard]] virtual short ready() = 0;
  // The file behind it; null for pipes and the like.
  [[nodiscard]] virtual NodePointer node() const { return nullptr; }
  // Mode bits for stat() of what has no node.
  [[nodiscard]] virtual std::uint32_t mode() const;

  int flags = 0; // O_APPEND, O_NONBLOCK and the access mode
};
using FilePointer = std::shared_ptr<OpenFile>;

class RegularFile final : public OpenFile {
public:
  RegularFile(NodePointer node, std::function<std::int64_t()> clock);
  std::int64_t read(std::span<std::byte> to) override;
  std::int64_t write(std::span<const std::byte> from) override;
  std::int64_t read_at(std::uint64_t offset, std::span<std::byte> to) override;
  std::int64_t write_at(std::uint64_t offset, std::span<const std::byte> from) override;
  std::int64_t seek(std::int64_t offset, int whence) override;
  [[nodiscard]] short ready() override;
  [[nodiscard]] NodePointer node() const override { return node_; }

private:
  NodePointer node_;
  std::function<std::int64_t()> clock_;
  std::uint64_t offset_ = 0;
};

class FolderFile final : public OpenFile {
public:
  FolderFile(NodePointer node, Tree &tree) : node_(std::move(node)), tree_(&tree) {}
  std::int64_t read(std::span<std::byte> to) override;
  std::int64_t seek(std::int64_t offset, int whence) override;
  // As getdents64 gives them.
  std::int64_t entries(std::span<std::byte> to);
  [[nodiscard]] short ready() override;
  [[nodiscard]] NodePointer node() const override { return node_; }

private:
  void list();
  NodePointer node_;
  Tree *tree_;
  struct Entry {
    std::string name;
    std::uint64_t number;
    std::uint8_t type;
  };
  std::optional<std::vector<Entry>> list_{};
  std::size_t position_ = 0;
};

// Devices of the machine: null, zero, full, random.
class DeviceFile final : public OpenFile {
public:
  DeviceFile(NodePointer node, std::function<std::uint64_t()> random)
      : node_(std::move(node)), random_(std::move(random)) {}
  std::int64_t read(std::span<std::byte> to) override;
  std::int64_t write(std::span<const std::byte> from) override;
  std::int64_t seek(std::int64_t, int) override { return 0; }
  [[nodiscard]] short ready() override;
  [[nodiscard]] NodePointer node() const override { return node_; }

private:
  NodePointer node_;
  std::function<std::uint64_t()> random_;
};

// Standard input, output, error of the host. A read of what is no regular file gives at most one
// line, so that what the process sees depends on the bytes alone and not on when they came.
class StreamFile final : public OpenFile {
public:
  explicit StreamFile(int stream);
  std::int64_t read(std::span<std::byte> to) override;
  std::int64_t write(std::span<const std::byte> from) override;
  std::int64_t seek(std::int64_t offset, int whence) override;
  [[nodiscard]] short ready() override;
  [[nodiscard]] std::uint32_t mode() const override { return mode_; }
  [[nodiscard]] bool terminal() const { return terminal_; }

private:
  std::int64_t read_line(std::span<std::byte> to);
  int stream_;
  std::uint32_t mode_;
  bool terminal_;
  bool seekable_;
  std::deque<std::byte> ahead_; // read from the host, not by the process
  bool ended_ = false;
};

struct Pipe {
  std::deque<std::byte> bytes;
  unsigned readers = 0;
  unsigned writers = 0;
};

class PipeEnd final : public OpenFile {
public:
  PipeEnd(std::shared_ptr<Pipe> pipe, bool writes);
  ~PipeEnd() override;
  std::int64_t read(std::span<std::byte> to) override;
  std::int64_t write(std::span<const std::byte> from) override;
  [[nodiscard]] short ready() override;
  [[nodiscard]] std::uint32_t mode() const override;
  [[nodiscard]] std::size_t waiting() const { return pipe_->bytes.size(); }

private:
  std::shared_ptr<Pipe> pipe_;
  bool writes_;
};

class EventFile final : public OpenFile {
public:
  EventFile(std::uint64_t count, bool semaphore) : count_(count), semaphore_(semaphore) {}
  std::int64_t read(std::span<std::byte> to) override;
  std::int64_t write(std::span<const std::byte> from) override;
  [[nodiscard]] short ready() override;

private:
  std::uint64_t count_;
  bool semaphore_;
};

class Descriptors {
public:
  static constexpr int kLimit = 1024;

  // The file of a descriptor; null if it is not open.
  [[nodiscard]] FilePointer get(int descriptor) const;
  // The lowest free descriptor from `from` on; -EMFILE if there is none.
  int add(FilePointer file, bool close_on_exec, int from = 0);
  void put(int descriptor, FilePointer file, bool close_on_exec);
  // False if it was not open.
  bool close(int descriptor);
  [[nodiscard]] bool close_on_exec(int descriptor) const;
  void set_close_on_exec(int descriptor, bool on);
  [[nodiscard]] std::vector<int> open() const;

private:
  struct Slot {
    FilePointer file;
    bool close_on_exec = false;
  };
  std::vector<Slot> slots_;
};

} // namespace tandem::machine::proxy
