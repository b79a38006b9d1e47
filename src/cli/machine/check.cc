// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tandem machine check`: a protocol's tables proved by exhaustive search, or a counterexample.
#include "base/file.h"
#include "cli/common/program.h"
#include "cli/common/terminal.h"
#include "cli/machine/commands.h"
#include "cli/machine/interrupt.h"
#include "cli/machine/provers.h"

#include <nlohmann/json.hpp>

namespace tandem::machine_cli {
namespace {

using machine::Case;
using machine::Prover;
using machine::checker::kCheckerBlocks;
using machine::checker::kCheckerCores;
using machine::checker::Verdict;
using nlohmann::ordered_json;

constexpr int kNotProvedStatus = 1;

struct Arguments {
  std::string protocol;
  machine::checker::Options options{.cores = 0, .blocks = 0};
  unsigned buffers = 0;
  std::vector<std::string> set;
  bool all = false;
  bool mutants = false;
  bool no_symmetry = false;
  bool safety = false;
  std::string only;
  bool charts = false;
  std::string json;
};

// The line on a terminal that tells that something is being done.
class Ticker {
public:
  explicit Ticker(bool interactive) : interactive_(interactive) {}
  ~Ticker() { clear(); }
  Ticker(const Ticker &) = delete;
  Ticker &operator=(const Ticker &) = delete;
  void show(const std::string &text) {
    if (!interactive_)
      return;
    fmt::print(stderr, "\r\x1b[K{}", printable(text));
    std::fflush(stderr);
    shown_ = true;
  }
  void clear() {
    if (std::exchange(shown_, false))
      fmt::print(stderr, "\r\x1b[K");
  }

private:
  bool interactive_;
  bool shown_ = false;
};

// The searches that were asked for: one, as soon as anything is said about it, else the proof.
Result<std::vector<Case>> cases(const Prover &prover, const Arguments &a) {
  for (const std::string &name : a.set) {
    std::vector<std::string> known;
    for (const auto &option : prover.options)
      known.push_back(option.name);
    const std::string plain = name.starts_with("no-") ? name.substr(3) : name;
    if (std::find(known.begin(), known.end(), plain) == known.end())
      return Error{fmt::format(
          "--option {}: {} has {}", name, prover.name,
          known.empty() ? "no options" : fmt::format("these options: {}", fmt::join(known, ", ")))};
  }
  const machine::checker::Options &o = a.options;
  const bool limits = o.ways != 0 || o.entries != 0 || o.llc != 0;
  if (o.cores == 0 && o.blocks == 0 && o.tokens == 0 && !o.ordered && !o.devices &&
      !o.reservations && !o.transactions && a.buffers == 0 && !limits && !a.no_symmetry &&
      !a.safety && a.set.empty()) {
    std::vector<Case> all = prover.proof;
    if (a.all)
      all.insert(all.end(), prover.longer.begin(), prover.longer.end());
    return all;
  }
  if (a.all)
    return Error{"--all runs the searches of the proof: it cannot be given with options of one"};
  Case one{"", o, a.set};
  one.options.cores = o.cores != 0 ? o.cores : 3;
  one.options.blocks = o.blocks != 0 ? o.blocks : 1;
  one.options.buffers.fill(a.buffers);
  one.options.symmetry = !a.no_symmetry;
  one.options.liveness = !a.safety;
  if (one.options.tokens != 0 && one.options.tokens < one.options.cores)
    return Error{fmt::format("--tokens {}: {} cores need at least as many tokens",
                             one.options.tokens, one.options.cores)};
  one.name = fmt::format("{}, {}{}", counted(one.options.cores, "core", "cores"),
                         counted(one.options.blocks, "block", "blocks"),
                         a.set.empty() ? "" : fmt::format(", {}", fmt::join(a.set, ", ")));
  return std::vector<Case>{one};
}

const char *verdict_name(Verdict verdict) {
  switch (verdict) {
  case Verdict::proved:
    return "proved";
  case Verdict::violated:
    return "violated";
  case Verdict::unknown:
    return "not finished";
  }
  return "";
}

ordered_json to_json(const Case &c, const machine::checker::Result &r) {
  ordered_json j;
  j["search"] = c.name;
  j["cores"] = c.options.cores;
  j["blocks"] = c.options.blocks;
  j["ordered"] = c.options.ordered;
  j["device"] = c.options.devices;
  j["lr_sc"] = c.options.reservations;
  j["transactions"] = c.options.transactions;
  j["symmetry"] = c.options.symmetry;
  j["liveness"] = c.options.liveness;
  j["options"] = c.set;
  j["verdict"] = verdict_name(r.verdict);
  j["states"] = r.states;
  j["steps"] = r.steps;
  j["depth"] = r.depth;
  j["most_messages"] = r.most_messages;
  j["bytes_per_state"] = r.bytes_per_state;
  j["cpu_ns_per_state"] = 1e9 * r.seconds / static_cast<double>(r.states);
  j["cpu_seconds"] = r.seconds;
  if (!r.violation.empty()) {
    j["violation"] = r.violation;
    j["chart"] = r.chart;
  }
  return j;
}

struct Outcome {
  int status = 0;
  ordered_json json;
};

Outcome search_all(const Prover &prover, const std::vector<Case> &all, const Interrupt &interrupt,
                   std::FILE *out) {
  Outcome outcome;
  outcome.json = {{"protocol", prover.name}, {"searches", ordered_json::array()}};
  Ticker ticker(Terminal::of(stderr).interactive);
  for (const Case &c : all) {
    machine::checker::Options options = c.options;
    options.stop = &interrupt.flag();
    options.progress = [&](std::uint64_t states, std::uint64_t waiting) {
      ticker.show(fmt::format("{}: {} states, {} of them waiting", c.name, thousands(states),
                              thousands(waiting)));
    };
    ticker.show(c.name);
    const machine::checker::Result r = prover.check(options, c.set);
    ticker.clear();
    fmt::print(out, "{}: {} states, {} steps, depth {}, {:.0f} bytes a state, {:.2f} s: {}{}{}\n",
               c.name, r.states, r.steps, r.depth, r.bytes_per_state, r.seconds,
               verdict_name(r.verdict), c.bounds.empty() ? "" : ", within " + c.bounds,
               r.violation.empty() ? "" : ": " + r.violation);
    if (!r.chart.empty())
      fmt::print(out, "\n{}\n", r.chart);
    std::fflush(out);
    outcome.json["searches"].push_back(to_json(c, r));
    if (r.verdict == Verdict::unknown && interrupt.asked()) {
      outcome.status = kInterruptedStatus;
      break;
    }
    if (r.verdict != Verdict::proved)
      outcome.status = kNotProvedStatus;
  }
  return outcome;
}

Outcome mutate(const Prover &prover, const std::string &only, bool charts,
               const Interrupt &interrupt, std::FILE *out) {
  Ticker ticker(Terminal::of(stderr).interactive);
  const std::vector<machine::Mutant> mutants =
      prover.mutate(prover.mutation, {[&](std::size_t done, std::size_t all) {
                                        ticker.show(fmt::format("mutant {} of {}", done, all));
                                      },
                                      &interrupt.flag(), only, charts});
  ticker.clear();
  Outcome outcome;
  outcome.json = {{"protocol", prover.name}, {"mutants", ordered_json::array()}};
  std::size_t killed = 0;
  for (const machine::Mutant &m : mutants) {
    outcome.json["mutants"].push_back({{"mutant", m.what}, {"killed_by", m.killed_by}});
    killed += m.killed_by.empty() ? 0 : 1;
    if (m.killed_by.empty())
      fmt::print(out, "survives: {}\n", m.what);
    else if (charts)
      fmt::print(out, "{}: {}\n{}{}", m.what, m.killed_by, m.chart.empty() ? "" : "\n" + m.chart,
                 m.chart.empty() ? "" : "\n");
    if (!m.chart.empty())
      outcome.json["mutants"].back()["chart"] = m.chart;
  }
  fmt::print(out, "{} of {} mutants are noticed\n", killed, mutants.size());
  if (interrupt.asked())
    outcome.status = kInterruptedStatus;
  return outcome;
}

Result<int> check(const Arguments &a) {
  const Result<const Prover *> prover = prover_named(a.protocol);
  if (!prover)
    return prover.error();
  if (!a.mutants && (a.charts || !a.only.empty()))
    return Error{
        fmt::format("{} is about mutants; say --mutants too", a.charts ? "--charts" : "--only")};
  const Result<std::vector<Case>> all = cases(**prover, a);
  if (!all)
    return all.error();
  if (!a.json.empty())
    if (Status writable = check_writable(a.json); !writable)
      return writable.error();
  const Interrupt interrupt;
  std::FILE *out = a.json == "-" ? stderr : stdout;
  const Outcome outcome = a.mutants ? mutate(**prover, a.only, a.charts, interrupt, out)
                                    : search_all(**prover, *all, interrupt, out);
  if (!a.json.empty())
    if (Status written = write_file(a.json, outcome.json.dump(2) + "\n"); !written)
      return written.error();
  return outcome.status;
}

void declare(Program &program, Arguments &a) {
  CLI::App &app = program.app();
  const auto number = [&app](const char *name, unsigned &value, unsigned least, unsigned most,
                             const char *what) {
    app.add_option(name, value, what)->type_name("N")->check(CLI::Range(least, most));
  };
  app.add_option("PROTOCOL", a.protocol, "its name, see tandem machine list")->required();
  number("--cores", a.options.cores, 1, kCheckerCores, "cores (default 3)");
  number("--blocks", a.options.blocks, 1, kCheckerBlocks, "blocks, all of one set (default 1)");
  number("--tokens", a.options.tokens, 1, 63, "tokens of a block (default: one for each core)");
  app.add_option("--option,--set", a.set,
                 "switch an option of the protocol on, or off as no-NAME; may be given again")
      ->type_name("OPTION");
  program.add_flag("--ordered", a.options.ordered,
                   "messages of one pair and virtual network stay in order");
  program.add_flag("--device", a.options.devices,
                   "a device reads and writes the blocks coherently, without a cache");
  program.add_flag("--lr-sc", a.options.reservations,
                   "loads may reserve their block, stores may be conditional");
  program.add_flag("--transactions", a.options.transactions,
                   "accesses may be those of hardware transactions");
  number("--buffers", a.buffers, 1, 40,
         "messages of one virtual network that a destination can hold (default: any number)");
  number("--ways", a.options.ways, 1, 2, "blocks that a core can hold (default: all)");
  number("--entries", a.options.entries, 1, 2, "directory entries (default: one for each block)");
  number("--llc", a.options.llc, 1, 2, "blocks that the LLC can hold (default: all)");
  program.add_flag("--no-symmetry", a.no_symmetry,
                   "states that differ only by core numbers are different ones");
  program.add_flag("--safety", a.safety, "do not ask whether every transaction can end");
  app.add_option("--most-states", a.options.most_states, "give up beyond this number of states")
      ->type_name("N");
  program.add_flag("--all", a.all, "also the searches of the proof that take minutes");
  program.add_flag("--mutants", a.mutants,
                   "alter each row in each small way instead, and see whether that is noticed");
  program.add_json(a.json, "write the results as JSON");
  app.add_option("--only", a.only, "of the mutants: those whose name contains TEXT")
      ->type_name("TEXT");
  program.add_flag("--charts", a.charts,
                   "of each mutant: what notices it, and a shortest way there, drawn");
  program.set_epilogue(
      "Without options, the whole proof is run: several searches with the protocol's options,\n"
      "cores, blocks and resources. The status is 0 only where everything is proved.\n"
      "Examples:\n"
      "  tandem machine check flask\n"
      "  tandem machine check sparse-directory --cores 3 --set moesi --buffers 1\n"
      "  tandem machine check mesi-snoop --mutants\n"
      "  tandem machine check mesi-snoop --mutants --only 'core S/- Store' --charts");
}

} // namespace

int check_command(int argc, char **argv) {
  Program program("machine check", "prove a protocol's tables by searching all states");
  Arguments arguments;
  declare(program, arguments);
  if (const std::optional<int> status = program.parse(argc, argv))
    return *status;
  const Result<int> status = check(arguments);
  return status ? *status : program.fail(status.error());
}

} // namespace tandem::machine_cli
