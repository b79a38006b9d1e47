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

// What `keys` say about a function f.
CatalogueEntry entry(const std::string &keys) {
  return parsed("version = 1\nextends = \"nothing\"\n[function]\nf = { " + keys + " }\n")
      .lookup("f");
}

constexpr ArgumentSet set(std::uint64_t bits) { return ArgumentSet{bits}; }

// Names of `entries` that `worse` allows and `entry` does not forbid are fine: every field of
// `worse` is at least as bad as that of `better`.
bool covers(const CatalogueEntry &worse, const CatalogueEntry &better) {
  const auto within = [](ArgumentSet small, ArgumentSet large) {
    return (small.bits & ~large.bits) == 0;
  };
  return within(better.writes, worse.writes) && within(better.reads, worse.reads) &&
         within(better.captures, worse.captures) && within(better.follows, worse.follows) &&
         better.stores_anything <= worse.stores_anything &&
         better.touches_anything <= worse.touches_anything;
}

TEST(Catalogue, BuiltinKnowsTheClasses) {
  const Catalogue catalogue = Catalogue::load("").value();
  EXPECT_EQ(catalogue.lookup("sinf").effect, ExternalEffect::pure);
  EXPECT_EQ(catalogue.lookup("htons").effect, ExternalEffect::pure);
  EXPECT_EQ(catalogue.lookup("pthread_self").effect, ExternalEffect::thread_local_);
  EXPECT_EQ(catalogue.lookup("wcslen").effect, ExternalEffect::reads);
  EXPECT_EQ(catalogue.lookup("strlen").effect, ExternalEffect::tm_safe);
  EXPECT_TRUE(catalogue.lookup("strlen").writes.empty());
  EXPECT_TRUE(catalogue.lookup("strlen").captures.empty());
  EXPECT_EQ(catalogue.lookup("strchr").returns, (PointerSource{PointerValue::argument, 0}));
  EXPECT_EQ(catalogue.lookup("malloc").replacement, "_ITM_malloc");
  EXPECT_EQ(catalogue.lookup("malloc").returns.value, PointerValue::fresh);
  EXPECT_EQ(catalogue.lookup("_ZdlPvm").replacement, "_ZGTtdlPvm");
  EXPECT_EQ(catalogue.lookup("write").effect, ExternalEffect::irrevocable);
}

TEST(Catalogue, BuiltinKnowsWhatHappensToPointers) {
  const Catalogue catalogue = Catalogue::load("").value();
  const CatalogueEntry copy = catalogue.lookup("memcpy");
  EXPECT_EQ(copy.writes, set(1));
  EXPECT_EQ(copy.reads, set(2));
  EXPECT_EQ(copy.copies, (std::vector<CopiedMemory>{{0, 1}}));
  EXPECT_EQ(copy.returns, (PointerSource{PointerValue::same, 0}));
  EXPECT_EQ(catalogue.lookup("realloc").copies, (std::vector<CopiedMemory>{{kResult, 0}}));
  EXPECT_EQ(catalogue.lookup("write").reads, set(2));
  EXPECT_TRUE(catalogue.lookup("printf").writes.empty());
  EXPECT_EQ(catalogue.lookup("snprintf").reads, set(~std::uint64_t{1}));
  EXPECT_EQ(catalogue.lookup("getaddrinfo").stores,
            (std::vector<StoredPointer>{{3, {PointerValue::fresh, 0}}}));
  EXPECT_EQ(catalogue.lookup("pthread_getspecific").returns,
            (PointerSource{PointerValue::loaded, kOwn}));
  EXPECT_EQ(catalogue.lookup("pthread_getspecific").own,
            catalogue.lookup("pthread_setspecific").own);
  for (const char *name :
       {"write", "printf", "pthread_mutex_lock", "free", "event_add", "strtol"}) {
    EXPECT_FALSE(catalogue.lookup(name).touches_anything) << name;
    EXPECT_FALSE(catalogue.lookup(name).stores_anything) << name;
    EXPECT_TRUE(catalogue.lookup(name).captures.empty()) << name;
  }
}

