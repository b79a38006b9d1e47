// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/sections/lock_functions.h"

#include "compiler/sections/converted_operations.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Demangle/Demangle.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace tandem {
namespace {

using namespace llvm;

// Sizes of glibc's types on x86-64.
constexpr std::uint64_t kMutexBytes = 40;
constexpr std::uint64_t kRwlockBytes = 56;
constexpr std::uint64_t kSpinlockBytes = 4;
constexpr std::uint64_t kConditionBytes = 48;

LockFunction operation(LockOperation what, const char *primitive, std::uint64_t size,
                       bool shared = false, unsigned argument = 0) {
  LockFunction function;
  function.operation = what;
  function.locks = {Origin{argument, {0}}};
  function.primitive = primitive;
  function.size = size;
  function.shared = shared;
  return function;
}

LockFunction signal(const char *primitive) {
  LockFunction function;
  function.locks = {Origin{0, {0}}};
  function.primitive = primitive;
  function.size = kConditionBytes;
  function.signals = true;
  return function;
}

std::optional<LockFunction> c_function(StringRef name) {
  using enum LockOperation;
  const char *mutex = "pthread-mutex";
  const char *rwlock = "pthread-rwlock";
  const char *spin = "pthread-spinlock";
  const char *c11 = "c11-mutex";
  return StringSwitch<std::optional<LockFunction>>(name)
      .Case("pthread_mutex_lock", operation(lock, mutex, kMutexBytes))
      .Cases("pthread_mutex_trylock", "pthread_mutex_timedlock", "pthread_mutex_clocklock",
             operation(trylock, mutex, kMutexBytes))
      .Case("pthread_mutex_unlock", operation(unlock, mutex, kMutexBytes))
      .Cases(kHeldReally, kWordLock, operation(lock, mutex, kMutexBytes))
      .Case(kWordTrylock, operation(trylock, mutex, kMutexBytes))
      .Cases(kHeldNoMore, kWordUnlock, operation(unlock, mutex, kMutexBytes))
      .Cases("pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait",
             operation(wait, mutex, kMutexBytes, false, 1))
      .Cases("pthread_cond_signal", "pthread_cond_broadcast", signal("pthread-cond"))
      .Case("pthread_rwlock_rdlock", operation(lock, rwlock, kRwlockBytes, true))
      .Case("pthread_rwlock_wrlock", operation(lock, rwlock, kRwlockBytes))
      .Cases("pthread_rwlock_tryrdlock", "pthread_rwlock_timedrdlock", "pthread_rwlock_clockrdlock",
             operation(trylock, rwlock, kRwlockBytes, true))
      .Cases("pthread_rwlock_trywrlock", "pthread_rwlock_timedwrlock", "pthread_rwlock_clockwrlock",
             operation(trylock, rwlock, kRwlockBytes))
      .Case("pthread_rwlock_unlock", operation(unlock, rwlock, kRwlockBytes))
      .Case("pthread_spin_lock", operation(lock, spin, kSpinlockBytes))
      .Case("pthread_spin_trylock", operation(trylock, spin, kSpinlockBytes))
      .Case("pthread_spin_unlock", operation(unlock, spin, kSpinlockBytes))
      .Case("mtx_lock", operation(lock, c11, kMutexBytes))
      .Cases("mtx_trylock", "mtx_timedlock", operation(trylock, c11, kMutexBytes))
      .Case("mtx_unlock", operation(unlock, c11, kMutexBytes))
      .Cases("cnd_wait", "cnd_timedwait", operation(wait, c11, kMutexBytes, false, 1))
      .Cases("cnd_signal", "cnd_broadcast", signal("c11-cond"))
      .Default(std::nullopt);
}

// A C++ function's name in parts, without the library's inline namespaces.
struct CxxName {
  std::string scope;      // "std::lock_guard<std::mutex>", "std"
  std::string name;       // "lock_guard", "~lock_guard", "lock"
  std::string parameters; // "(std::mutex&)"
};

std::string without_inline_namespaces(std::string text) {
  for (const char *inner : {"__1::", "__cxx11::", "_V2::"})
    for (std::size_t at = text.find(inner); at != std::string::npos; at = text.find(inner, at))
      text.erase(at, StringRef(inner).size());
  return text;
}

std::optional<CxxName> parse(StringRef mangled) {
  ItaniumPartialDemangler demangler;
  const std::string terminated = mangled.str(); // what the demangler keeps points into it
  if (demangler.partialDemangle(terminated.c_str()) || !demangler.isFunction())
    return std::nullopt;
  const auto text = [](char *allocated) {
    std::string copy = allocated == nullptr ? "" : allocated;
    std::free(allocated);
    return without_inline_namespaces(std::move(copy));
  };
  CxxName name;
  name.scope = text(demangler.getFunctionDeclContextName(nullptr, nullptr));
  if (name.scope == "std::__1")
    name.scope = "std";
  name.name = text(demangler.getFunctionBaseName(nullptr, nullptr));
  name.parameters = text(demangler.getFunctionParameters(nullptr, nullptr));
  if (demangler.isCtorOrDtor()) {
    const std::string whole = text(demangler.getFunctionName(nullptr, nullptr));
    if (whole.find("::~") != std::string::npos && !StringRef(name.name).starts_with("~"))
      name.name = "~" + name.name;
  }
  return name;
}

// "std-mutex" for std::mutex, and so on; "user-mutex" for a class of the program's own.
std::string primitive_of(StringRef type) {
  type.consume_front("std::");
  constexpr std::array kKnown{"mutex",        "recursive_mutex",
                              "timed_mutex",  "recursive_timed_mutex",
                              "shared_mutex", "shared_timed_mutex"};
  if (std::find(kKnown.begin(), kKnown.end(), type) == kKnown.end())
    return "user-mutex";
  std::string name = ("std-" + type).str();
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::uint64_t size_of_mutex(StringRef primitive) {
  if (primitive == "user-mutex")
    return 0;
  return primitive.contains("shared") ? kRwlockBytes : kMutexBytes;
}

// What a guard's pointer to its n-th mutex is called here: libraries lay guards out differently,
// and all that matters is that its functions agree.
Origin held(unsigned guard, unsigned n = 0) {
  return Origin{guard, {static_cast<std::int64_t>(8 * n), 0}};
}

Binding bind(unsigned n, unsigned argument) {
  return Binding{Origin{0, {static_cast<std::int64_t>(8 * n)}}, Origin{argument, {0}}};
}

std::optional<LockOperation> operation_named(StringRef name) {
  return StringSwitch<std::optional<LockOperation>>(name)
      .Cases("lock", "lock_shared", LockOperation::lock)
      .Cases("unlock", "unlock_shared", LockOperation::unlock)
      .Cases("try_lock", "try_lock_for", "try_lock_until", LockOperation::trylock)
      .Cases("try_lock_shared", "try_lock_shared_for", "try_lock_shared_until",
             LockOperation::trylock)
      .Default(std::nullopt);
}

std::optional<LockFunction> member_of_mutex(const CxxName &name) {
  const std::string primitive = primitive_of(name.scope);
  const std::optional<LockOperation> what = operation_named(name.name);
  if (primitive == "user-mutex" || !what)
    return std::nullopt;
  LockFunction function =
      operation(*what, "", size_of_mutex(primitive), StringRef(name.name).contains("shared"));
  function.primitive = primitive;
  function.acquired = Acquired::nonzero;
  return function;
}

// Constructors of std::unique_lock and std::shared_lock, beyond that they bind the guard.
std::optional<LockOperation> acquisition_of(StringRef parameters) {
  if (parameters.contains("defer_lock_t") || parameters.contains("adopt_lock_t"))
    return std::nullopt;
  if (parameters.contains("try_to_lock_t") || parameters.contains("std::chrono::"))
    return LockOperation::trylock;
  return LockOperation::lock;
}

std::optional<LockFunction> member_of_guard(const CxxName &name, StringRef guard,
                                            const Function &called) {
  LockFunction function;
  StringRef type = StringRef(name.scope).drop_front(("std::" + guard + "<").str().size());
  type = type.drop_back(type.ends_with(">"));
  function.primitive = primitive_of(guard == "scoped_lock" ? type.split(',').first : type);
  function.size = size_of_mutex(function.primitive);
  function.shared = guard == "shared_lock";
  function.acquired = Acquired::nonzero;
  const auto locks = guard == "scoped_lock" ? static_cast<unsigned>(1 + type.count(", ")) : 1U;
  if (name.name == guard || name.name == "operator=") {
    const auto arguments = static_cast<unsigned>(called.arg_size());
    if (StringRef(name.parameters).starts_with(("(std::" + guard + "<").str())) { // moved
      function.bindings = {Binding{Origin{0, {0}}, held(1)}};
      function.disowns = 1;
      return function;
    }
    if (arguments < 1 + locks || type.empty())
      return std::nullopt;
    function.operation = acquisition_of(name.parameters);
    for (unsigned n = 0; n < locks; ++n) {
      function.locks.push_back(Origin{1 + n, {0}});
      function.bindings.push_back(bind(n, 1 + n));
    }
    return function;
  }
  if (type.empty())
    return std::nullopt;
  for (unsigned n = 0; n < locks; ++n)
    function.locks.push_back(held(0, n));
  function.tests = name.name == "owns_lock" || name.name == "operator bool";
  function.destroys = StringRef(name.name).starts_with("~");
  if (function.destroys)
    function.operation = LockOperation::unlock;
  else
    function.operation = operation_named(name.name);
  if (name.name == "release")
    function.disowns = 0;
  if (!function.tests && !function.operation && !function.disowns)
    return std::nullopt;
  return function;
}

// The type of the first parameter, without the reference.
StringRef first_type(StringRef parameters) {
  parameters = parameters.trim("()");
  int depth = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    depth += (parameters[i] == '<') - (parameters[i] == '>');
    if (parameters[i] == ',' && depth == 0)
      return parameters.take_front(i).rtrim("& ");
  }
  return parameters.rtrim("& ");
}

// The mutex's type in a guard's, else the type itself.
StringRef mutex_in(StringRef type) {
  if (!type.contains("_lock<"))
    return type;
  type = type.split('<').second;
  return type.drop_back(type.ends_with(">"));
}

std::optional<LockFunction> member_of_condition(const CxxName &name, const Function &called) {
  if (name.name == "notify_one" || name.name == "notify_all")
    return signal("std-condition-variable");
  if (!StringRef(name.name).starts_with("wait") || called.arg_size() < 2)
    return std::nullopt;
  LockFunction function = operation(LockOperation::wait, "", 0);
  const StringRef lock = first_type(name.parameters);
  function.shared = lock.starts_with("std::shared_lock<");
  function.primitive = primitive_of(mutex_in(lock));
  function.size = size_of_mutex(function.primitive);
  // The mutex in a guard, or any lock of the program's.
  function.locks = {mutex_in(lock) == lock ? Origin{1, {0}} : held(1)};
  function.runs_code = !called.isDeclaration();
  return function;
}

// std::lock and std::try_lock: each argument a mutex or a guard.
std::optional<LockFunction> free_function(const CxxName &name, const Function &called) {
  if (name.scope != "std" || (name.name != "lock" && name.name != "try_lock"))
    return std::nullopt;
  LockFunction function;
  function.operation = name.name == "lock" ? LockOperation::lock : LockOperation::trylock;
  function.acquired = Acquired::minus_one;
  SmallVector<StringRef> types;
  StringRef(name.parameters).trim("()").split(types, ", ");
  for (unsigned n = 0; n < called.arg_size(); ++n) {
    const bool guard = n < types.size() && types[n].contains("_lock<");
    function.locks.push_back(guard ? held(n) : Origin{n, {0}});
    if (n == 0) {
      function.primitive = primitive_of(mutex_in(first_type(name.parameters)));
      function.size = size_of_mutex(function.primitive);
    }
  }
  return function;
}

} // namespace

