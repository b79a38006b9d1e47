// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is printed of the tables: everything that is in them, and nothing broken.
#include <gmock/gmock.h>

#include <fmt/format.h>

#include "machine/prover/prover.h"

namespace tandem::machine {
namespace {

using ::testing::HasSubstr;

TEST(Tables, NameEveryStateEventAndRow) {
  for (const Prover &prover : provers()) {
    const TableDocument document = prover.document();
    const std::string page = html(document);
    const std::string plain = text(document);
    for (std::size_t c = 0; c < document.controllers.size(); ++c) {
      const TableDocument::Controller &controller = document.controllers[c];
      for (std::size_t r = 0; r < controller.rows.size(); ++r) {
        EXPECT_THAT(page, HasSubstr(fmt::format("id=\"r{}-{}\"", c, r)));
        EXPECT_THAT(page, HasSubstr(fmt::format("href=\"#r{}-{}\"", c, r)));
        EXPECT_THAT(plain, HasSubstr(row_name(document, controller, controller.rows[r])));
      }
      for (const StateInfo &state : controller.lines)
        EXPECT_THAT(page, HasSubstr(fmt::format("<code>{}</code>", state.name)));
    }
    for (const EventInfo &event : document.events)
      EXPECT_THAT(page, HasSubstr(event.name));
    EXPECT_THAT(page, ::testing::Not(HasSubstr("Coverage")));
  }
}

TEST(Tables, EveryStateAndEventHasADescription) {
  for (const Prover &prover : provers()) {
    const TableDocument document = prover.document();
    for (const EventInfo &event : document.events)
      EXPECT_STRNE(event.description, "") << event.name;
    for (const TableDocument::Controller &controller : document.controllers)
      for (const auto *states : {&controller.lines, &controller.tbes})
        for (const StateInfo &state : *states)
          EXPECT_STRNE(state.description, "") << controller.name << ' ' << state.name;
  }
}

TEST(Tables, ARowThatIsNeverTakenIsMarked) {
  TableDocument document = provers().front().document();
  document.proofs.emplace_back("no search at all");
  document.controllers[0].rows[0].taken = 7;
  const std::string page = html(document);
  EXPECT_THAT(page, HasSubstr("<h2>Coverage</h2>\n<p>1 of "));
  EXPECT_THAT(page, HasSubstr("class=\"never\""));
  EXPECT_THAT(page, HasSubstr("no search at all"));
}

} // namespace
} // namespace tandem::machine