TEST(Catalogue, BuiltinKnowsWhoCallsBack) {
  const Catalogue catalogue = Catalogue::load("").value();
  using When = Callback::When;
  EXPECT_EQ(catalogue.lookup("pthread_create").callbacks,
            (std::vector<Callback>{{2, false, When::thread, {3}, false}}));
  EXPECT_EQ(catalogue.lookup("bsearch").callbacks,
            (std::vector<Callback>{{4, false, When::now, {0, 1}, true}}));
  EXPECT_EQ(catalogue.lookup("event_assign").callbacks,
            (std::vector<Callback>{
                {4, false, When::later, {Callback::kNothing, Callback::kNothing, 5}, false}}));
  EXPECT_TRUE(catalogue.lookup("sigaction").callbacks.at(0).in_memory);
  EXPECT_EQ(catalogue.lookup("fork").callbacks.at(0).function, kOwn);
}

TEST(Catalogue, WhatNoEntryNamesIsTheWorst) {
  const Catalogue catalogue = Catalogue::load("").value();
  for (const char *name : {"no_such_function", "dlopen", "dlmopen", ""}) {
    EXPECT_EQ(catalogue.lookup(name), CatalogueEntry{}) << name;
  }
  EXPECT_EQ(catalogue.lookup(kInlineAssembly), CatalogueEntry{});
  EXPECT_EQ(catalogue.lookup(kAtomicOperation), CatalogueEntry{});
}

TEST(Catalogue, WhatCannotBeUndoneIsIrrevocable) {
  const Catalogue catalogue = Catalogue::load("").value();
  for (const char *name :
       {"printf", "write", "pthread_mutex_lock", "sem_wait", "lgamma", "qsort_r", "rand", "getenv",
        "frexp", "wcscpy", "__cxa_throw", "event_add", "SSL_write"}) {
    EXPECT_EQ(catalogue.lookup(name).effect, ExternalEffect::irrevocable) << name;
  }
}

TEST(Catalogue, TransactionalVersionsByConvention) {
  const Catalogue catalogue = Catalogue::load("").value();
  EXPECT_EQ(catalogue.lookup("strlen").replacement, "_ZGTt6strlen");
  EXPECT_EQ(catalogue.lookup("__memcpy_chk").replacement, "_ZGTt12__memcpy_chk");
  EXPECT_EQ(catalogue.lookup("_ZdaPvm").replacement, "_ZGTtdaPvm");
  EXPECT_EQ(catalogue.lookup("malloc").replacement, "_ITM_malloc");
  const Catalogue deferring = Catalogue::load("deferred-output").value();
  EXPECT_EQ(deferring.lookup("printf").effect, ExternalEffect::deferrable);
  EXPECT_EQ(deferring.lookup("printf").replacement, "_ZGTt6printf");
  EXPECT_EQ(catalogue.lookup("printf").replacement, "");
}

TEST(Catalogue, EveryBuiltinEntryIsConsistent) {
  for (const char *which : {"", "deferred-output"}) {
    const Catalogue catalogue = Catalogue::load(which).value();
    EXPECT_GT(catalogue.entries().size(), 1500u);
    for (const auto &[name, entry] : catalogue.entries()) {
      if (entry.effect != ExternalEffect::deferrable) {
        EXPECT_EQ(entry.effect == ExternalEffect::tm_safe, !entry.replacement.empty()) << name;
      }
      if (entry.effect == ExternalEffect::pure || entry.effect == ExternalEffect::reads) {
        EXPECT_TRUE(entry.writes.empty()) << name;
      }
      const bool hidden = entry.own_per_thread || entry.writes_own;
      EXPECT_TRUE(!hidden || !entry.own.empty() || entry.returns.value == PointerValue::own)
          << name;
    }
  }
}

TEST(Catalogue, FunctionsThatShareMemoryAgreeWhoseItIs) {
  const Catalogue catalogue = Catalogue::load("").value();
  std::map<std::string, bool> per_thread;
  for (const auto &[name, entry] : catalogue.entries()) {
    if (!entry.own.empty()) {
      EXPECT_EQ(per_thread.try_emplace(entry.own, entry.own_per_thread).first->second,
                entry.own_per_thread)
          << name << ", " << entry.own;
    }
  }
  EXPECT_TRUE(per_thread.at("pthread-specific"));
  EXPECT_FALSE(per_thread.at("broken-down time"));
}

TEST(Catalogue, KnowsVariablesOfLibraries) {
  const Catalogue catalogue = Catalogue::load("").value();
  EXPECT_TRUE(catalogue.is_own_variable("stdout"));
  EXPECT_TRUE(catalogue.is_own_variable("optarg")) << "getopt copies the arguments into it";
  EXPECT_TRUE(parsed("version = 1\n[variables]\nown = [\"table\"]\n").is_own_variable("table"));
  EXPECT_FALSE(Catalogue::load("papers").value().is_own_variable("stdout"));
}

