// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "history.h"

#include <algorithm>
#include <numeric>
#include <sstream>
#include <unordered_map>

namespace tandem::opacity {
namespace {

constexpr std::size_t kNobody = SIZE_MAX;

struct Written {
  std::size_t by = kNobody; // attempt; kNobody: the initial value
  std::uint32_t place = 0;
  bool visible = true;        // the last write of a committed attempt
  std::size_t next = kNobody; // attempt that wrote the next version
  Value next_value = 0;
};

struct Node {
  const Attempt *attempt;
  std::size_t thread;
  std::size_t position;
};

class Checker {
public:
  Checker(const std::vector<ThreadHistory> &threads, const std::vector<Value> &finally)
      : finally_(finally) {
    for (std::size_t thread = 0; thread < threads.size(); ++thread)
      for (std::size_t i = 0; i < threads[thread].size(); ++i)
        nodes_.push_back({&threads[thread][i], thread, i});
    edges_.resize(2 * nodes_.size()); // an attempt and the moment of its end
  }

  std::optional<std::string> run() {
    collect_writes();
    for (std::size_t node = 0; node < nodes_.size() && violation_.empty(); ++node)
      follow(node);
    if (violation_.empty())
      check_final_values();
    if (violation_.empty()) {
      add_reads();
      add_time();
      find_cycle();
    }
    if (violation_.empty())
      return std::nullopt;
    return violation_;
  }

private:
  [[nodiscard]] std::string name(std::size_t node) const {
    std::ostringstream text;
    if (node == kNobody)
      return "nobody";
    text << "attempt " << nodes_[node].position << " of thread " << nodes_[node].thread
         << (nodes_[node].attempt->outcome == Outcome::committed ? "" : " (undone)");
    return text.str();
  }
  void report(const std::string &what) {
    if (violation_.empty())
      violation_ = what;
  }

  void collect_writes() {
    for (std::uint32_t place = 0; place < finally_.size(); ++place)
      written_[initial_value(place)] = {.place = place};
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      const Attempt &attempt = *nodes_[node].attempt;
      std::unordered_map<std::uint32_t, Value> last;
      for (const Access &access : attempt.accesses)
        if (access.write) {
          written_[access.value] = {.by = node, .place = access.place, .visible = false};
          if (!access.dropped)
            last[access.place] = access.value;
        }
      if (attempt.outcome == Outcome::committed)
        for (const auto &[place, value] : last)
          written_[value].visible = true;
    }
  }

  // The accesses of one attempt against its own earlier ones, and which versions it saw and wrote
  // over.
  void follow(std::size_t node) {
    const Attempt &attempt = *nodes_[node].attempt;
    struct Known {
      Value seen = 0; // by the first read
      std::vector<const Access *> writes;
    };
    std::unordered_map<std::uint32_t, Known> known;
    for (std::size_t i = 0; i < attempt.accesses.size(); ++i) {
      const Access &access = attempt.accesses[i];
      Known &place = known[access.place];
      if (access.write) {
        if (place.seen == 0)
          return report("the recorder wrote a place that it had not read");
        place.writes.push_back(&access);
        continue;
      }
      if (!own_or_first(node, access, place.seen, place.writes))
        return;
    }
    if (attempt.outcome != Outcome::committed)
      return;
    for (const auto &[place, of] : known) {
      const auto last = std::find_if(of.writes.rbegin(), of.writes.rend(),
                                     [](const Access *write) { return !write->dropped; });
      if (last == of.writes.rend())
        continue;
      Written &before = written_[of.seen];
      if (before.next != kNobody)
        return report("lost update: " + name(node) + " and " + name(before.next) +
                      " both wrote over the version of " + name(before.by));
      before.next = node;
      before.next_value = (*last)->value;
    }
  }

  // Whether a read saw what it may see.
  bool own_or_first(std::size_t node, const Access &read, Value &seen,
                    const std::vector<const Access *> &writes) {
    const auto found = written_.find(read.value);
    if (found == written_.end() || found->second.place != read.place) {
      report(name(node) + " read a value that nobody wrote there");
      return false;
    }
    // A dropped write may have been read before it was dropped.
    for (auto write = writes.rbegin(); write != writes.rend(); ++write) {
      if ((*write)->value == read.value)
        return true;
      if (!(*write)->dropped) {
        report(name(node) + " did not read its own write");
        return false;
      }
    }
    if (!found->second.visible) {
      report(name(node) + " read what " + name(found->second.by) + " never committed");
      return false;
    }
    if (seen != 0 && seen != read.value) {
      report(name(node) + " read two versions of one place");
      return false;
    }
    if (seen == 0) {
      seen = read.value;
      seen_.push_back({node, read.value});
    }
    return true;
  }

