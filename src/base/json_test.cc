// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/json.h"

#include <gmock/gmock.h>

namespace tandem {
namespace {

using testing::StartsWith;

std::string error_of(std::string_view text, JsonRoot root = JsonRoot::object) {
  const Result<nlohmann::json> document = parse_json(text, "f.json", root);
  return document ? "" : document.error().message;
}

std::string list(std::string_view element, std::size_t times) {
  std::string text = "[";
  for (std::size_t i = 0; i < times; ++i)
    text.append(i == 0 ? "" : ",").append(element);
  return text + "]";
}

TEST(Json, ReadsADocument) {
  const Result<nlohmann::json> document =
      parse_json(R"({"a": [1, -2, 2.5, "x", null, true, {"b": []}]})", "f.json");
  ASSERT_TRUE(document) << document.error().message;
  EXPECT_EQ(document->dump(), R"({"a":[1,-2,2.5,"x",null,true,{"b":[]}]})");
}

TEST(Json, NamesThePlace) {
  EXPECT_THAT(error_of("{\n \"a\": 1,,"), StartsWith("f.json:2:9: not JSON: unexpected ','"));
  EXPECT_THAT(error_of(""), StartsWith("f.json:1:1: not JSON: unexpected end of input"));
  EXPECT_THAT(error_of("{\"a\": 1e999}"), testing::HasSubstr("number overflow"));
}

TEST(Json, RefusesTheOtherRootAtOnce) {
  EXPECT_EQ(error_of("[!"), "f.json: /: must be an object, not array");
  EXPECT_EQ(error_of("{!", JsonRoot::list), "f.json: /: must be a list, not object");
  EXPECT_EQ(error_of("1"), "f.json: /: must be an object, not one value");
}

TEST(Json, BoundsLists) {
  EXPECT_EQ(error_of("{\"a\": " + list("1", kMostJsonNumbers) + "}"), "");
  EXPECT_EQ(error_of("{\"a\": " + list("1", kMostJsonNumbers + 1) + "}"),
            "f.json: has a list of more than 4096 numbers, which no file that is read here has");
}

TEST(Json, BoundsMemory) {
  // What takes a byte or three takes up to a hundred in memory.
  json_detail::Limits limits(JsonRoot::list);
  ASSERT_TRUE(limits.open(JsonRoot::list));
  std::size_t lists = 0;
  while (limits.open(JsonRoot::list) && limits.close())
    ++lists;
  EXPECT_LT(lists, kMostJsonMemory / 64);
  EXPECT_THAT(limits.mistake(), StartsWith("would take more than 1024 MiB of memory"));
}

TEST(Json, BoundsDepth) {
  std::string deep = "{\"a\": ";
  deep.append(100'000, '[');
  EXPECT_EQ(error_of(deep), "f.json: nested more than 64 deep");
}

} // namespace
} // namespace tandem