TEST(Catalogue, DeferredOutputChangesTheEffectAlone) {
  const Catalogue builtin = Catalogue::load("").value();
  const Catalogue deferred = Catalogue::load("deferred-output").value();
  std::size_t changed = 0;
  std::size_t putting_off = 0; // of those, with a transactional version that does
  for (const auto &[name, entry] : deferred.entries()) {
    CatalogueEntry before = builtin.lookup(name);
    changed += before.effect != entry.effect ? 1U : 0U;
    if (before.effect != entry.effect) {
      EXPECT_EQ(entry.effect, ExternalEffect::deferrable) << name;
      EXPECT_EQ(before.replacement, "") << name;
      if (!entry.replacement.empty()) {
        EXPECT_EQ(entry.replacement, "_ZGTt" + std::to_string(name.size()) + name);
        ++putting_off;
      }
      before.replacement = entry.replacement; // what the call touches stays as it is
    }
    before.effect = entry.effect;
    EXPECT_EQ(before, entry) << name;
  }
  EXPECT_GT(changed, 30u);
  EXPECT_GT(putting_off, 25u);
  EXPECT_EQ(deferred.lookup("wprintf").replacement, "");
  EXPECT_EQ(deferred.lookup("printf").effect, ExternalEffect::deferrable);
  EXPECT_EQ(deferred.lookup("fgets").effect, ExternalEffect::irrevocable);
}

TEST(Catalogue, WhatAnEntryDoesNotSayIsTheWorstOfItsEffect) {
  for (const char *effect : {"irrevocable", "deferrable"}) {
    CatalogueEntry all = entry("effect = \"" + std::string(effect) + "\"");
    all.effect = ExternalEffect::irrevocable;
    EXPECT_EQ(all, CatalogueEntry{});
  }
  const CatalogueEntry safe = entry("effect = \"tm-safe\", replacement = \"g\"");
  EXPECT_TRUE(covers(safe, CatalogueEntry{}));
  const CatalogueEntry reads = entry("effect = \"reads\"");
  EXPECT_TRUE(reads.writes.empty());
  EXPECT_FALSE(reads.touches_anything);
  EXPECT_EQ(reads.captures, ArgumentSet::all());
  EXPECT_EQ(reads.follows, ArgumentSet::all());
  EXPECT_EQ(reads.returns.value, PointerValue::anything);
  EXPECT_TRUE(covers(reads, entry("effect = \"pure\"")));
  EXPECT_EQ(entry("effect = \"pure\"").returns.value, PointerValue::nothing);
}

TEST(Catalogue, AnExactEntryDoesWhatItSaysAndNoMore) {
  const CatalogueEntry nothing = entry("effect = \"irrevocable\", exact = true");
  EXPECT_TRUE(covers(nothing, nothing));
  EXPECT_FALSE(covers(nothing, CatalogueEntry{}));
  EXPECT_TRUE(nothing.writes.empty() && nothing.reads.empty() && nothing.captures.empty() &&
              nothing.follows.empty());
  EXPECT_FALSE(nothing.touches_anything);
  EXPECT_EQ(nothing.returns.value, PointerValue::nothing);
}

TEST(Catalogue, KnowsTheProgramsAllocators) {
  const Catalogue catalogue = parsed("version = 1\n[program]\nallocators = [\"take\"]\n"
                                     "deallocators = [{ name = \"give\", argument = 1 }]\n");
  EXPECT_TRUE(catalogue.is_allocator("take"));
  EXPECT_FALSE(catalogue.is_allocator("give"));
  EXPECT_EQ(catalogue.released_argument("give"), 1U);
  EXPECT_EQ(catalogue.released_argument("take"), std::nullopt);
}