std::optional<LockFunction> lock_function(const Function &function) {
  const StringRef name = function.getName();
  if (!name.starts_with("_Z"))
    return function.isDeclaration() || name.starts_with(kWordPrefix) ? c_function(name)
                                                                     : std::nullopt;
  if (!(name.starts_with("_ZNSt") || name.starts_with("_ZNKSt") || name.starts_with("_ZSt")) ||
      !(name.contains("lock") || name.contains("mutex") || name.contains("condition_variable")))
    return std::nullopt;
  const std::optional<CxxName> parsed = parse(name);
  if (!parsed)
    return std::nullopt;
  const StringRef scope(parsed->scope);
  for (const char *guard : {"lock_guard", "unique_lock", "scoped_lock", "shared_lock"})
    if (scope.starts_with((Twine("std::") + guard + "<").str()))
      return member_of_guard(*parsed, guard, function);
  if (scope == "std::condition_variable" || scope == "std::condition_variable_any")
    return member_of_condition(*parsed, function);
  if (scope == "std")
    return free_function(*parsed, function);
  return member_of_mutex(*parsed);
}

std::optional<unsigned> acquired_argument(const Function &function) {
  const std::optional<LockFunction> does =
      function.isDeclaration() ? lock_function(function) : std::nullopt;
  if (!does || does->operation != LockOperation::lock || does->locks.size() != 1 ||
      does->locks.front().offsets.size() != 1)
    return std::nullopt;
  return does->locks.front().argument;
}

