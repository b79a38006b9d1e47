// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/catalogue/catalogue.h"

#include "base/file.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

Catalogue parsed(const std::string &text) {
  Result<Catalogue> catalogue = Catalogue::parse(text, "c.toml");
  EXPECT_TRUE(catalogue.ok()) << (catalogue.ok() ? "" : catalogue.error().message);
  return catalogue.ok() ? *catalogue : Catalogue{};
}

std::string mistake(const std::string &text) {
  const Result<Catalogue> catalogue = Catalogue::parse(text, "c.toml");
  return catalogue.ok() ? "no mistake" : catalogue.error().message;
}

TEST(Catalogue, BuiltinKnowsTheClasses) {
  const Catalogue catalogue = Catalogue::load("").value();
  EXPECT_EQ(catalogue.lookup("sinf").effect, ExternalEffect::pure);
  EXPECT_EQ(catalogue.lookup("htons").effect, ExternalEffect::pure);
  EXPECT_FALSE(catalogue.lookup("htons").captures);
  EXPECT_EQ(catalogue.lookup("pthread_self").effect, ExternalEffect::thread_local_);
  EXPECT_EQ(catalogue.lookup("strlen").effect, ExternalEffect::reads);
  EXPECT_FALSE(catalogue.lookup("strlen").captures);
  EXPECT_TRUE(catalogue.lookup("strchr").captures) << "its result points into its argument";
  EXPECT_EQ(catalogue.lookup("malloc"),
            (CatalogueEntry{ExternalEffect::tm_safe, "_ITM_malloc", false, false}));
  EXPECT_EQ(catalogue.lookup("memcpy"),
            (CatalogueEntry{ExternalEffect::tm_safe, "_ITM_memcpyRtWt", true, true}));
  EXPECT_EQ(catalogue.lookup("_ZdlPvm").replacement, "_ZGTtdlPvm");
}

TEST(Catalogue, WhatNoEntryNamesIsTheWorst) {
  const Catalogue catalogue = Catalogue::load("").value();
  for (const char *name :
       {"printf", "write", "pthread_mutex_lock", "realloc", "strtol", "lgamma", "qsort", "rand",
        "getenv", "frexp", "__memcpy_chk", "_ZdaPvm", "__cxa_throw", "no_such_function", ""}) {
    const CatalogueEntry entry = catalogue.lookup(name);
    EXPECT_EQ(entry.effect, ExternalEffect::irrevocable) << name;
    EXPECT_TRUE(entry.writes_arguments) << name;
    EXPECT_TRUE(entry.captures) << name;
  }
}

TEST(Catalogue, EveryBuiltinEntryIsConsistent) {
  const Catalogue catalogue = Catalogue::load("").value();
  EXPECT_GT(catalogue.entries().size(), 200u);
  for (const auto &[name, entry] : catalogue.entries()) {
    EXPECT_EQ(entry.effect == ExternalEffect::tm_safe, !entry.replacement.empty()) << name;
    if (entry.effect == ExternalEffect::pure || entry.effect == ExternalEffect::reads) {
      EXPECT_FALSE(entry.writes_arguments) << name;
    }
  }
}

TEST(Catalogue, PapersKnowsNothing) {
  const Catalogue catalogue = Catalogue::load("papers").value();
  EXPECT_TRUE(catalogue.entries().empty());
  EXPECT_EQ(catalogue.lookup("strlen").effect, ExternalEffect::irrevocable);
}

TEST(Catalogue, AFileOverridesAndExtendsTheBuiltinOne) {
  const Catalogue catalogue = parsed("version = 1\n"
                                     "[functions]\n"
                                     "irrevocable = [\"malloc\"]\n"
                                     "pure = [\"my_hash\"]\n"
                                     "[function.my_copy]\n"
                                     "effect = \"tm-safe\"\n"
                                     "replacement = \"my_copy_tm\"\n"
                                     "writes-arguments = true\n");
  EXPECT_EQ(catalogue.lookup("malloc").effect, ExternalEffect::irrevocable);
  EXPECT_EQ(catalogue.lookup("my_hash").effect, ExternalEffect::pure);
  EXPECT_EQ(catalogue.lookup("strlen").effect, ExternalEffect::reads);
  EXPECT_EQ(catalogue.lookup("my_copy"),
            (CatalogueEntry{ExternalEffect::tm_safe, "my_copy_tm", true, true}));
}

