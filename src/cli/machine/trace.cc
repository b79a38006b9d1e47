// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tandem machine trace`: writes synthetic traffic, or traces of other tools, as a trace.
#include "machine/trace/trace.h"
#include "base/file.h"
#include "base/output_file.h"
#include "cli/common/program.h"
#include "cli/common/terminal.h"
#include "cli/machine/commands.h"
#include "cli/machine/interrupt.h"
#include "machine/configuration/configuration.h"
#include "machine/trace/foreign.h"

#include <algorithm>

namespace tandem::machine_cli {
namespace {

struct Arguments {
  std::string workload;
  std::string from;
  std::vector<std::string> inputs;
  std::string output;
  bool text = false;
  std::optional<unsigned> cores;
  std::optional<std::uint64_t> accesses;
  std::uint64_t ticks_per_instruction = machine::ForeignOptions{}.ticks_per_instruction;
  std::uint64_t seed = 1;
  unsigned dependent = machine::CoreConfiguration{}.dependent_percent;
};

Result<int> finish(machine::TraceWriter &writer) {
  if (Status closed = writer.close(); !closed)
    return closed.error();
  return 0;
}

Result<int> write_traffic(const Arguments &arguments, const Interrupt &interrupt) {
  const Result<machine::Profile> profile = machine::find_profile(arguments.workload);
  if (!profile)
    return profile.error();
  const unsigned cores = arguments.cores.value_or(16);
  Result<machine::TraceWriter> writer =
      machine::TraceWriter::create(arguments.output, cores, arguments.text);
  if (!writer)
    return writer.error();
  machine::TrafficGenerator traffic(*profile, cores, arguments.dependent, arguments.seed);
  // Core by core in turn, as they would run at the same speed.
  const std::uint64_t accesses = arguments.accesses.value_or(1'000'000);
  for (std::uint64_t i = 0; i < accesses && !writer->failed(); ++i) {
    if (interrupt.asked())
      return kInterruptedStatus;
    const auto core = static_cast<unsigned>(i % cores);
    machine::Operation operation;
    traffic.next(core, operation);
    writer->add(core, operation);
  }
  return finish(*writer);
}

// Our own trace: to text, or without its end.
Result<int> write_trace(const Arguments &arguments, const Interrupt &interrupt) {
  if (arguments.inputs.size() != 1)
    return Error{"--from trace: takes one file"};
  Result<machine::TraceReader> reader =
      machine::TraceReader::open(arguments.inputs.front(), machine::kMostTracedCores);
  if (!reader)
    return reader.error();
  const unsigned cores = reader->traced_cores();
  Result<machine::TraceWriter> writer = machine::TraceWriter::create(
      arguments.output, std::max(cores, arguments.cores.value_or(0)), arguments.text);
  if (!writer)
    return writer.error();
  const std::uint64_t most = arguments.accesses.value_or(~std::uint64_t{0});
  std::uint64_t written = 0;
  for (bool more = true; more && written < most && !writer->failed();) {
    more = false;
    for (unsigned core = 0; core < cores && written < most; ++core) {
      if (interrupt.asked())
        return kInterruptedStatus;
      machine::Operation operation;
      if (!reader->next(core, operation))
        continue;
      writer->add(core, operation);
      ++written;
      more = true;
    }
  }
  if (!reader->error().empty())
    return Error{reader->error()};
  return finish(*writer);
}

struct Input {
  std::unique_ptr<machine::ForeignTrace> trace;
  machine::TracedAccess next;
  bool more = false;
};

Result<std::vector<Input>> open_inputs(const Arguments &arguments, machine::TraceFormat format) {
  std::vector<Input> inputs;
  for (const std::string &path : arguments.inputs) {
    Result<std::unique_ptr<machine::ForeignTrace>> trace =
        machine::open_foreign(path, {format, arguments.ticks_per_instruction});
    if (!trace)
      return trace.error();
    inputs.push_back({std::move(trace).value(), {}, false});
  }
  return inputs;
}

// Whether `access`, of input `number`, belongs to a core of the trace; else what to do.
Status check_core(const Arguments &arguments, const std::vector<Input> &inputs, std::size_t number,
                  unsigned cores) {
  const Input &input = inputs[number];
  if (inputs.size() > 1 && input.trace->cores() > 1)
    return Error{fmt::format("{}: has the accesses of several cores; give it alone",
                             arguments.inputs[number])};
  if (inputs.size() == 1 && input.next.core >= cores)
    return Error{fmt::format("{}: has the accesses of more than {} cores; use --cores N",
                             arguments.inputs[number], cores)};
  return Unit{};
}

// Other tools' traces: one file for each core, or one that tells cores apart, merged by their time.
Result<int> write_foreign(const Arguments &arguments, machine::TraceFormat format,
                          const Interrupt &interrupt) {
  Result<std::vector<Input>> inputs = open_inputs(arguments, format);
  if (!inputs)
    return inputs.error();
  const unsigned own = inputs->size() == 1 ? std::max(inputs->front().trace->cores(), 1U)
                                           : static_cast<unsigned>(inputs->size());
  const unsigned cores = std::max(own, arguments.cores.value_or(own));
  for (Input &input : *inputs) {
    input.more = input.trace->next(input.next);
    if (!input.trace->error().empty())
      return Error{input.trace->error()};
  }
  Result<machine::TraceWriter> writer =
      machine::TraceWriter::create(arguments.output, cores, arguments.text);
  if (!writer)
    return writer.error();
  const std::uint64_t most = arguments.accesses.value_or(~std::uint64_t{0});
  for (std::uint64_t written = 0; written < most && !writer->failed(); ++written) {
    if (interrupt.asked())
      return kInterruptedStatus;
    std::size_t first = inputs->size();
    for (std::size_t i = 0; i < inputs->size(); ++i)
      if ((*inputs)[i].more &&
          (first == inputs->size() || (*inputs)[i].next.time < (*inputs)[first].next.time))
        first = i;
    if (first == inputs->size())
      break;
    Input &input = (*inputs)[first];
    if (Status good = check_core(arguments, *inputs, first, cores); !good)
      return good.error();
    writer->add(inputs->size() == 1 ? input.next.core : static_cast<unsigned>(first),
                input.next.operation);
    input.more = input.trace->next(input.next);
    if (!input.trace->error().empty())
      return Error{input.trace->error()};
  }
  for (std::size_t i = 0; i < inputs->size(); ++i)
    if (const std::uint64_t count = (*inputs)[i].trace->left_out(); count != 0)
      fmt::print(stderr,
                 "tandem machine trace: {}: {} left out: packets that neither read nor write "
                 "memory, or lines of something else\n",
                 printable(arguments.inputs[i]), counted(count, "line", "lines"));
  return finish(*writer);
}

Result<int> write(const Arguments &arguments) {
  if (arguments.workload.empty() == arguments.from.empty())
    return Error{"say what is written: either --workload NAME, or --from FORMAT FILE..."};
  if (arguments.from.empty() != arguments.inputs.empty())
    return Error{arguments.from.empty() ? "files need --from FORMAT: trace, text, gem5, champsim"
                                        : "--from needs a file; - is standard input"};
  if (arguments.inputs.size() > machine::kMostTracedCores)
    return Error{fmt::format("{} files; a trace has at most {} cores", arguments.inputs.size(),
                             machine::kMostTracedCores)};
  if (std::ranges::count(arguments.inputs, "-") > 1)
    return Error{"standard input (-) can be given once"};
  std::vector<std::string> inputs = arguments.inputs;
  inputs.push_back(arguments.workload);
  if (Status apart = check_outputs({arguments.output}, inputs); !apart)
    return apart.error();
  const SignalsHeld held{SIGXFSZ};
  const Interrupt interrupt;
  if (arguments.from.empty())
    return write_traffic(arguments, interrupt);
  if (arguments.from == "trace")
    return write_trace(arguments, interrupt);
  return write_foreign(arguments,
                       arguments.from == "text"   ? machine::TraceFormat::text
                       : arguments.from == "gem5" ? machine::TraceFormat::gem5
                                                  : machine::TraceFormat::champsim,
                       interrupt);
}

} // namespace

int trace_command(int argc, char **argv) {
  Program program("machine trace", "write synthetic traffic, or another tool's trace, as a trace");
  Arguments arguments;
  CLI::App &app = program.app();
  app.add_option("-w,--workload", arguments.workload, "whose traffic")->type_name("NAME");
  app.add_option("--from", arguments.from,
                 "convert files: 'gem5' (packets or instructions as text), 'champsim', 'text' (our "
                 "format as text), 'trace' (our format)")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"trace", "text", "gem5", "champsim"}));
  app.add_option("FILE", arguments.inputs,
                 "what is converted, one for each core, or one that tells cores apart; - is "
                 "standard input");
  app.add_option("-o,--output", arguments.output, "the trace")->type_name("FILE")->required();
  program.add_flag("--text", arguments.text, "write the trace as text");
  app.add_option("--cores", arguments.cores, "cores (default: 16, or as many as the files have)")
      ->type_name("N")
      ->check(CLI::Range(1U, machine::kMostTracedCores));
  app.add_option(
         "--accesses", arguments.accesses,
         "records, fetches included, over all cores (default: 1000000, or all of the files)")
      ->type_name("N");
  app.add_option("--ticks-per-instruction", arguments.ticks_per_instruction,
                 "of gem5's packets, which count none (default: 500, an instruction a cycle at 2 "
                 "GHz)")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40));
  app.add_option("--seed", arguments.seed, "of the traffic (default: 1)")->type_name("N");
  program.set_epilogue("Examples:\n"
                       "  tandem machine trace -w oltp-like -o oltp.trace\n"
                       "  tandem machine trace --from gem5 cpu0.txt cpu1.txt -o two.trace\n"
                       "  xz -dc mcf.xz | tandem machine trace --from champsim - -o mcf.trace\n"
                       "  tandem machine trace --from trace mcf.trace --text -o mcf.txt");
  if (const std::optional<int> status = program.parse(argc, argv))
    return *status;
  const Result<int> status = write(arguments);
  return status ? *status : program.fail(status.error());
}

} // namespace tandem::machine_cli
