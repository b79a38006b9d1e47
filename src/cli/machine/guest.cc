// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/machine/guest.h"

#include "base/file.h"
#include "cli/machine/quantities.h"
#include "machine/debug/gdb_server.h"
#include "machine/debug/trace.h"
#include "machine/run/hashes.h"
#include "machine/run/statistics.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

namespace tandem::machine_cli {
namespace {

// A count where one is given.
Status read_count(const std::string &text, const char *option, std::uint64_t &value) {
  if (text.empty())
    return Unit{};
  const Result<std::uint64_t> count = parse_count(text);
  if (!count)
    return Error{fmt::format("{}: {}", option, count.error().message)};
  value = *count;
  return Unit{};
}

} // namespace

void declare_watching(Program &program, WatchOptions &options) {
  CLI::App &app = program.app();
  app.add_option("--limit", options.limit,
                 "end with status 3 after so many instructions of all harts (2000000, 2M, 1.5G)")
      ->type_name("N");
  program.add_json(options.json, "how the run ended, and what was counted, as JSON");
  app.add_option("--stats", options.statistics, "what happened in each interval, as JSON lines")
      ->type_name("FILE");
  app.add_option("--stats-every", options.statistics_every,
                 "instructions of an interval (default: 10M)")
      ->type_name("N");
  app.add_option("--hash-every", options.hash_every,
                 "print hashes of memory and registers every N instructions")
      ->type_name("N");
  app.add_option("--hashes", options.hashes, "where to (default: standard error)")
      ->type_name("FILE");
  app.add_option("--trace", options.trace,
                 "write every instruction with symbols and values; - is standard error")
      ->type_name("FILE");
  app.add_option("--trace-from", options.trace_from, "from this instruction on")->type_name("N");
  app.add_option("--trace-count", options.trace_count, "so many instructions")->type_name("N");
  app.add_option("--gdb", options.gdb,
                 "wait for gdb on this port of the loopback (gdb-multiarch: target remote :PORT)")
      ->type_name("PORT")
      ->check(CLI::Range(1, 65535));
  app.add_option("--seed", options.seed, "of everything random that the guest sees (default: 1)")
      ->type_name("N");
}

Result<Watching> check_watching(const WatchOptions &options) {
  Watching watching;
  const std::pair<std::pair<const std::string *, const char *>, std::uint64_t *> counts[] = {
      {{&options.limit, "--limit"}, &watching.limit},
      {{&options.statistics_every, "--stats-every"}, &watching.statistics_every},
      {{&options.hash_every, "--hash-every"}, &watching.hash_every},
      {{&options.trace_from, "--trace-from"}, &watching.trace_from},
      {{&options.trace_count, "--trace-count"}, &watching.trace_count},
  };
  for (const auto &[text, value] : counts)
    if (Status read = read_count(*text.first, text.second, *value); !read)
      return read.error();
  if (!options.statistics.empty() && watching.statistics_every == 0)
    watching.statistics_every = 10'000'000;
  if (options.statistics.empty() && !options.statistics_every.empty())
    return Error{"--stats-every without --stats FILE: say where they go"};
  if (!options.hashes.empty() && watching.hash_every == 0)
    return Error{"--hashes without --hash-every N: say how often"};
  if (options.trace.empty() && (!options.trace_from.empty() || !options.trace_count.empty()))
    return Error{"--trace-from and --trace-count are about --trace FILE, which is missing"};
  if (!options.trace.empty() && options.gdb != 0)
    return Error{"--trace with --gdb: the debugger says what runs; leave out one of them"};
  for (const std::string *file : {&options.json, &options.statistics, &options.hashes})
    if (!file->empty() && *file != "-")
      if (Status writable = check_writable(*file); !writable)
        return writable.error();
  return watching;
}

class Watch::Files {
public:
  std::string hashes;
  std::optional<machine::IntervalStatistics> statistics;
  std::FILE *trace = nullptr;
};

Watch::Watch(machine::Machine &machine, const machine::Symbols &symbols,
             const WatchOptions &options, const Watching &watching, std::string name)
    : machine_(&machine), symbols_(&symbols), options_(&options), watching_(&watching),
      name_(std::move(name)), files_(std::make_unique<Files>()) {}

Watch::~Watch() {
  if (files_->trace != nullptr && files_->trace != stderr)
    std::fclose(files_->trace);
}

Result<machine::Session::Stop> Watch::run(machine::Session &session) {
  if (watching_->hash_every != 0)
    session.every(watching_->hash_every, [this] {
      const std::string line = machine::hash_line(*machine_);
      if (options_->hashes.empty())
        fmt::print(stderr, "{}", line);
      else
        files_->hashes += line;
    });
  if (watching_->statistics_every != 0) {
    files_->statistics.emplace(*machine_, watching_->statistics_every);
    session.every(watching_->statistics_every, [this] { files_->statistics->add(); });
  }
  const auto begin = std::chrono::steady_clock::now();
  Result<machine::Session::Stop> stop = run_somehow(session);
  host_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return stop;
}

// By itself, with a trace, or as gdb says.
Result<machine::Session::Stop> Watch::run_somehow(machine::Session &session) {
  if (options_->gdb != 0) {
    const Result<std::unique_ptr<machine::GdbServer>> server =
        machine::GdbServer::listen(options_->gdb);
    if (!server)
      return server.error();
    fmt::print(stderr,
               "{}: waiting for gdb on 127.0.0.1:{}; connect with: gdb-multiarch FILE -ex 'target "
               "remote :{}'\n",
               name_, (*server)->port(), (*server)->port());
    return (*server)->serve(*machine_, session, watching_->limit, session.interrupted());
  }
  if (options_->trace.empty())
    return session.run(watching_->limit);
  files_->trace = options_->trace == "-" ? stderr : std::fopen(options_->trace.c_str(), "w");
  if (files_->trace == nullptr)
    return Error{fmt::format("{}: cannot be written: {}", options_->trace, std::strerror(errno))};
  machine::Trace trace(*machine_, *symbols_, files_->trace, watching_->trace_from,
                       watching_->trace_count);
  return trace.run(session, watching_->limit);
}

Status Watch::finish() {
  if (files_->statistics)
    if (Status written = write_file(options_->statistics, files_->statistics->finish()); !written)
      return written;
  if (!options_->hashes.empty())
    if (Status written = write_file(options_->hashes, files_->hashes); !written)
      return written;
  if (files_->trace != nullptr && std::fflush(files_->trace) != 0)
    return Error{fmt::format("{}: cannot be written: {}", options_->trace, std::strerror(errno))};
  return Unit{};
}

nlohmann::ordered_json Watch::summary() const {
  const std::uint64_t instructions = machine_->cores().schedule().instructions;
  nlohmann::ordered_json counts = nlohmann::ordered_json::object();
  for (const auto &[name, count] : machine_->counts())
    counts[name] = count;
  const machine::StateHash hash = machine::hash_of(*machine_);
  return {{"harts", machine_->harts().size()},
          {"instructions", instructions},
          {"cycles", machine_->cores().schedule().round},
          {"host_seconds", host_seconds_},
          {"memory_hash", fmt::format("{:016x}", hash.memory)},
          {"registers_hash", fmt::format("{:016x}", hash.registers)},
          {"counts", counts}};
}

} // namespace tandem::machine_cli