TEST(Catalogue, ReadsEveryKey) {
  const CatalogueEntry all = entry(
      "effect = \"irrevocable\", exact = true, writes = [0, \"62..\"], reads = \"all\", "
      "captures = true, follows = \"none\", "
      "stores = [{ to = 0, what = { loaded = 1 } }, { to = \"own\", what = \"own\" }], "
      "copies = { to = \"result\", from = 2 }, returns = \"fresh\", "
      "callbacks = [{ function = \"own\", when = \"signal\", in-memory = true, inside = true, "
      "gets = [7, \"nothing\", \"anything\", \"own\", \"found\", \"object\"] }], "
      "own = \"state\", writes-own = true, own-per-thread = true, touches-anything = true");
  EXPECT_EQ(all.writes, set((std::uint64_t{3} << 62U) | 1U));
  EXPECT_EQ(all.reads, ArgumentSet::all());
  EXPECT_EQ(all.captures, ArgumentSet::all());
  EXPECT_TRUE(all.follows.empty());
  EXPECT_EQ(all.stores, (std::vector<StoredPointer>{{0, {PointerValue::loaded, 1}},
                                                    {kOwn, {PointerValue::own, 0}}}));
  EXPECT_EQ(all.copies, (std::vector<CopiedMemory>{{kResult, 2}}));
  EXPECT_EQ(all.returns, (PointerSource{PointerValue::fresh, 0}));
  EXPECT_EQ(all.callbacks,
            (std::vector<Callback>{{kOwn,
                                    true,
                                    Callback::When::signal,
                                    {7, Callback::kNothing, Callback::kAnything,
                                     Callback::kOwnContent, Callback::kFound, Callback::kObject},
                                    true}}));
  EXPECT_EQ(all.own, "state");
  EXPECT_TRUE(all.writes_own && all.own_per_thread && all.touches_anything);
  EXPECT_TRUE(
      entry("effect = \"irrevocable\", exact = true, stores = \"anything\"").stores_anything);
}

TEST(Catalogue, AGroupGivesManyFunctionsOneEntry) {
  const Catalogue catalogue = parsed("version = 1\n[[group]]\neffect = \"reads\"\nexact = true\n"
                                     "reads = [1]\nnames = [\"f\", \"g\"]\n"
                                     "[[group]]\neffect = \"pure\"\nnames = [\"h\"]\n");
  EXPECT_EQ(catalogue.lookup("f"), catalogue.lookup("g"));
  EXPECT_EQ(catalogue.lookup("g").reads, set(2));
  EXPECT_EQ(catalogue.lookup("h").effect, ExternalEffect::pure);
}

TEST(Catalogue, AssemblyAndAtomicsCanBeDeclared) {
  const Catalogue catalogue =
      parsed("version = 1\n[functions]\npure = [\"(inline assembly)\", \"(atomic operation)\"]\n");
  EXPECT_EQ(catalogue.lookup(kInlineAssembly).effect, ExternalEffect::pure);
  EXPECT_EQ(catalogue.lookup(kAtomicOperation).effect, ExternalEffect::pure);
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
                                     "writes = [0]\n");
  EXPECT_EQ(catalogue.lookup("malloc").effect, ExternalEffect::irrevocable);
  EXPECT_EQ(catalogue.lookup("my_hash").effect, ExternalEffect::pure);
  EXPECT_EQ(catalogue.lookup("wcslen").effect, ExternalEffect::reads);
  EXPECT_EQ(catalogue.lookup("strlen").replacement, "_ZGTt6strlen");
  EXPECT_EQ(catalogue.lookup("my_copy").replacement, "my_copy_tm");
  EXPECT_EQ(catalogue.lookup("my_copy").writes, set(1));
}

TEST(Catalogue, UnsafeKeepsWhatAnEntryTouches) {
  const Catalogue builtin = Catalogue::load("").value();
  const Catalogue some = parsed("version = 1\n[functions]\nunsafe = [\"strlen\", \"memcpy\"]\n");
  for (const char *name : {"strlen", "memcpy"}) {
    const CatalogueEntry now = some.lookup(name);
    EXPECT_EQ(now.effect, ExternalEffect::irrevocable);
    EXPECT_EQ(now.replacement, "");
    EXPECT_EQ(now.reads, builtin.lookup(name).reads);
    EXPECT_EQ(now.writes, builtin.lookup(name).writes);
    EXPECT_FALSE(now.touches_anything);
  }
  EXPECT_EQ(some.lookup("wcslen").effect, ExternalEffect::reads);
  const Catalogue all = parsed("version = 1\n[functions]\nunsafe = \"all\"\npure = [\"strlen\"]\n");
  EXPECT_EQ(all.lookup("wcslen").effect, ExternalEffect::irrevocable);
  EXPECT_FALSE(all.lookup("wcslen").touches_anything);
  EXPECT_EQ(all.lookup("strlen").effect, ExternalEffect::pure); // the file's own entry
}

