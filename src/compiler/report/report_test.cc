// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/report/report.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <random>

namespace tandem {
namespace {

using nlohmann::json;
using testing::ElementsAre;

// A report with every field set; the document that the tests of bad input spoil.
Report sample() {
  Report report;
  report.output = "bin/server";
  report.enforcement = {"hybrid", "stm"};
  ReportSection update;
  update.name = "update";
  update.file = "server.c";
  update.line = 12;
  update.klass = SectionClass::non_revocable;
  update.irrevocable_at = IrrevocableAt::reach;
  update.colours = {"A"};
  update.locks = {{"A", LockMode::exclusive}};
  update.reads = {"table"};
  update.writes = {"count", "table"};
  update.irrevocable = {
      {"printf", {"update", "log_line", "printf"}, {"server.c:14", "log.c:8"}, true},
      {"write", {"update", "write"}, {}, false}};
  update.conflicts = {{"update", {"count"}}, {"run_1", {"table"}}};
  update.accesses = {{"count", true, "bump", "count.h", 3}, {"table", false, "update", "", 0}};
  update.strict = true;
  ReportSection region;
  region.name = "run_1";
  region.kind = SectionKind::lock_region;
  region.file = "run.c";
  region.line = 7;
  region.klass = SectionClass::hybrid;
  region.colours = {"A"};
  region.locks = {{"A", LockMode::shared}};
  region.reads = {"table"};
  region.conflicts = {{"update", {"table"}}};
  region.lock = {{{"item_locks[]"},
                  "trylock",
                  "pthread-rwlock",
                  true,
                  2,
                  RegionShape::escapes,
                  "stripe.lock"}};
  report.sections = {update, region};
  report.colours = {{"A", {"count", "table"}}};
  report.shared = {"count", "table"};
  report.externals = {"printf"};
  report.locations = {{"count", "global", "server.c", 2, {}},
                      {"table", "heap", "run.c", 5, {"*head", "slot->next"}}};
  report.threads = {{"main", "main", false}, {"worker", "thread", true}};
  report.lock_sites = {
      {"trylock", "pthread-rwlock", "item_locks[]", "run.c", 7, "run", {"run_1"}, ""},
      {"unlock", "pthread-mutex", "*m", "log.c", 8, "log_line", {}, "the lock is not known"}};
  report.findings = {{"unprotected-access", "run.c", 3, "count is read outside any section", {}},
                     {"lock-order",
                      "run.c",
                      7,
                      "a before b",
                      {{"log.c", 8, "b before a"}, {"", 0, "so it is"}},
                      "run",
                      "run_1"}};
  report.analysis = {
      "sensitive", 0.25, 81.5, 30712, {AnalysisLimit::inclusion, AnalysisLimit::callers}};
  return report;
}

std::string error_of(const std::string &text) {
  const Result<Report> report = report_from_json(text, "r.json");
  return report ? "no error" : report.error().message;
}

// The message about sample() with `value` at `pointer`.
std::string error_with(const std::string &pointer, const json &value) {
  json document = json::parse(to_json(sample()));
  document[json::json_pointer(pointer)] = value;
  return error_of(document.dump());
}

std::string error_without(const std::string &pointer) {
  json document = json::parse(to_json(sample()));
  const json::json_pointer field(pointer);
  document[field.parent_pointer()].erase(field.back());
  return error_of(document.dump());
}

TEST(ReportJson, RoundTripsEveryField) {
  const Result<Report> again = report_from_json(to_json(sample()), "r.json");
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(*again, sample());
}

TEST(ReportJson, IsIndentedThroughout) {
  for (const Report &report : {sample(), Report{}}) {
    const std::string text = to_json(report);
    EXPECT_EQ(text, nlohmann::ordered_json::parse(text).dump(2) + "\n");
  }
}

TEST(ReportJson, RoundTripsTheEmptyReport) {
  const Result<Report> again = report_from_json(to_json(Report{}), "r.json");
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(*again, Report{});
}

TEST(ReportJson, WritesTheFieldsInTheOrderOfTheFormat) {
  const auto document = nlohmann::ordered_json::parse(to_json(sample()));
  std::vector<std::string> fields;
  for (const auto &item : document.items())
    fields.push_back(item.key());
  EXPECT_THAT(fields, ElementsAre("version", "output", "enforcement", "sections", "colours",
                                  "shared", "locations", "threads", "lock_sites", "externals",
                                  "findings", "analysis"));
  fields.clear();
  for (const auto &item : document["sections"][1].items())
    fields.push_back(item.key());
  EXPECT_THAT(fields,
              ElementsAre("name", "kind", "file", "line", "class", "irrevocable_at", "colours",
                          "locks", "reads", "writes", "irrevocable", "conflicts", "lock"));
  EXPECT_FALSE(document["sections"][0].contains("lock"));
  EXPECT_FALSE(document["sections"][1].contains("accesses"));
  EXPECT_FALSE(document["sections"][1].contains("strict"));
  EXPECT_FALSE(document["sections"][0]["irrevocable"][1].contains("places"));
  EXPECT_FALSE(document["sections"][0]["irrevocable"][1].contains("cold"));
  EXPECT_FALSE(document["locations"][0].contains("aliases"));
  EXPECT_FALSE(document["lock_sites"][0].contains("reason"));
  EXPECT_FALSE(document["findings"][0].contains("notes"));
  EXPECT_EQ(to_json(sample()).back(), '\n');
}

TEST(ReportJson, ReplacesBytesThatAreNotUtf8) {
  Report report;
  report.output = "caf\xe9";
  const Result<Report> again = report_from_json(to_json(report), "r.json");
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->output, "caf\xef\xbf\xbd");
}

TEST(ReportJson, OutputAndEnforcementMayBeAbsentAndNewFieldsAreSkipped) {
  json document = json::parse(to_json(sample()));
  document.erase("output");
  document.erase("enforcement");
  document["of_tomorrow"] = {1, 2};
  document["sections"][0]["of_tomorrow"] = true;
  const Result<Report> report = report_from_json(document.dump(), "r.json");
  ASSERT_TRUE(report.ok()) << report.error().message;
  Report expected = sample();
  expected.output = "";
  expected.enforcement = {};
  EXPECT_EQ(*report, expected);
}

// What reports had before locations, threads, lock sites, places and notes.
TEST(ReportJson, ReadsWhatOlderCompilersWrote) {
  json document = json::parse(to_json(sample()));
  for (const char *field : {"locations", "threads", "lock_sites"})
    document.erase(field);
  for (const char *field : {"notes", "function", "section"})
    document["findings"][1].erase(field);
  document["sections"][0].erase("accesses");
  document["sections"][0].erase("strict");
  document["sections"][0]["irrevocable"][0].erase("places");
  document["sections"][0]["irrevocable"][0].erase("cold");
  document["sections"][1]["lock"].erase("primitive");
  document["sections"][1]["lock"].erase("shared");
  const Result<Report> report = report_from_json(document.dump(), "r.json");
  ASSERT_TRUE(report.ok()) << report.error().message;
  Report expected = sample();
  expected.locations.clear();
  expected.threads.clear();
  expected.lock_sites.clear();
  expected.findings[1].notes.clear();
  expected.findings[1].function.clear();
  expected.findings[1].section.clear();
  expected.sections[0].accesses.clear();
  expected.sections[0].strict = false;
  expected.sections[0].irrevocable[0].places.clear();
  expected.sections[0].irrevocable[0].cold = false;
  expected.sections[1].lock[0].primitive = "pthread-mutex";
  expected.sections[1].lock[0].shared = false;
  EXPECT_EQ(*report, expected);
}

TEST(ReportJson, SyntaxErrorsHaveLineAndColumn) {
  EXPECT_THAT(error_of("{\n  \"version\": 1,\n  \"sections\": [,]\n}"),
              testing::StartsWith("r.json:3:16: not JSON: unexpected ','"));
  EXPECT_THAT(error_of(""), testing::StartsWith("r.json:1:1: not JSON: unexpected end of input"));
  EXPECT_THAT(error_of("{}\n}"), testing::StartsWith("r.json:2:1: not JSON: unexpected '}'"));
  EXPECT_THAT(error_of("{\"version\": 1e999}"), testing::HasSubstr("number overflow"));
  for (const char *text : {"", "{\"a\n\": 1}", "\xff", "[1,\n2"})
    EXPECT_THAT(error_of(text), testing::Not(testing::HasSubstr("\n"))) << text;
}

TEST(ReportJson, WrongFieldsAreNamedByTheirPointer) {
  EXPECT_EQ(error_with("/sections/1/kind", "lock"),
            "r.json: /sections/1/kind: 'lock' is none of function, block, lambda, lock-region");
  EXPECT_EQ(error_with("/sections/0/class", 3),
            "r.json: /sections/0/class: must be a string, not number");
  EXPECT_EQ(error_with("/sections/0/line", -1),
            "r.json: /sections/0/line: must be a whole number from 0 to 4294967295, not -1");
  EXPECT_EQ(error_with("/sections/0/line", 4294967296),
            "r.json: /sections/0/line: must be a whole number from 0 to 4294967295, not "
            "4294967296");
  EXPECT_EQ(error_with("/sections/0/line", 1.5),
            "r.json: /sections/0/line: must be a whole number from 0 to 4294967295, not 1.5");
  EXPECT_EQ(error_with("/sections/1/lock/kind", "spin"),
            "r.json: /sections/1/lock/kind: 'spin' is none of mutex, trylock, wait");
  EXPECT_EQ(error_with("/sections/0/reads/0", nullptr),
            "r.json: /sections/0/reads/0: must be a string, not null");
  EXPECT_EQ(error_with("/sections/0/strict", 1),
            "r.json: /sections/0/strict: must be true or false, not number");
  EXPECT_EQ(error_with("/sections/0/irrevocable/0/places", json::array({"server.c:14"})),
            "r.json: /sections/0/irrevocable/0/places: must have one element less than the chain: "
            "2, not 1");
  EXPECT_EQ(error_with("/sections/0/accesses/0/writes", "yes"),
            "r.json: /sections/0/accesses/0/writes: must be true or false, not string");
  EXPECT_EQ(error_with("/shared", "count"), "r.json: /shared: must be a list, not string");
  EXPECT_EQ(error_with("/analysis/seconds", -0.5),
            "r.json: /analysis/seconds: must be a finite number from 0 on, not -0.5");
  EXPECT_EQ(error_with("/analysis", json::array()),
            "r.json: /analysis: must be an object, not array");
  EXPECT_EQ(error_of("[]"), "r.json: /: must be an object, not array");
}

TEST(ReportJson, MissingFieldsAreNamedByTheirPointer) {
  for (const char *pointer : {"/version",
                              "/sections",
                              "/colours",
                              "/shared",
                              "/externals",
                              "/findings",
                              "/analysis",
                              "/sections/0/name",
                              "/sections/0/irrevocable_at",
                              "/sections/0/locks/0/mode",
                              "/sections/0/irrevocable/0/chain",
                              "/sections/0/conflicts/1/on",
                              "/sections/1/lock",
                              "/sections/1/lock/exits",
                              "/sections/0/accesses/0/location",
                              "/sections/0/accesses/1/line",
                              "/locations/0/kind",
                              "/threads/0/many",
                              "/lock_sites/0/operation",
                              "/lock_sites/1/sections",
                              "/findings/1/notes/0/message",
                              "/colours/0/locations",
                              "/findings/0/rule",
                              "/analysis/mode"})
    EXPECT_EQ(error_without(pointer), fmt::format("r.json: {}: is missing", pointer));
}

TEST(ReportJson, NamesAreUniqueAndExist) {
  EXPECT_EQ(error_with("/sections/1/name", "update"),
            "r.json: /sections/1/name: 'update' occurs twice; names are unique");
  EXPECT_EQ(error_with("/sections/1/colours/0", "B"),
            "r.json: /sections/1/colours/0: there is no colour 'B'");
  EXPECT_EQ(error_with("/sections/1/locks/0/colour", "B"),
            "r.json: /sections/1/locks/0/colour: there is no colour 'B'");
  EXPECT_EQ(error_with("/sections/0/conflicts/1/with", "gone"),
            "r.json: /sections/0/conflicts/1/with: there is no section 'gone'");
  EXPECT_EQ(error_with("/lock_sites/0/sections/0", "gone"),
            "r.json: /lock_sites/0/sections/0: there is no section 'gone'");
}

TEST(ReportJson, OnlyLockRegionsHaveALock) {
  EXPECT_EQ(error_with("/sections/0/lock", json::object()),
            "r.json: /sections/0/lock: only a lock-region has a lock");
}

TEST(ReportJson, OtherVersionsAreRefused) {
  EXPECT_EQ(error_with("/version", 2),
            "r.json: version 2 cannot be read, only 1: use the tandem that wrote it");
  EXPECT_EQ(error_with("/version", "1"), "r.json: /version: must be a whole number, not string");
}

TEST(ReportOrder, SortsEveryList) {
  Report report = sample();
  report.sections[0].writes = {"table", "count", "table"};
  report.sections[0].colours = {"AA", "B", "A", "B"};
  report.colours = {{"AA", {}}, {"B", {"y", "x"}}, {"A", {}}};
  report.shared = {"table", "count"};
  report.findings.push_back({"lock-order", "a.c", 9, "m", {}});
  std::swap(report.sections[0].accesses[0], report.sections[0].accesses[1]);
  report.sections[0].accesses.push_back({"table", false, "update", "", 0}); // once more
  report.sections[0].accesses.push_back({"count", false, "update", "server.c", 99});
  std::swap(report.locations[0], report.locations[1]);
  report.locations[0].aliases = {"slot->next", "*head"};
  std::swap(report.threads[0], report.threads[1]);
  report.threads.push_back(report.threads[0]);
  report.lock_sites.push_back(report.lock_sites[1]); // two of one macro
  sort_report(report);
  EXPECT_EQ(report.sections[0].name, "run_1"); // run.c is before server.c
  EXPECT_THAT(report.sections[1].writes, ElementsAre("count", "table"));
  EXPECT_THAT(report.sections[1].colours, ElementsAre("A", "B", "AA"));
  EXPECT_EQ(report.sections[1].conflicts[0].with, "run_1"); // as the sections
  EXPECT_EQ(report.colours[2].name, "AA");
  EXPECT_THAT(report.colours[1].locations, ElementsAre("x", "y"));
  EXPECT_THAT(report.shared, ElementsAre("count", "table"));
  EXPECT_EQ(report.findings[0].file, "a.c");
  EXPECT_EQ(report.findings[2].notes[0].message, "b before a"); // as they were
  ASSERT_EQ(report.sections[1].accesses.size(), 3u);
  EXPECT_EQ(report.sections[1].accesses[0].line, 99u); // of one location, reads come first
  EXPECT_EQ(report.sections[1].accesses[2].location, "table");
  EXPECT_EQ(report.locations[0].name, "count");
  EXPECT_THAT(report.locations[1].aliases, ElementsAre("*head", "slot->next"));
  ASSERT_EQ(report.threads.size(), 2u);
  EXPECT_EQ(report.threads[0].function, "main");
  ASSERT_EQ(report.lock_sites.size(), 3u);
  EXPECT_EQ(report.lock_sites[1].file, "log.c");
  EXPECT_EQ(report.lock_sites[2].file, "run.c");
  const std::string once = to_json(report);
  sort_report(report);
  EXPECT_EQ(to_json(report), once);
}

TEST(ReportOrder, SectionsOfOneLineStayAsTheyAre) {
  Report report;
  for (const char *name : {"f_2", "f_1", "a_1"}) {
    ReportSection section;
    section.name = name;
    section.file = "a.c";
    section.line = 4;
    report.sections.push_back(section);
  }
  sort_report(report);
  EXPECT_EQ(report.sections[0].name, "f_2");
  EXPECT_EQ(report.sections[1].name, "f_1");
  EXPECT_EQ(report.sections[2].name, "a_1");
}

TEST(ReportPath, FillsInThePattern) {
  EXPECT_EQ(*report_path("/tmp/%o.json", "build/bin/memcached"), "/tmp/memcached.json");
  EXPECT_EQ(*report_path("%p.json", "build/bin/memcached"), "build-bin-memcached.json");
  EXPECT_EQ(*report_path("r-%p", "/usr/bin/x"), "r--usr-bin-x");
  EXPECT_EQ(*report_path("100%%/%o-%o", "a.out"), "100%/a.out-a.out");
  EXPECT_EQ(*report_path("plain", "a%o"), "plain");
  EXPECT_EQ(*report_path("%o", "a%p"), "a%p"); // what is filled in is not a pattern
}

TEST(ReportPath, RefusesOtherCodes) {
  EXPECT_EQ(report_path("x%q", "a").error().message,
            "'%q' in the report's name 'x%q' stands for nothing: use %o for the output's name, %p "
            "for its path, %% for a percent sign");
  EXPECT_THAT(report_path("x%", "a").error().message, testing::StartsWith("'%' in the report's"));
}

// Random reports: whatever the structures can hold and the format allows.
class Generator {
public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  Report report() {
    Report report;
    report.output = text();
    report.enforcement = {text(), text()};
    const std::size_t colour_count = below(4);
    for (std::size_t index = 0; index < colour_count; ++index)
      report.colours.push_back({"C" + std::to_string(index), texts()});
    const std::size_t section_count = below(6);
    for (std::size_t index = 0; index < section_count; ++index)
      report.sections.push_back(section(index, section_count, report.colours));
    report.shared = texts();
    report.externals = texts();
    for (std::size_t left = below(3); left > 0; --left)
      report.findings.push_back({text(), text(), u32(), text(), notes(), text(), text()});
    for (std::size_t left = below(3); left > 0; --left)
      report.locations.push_back({text(), text(), text(), u32(), texts()});
    for (std::size_t left = below(3); left > 0; --left)
      report.threads.push_back({text(), text(), below(2) == 1});
    for (std::size_t left = below(3); left > 0; --left)
      report.lock_sites.push_back(
          {text(), text(), text(), text(), u32(), text(), some_sections(section_count), text()});
    report.analysis = {text(), static_cast<double>(random_()) / 1e6, static_cast<double>(u32()) / 7,
                       random_()};
    return report;
  }

private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  std::uint32_t u32() { return static_cast<std::uint32_t>(random_() >> below(33)); }

