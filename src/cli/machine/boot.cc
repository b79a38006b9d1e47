// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tandem machine boot`: a kernel on a board, its console in the terminal.
#include "cli/machine/boot.h"

#include "base/file.h"
#include "cli/common/terminal.h"
#include "cli/machine/boot_run.h"
#include "cli/machine/commands.h"
#include "cli/machine/image_folder.h"
#include "cli/machine/quantities.h"
#include "machine/platform/boot.h"
#include "machine/platform/checkpoint.h"
#include "machine/platform/map.h"

#include <unistd.h>

namespace tandem::machine_cli {
namespace {

// What Linux takes of its arguments.
constexpr std::size_t kCommandLine = 511;
constexpr std::uint64_t kLarge = std::uint64_t{2} << 20;

// The kernel of the default image has the firmware's console as hvc0, and virtio's behind it.
const char *console_argument(machine::ConsoleKind kind, bool default_image) {
  if (kind == machine::ConsoleKind::uart)
    return "console=ttyS0";
  return kind == machine::ConsoleKind::virtio && default_image ? "console=hvc1" : "console=hvc0";
}

// The default image, where the user names no kernel, and no initial file system.
Status choose_image(BootArguments &arguments) {
  if (!arguments.kernel.empty())
    return Unit{};
  const std::string folder = images_folder() + "/linux";
  if (::access((folder + "/Image").c_str(), R_OK) != 0)
    return Error{fmt::format("there is no image in {}; build it once by: tandem machine image "
                             "linux; or name a kernel by --kernel",
                             images_folder())};
  arguments.kernel = folder + "/Image";
  if (arguments.initrd.empty())
    arguments.initrd = folder + "/initrd.cpio";
  if (arguments.symbols.empty())
    arguments.symbols = folder + "/vmlinux";
  return Unit{};
}

Result<machine::BoardOptions> board_options(const BootArguments &arguments,
                                            std::vector<NetworkOption> &networks) {
  const Result<std::uint64_t> memory = parse_bytes(arguments.memory);
  if (!memory)
    return Error{fmt::format("--memory: {}", memory.error().message)};
  if (*memory < 4 * kLarge || *memory % kLarge != 0 || *memory > std::uint64_t{1} << 38)
    return Error{fmt::format("--memory {}: is to be 8M to 256G, in steps of 2M", arguments.memory)};
  const Result<machine::ConsoleKind> console = parse_console(arguments.console);
  if (!console)
    return Error{fmt::format("--console: {}", console.error().message)};
  machine::BoardOptions options{.harts = arguments.harts, .memory = *memory, .console = *console};
  for (const std::string &text : arguments.disks) {
    Result<machine::DiskOptions> disk = parse_disk(text);
    if (!disk)
      return Error{fmt::format("--disk: {}", disk.error().message)};
    options.disks.push_back(std::move(disk).value());
  }
  for (const std::string &text : arguments.networks) {
    Result<NetworkOption> network = parse_network(text);
    if (!network)
      return Error{fmt::format("--net: {}", network.error().message)};
    options.networks.push_back(network->kind);
    networks.push_back(std::move(network).value());
  }
  return options;
}

Result<std::string> kernel_arguments(const BootArguments &arguments, machine::ConsoleKind console,
                                     bool default_image) {
  // Linux takes the first of several that it finds of a kind: the user's alone, if there is one.
  const bool own = (" " + arguments.append).find(" console=") != std::string::npos;
  std::string text = own ? "earlycon=sbi"
                         : fmt::format("{} earlycon=sbi", console_argument(console, default_image));
  if (!arguments.append.empty())
    text += " " + arguments.append;
  if (arguments.run.find('"') != std::string::npos)
    return Error{"--run: the command must not have a double quote in it; put it into a script on a "
                 "--disk, or type it by --type"};
  if (!arguments.run.empty())
    text += fmt::format(" run=\"{}\"", arguments.run);
  if (text.size() > kCommandLine)
    return Error{
        fmt::format("--append and --run: the kernel's arguments have {} characters, and it "
                    "takes {}; shorten them",
                    text.size(), kCommandLine)};
  return text;
}

// None where no file is named; one that the user has not named need not be there.
Result<machine::Symbols> read_symbols(const std::string &path, bool named) {
  if (path.empty() || (!named && ::access(path.c_str(), R_OK) != 0))
    return machine::Symbols();
  Result<std::string> bytes = read_file(path);
  if (!bytes)
    return bytes.error();
  Result<machine::ElfFile> file = machine::ElfFile::parse(path, std::move(bytes).value());
  if (!file)
    return file.error();
  return std::move(file->symbols);
}

// Options that cannot be together, and files that cannot be written.
Status check(const BootArguments &arguments) {
  if (!arguments.restore.empty() &&
      !(arguments.kernel.empty() && arguments.initrd.empty() && arguments.disks.empty() &&
        arguments.networks.empty() && arguments.append.empty() && arguments.run.empty()))
    return Error{"--restore with options that make a machine (--kernel, --disk, ...): the "
                 "checkpoint has them; leave them out"};
  if (!arguments.replay.empty() && !arguments.type.empty())
    return Error{"--replay with --type: the recording has all input; leave out one of them"};
  const bool timed = !arguments.timing.protocol.empty();
  if (timed && (!arguments.watch.trace.empty() || arguments.watch.gdb != 0))
    return Error{"--trace and --gdb follow harts without time: leave out --protocol"};
  if (timed && !arguments.save.empty())
    return Error{"--save with --protocol: a checkpoint has no caches; save without time, and give "
                 "--protocol to --restore"};
  if (!arguments.change.empty() && !timed)
    return Error{"--change is about harts with time: say --protocol NAME"};
  if (const auto [text, mode] = change_of(arguments.change);
      !arguments.change.empty() &&
      (text.empty() || (mode != "functional" && mode != "warming" && mode != "timing")))
    return Error{fmt::format("--change {}: is to be TEXT=MODE, with functional, warming or timing",
                             arguments.change)};
  for (const std::string *file :
       {&arguments.save, &arguments.record, &arguments.transactions.profile})
    if (!file->empty())
      if (Status writable = check_writable(*file); !writable)
        return writable;
  return Unit{};
}

Result<int> boot(BootArguments &arguments) {
  if (Status right = check(arguments); !right)
    return right.error();
  const Result<Watching> watching = check_watching(arguments.watch);
  if (!watching)
    return watching.error();
  BootRun run{.arguments = arguments, .watching = *watching, .symbols = {}, .networks = {}};
  Result<std::unique_ptr<machine::Board>> board = make_board(arguments, run.symbols, run.networks);
  if (!board)
    return board.error();
  return run_board(**board, run);
}

void declare_machine_options(CLI::App &app, BootArguments &arguments) {
  app.add_option("--harts", arguments.harts, "harts (default: 1)")
      ->type_name("N")
      ->check(CLI::Range(1U, machine::map::kHartsMaximum));
  app.add_option("--memory", arguments.memory, "main memory (default: 512M)")->type_name("SIZE");
  app.add_option("--kernel", arguments.kernel,
                 "an Image or ELF file (default: of `tandem machine image linux`)")
      ->type_name("FILE");
  app.add_option("--initrd", arguments.initrd, "initial file system")->type_name("FILE");
  app.add_option("--dtb", arguments.tree, "a device tree instead of the machine's own")
      ->type_name("FILE");
  app.add_option("--append", arguments.append, "arguments for the kernel, after the machine's own")
      ->type_name("TEXT");
  app.add_option("--disk", arguments.disks,
                 "a disk with the contents of a file, which is never written: "
                 "FILE[,ro][,latency=5.5ms]; may be given again")
      ->type_name("DISK")
      ->allow_extra_args(false);
  app.add_option("--net", arguments.networks,
                 "a network port: none, pair (two ports, connected), or "
                 "relay=HOST:GUEST[,HOST:GUEST...] (TCP ports of this host's loopback)")
      ->type_name("NET")
      ->allow_extra_args(false);
  app.add_option("--console", arguments.console, "uart, sbi or virtio (default: uart)")
      ->type_name("KIND");
  app.add_option("--symbols", arguments.symbols, "an ELF file with names for addresses (vmlinux)")
      ->type_name("FILE");
}

void declare_run_options(Program &program, BootArguments &arguments) {
  CLI::App &app = program.app();
  app.add_option("--run", arguments.run,
                 "with the default image: run this command instead of a shell, and end with its "
                 "status")
      ->type_name("COMMAND");
  app.add_option("--until", arguments.until, "end with status 0 when the console has shown this")
      ->type_name("TEXT");
  app.add_option("--type", arguments.type,
                 "type this line when the console shows the prompt; may be given again")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  app.add_option("--prompt", arguments.prompt, "what --type waits for (default: '# ')")
      ->type_name("TEXT");
  app.add_option("--record", arguments.record, "write what was typed, with its cycles")
      ->type_name("FILE");
  app.add_option("--replay", arguments.replay, "type what was recorded, at the same cycles")
      ->type_name("FILE");
  app.add_option("--save", arguments.save, "write a checkpoint when the run ends")
      ->type_name("FILE");
  app.add_option("--restore", arguments.restore, "go on from a checkpoint")->type_name("FILE");
  program.add_flag("--keys-to-guest", arguments.keys_to_guest,
                   "Ctrl-C goes to the guest and does not end the machine");
}

} // namespace

Result<std::unique_ptr<machine::Board>> make_board(BootArguments &arguments,
                                                   machine::Symbols &symbols,
                                                   std::vector<NetworkOption> &networks) {
  const bool named = !arguments.symbols.empty();
  if (!arguments.restore.empty()) {
    Result<machine::Symbols> read =
        read_symbols(named ? arguments.symbols : images_folder() + "/linux/vmlinux", named);
    if (!read)
      return read.error();
    symbols = std::move(read).value();
    return machine::restore_checkpoint(arguments.restore);
  }
  const bool default_image = arguments.kernel.empty();
  if (Status chosen = choose_image(arguments); !chosen)
    return chosen.error();
  const Result<machine::BoardOptions> options = board_options(arguments, networks);
  if (!options)
    return options.error();
  const Result<std::string> text = kernel_arguments(arguments, options->console, default_image);
  if (!text)
    return text.error();
  Result<std::unique_ptr<machine::Board>> board = machine::Board::make(*options);
  if (!board)
    return board.error();
  Result<machine::Symbols> own = machine::load_kernel(**board, {.kernel = arguments.kernel,
                                                                .initrd = arguments.initrd,
                                                                .tree = arguments.tree,
                                                                .arguments = *text,
                                                                .seed = arguments.watch.seed});
  if (!own)
    return own.error();
  Result<machine::Symbols> read = read_symbols(arguments.symbols, named);
  if (!read)
    return read.error();
  symbols = read->empty() ? std::move(own).value() : std::move(read).value();
  return board;
}

std::pair<std::string, std::string> change_of(const std::string &option) {
  const std::size_t at = option.rfind('=');
  return at == std::string::npos ? std::pair(std::string(), std::string())
                                 : std::pair(option.substr(0, at), option.substr(at + 1));
}

int boot_command(int argc, char **argv) {
  Program program("machine boot", "boot a kernel, Linux by default, to a shell in the terminal");
  BootArguments arguments;
  declare_machine_options(program.app(), arguments);
  declare_run_options(program, arguments);
  declare_watching(program, arguments.watch);
  declare_timing(program, arguments.timing);
  declare_transactions(program, arguments.transactions);
  program.app()
      .add_option("--change", arguments.change,
                  "with --protocol: go on in this mode when the console has shown TEXT")
      ->type_name("TEXT=MODE");
  program.set_epilogue(
      "Keys: Ctrl-C ends the machine, Ctrl-A x too; Ctrl-A c types Ctrl-C, Ctrl-A Ctrl-A\n"
      "types Ctrl-A. Status: 0 when the guest shuts down, its own from the exit device, 3\n"
      "when it crashed, panicked, or reached --limit.\n"
      "Examples:\n"
      "  tandem machine boot --harts 4\n"
      "  tandem machine boot --run 'nproc' --limit 2G\n"
      "  tandem machine boot --disk disk.img --until 'login:' --save booted.checkpoint\n"
      "  tandem machine boot --harts 4 --mode timing --protocol flask --run 'nproc' --counts\n"
      "Manual: docs/machine/boot.md");
  if (const std::optional<int> status = program.parse(argc, argv))
    return *status;
  arguments.timing.seed = arguments.watch.seed;
  const Result<int> status = boot(arguments);
  return status ? *status : program.fail(status.error());
}

} // namespace tandem::machine_cli