  void check_final_values() {
    for (std::uint32_t place = 0; place < finally_.size(); ++place) {
      Value value = initial_value(place);
      while (written_[value].next != kNobody)
        value = written_[value].next_value;
      if (value != finally_[place])
        return report("the memory at the end is not what was committed last");
    }
  }

  void add_edge(std::size_t from, std::size_t to) {
    if (from != kNobody && to != kNobody && from != to)
      edges_[from].push_back(to);
  }

  void add_reads() {
    for (const auto &[value, write] : written_)
      add_edge(write.by, write.next);
    for (const auto &[reader, value] : seen_) {
      add_edge(written_[value].by, reader);
      add_edge(reader, written_[value].next);
    }
  }

  // Moments in the order of time, each before the next: an attempt comes before the moment of its
  // end, and a moment before every attempt that begins later.
  void add_time() {
    const std::size_t count = nodes_.size();
    std::vector<std::size_t> ends(count);
    std::iota(ends.begin(), ends.end(), std::size_t{0});
    std::sort(ends.begin(), ends.end(), [&](std::size_t a, std::size_t b) {
      return nodes_[a].attempt->end < nodes_[b].attempt->end;
    });
    for (std::size_t i = 0; i < count; ++i) {
      add_edge(ends[i], count + i);
      if (i + 1 < count)
        add_edge(count + i, count + i + 1);
    }
    for (std::size_t node = 0; node < count; ++node) {
      const Ticks begin = nodes_[node].attempt->begin;
      const auto after = std::partition_point(ends.begin(), ends.end(), [&](std::size_t other) {
        return nodes_[other].attempt->end + kClockError < begin;
      });
      if (after != ends.begin())
        add_edge(count + static_cast<std::size_t>(after - ends.begin()) - 1, node);
      if (node + 1 < count && nodes_[node + 1].thread == nodes_[node].thread)
        add_edge(node, node + 1);
    }
  }

  // Depth first; a node that is met again while it is on the path closes a cycle.
  void find_cycle() {
    enum class State : std::uint8_t { fresh, open, done };
    std::vector<State> states(edges_.size(), State::fresh);
    std::vector<std::pair<std::size_t, std::size_t>> path; // node, next edge
    for (std::size_t root = 0; root < edges_.size(); ++root) {
      if (states[root] != State::fresh)
        continue;
      path.emplace_back(root, 0);
      states[root] = State::open;
      while (!path.empty()) {
        auto &[node, edge] = path.back();
        if (edge == edges_[node].size()) {
          states[node] = State::done;
          path.pop_back();
          continue;
        }
        const std::size_t to = edges_[node][edge++];
        if (states[to] == State::open)
          return describe_cycle(path, to);
        if (states[to] == State::fresh) {
          states[to] = State::open;
          path.emplace_back(to, 0);
        }
      }
    }
  }

  void describe_cycle(const std::vector<std::pair<std::size_t, std::size_t>> &path,
                      std::size_t first) {
    std::string text = "no serial order: each of these has to come before the next, and the last "
                       "before the first:";
    bool inside = false;
    for (const auto &[node, edge] : path) {
      inside = inside || node == first;
      if (inside && node < nodes_.size())
        text += " [" + name(node) + "]";
    }
    report(text);
  }

  const std::vector<Value> &finally_;
  std::vector<Node> nodes_;
  std::vector<std::vector<std::size_t>> edges_;
  std::unordered_map<Value, Written> written_;
  std::vector<std::pair<std::size_t, Value>> seen_; // attempt, version
  std::string violation_;
};

} // namespace

std::optional<std::string> find_violation(const std::vector<ThreadHistory> &threads,
                                          const std::vector<Value> &finally) {
  return Checker(threads, finally).run();
}

} // namespace tandem::opacity