  std::string text() {
    static constexpr const char *kPieces[] = {"a",  "Z",  "_",    "::operator<", "/",    "\"", "\\",
                                              "\n", "\t", "\x01", "é",           "日本", "😀", " ",
                                              "[]", "~"};
    std::string text;
    for (std::size_t left = below(6); left > 0; --left)
      text += kPieces[below(std::size(kPieces))];
    return text;
  }

  std::vector<std::string> texts() {
    std::vector<std::string> texts(below(4));
    for (std::string &element : texts)
      element = text();
    return texts;
  }

  std::vector<ReportNote> notes() {
    std::vector<ReportNote> notes;
    for (std::size_t left = below(3); left > 0; --left)
      notes.push_back({text(), u32(), text()});
    return notes;
  }

  std::vector<std::string> some_sections(std::size_t count) {
    if (count == 0)
      return {};
    return {names_[below(count)]};
  }

  ReportIrrevocable irrevocable() {
    ReportIrrevocable call{text(), texts(), {}, below(2) == 1};
    if (call.chain.size() > 1 && below(2) == 1)
      for (std::size_t left = call.chain.size() - 1; left > 0; --left)
        call.places.push_back(text());
    return call;
  }

  ReportSection section(std::size_t index, std::size_t count,
                        const std::vector<ReportColour> &colours) {
    ReportSection section;
    section.name =
        text() + std::to_string(index); // the number makes it unique: text() has no digits
    names_[index % 8] = section.name;
    section.kind = static_cast<SectionKind>(below(4));
    section.file = text();
    section.line = u32();
    section.klass = static_cast<SectionClass>(below(3));
    section.irrevocable_at = static_cast<IrrevocableAt>(below(3));
    for (const ReportColour &colour : colours) {
      section.colours.push_back(colour.name);
      section.locks.push_back({colour.name, static_cast<LockMode>(below(2))});
    }
    section.reads = texts();
    section.writes = texts();
    for (std::size_t left = below(3); left > 0; --left)
      section.irrevocable.push_back(irrevocable());
    for (std::size_t left = below(3); left > 0; --left)
      section.accesses.push_back({text(), below(2) == 1, text(), text(), u32()});
    section.strict = below(2) == 1;
    for (std::size_t left = below(3); left > 0 && count > 0; --left)
      section.conflicts.push_back({names_[below(index + 1)], texts()});
    if (section.kind == SectionKind::lock_region) {
      static constexpr const char *kRegions[] = {"mutex", "trylock", "wait"};
      section.lock.push_back({texts(), kRegions[below(3)], text(), below(2) == 1, u32(),
                              static_cast<RegionShape>(below(3))});
    }
    return section;
  }