TEST(Catalogue, HooksMakeWhatRunsThemTouchAnything) {
  const std::string text = "version = 1\nextends = \"nothing\"\n"
                           "[[group]]\neffect = \"tm-safe\"\nreplacement = \"_ZGTt*\"\n"
                           "exact = true\nnames = [\"f\", \"g\"]\n"
                           "[[hook]]\ninstalled-by = [\"set\", \"variable\"]\n"
                           "run-by = [\"f\", \"unknown\"]\n";
  Catalogue catalogue = parsed(text);
  const CatalogueEntry g = catalogue.lookup("g");
  catalogue.enable_hooks([](std::string_view name) { return name == "f"; });
  EXPECT_EQ(catalogue.lookup("f").effect, ExternalEffect::tm_safe);
  EXPECT_FALSE(catalogue.lookup("f").touches_anything);
  catalogue.enable_hooks([](std::string_view name) { return name == "variable"; });
  EXPECT_EQ(catalogue.lookup("f").effect, ExternalEffect::irrevocable);
  EXPECT_TRUE(catalogue.lookup("f").touches_anything);
  EXPECT_TRUE(catalogue.lookup("f").replacement.empty());
  EXPECT_EQ(catalogue.lookup("g"), g);
}

TEST(Catalogue, HooksOfTheBuiltinOneHaveEntries) {
  Catalogue catalogue = Catalogue::load("").value();
  EXPECT_FALSE(catalogue.lookup("fputs").touches_anything);
  catalogue.enable_hooks([](std::string_view) { return true; });
  for (const char *name : {"fputs", "printf", "error", "_Znwm"})
    EXPECT_TRUE(catalogue.lookup(name).touches_anything) << name;
  EXPECT_FALSE(catalogue.lookup("strlen").touches_anything);
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
            "c.toml:2:1: unknown key 'extend'; use version, extends, functions, "
            "function, group, variables, program or hook");
  EXPECT_EQ(mistake("version = 1\nextends = 3\n"),
            "c.toml:2:11: extends is neither \"built-in\" nor \"nothing\"");
  EXPECT_EQ(mistake("version = 1\n[functions]\nsafe = []\n"),
            "c.toml:3:1: 'safe' is not an effect; use unsafe, " + effects);
  EXPECT_EQ(mistake("version = 1\n[functions]\nunsafe = [\"my_hash\"]\n"),
            "c.toml:3:11: the built-in catalogue has no 'my_hash'; list it in irrevocable");
  EXPECT_EQ(mistake("version = 1\n[functions]\nunsafe = [\"strlen\"]\npure = [\"strlen\"]\n"),
            "c.toml:3:11: 'strlen' is listed twice; keep one of its entries");
  EXPECT_EQ(mistake("version = 1\n[functions]\nunsafe = \"most\"\n"),
            "c.toml:3:10: unsafe is neither \"all\" nor a list of function names");
  EXPECT_EQ(mistake("version = 1\nextends = \"nothing\"\n[functions]\nunsafe = \"all\"\n"),
            "c.toml:4:10: unsafe keeps what the built-in catalogue says, which this file does not "
            "extend; use irrevocable");
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
            "c.toml:3:36: captures is neither \"all\", \"none\" nor a list of arguments like "
            "[0, \"2..\"]");
  EXPECT_EQ(detail("{ effect = \"reads\", captures = [64] }"),
            "c.toml:3:37: an argument is not a number from 0 to 63");
  EXPECT_EQ(detail("{ effect = \"reads\", captures = [\"x..\"] }"),
            "c.toml:3:37: an argument is not a number from 0 to 63");
  EXPECT_EQ(detail("{ effect = \"reads\", exact = 1 }"),
            "c.toml:3:33: exact is neither true nor false");
  EXPECT_EQ(detail("{ effect = \"tm-safe\" }").substr(0, 43),
            "c.toml:3:5: 'f' is tm-safe without a replac");
  EXPECT_EQ(detail("{ effect = \"pure\", replacement = \"g\" }"),
            "c.toml:3:5: 'f' has a replacement and is pure; only tm-safe and deferrable functions "
            "have one");
  EXPECT_EQ(detail("{ effect = \"reads\", writes = [0] }"),
            "c.toml:3:5: 'f' is reads and yet writes; drop one of the two");
  EXPECT_EQ(detail("{ effect = \"pure\", reads = [0] }"),
            "c.toml:3:5: 'f' is pure and yet reads; drop one of the two");
}

