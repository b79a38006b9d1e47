// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/proxy/tree.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tandem::machine::proxy {
namespace {

constexpr unsigned kLinks = 40; // followed in one walk, as Linux does

std::string host_path(const Node &folder, const std::string &name) {
  return folder.host == "/" ? "/" + name : folder.host + "/" + name;
}

std::int64_t nanoseconds(const timespec &time) {
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

bool below(const std::string &path, const std::string &folder) {
  return path == folder ||
         (path.starts_with(folder) && (folder.ends_with('/') || path[folder.size()] == '/'));
}

} // namespace

Tree::Tree(std::vector<std::string> writable, std::function<std::int64_t()> clock)
    : clock_(std::move(clock)), writable_(std::move(writable)), root_(std::make_shared<Node>()) {
  root_->kind = Node::Kind::folder;
  root_->mode = 0755;
  root_->number = next_number_++;
  root_->host = "/";
  root_->writable = std::ranges::find(writable_, "/") != writable_.end();
}

NodePointer Tree::adopt(const NodePointer &folder, const std::string &name, NodePointer node) {
  node->number = node->number == 0 ? next_number_++ : node->number;
  node->parent = folder;
  node->name = name;
  folder->children[name] = node;
  return node;
}

// What the host has under a name; null if nothing, or something that is neither file, folder nor
// link: sockets and devices of the host are not for the guest.
NodePointer Tree::from_host(const NodePointer &folder, const std::string &name) {
  if (folder->host.empty() || folder->removed.contains(name))
    return nullptr;
  const std::string path = host_path(*folder, name);
  struct stat about{};
  if (::lstat(path.c_str(), &about) != 0)
    return nullptr;
  auto node = std::make_shared<Node>();
  if (S_ISDIR(about.st_mode)) {
    node->kind = Node::Kind::folder;
  } else if (S_ISLNK(about.st_mode)) {
    node->kind = Node::Kind::link;
    std::string target(PATH_MAX, '\0');
    const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
    if (size < 0)
      return nullptr;
    target.resize(static_cast<std::size_t>(size));
    node->target = std::move(target);
  } else if (!S_ISREG(about.st_mode)) {
    return nullptr;
  }
  node->mode = about.st_mode & 0777;
  node->modified_ns = nanoseconds(about.st_mtim);
  node->host = path;
  node->host_size_ = static_cast<std::uint64_t>(about.st_size);
  node->writable = std::ranges::any_of(
      writable_, [&path](const std::string &writable) { return below(path, writable); });
  return adopt(folder, name, std::move(node));
}

NodePointer Tree::child(const NodePointer &folder, const std::string &name) {
  const auto known = folder->children.find(name);
  return known != folder->children.end() ? known->second : from_host(folder, name);
}

std::vector<std::pair<std::string, NodePointer>> Tree::list(const NodePointer &folder) {
  std::set<std::string> names;
  for (const auto &[name, node] : folder->children)
    names.insert(name);
  if (!folder->host.empty()) {
    if (DIR *handle = ::opendir(folder->host.c_str()); handle != nullptr) {
      while (const dirent *entry = ::readdir(handle)) { // NOLINT(concurrency-mt-unsafe): one thread
        const std::string name = entry->d_name;
        if (name != "." && name != "..")
          names.insert(name);
      }
      ::closedir(handle);
    }
  }
  std::vector<std::pair<std::string, NodePointer>> found;
  for (const std::string &name : names)
    if (NodePointer node = child(folder, name))
      found.emplace_back(name, std::move(node));
  return found;
}

Tree::Found Tree::walk(const NodePointer &from, std::string_view path, bool follow) {
  unsigned links = 0;
  if (path.empty())
    return {.error = -ENOENT};
  return step(from, path, follow, links);
}

Tree::Found Tree::step(NodePointer at, std::string_view path, bool follow, unsigned &links) {
  if (path.starts_with('/'))
    at = root_;
  Found found{.node = at, .parent = at->parent.lock(), .name = at->name};
  while (true) {
    const std::size_t begin = path.find_first_not_of('/');
    if (begin == std::string_view::npos)
      return found;
    path.remove_prefix(begin);
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string name(path.substr(0, end));
    path.remove_prefix(end);
    const bool last = path.find_first_not_of('/') == std::string_view::npos;
    if (found.node == nullptr)
      return {.error = -ENOENT};
    if (found.node->kind != Node::Kind::folder)
      return {.error = -ENOTDIR};
    if (name.size() > NAME_MAX)
      return {.error = -ENAMETOOLONG};
    at = found.node;
    if (name == ".")
      continue;
    if (name == "..") {
      const NodePointer up = at->parent.lock();
      found.node = up ? up : root_;
      found.parent = found.node->parent.lock();
      found.name = found.node->name;
      continue;
    }
    found = {.node = child(at, name), .parent = at, .name = name};
    if (found.node == nullptr && !last)
      return {.error = -ENOENT};
    // A link at the end is followed too if something like a slash comes behind it.
    if (found.node != nullptr && found.node->kind == Node::Kind::link &&
        (!last || follow || !path.empty())) {
      if (++links > kLinks)
        return {.error = -ELOOP};
      found = step(at, found.node->target, true, links);
      if (found.error != 0)
        return found;
    }
    if (last && !path.empty() && found.node != nullptr && found.node->kind != Node::Kind::folder)
      return {.error = -ENOTDIR};
  }
}

Errno Tree::make_file(const Found &place, std::uint32_t mode, NodePointer &made) {
  auto node = std::make_shared<Node>();
  node->mode = mode & 0777;
  node->modified_ns = clock_();
  if (place.parent->writable) {
    node->writable = true;
    node->host = host_path(*place.parent, place.name);
    const int file = ::open(node->host.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, mode & 0777);
    if (file < 0)
      return -errno;
    node->descriptor_ = file;
    node->descriptor_writes_ = true;
  } else {
    node->contents_.emplace();
  }
  made = adopt(place.parent, place.name, std::move(node));
  return 0;
}

Errno Tree::make_folder(const Found &place, std::uint32_t mode) {
  auto node = std::make_shared<Node>();
  node->kind = Node::Kind::folder;
  node->mode = mode & 0777;
  node->modified_ns = clock_();
  if (place.parent->writable) {
    node->writable = true;
    node->host = host_path(*place.parent, place.name);
    if (::mkdir(node->host.c_str(), mode & 0777) != 0)
      return -errno;
  }
  adopt(place.parent, place.name, std::move(node));
  return 0;
}

Errno Tree::make_link(const Found &place, const std::string &target) {
  auto node = std::make_shared<Node>();
  node->kind = Node::Kind::link;
  node->mode = 0777;
  node->modified_ns = clock_();
  node->target = target;
  if (place.parent->writable) {
    node->writable = true;
    node->host = host_path(*place.parent, place.name);
    if (::symlink(target.c_str(), node->host.c_str()) != 0)
      return -errno;
  }
  adopt(place.parent, place.name, std::move(node));
  return 0;
}

Errno Tree::hard_link(const NodePointer &node, const Found &place) {
  if (node->kind == Node::Kind::folder)
    return -EPERM;
  if (node->writable != place.parent->writable)
    return -EXDEV;
  if (node->writable &&
      ::link(node->host.c_str(), host_path(*place.parent, place.name).c_str()) != 0)
    return -errno;
  place.parent->children[place.name] = node; // its own name stays the first one
  return 0;
}

Errno Tree::remove(const Found &place, bool folder) {
  Node &node = *place.node;
  if (folder && node.kind != Node::Kind::folder)
    return -ENOTDIR;
  if (!folder && node.kind == Node::Kind::folder)
    return -EISDIR;
  if (place.parent == nullptr)
    return -EBUSY;
  if (folder && !list(place.node).empty())
    return -ENOTEMPTY;
  if (place.parent->writable && !node.host.empty()) {
    // What is open stays readable: the host's descriptor is opened before the name goes.
    if (node.kind == Node::Kind::file)
      node.open_host(false);
    const std::string path = host_path(*place.parent, place.name);
    if ((folder ? ::rmdir(path.c_str()) : ::unlink(path.c_str())) != 0)
      return -errno;
  } else if (!place.parent->host.empty()) {
    place.parent->removed.insert(place.name);
  }
  node.unlinked = true;
  place.parent->children.erase(place.name);
  return 0;
}

Errno Tree::rename(const Found &from, const Found &to, bool may_replace) {
  if (from.node == nullptr)
    return -ENOENT;
  if (to.node == from.node)
    return 0;
  if (from.parent == nullptr || to.parent == nullptr)
    return -EBUSY;
  for (const Node *up = to.parent.get(); up != nullptr; up = up->parent.lock().get())
    if (up == from.node.get())
      return -EINVAL; // a folder into itself
  if (from.parent->writable != to.parent->writable)
    return -EXDEV;
  if (to.node != nullptr) {
    if (!may_replace)
      return -EEXIST;
    const bool folder = from.node->kind == Node::Kind::folder;
    if (folder != (to.node->kind == Node::Kind::folder))
      return folder ? -ENOTDIR : -EISDIR;
    if (folder && !list(to.node).empty())
      return -ENOTEMPTY;
  }
  if (from.parent->writable) {
    const std::string path = host_path(*to.parent, to.name);
    if (::rename(host_path(*from.parent, from.name).c_str(), path.c_str()) != 0)
      return -errno;
    from.node->host = path;
    from.node->children.clear(); // walked again, at its new place
  } else if (!from.parent->host.empty()) {
    from.parent->removed.insert(from.name);
  }
  if (to.node != nullptr)
    to.node->unlinked = true;
  from.parent->children.erase(from.name);
  to.parent->removed.erase(to.name);
  if (!to.parent->writable && !to.parent->host.empty())
    to.parent->removed.insert(to.name); // the host's own is hidden, should this one go
  adopt(to.parent, to.name, from.node);
  return 0;
}

std::string Tree::path_of(const Node &node) {
  std::string path;
  const Node *at = &node;
  NodePointer held;
  while (NodePointer up = at->parent.lock()) {
    path = "/" + at->name + path;
    held = up;
    at = held.get();
  }
  return path.empty() ? "/" : path;
}

NodePointer Tree::provide(std::string_view path, Node::Kind kind,
                          std::function<std::string()> generate, std::string target) {
  NodePointer at = root_;
  while (true) {
    path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string name(path.substr(0, end));
    path.remove_prefix(end);
    const bool last = path.empty();
    const auto known = at->children.find(name);
    if (!last && known != at->children.end()) {
      at = known->second;
      continue;
    }
    auto node = std::make_shared<Node>();
    node->kind = last ? kind : Node::Kind::folder;
    node->mode = node->kind == Node::Kind::folder ? 0555
                 : node->kind == Node::Kind::file ? 0444
                                                  : 0666;
    if (last) {
      node->generate = std::move(generate);
      node->target = std::move(target);
      if (kind == Node::Kind::file)
        node->contents_.emplace();
      return adopt(at, name, std::move(node));
    }
    at = adopt(at, name, std::move(node));
  }
}

} // namespace tandem::machine::proxy