  std::mt19937_64 random_;
  std::array<std::string, 8> names_;
};

TEST(ReportJson, EveryReportRoundTrips) {
  constexpr std::uint64_t kSeed = 20080301;
  for (std::uint64_t round = 0; round < 500; ++round) {
    SCOPED_TRACE(fmt::format("seed {} + {}", kSeed, round));
    const Report report = Generator(kSeed + round).report();
    const std::string text = to_json(report);
    const Result<Report> again = report_from_json(text, "r.json");
    ASSERT_TRUE(again.ok()) << again.error().message << "\n" << text;
    ASSERT_EQ(*again, report) << text;
    ASSERT_EQ(to_json(*again), text);
  }
}

// Spoilt documents give a one-line error or a report, never a crash.
TEST(ReportJson, SpoiltTextIsRefusedOrRead) {
  constexpr std::uint64_t kSeed = 1945;
  const std::string good = to_json(sample());
  std::size_t refused = 0;
  for (std::uint64_t round = 0; round < 3000; ++round) {
    SCOPED_TRACE(fmt::format("seed {} + {}", kSeed, round));
    std::mt19937_64 random(kSeed + round);
    std::string text = good;
    for (std::uint64_t changes = 1 + random() % 3; changes > 0; --changes) {
      const std::size_t at = random() % text.size();
      if (random() % 2 == 0)
        text[at] = static_cast<char>(random());
      else
        text.erase(at, 1 + random() % 20);
    }
    const Result<Report> report = report_from_json(text, "r.json");
    if (report)
      continue;
    ++refused;
    ASSERT_THAT(report.error().message, testing::StartsWith("r.json:"));
    ASSERT_THAT(report.error().message, testing::Not(testing::HasSubstr("\n")));
  }
  EXPECT_GT(refused, 1000u);
}

} // namespace
} // namespace tandem
