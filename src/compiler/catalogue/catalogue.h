// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The catalogue: what functions that the program does not define do when an atomic section calls
// them. A TOML data file (docs/formats/catalogue.md); data/catalogue.toml is the built-in one.
// Knows nothing of LLVM; immutable once loaded, so any thread may read it.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tandem {

// Names of entries for what has no linker name: an assembly statement that is not empty, an atomic
// load, store, exchange, update or fence, a load or store that C or C++ calls volatile, and a call
// of a function of the program that another source file defines. Without an entry the first two are
// irrevocable, and the others are as any access and any call.
inline constexpr std::string_view kInlineAssembly = "(inline assembly)";
inline constexpr std::string_view kAtomicOperation = "(atomic operation)";
inline constexpr std::string_view kVolatileAccess = "(volatile access)";
inline constexpr std::string_view kOtherSource = "(other source file)";

// What a call does, from the most harmless to the least.
enum class ExternalEffect {
  pure,          // touches no memory that another thread can see: sin, htons
  thread_local_, // TOML "thread-local": memory of the calling thread only: errno, pthread_self
  reads,         // reads memory that its pointer arguments reach, writes none: strlen, memcmp
  tm_safe,       // has a transactional version, `replacement`: malloc -> _ITM_malloc
  deferrable,    // may be put off to commit where the section opts in
  irrevocable,   // cannot be undone: input and output, locks, all that no entry names
};

std::string_view to_string(ExternalEffect effect);

// A set of arguments by number, from 0; arguments from 63 on count as 63.
struct ArgumentSet {
  std::uint64_t bits = 0;
  [[nodiscard]] bool contains(unsigned argument) const {
    return ((bits >> (argument < 63 ? argument : 63U)) & 1U) != 0;
  }
  [[nodiscard]] bool empty() const { return bits == 0; }
  static constexpr ArgumentSet all() { return {~std::uint64_t{0}}; }
  static constexpr ArgumentSet none() { return {0}; }
  bool operator==(const ArgumentSet &) const = default;
};

// What a pointer that a function returns, or stores, may be.
enum class PointerValue {
  anything, // any memory that code outside the program can know of
  nothing,  // no pointer of the program: a number, null, an opaque handle that is never followed
  fresh,    // a new object: malloc, fopen
  argument, // (into) what an argument points to: strchr, memcpy
  same,     // the very pointer that an argument is: memset, event_set
  own,      // the function's own memory (see CatalogueEntry::own)
  loaded,   // a pointer that lies in what an argument points to, or in the function's own memory:
            // event_get_base, pthread_getspecific
};

// Arguments are those of the call as compiled: a result that is returned in memory is argument 0.
//
// Where a function stores or finds pointers: an argument's number (the address that it is), or one
// of these.
constexpr int kResult = -1;  // what the pointer that it returns points to
constexpr int kOwn = -2;     // its own memory
constexpr int kChannel = -3; // "outside": bytes that leave the program and may come back: files,
                             // pipes, sockets, terminals

// A pointer's origin, or a number's that may carry one. `of` is the argument for `argument` and
// `same`, the place for `loaded`, else 0.
struct PointerSource {
  PointerValue value = PointerValue::anything;
  int of = 0;
  bool operator==(const PointerSource &) const = default;
};

// The function stores a pointer at some place: strtol stores argument 0 in what argument 1 points
// to, getaddrinfo a fresh object in what argument 3 points to.
struct StoredPointer {
  int to = 0; // argument, kResult or kOwn
  PointerSource what;
  bool operator==(const StoredPointer &) const = default;
};

// Pointers that may lie in memory are copied from one place to another, with all else that lies
// there: memcpy, realloc. Where `to` and `from` are one place, what lies there is rearranged: each
// pointer may come to lie at any offset: qsort. To and from kChannel: write, read.
struct CopiedMemory {
  int to = 0; // argument, kResult, kOwn or kChannel
  int from = 0;
  // So many times what a pointer there points to: writev's buffers are `from` with 1.
  int to_loads = 0;
  int from_loads = 0;
  int size = kUnknown; // the argument that is the number of bytes
  static constexpr int kUnknown = -1;
  bool text = false; // bytes that are one after the other read and written anew: strcpy
  bool operator==(const CopiedMemory &) const = default;
};

// Text that is made of a format and the arguments behind it, or that they are taken from: printf,
// scanf. Numbers and addresses lie in it as digits, texts as they are.
struct FormattedText {
  int text = 0;       // argument, kResult or kChannel
  int text_loads = 0; // as in CopiedMemory
  int format = 0;     // argument
  bool list = false;  // the next argument is a va_list
  bool operator==(const FormattedText &) const = default;
};

// A function of the program that is passed to an external function, to be called. What it returns
// is known to code outside the program from then on.
struct Callback {
  static constexpr int kNothing = -1;    // no pointer of the program
  static constexpr int kAnything = -2;   // any memory that code outside the program can know of
  static constexpr int kOwnContent = -3; // a pointer that lies in the function's own memory
  static constexpr int kFound = -4;      // any pointer that leads from argument `function` on
  // The object of a virtual function, of those that argument `function` leads to; no other function
  // is called then.
  static constexpr int kObject = -5;

  int function = 0; // argument that is the function; or kOwn: it lies in the own memory: exit
  bool in_memory =
      false; // every function that lies in memory which the argument leads to, directly
             // or through further pointers: sigaction, std::thread's virtual function
  enum class When {
    now,    // before the call returns, in its thread: qsort
    later,  // later, in any thread that calls into the library: event_set
    exit,   // when the process or the thread exits, outside all sections: atexit
    thread, // in a new thread: pthread_create
    signal, // in a signal handler: signal, sigaction
  } when = When::now;
  // What its parameters are: parameter i is argument gets[i] itself, or a pointer into what
  // argument gets[i] points to (`inside`); or one of the constants above. Parameters beyond its
  // end: kAnything.
  std::vector<int> gets;
  bool inside = false;
  bool operator==(const Callback &) const = default;
};