bool is_library_function(const Function &function) {
  const StringRef name = function.getName();
  for (const char *inside :
       {"_ZZNSt", "_ZZNKSt", "_ZZSt", "_ZNZNSt", "_ZNKZNSt", "_ZNZSt", "_ZNKZSt"})
    if (name.starts_with(inside)) // a local class or lambda of one
      return true;
  return name.starts_with("_ZNSt") || name.starts_with("_ZNKSt") || name.starts_with("_ZSt") ||
         name.starts_with("_ZN9__gnu_cxx") ||
         (name.starts_with("_ZL") && (name.contains("__gthread_") || name.contains("__glibcxx_")));
}

bool is_element_of_array(const Function &function) {
  const StringRef name = function.getName();
  return function.arg_size() == 2 && name.ends_with("EixEm") &&
         (name.starts_with("_ZNSt5arrayI") || name.starts_with("_ZNKSt5arrayI"));
}

bool returns_its_argument(const Function &function) {
  const StringRef name = function.getName();
  return function.arg_size() == 1 &&
         (name.starts_with("_ZSt4moveI") || name.starts_with("_ZSt7forwardI") ||
          name.starts_with("_ZSt9addressofI") || name.starts_with("_ZSt11__addressofI") ||
          name.starts_with("_ZNSt3__14moveB") || name.starts_with("_ZNSt3__17forwardB") ||
          name.starts_with("_ZNSt3__19addressofB"));
}

bool is_constructor_or_destructor(const Function &function) {
  const StringRef name = function.getName();
  if (!name.starts_with("_ZN") || none_of(ArrayRef<StringRef>{"C1", "C2", "D0", "D1", "D2"},
                                          [&](StringRef kind) { return name.contains(kind); }))
    return false;
  ItaniumPartialDemangler demangler;
  const std::string terminated = name.str();
  return !demangler.partialDemangle(terminated.c_str()) && demangler.isCtorOrDtor();
}

bool is_constructor(const Function &function) {
  if (!is_constructor_or_destructor(function))
    return false;
  const std::optional<CxxName> name = parse(function.getName());
  return name && !StringRef(name->name).starts_with("~");
}

} // namespace tandem
