// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the analysis said, as the recorder asks it. Immutable once read, so any thread may ask;
// the marks of what was needed are atomic.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tandem::observe {

struct Fold {
  std::uint64_t begin, end, period;
};

struct Label {
  char kind = 'f';
  bool outside = false; // effects on object 0 are on it too
  std::string name = "memory of code outside";
  std::vector<Fold> folds;
  // Where the analysis does not tell objects apart: the other labels that it may be, with what is
  // added to an offset.
  std::vector<std::pair<std::uint32_t, std::uint64_t>> parts;
};

// A section's effect on one label.
struct Effect {
  std::uint32_t label;
  bool writes;
  std::uint64_t begin, end;
  mutable std::atomic<bool> needed{false}; // alone covers an access that would else be a miss
  Effect(std::uint32_t l, bool w, std::uint64_t b, std::uint64_t e)
      : label(l), writes(w), begin(b), end(e) {}
};

struct SectionFacts {
  std::string name;
  std::vector<std::vector<std::unique_ptr<Effect>>> effects; // by label
  bool foreign_reads = false; // memory that the recorder knows no label of
  bool foreign_writes = false;
};

struct Site {
  std::uint32_t set;
  std::string place;
};

class Tables {
public:
  explicit Tables(const char *text);

  [[nodiscard]] std::size_t sections() const { return sections_.size(); } // numbers are below it
  [[nodiscard]] const SectionFacts &section(std::uint32_t number) const {
    return sections_[number];
  }
  [[nodiscard]] const Label &label(std::uint32_t number) const;
  [[nodiscard]] const Site &site(std::uint32_t number) const { return sites_[number]; }
  [[nodiscard]] const std::vector<std::uint32_t> &set(std::uint32_t number) const {
    return sets_[number];
  }
  // `met`: two threads were seen in the two sections, touching the same bytes, one writing.
  struct Edge {
    bool known = false;
    std::atomic<bool> met{false};
  };
  [[nodiscard]] const Edge &edge(std::uint32_t a, std::uint32_t b) const {
    return a < b ? edges_[a * sections_.size() + b] : edges_[b * sections_.size() + a];
  }
  // Whether there is an edge; one that is, is met from now on.
  bool meet(std::uint32_t a, std::uint32_t b) {
    Edge &edge = const_cast<Edge &>(this->edge(a, b));
    edge.met.store(true, std::memory_order_relaxed);
    return edge.known;
  }
  [[nodiscard]] std::uint64_t fold(std::uint32_t label, std::uint64_t offset) const;
  // Whether a section may do that to the byte at `offset` of an object; label 0: to memory that
  // has none. `only`: the one effect that says so, null where there are more.
  [[nodiscard]] bool covers(std::uint32_t section, std::uint32_t label, std::uint64_t offset,
                            bool writes, const Effect **only) const;

private:
  std::vector<SectionFacts> sections_{1};
  std::vector<Label> labels_{1};
  std::vector<Site> sites_{1};
  std::vector<std::vector<std::uint32_t>> sets_{1};
  std::vector<Edge> edges_; // of a <= b, at a * sections() + b
};

} // namespace tandem::observe
