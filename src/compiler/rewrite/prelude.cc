// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/rewrite/prelude.h"

#include <algorithm>
#include <fmt/format.h>

namespace tandem::rewrite {
namespace {

// $N stands for names; the text is C99 with gcc's attributes.
constexpr const char *kMutex =
    R"(/* The lock of a colour: sections that share a colour exclude each other. */
typedef pthread_mutex_t $lock_type;
#define $initialiser PTHREAD_MUTEX_INITIALIZER

static inline void $exclusive_lock($lock_type *lock) { pthread_mutex_lock(lock); }

static inline void $unlock($lock_type *lock) { pthread_mutex_unlock(lock); }
)";

constexpr const char *kShared =
    R"(/* The lock of a colour: one section holds it alone, or several share it. Who waits to hold it alone goes
 * before all who come to share it later. It must not be taken twice by one thread. */
typedef struct {
  pthread_mutex_t mutex; /* of all below */
  pthread_cond_t may_share, may_own;
  unsigned sharing; /* sections that share it */
  unsigned waiting; /* sections that wait to hold it alone */
  int owned;        /* a section holds it alone */
} $lock_type;
#define $initialiser                                                        \
  {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0}

static inline void $exclusive_lock($lock_type *lock) {
  pthread_mutex_lock(&lock->mutex);
  ++lock->waiting;
  while (lock->owned || lock->sharing > 0)
    pthread_cond_wait(&lock->may_own, &lock->mutex);
  --lock->waiting;
  lock->owned = 1;
  pthread_mutex_unlock(&lock->mutex);
}
$shared
static inline void $unlock($lock_type *lock) {
  pthread_mutex_lock(&lock->mutex);
  if (lock->owned)
    lock->owned = 0;
  else
    --lock->sharing;
  if (lock->waiting == 0)
    pthread_cond_broadcast(&lock->may_share);
  else if (lock->sharing == 0)
    pthread_cond_signal(&lock->may_own);
  pthread_mutex_unlock(&lock->mutex);
}
)";

constexpr const char *kSharedLock = R"(
static inline void $shared_lock($lock_type *lock) {
  pthread_mutex_lock(&lock->mutex);
  while (lock->owned || lock->waiting > 0)
    pthread_cond_wait(&lock->may_share, &lock->mutex);
  ++lock->sharing;
  pthread_mutex_unlock(&lock->mutex);
}
)";

constexpr const char *kHeld = R"(
/* In a block that is left by jumps: takes the lock and releases it wherever the block is left. */
static inline void $unlock_held($lock_type **held) { $unlock(*held); }
#define $take(take, lock) \
  $lock_type *held_##lock __attribute__((cleanup($unlock_held))) = (take(&lock), &lock)
)";

// gcc takes the beginning of a transaction for a call of setjmp.
constexpr const char *kPragma = "#pragma GCC diagnostic ignored \"-Wclobbered\"\n";

std::string fill(std::string text, const Names &names, bool shared) {
  const auto replace = [&](const std::string &what, const std::string &by) {
    for (std::size_t at = text.find(what); at != std::string::npos;
         at = text.find(what, at + by.size()))
      text.replace(at, what.size(), by);
  };
  replace("$shared\n", shared ? std::string(kSharedLock) + "\n" : "\n");
  replace("$lock_type", names.lock_type);
  replace("$initialiser", names.initialiser);
  replace("$exclusive_lock", names.exclusive_lock);
  replace("$shared_lock", names.shared_lock);
  replace("$unlock_held", names.unlock_held);
  replace("$unlock", names.unlock);
  replace("$take", names.take);
  return text;
}

// In one line where that is not too long, else in one line each.
std::string lock_variables(const PreludeNeeds &needs, const Names &names) {
  constexpr std::size_t kColumns = 100;
  const std::string begin = std::string(needs.linkage == Linkage::internal   ? "static "
                                        : needs.linkage == Linkage::external ? "extern "
                                                                             : "") +
                            names.lock_type + " ";
  std::string line = begin;
  std::string lines;
  for (std::size_t i = 0; i < needs.colours.size(); ++i) {
    const std::string one = names.colours.at(needs.colours[i]) +
                            (needs.linkage == Linkage::external ? "" : " = " + names.initialiser);
    line += (i == 0 ? "" : ", ") + one;
    lines += begin + one + ";\n";
  }
  return line.size() < kColumns ? line + ";\n" : lines;
}

void name_colours(const std::set<std::string> &colours, std::string colour_prefix,
                  const std::function<bool(const std::string &)> &taken, Names &names) {
  const auto is_taken = [&](const std::string &colour) {
    return taken(colour_prefix + colour) || taken("held_" + colour_prefix + colour);
  };
  while (std::any_of(colours.begin(), colours.end(), is_taken))
    colour_prefix = colour_prefix.empty() ? "colour_" : colour_prefix + "_";
  for (const std::string &colour : colours)
    names.colours[colour] = colour_prefix + colour;
}

std::string held_macros(const PreludeNeeds &needs, const Names &names) {
  if (!needs.held_exclusive && !needs.held_shared)
    return "";
  std::string text = fill(kHeld, names, false);
  if (needs.held_exclusive)
    text += fmt::format("#define {}(lock) {}({}, lock)\n", names.hold_exclusive, names.take,
                        names.exclusive_lock);
  if (needs.held_shared)
    text += fmt::format("#define {}(lock) {}({}, lock)\n", names.hold_shared, names.take,
                        names.shared_lock);
  return text;
}

} // namespace

Names choose_names(const std::set<std::string> &colours, Mode mode, bool everywhere,
                   const std::function<bool(const std::string &)> &taken) {
  const bool mutex = mode == Mode::locks;
  for (std::string prefix;; prefix = prefix.empty() ? "tandem_" : prefix + "_") {
    Names names{.lock_type = prefix + (mutex ? "MutexLock" : "SharedLock"),
                .initialiser = prefix + (mutex ? "MUTEX_LOCK" : "SHARED_LOCK"),
                .exclusive_lock = prefix + "exclusive_lock",
                .shared_lock = prefix + "shared_lock",
                .unlock = prefix + "unlock",
                .hold_exclusive = prefix + "hold_exclusive",
                .hold_shared = prefix + "hold_shared",
                .take = prefix + "hold",
                .unlock_held = prefix + "unlock_held",
                .result = prefix + "result",
                .colours = {}};
    bool free = true;
    for (const std::string *name : {&names.lock_type, &names.initialiser, &names.exclusive_lock,
                                    &names.shared_lock, &names.unlock, &names.hold_exclusive,
                                    &names.hold_shared, &names.take, &names.unlock_held})
      free = free && !taken(*name);
    if (!free)
      continue;
    names.result = "result";
    while (taken(names.result))
      names.result = "section_" + names.result;
    // What other files of the program could have must not be met at the link either.
    name_colours(colours, everywhere ? "tandem_" : "", taken, names);
    return names;
  }
}

std::string prelude(const PreludeNeeds &needs, const Names &names) {
  std::string text;
  if (needs.transactions)
    text += kPragma;
  if (!needs.colours.empty()) {
    if (!needs.includes_pthread)
      text += "#include <pthread.h>\n";
    text += text.empty() ? "" : "\n";
    text +=
        needs.mode == Mode::locks ? fill(kMutex, names, false) : fill(kShared, names, needs.shared);
    text += held_macros(needs, names);
    text += "\n" + lock_variables(needs, names);
  }
  for (const std::string &declaration : needs.declarations)
    text += declaration + "\n";
  return text.empty() ? "" : text + "\n";
}

} // namespace tandem::rewrite