TEST(Catalogue, AFileMayStandAlone) {
  const Catalogue catalogue =
      parsed("version = 1\nextends = \"nothing\"\n[functions]\nreads = [\"peek\"]\n");
  EXPECT_EQ(catalogue.entries().size(), 1u);
  EXPECT_EQ(catalogue.lookup("strlen").effect, ExternalEffect::irrevocable);
  EXPECT_EQ(catalogue.lookup("peek").effect, ExternalEffect::reads);
}

TEST(Catalogue, NamesThePlaceOfASyntaxError) {
  EXPECT_EQ(mistake("version = 1\n[functions\n").substr(0, 11), "c.toml:2:11");
  const std::string message = mistake("version = 1\npure = = 3\n");
  EXPECT_EQ(message.substr(0, 11), "c.toml:2:8:") << message;
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

TEST(Catalogue, NamesThePlaceOfAWrongEntry) {
  const std::string effects = "pure, thread-local, reads, tm-safe, deferrable or irrevocable";
  EXPECT_EQ(mistake(""), "c.toml:1:1: the version is missing; write 'version = 1'");
  EXPECT_EQ(mistake("version = 2\n"),
            "c.toml:1:11: version 2 cannot be read; this program reads version 1");
  EXPECT_EQ(mistake("version = \"1\"\n"),
            "c.toml:1:11: version is not a number; write 'version = 1'");
  EXPECT_EQ(mistake("version = 1\nextend = \"nothing\"\n"),
            "c.toml:2:1: unknown key 'extend'; use version, extends, functions or function");
  EXPECT_EQ(mistake("version = 1\nextends = 3\n"),
            "c.toml:2:11: extends is neither \"built-in\" nor \"nothing\"");
  EXPECT_EQ(mistake("version = 1\n[functions]\nsafe = []\n"),
            "c.toml:3:1: 'safe' is not an effect; use " + effects);
  EXPECT_EQ(mistake("version = 1\n[functions]\ntm-safe = []\n"),
            "c.toml:3:1: tm-safe functions need a replacement each; write them below [function]");
  EXPECT_EQ(mistake("version = 1\n[functions]\npure = \"sin\"\n"),
            "c.toml:3:8: pure is not a list of function names");
  EXPECT_EQ(mistake("version = 1\n[functions]\npure = [\"sin\", 4]\n"),
            "c.toml:3:16: a function name is not a string; write it in quotes");
  EXPECT_EQ(mistake("version = 1\n[functions]\npure = [\"f\"]\nreads = [\"f\"]\n"),
            "c.toml:4:10: 'f' is listed twice; keep one of its entries");
}

TEST(Catalogue, NamesThePlaceOfAWrongDetail) {
  const auto detail = [](const std::string &text) {
    return mistake("version = 1\n[function]\nf = " + text + "\n");
  };
  EXPECT_EQ(detail("3"), "c.toml:3:5: 'f' is not a table; write f = { effect = \"...\" }");
  EXPECT_EQ(detail("{ captures = true }").substr(0, 31), "c.toml:3:5: 'f' has no effect; ");
  EXPECT_EQ(detail("{ effect = \"safe\" }").substr(0, 40),
            "c.toml:3:16: 'f' has an unknown effect; ");
  EXPECT_EQ(detail("{ effect = \"pure\", capture = true }").substr(0, 36),
            "c.toml:3:24: unknown key 'capture'; ");
  EXPECT_EQ(detail("{ effect = \"reads\", captures = 1 }"),
            "c.toml:3:36: captures is neither true nor false");
  EXPECT_EQ(detail("{ effect = \"tm-safe\" }").substr(0, 43),
            "c.toml:3:5: 'f' is tm-safe without a replac");
  EXPECT_EQ(detail("{ effect = \"pure\", replacement = \"g\" }"),
            "c.toml:3:5: 'f' has a replacement and is pure; only tm-safe functions have one");
  EXPECT_EQ(detail("{ effect = \"reads\", writes-arguments = true }"),
            "c.toml:3:5: 'f' is reads and yet writes its arguments; drop one of the two");
}

TEST(Catalogue, AFileThatCannotBeReadIsNamed) {
  EXPECT_EQ(Catalogue::load("/nonexistent/c.toml").error().message,
            "/nonexistent/c.toml: cannot be read: No such file or directory");
}

} // namespace
} // namespace tandem
