// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tandem machine image`: what `boot` runs by default, built from Debian's packages by the scripts
// of images/.
#include "cli/common/installation.h"
#include "cli/common/program.h"
#include "cli/machine/commands.h"
#include "cli/machine/image_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

namespace tandem::machine_cli {
namespace {

// Runs the script in place of this program.
Result<int> build(const std::string &name) {
  const std::string script =
      fmt::format("{}/share/tandem/images/{}/build", installation_prefix(), name);
  if (::access(script.c_str(), X_OK) != 0)
    return Error{fmt::format("there is no image '{}'; there is linux", name)};
  const std::string folder = images_folder();
  ::execl(script.c_str(), script.c_str(), folder.c_str(), static_cast<char *>(nullptr));
  return Error{fmt::format("{}: cannot be run: {}", script, std::strerror(errno))};
}

} // namespace

std::string images_folder() {
  const char *cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && cache[0] == '/')
    return fmt::format("{}/tandem/images", cache);
  const char *home = std::getenv("HOME");
  return fmt::format("{}/.cache/tandem/images", home == nullptr ? "" : home);
}

int image_command(int argc, char **argv) {
  Program program("machine image", "build what `tandem machine boot` runs by default");
  std::string name;
  program.app()
      .add_option("NAME", name, "linux: a kernel 6.1, busybox, memcached and test programs")
      ->type_name("NAME")
      ->required();
  program.set_epilogue(
      "Builds once for what it is made from (Debian's packages linux-source-6.1, busybox,\n"
      "libevent and memcached, the cross compiler, the configuration), in 5 to 20 minutes,\n"
      "and prints the folder: kernel (Image, vmlinux), initrd.cpio, manifest.json. Kept in\n"
      "~/.cache/tandem/images.");
  if (const std::optional<int> status = program.parse(argc, argv))
    return *status;
  const Result<int> status = build(name);
  return status ? *status : program.fail(status.error());
}

} // namespace tandem::machine_cli