// The defaults of the members are those of a function that nothing is known of.
struct CatalogueEntry {
  ExternalEffect effect = ExternalEffect::irrevocable;
  // The transactional version's symbol; of tm_safe, and of deferrable functions that can be put
  // off.
  std::string replacement;
  // Pointer arguments that a call may write through. Empty for pure and reads.
  ArgumentSet writes = ArgumentSet::all();
  // Pointer arguments through which it reads. Empty for pure.
  ArgumentSet reads = ArgumentSet::all();
  // Pointer arguments that the callee may keep after it returns, where later code may find them.
  // Not for those that it only returns, stores or passes on (`returns`, `stores`, `callbacks`).
  ArgumentSet captures = ArgumentSet::all();
  // Pointer arguments whose targets it follows further: writev's vector, getaddrinfo's hints. What
  // it then reaches counts as read, and as written where `writes` has the argument.
  ArgumentSet follows = ArgumentSet::all();
  // Whether it may store any pointer that code outside the program can know of, in all that it
  // writes. Else it stores only what `stores` and `copies` say; all else that it writes is no
  // pointer.
  bool stores_anything = true;
  std::vector<StoredPointer> stores;
  std::vector<CopiedMemory> copies;
  std::vector<FormattedText> prints;
  std::vector<FormattedText> scans;
  PointerSource returns;
  std::vector<PointerSource> returns_also; // what else the result may be
  std::vector<Callback> callbacks;
  // Memory of the library's own that no pointer of the program reaches but those that the library
  // gives away: rand's state, localtime's buffer, the values of pthread_setspecific. One object for
  // all functions that give the same name here; empty where it is the function's alone. It counts
  // as read by a call; as written if `writes_own`; as absent if `own` is empty and neither
  // `returns`, `stores` nor `copies` names it. `own_per_thread`: each thread has its own copy.
  std::string own;
  bool writes_own = false;
  bool own_per_thread = false;
  // The argument whose memory it replaces by memory that others may have, where it is not null:
  // mmap's address.
  ArgumentSet replaces = ArgumentSet::none();
  // May touch the program's memory beyond what its arguments lead to: globals that are not local to
  // the program, and what was captured before. May also call, now or later, every function of the
  // program that code outside knows of, those that it gets included.
  bool touches_anything = true;
  bool operator==(const CatalogueEntry &) const = default;
};

// Whether `name` is a built-in catalogue that Catalogue::load() knows, and not a path.
inline bool is_builtin_catalogue(std::string_view name) {
  return name == "papers" || name == "deferred-output";
}

class Catalogue {
public:
  // Parses `text`; `place` is its name in messages. A file extends the built-in catalogue and
  // overrides its entries of the same name, unless it says `extends = "nothing"`. Error:
  // `place:line:column: ...`.
  static Result<Catalogue> parse(std::string_view text, const std::string &place);

  // The catalogue in `path`; the built-in one where `path` is empty. "papers" is the built-in
  // catalogue that treats every external function as irrevocable, as LockSTM did (paper section 3);
  // "deferred-output" is the built-in catalogue with output that may wait for the commit.
  static Result<Catalogue> load(const std::string &path);

  // What `function` (its linker name) does; names that no entry has are irrevocable.
  // kInlineAssembly and kAtomicOperation stand for what has no name; ask entries() for
  // kVolatileAccess and kOtherSource.
  [[nodiscard]] CatalogueEntry lookup(std::string_view function) const;

  // Whether `variable` (its linker name), which the program declares and a library defines, holds
  // pointers to the library's own memory only: stdout, environ.
  [[nodiscard]] bool is_own_variable(std::string_view variable) const {
    return own_variables_.contains(variable);
  }

  // Whether `function` (its linker name), which the program defines, takes memory from a pool of
  // the program's own: what it returns counts as a new object each time, as malloc's does.
  [[nodiscard]] bool is_allocator(std::string_view function) const {
    return allocators_.contains(function);
  }

  // The argument by which a function that the program defines gives memory back to a pool of the
  // program's own: what it points to is no object of the program from then on, as after free().
  [[nodiscard]] std::optional<unsigned> released_argument(std::string_view function) const {
    const auto found = deallocators_.find(function);
    return found == deallocators_.end() ? std::nullopt : std::optional(found->second);
  }

  // Hooks: functions of the program that a library runs from many of its functions once it has been
  // given them: streams of fopencookie, new handlers. Where `uses` is true of a function, or of a
  // variable, that gives the library such hooks, what may run them may touch anything from then on
  // and cannot be undone.
  void enable_hooks(const std::function<bool(std::string_view)> &uses);

  // The program defines malloc or its kin: what a library allocates, or gives back, runs code of
  // the program. Functions that do it may touch anything and cannot be undone from then on.
  void allocates_by_program();

  // All entries by name, for listings and tests.
  [[nodiscard]] const std::map<std::string, CatalogueEntry, std::less<>> &entries() const {
    return entries_;
  }

  struct Hook {
    std::vector<std::string> installed_by; // functions and variables, by their linker names
    std::vector<std::string> run_by;
  };

private:
  std::map<std::string, CatalogueEntry, std::less<>> entries_;
  std::vector<Hook> hooks_;
  std::set<std::string, std::less<>> own_variables_;
  std::set<std::string, std::less<>> allocators_;
  std::map<std::string, unsigned, std::less<>> deallocators_;
};

} // namespace tandem
