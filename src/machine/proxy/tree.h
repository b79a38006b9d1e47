// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The files that a process sees: those of the host, read-only, under an overlay in memory that
// takes every change; below writable folders, the host's own. Nodes are made when a path is first
// walked. /dev, /proc and /sys are the machine's, not the host's. For one thread.
//
// What the process can depend on is the same everywhere: numbers of files are counted, names in a
// folder are sorted, owners are the one user.
#pragma once

#include "base/result.h"
#include "machine/proxy/address_space.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::machine::proxy {

// Errors of system calls are negative numbers of errno, as in the kernel's answers.
using Errno = int;

inline constexpr std::uint32_t kUserId = 1000; // and of the group

class Node;
using NodePointer = std::shared_ptr<Node>;

// Something with a name. Which fields mean anything depends on the kind.
class Node final : public Backing {
public:
  enum class Kind : std::uint8_t { file, folder, link, null, zero, full, random, stream };

  Kind kind = Kind::file;
  std::uint32_t mode = 0; // permission bits
  std::uint64_t number = 0;
  std::int64_t modified_ns = 0;            // since 1970
  bool writable = false;                   // a change goes to the host
  std::string host{};                      // its path there; empty: only here
  std::string target{};                    // of a link
  int stream = -1;                         // of a stream: 0, 1 or 2
  std::function<std::string()> generate{}; // contents that are made anew at each open
  std::map<std::string, NodePointer> children{};
  std::set<std::string> removed{}; // names of the host's folder that are gone
  std::weak_ptr<Node> parent{};
  std::string name{}; // in the parent
  bool unlinked = false;

  ~Node() override;

  // Contents of a file. Before the first change those of the host's file are read from there.
  void read_at(std::uint64_t offset, std::span<std::byte> to) override;
  void write_at(std::uint64_t offset, std::span<const std::byte> from) override;
  [[nodiscard]] std::uint64_t size() const override;
  // The same with what can go wrong: how many bytes, or an error.
  std::int64_t read_bytes(std::uint64_t offset, std::span<std::byte> to);
  std::int64_t write_bytes(std::uint64_t offset, std::span<const std::byte> from);
  Errno truncate(std::uint64_t size);
  void set_contents(std::string contents) { contents_ = std::move(contents); }
  // Opens the host's file, to write if it is to be written there.
  Errno open_host(bool to_write);

private:
  Errno copy_up();

  std::optional<std::string> contents_{}; // in memory; none: the host's
  std::uint64_t host_size_ = 0;
  int descriptor_ = -1;
  bool descriptor_writes_ = false;
  friend class Tree;
};

class Tree {
public:
  // `writable`: absolute paths of host folders whose changes go to the host. `clock` gives the time
  // in ns since 1970, for what is made or changed.
  Tree(std::vector<std::string> writable, std::function<std::int64_t()> clock);

  [[nodiscard]] const NodePointer &root() const { return root_; }

  struct Found {
    Errno error = 0;      // negative, or 0
    NodePointer node{};   // null: the last name does not exist in `parent`
    NodePointer parent{}; // null for the root
    std::string name{};
  };
  // Follows a path from `from`; the last name if it is a link only with `follow`.
  Found walk(const NodePointer &from, std::string_view path, bool follow);
  // Names of a folder, sorted, without . and ..
  std::vector<std::pair<std::string, NodePointer>> list(const NodePointer &folder);

  // New things under a name that walk() did not find. Error or 0.
  Errno make_file(const Found &place, std::uint32_t mode, NodePointer &made);
  Errno make_folder(const Found &place, std::uint32_t mode);
  Errno make_link(const Found &place, const std::string &target);
  Errno hard_link(const NodePointer &node, const Found &place);
  Errno remove(const Found &place, bool folder);
  Errno rename(const Found &from, const Found &to, bool may_replace);

  // The absolute path of a node.
  static std::string path_of(const Node &node);
  // Puts a file, folder or device of the machine's own at an absolute path.
  NodePointer provide(std::string_view path, Node::Kind kind, std::function<std::string()> generate,
                      std::string target = {});

private:
  NodePointer child(const NodePointer &folder, const std::string &name);
  NodePointer from_host(const NodePointer &folder, const std::string &name);
  NodePointer adopt(const NodePointer &folder, const std::string &name, NodePointer node);
  Found step(NodePointer at, std::string_view path, bool follow, unsigned &links);

  std::function<std::int64_t()> clock_;
  std::vector<std::string> writable_;
  NodePointer root_;
  std::uint64_t next_number_ = 1;
};

} // namespace tandem::machine::proxy
