// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The documents of this installation, which `tandem help TOPIC` shows.
#pragma once

#include <string>
#include <vector>

namespace tandem {

struct Topic {
  std::string name; // the path below the documents' folder, without its .md: machine/metatm
  std::string path;
  std::string title; // its first heading
};

// By name; none where no documents are installed. Notes on design are not for users.
std::vector<Topic> find_topics();

// The one of that name, with or without .md, or of that last part of a name if no other has it;
// null if there is none.
const Topic *find_topic(const std::vector<Topic> &topics, const std::string &name);

} // namespace tandem