TEST(Catalogue, NamesThePlaceOfAWrongPointer) {
  const auto detail = [](const std::string &text) {
    return mistake("version = 1\n[function]\nf = { effect = \"irrevocable\", exact = true, " +
                   text + " }\n");
  };
  EXPECT_EQ(detail("returns = \"new\"").substr(0, 47),
            "c.toml:3:55: a pointer is not one of \"anything\"");
  EXPECT_EQ(
      detail("returns = { loaded = \"x\" }"),
      "c.toml:3:66: a place is neither an argument's number, \"result\", \"own\" nor \"outside\"");
  EXPECT_EQ(detail("returns = { loaded = 1 }"),
            "c.toml:3:5: 'f' loads from argument 1, which reads does not have");
  EXPECT_EQ(detail("stores = { to = 1, what = \"fresh\" }"),
            "c.toml:3:5: 'f' stores in argument 1, which writes does not have");
  EXPECT_EQ(detail("copies = { to = \"result\", from = 0 }"),
            "c.toml:3:5: 'f' copies from argument 0, which reads does not have");
  EXPECT_EQ(detail("copies = { to = 0 }"),
            "c.toml:3:54: copies is not made of { to = PLACE, from = PLACE }");
  EXPECT_EQ(detail("callbacks = { function = 0 }").substr(0, 47),
            "c.toml:3:57: a callback is not like { function ");
  EXPECT_EQ(detail("callbacks = { function = 0, when = \"soon\" }").substr(0, 32),
            "c.toml:3:80: when is neither \"no");
  EXPECT_EQ(detail("callbacks = { function = 0, when = \"now\", gives = [] }").substr(0, 34),
            "c.toml:3:87: unknown key 'gives'; ");
}

TEST(Catalogue, RefusesCallbacksThatMakeNoSense) {
  const auto callback = [](const std::string &keys) {
    return mistake("version = 1\n[function.f]\neffect = \"irrevocable\"\n"
                   "callbacks = { function = 0, when = \"now\", " +
                   keys + " }\n");
  };
  for (const char *found : {"\"found\"", "\"nothing\", \"object\""})
    EXPECT_EQ(callback("gets = [" + std::string(found) + "]"),
              "c.toml:4:50: gets has \"found\" or \"object\", and function is none that is looked "
              "for; add in-memory = true, or name another parameter");
  EXPECT_EQ(callback("in-memory = true, gets = [\"object\", \"object\"]"),
            "c.toml:4:68: gets has \"object\" twice; a virtual function has one object");
  EXPECT_EQ(callback("inside = true, gets = [\"nothing\"]"),
            "c.toml:4:52: inside is about arguments in gets, and there are none");
  EXPECT_EQ(mistake("version = 1\n[function.f]\neffect = \"irrevocable\"\nreads = [1]\n"
                    "callbacks = { function = 0, when = \"now\", in-memory = true }\n"),
            "c.toml:2:1: 'f' looks for functions in argument 0, which reads does not have");
}

TEST(Catalogue, NamesThePlaceOfAWrongGroup) {
  EXPECT_EQ(mistake("version = 1\n[group]\nnames = []\n"),
            "c.toml:2:1: group is not a list of tables; write [[group]]");
  EXPECT_EQ(mistake("version = 1\n[[group]]\neffect = \"pure\"\n"),
            "c.toml:2:1: a group has no names; write names = [\"...\"]");
  EXPECT_EQ(mistake("version = 1\n[[group]]\neffect = \"pure\"\nnames = [\"f\", \"f\"]\n"),
            "c.toml:4:15: 'f' is listed twice; keep one of its entries");
  EXPECT_EQ(mistake("version = 1\n[program]\nallocator = []\n"),
            "c.toml:3:1: unknown key 'allocator'; use allocators or deallocators");
  EXPECT_EQ(mistake("version = 1\n[program]\nallocators = [3]\n"),
            "c.toml:3:15: an allocator is not a string; write its name in quotes");
  EXPECT_EQ(mistake("version = 1\n[program]\ndeallocators = [{ name = \"f\" }]\n"),
            "c.toml:3:17: a deallocator is not { name = \"...\", argument = N }, N from 0");
  EXPECT_EQ(mistake("version = 1\n[variables]\nown = 3\n"),
            "c.toml:2:1: variables is not a table with a list of variable names, own");
}

TEST(Catalogue, AFileThatCannotBeReadIsNamed) {
  EXPECT_EQ(Catalogue::load("/nonexistent/c.toml").error().message,
            "/nonexistent/c.toml: cannot be read: No such file or directory");
}

} // namespace
} // namespace tandem
