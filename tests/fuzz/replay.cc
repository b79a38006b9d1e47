// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs every target once on each file of its corpus, and of the other targets' too: what an input
// was found with is no reason for another parser to end by it. A target without a corpus, or a
// folder without a target, is a failure.
#include "base/file.h"
#include "tests/fuzz/targets.h"

#include <filesystem>
#include <fmt/format.h>
#include <map>

int main(int argc, char **argv) {
  namespace fs = std::filesystem;
  if (argc != 2) {
    fmt::print(stderr, "replay: name the folder of the corpora\n");
    return 2;
  }
  std::map<std::string, std::vector<std::string>> inputs; // by folder
  for (const fs::directory_entry &folder : fs::directory_iterator(argv[1]))
    for (const fs::directory_entry &file : fs::directory_iterator(folder.path()))
      inputs[folder.path().filename().string()].push_back(*tandem::read_file(file.path().string()));
  int failed = 0;
  std::size_t runs = 0;
  for (const tandem::fuzz::Target &target : tandem::fuzz::targets()) {
    if (!inputs.contains(std::string(target.name))) {
      fmt::print(stderr, "replay: {}: has no corpus\n", target.name);
      failed = 1;
    }
    for (const auto &[folder, texts] : inputs)
      for (const std::string &text : texts) {
        target.run(text);
        ++runs;
      }
  }
  if (inputs.size() > tandem::fuzz::targets().size())
    failed = 1;
  fmt::print("{} inputs of {} targets\n", runs, tandem::fuzz::targets().size());
  return failed;
}
