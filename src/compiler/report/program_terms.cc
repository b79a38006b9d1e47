// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/report/program_terms.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <cxxabi.h>
#include <memory>
#include <set>
#include <utility>

namespace tandem {
namespace {

struct Term {
  std::string_view name;
  std::string_view said;
};

// What compilers call by themselves, and what headers make of a name. Source: Itanium C++ ABI,
// chapters 2 and 3; glibc's headers.
constexpr auto kSymbols = std::to_array<Term>({
    {"__cxa_pure_virtual", "call of a pure virtual function"},
    {"__cxa_deleted_virtual", "call of a deleted virtual function"},
    {"__cxa_allocate_exception", "throw"},
    {"__cxa_free_exception", "throw"},
    {"__cxa_init_primary_exception", "throw"},
    {"__cxa_throw", "throw"},
    {"__cxa_rethrow", "throw"},
    {"_Unwind_Resume", "throw"},
    {"__cxa_throw_bad_array_new_length", "throw std::bad_array_new_length"},
    {"__cxa_bad_cast", "throw std::bad_cast"},
    {"__cxa_bad_typeid", "throw std::bad_typeid"},
    {"__cxa_begin_catch", "catch"},
    {"__cxa_end_catch", "catch"},
    {"__cxa_get_exception_ptr", "catch"},
    {"__cxa_call_terminate", "std::terminate()"},
    {"__cxa_call_unexpected", "std::terminate()"},
    {"__clang_call_terminate", "std::terminate()"},
    {"__cxa_guard_acquire", "making of a static variable in a function"},
    {"__cxa_guard_release", "making of a static variable in a function"},
    {"__cxa_guard_abort", "making of a static variable in a function"},
    {"__cxa_atexit", "destructor at the program's end"},
    {"__cxa_thread_atexit", "destructor at the thread's end"},
    {"__cxa_thread_atexit_impl", "destructor at the thread's end"},
    {"__tls_init", "making of a thread's variables"},
    {"__dynamic_cast", "dynamic_cast"},
    {"__assert", "assert"},
    {"__assert_fail", "assert"},
    {"__assert_perror_fail", "assert_perror"},
    {"__stack_chk_fail", "the stack protector"},
    {"__errno_location", "errno"},
    {"__h_errno_location", "h_errno"},
    {"__ctype_b_loc", "isalpha or another of its kind"},
    {"__ctype_tolower_loc", "tolower"},
    {"__ctype_toupper_loc", "toupper"},
    {"__ctype_get_mb_cur_max", "MB_CUR_MAX"},
    {"__sched_cpucount", "CPU_COUNT"},
    {"__sched_cpualloc", "CPU_ALLOC"},
    {"__sched_cpufree", "CPU_FREE"},
    {"__fdelt_chk", "FD_SET"},
    {"__fdelt_warn", "FD_SET"},
    {"__libc_current_sigrtmin", "SIGRTMIN"},
    {"__libc_current_sigrtmax", "SIGRTMAX"},
    {"__cmsg_nxthdr", "CMSG_NXTHDR"},
    {"__overflow", "putc"},
    {"_IO_putc", "putc"},
    {"__uflow", "getc"},
    {"_IO_getc", "getc"},
    {"_setjmp", "setjmp"},
    {"__sigsetjmp", "sigsetjmp"},
    {"__xpg_basename", "basename"},
    {"__xpg_strerror_r", "strerror_r"},
    {"__xpg_sigpause", "sigpause"},
    {"__open_2", "open"},
    {"__open64_2", "open64"},
    {"__openat_2", "openat"},
    {"__openat64_2", "openat64"},
    {"__xstat", "stat"},
    {"__lxstat", "lstat"},
    {"__fxstat", "fstat"},
    {"__isnan", "isnan"},
    {"__isinf", "isinf"},
    {"__finite", "isfinite"},
    {"llvm.trap", "__builtin_trap"},
    {"llvm.debugtrap", "__builtin_debugtrap"},
});

// Beginnings of names that the C++ library keeps for itself, and what of it they are a part of.
constexpr auto kParts = std::to_array<Term>({
    {"_Rb_tree", "std::map or std::set"},
    {"_Hash", "std::unordered_map or std::unordered_set"},
    {"_Prime_rehash", "std::unordered_map or std::unordered_set"},
    {"_Map_base", "std::unordered_map or std::unordered_set"},
    {"_Insert", "std::unordered_map or std::unordered_set"},
    {"_Rehash", "std::unordered_map or std::unordered_set"},
    {"_ReuseOrAllocNode", "std::unordered_map or std::unordered_set"},
    {"_AllocNode", "std::unordered_map or std::unordered_set"},
    {"_Vector", "std::vector"},
    {"_Bvector", "std::vector"},
    {"_Bit_", "std::vector"},
    {"_Deque", "std::deque"},
    {"_List", "std::list"},
    {"_Fwd_list", "std::forward_list"},
    {"_Sp_", "std::shared_ptr"},
    {"__shared_ptr", "std::shared_ptr"},
    {"__shared_count", "std::shared_ptr"},
    {"__weak_", "std::weak_ptr"},
    {"__uniq_ptr", "std::unique_ptr"},
    {"_Function_", "std::function"},
    {"_Mem_fn", "std::mem_fn"},
    {"_Bind", "std::bind"},
    {"__invoke", "std::invoke"},
    {"_Optional", "std::optional"},
    {"_Variant", "std::variant"},
    {"__variant", "std::variant"},
    {"_Tuple", "std::tuple"},
    {"_Head_base", "std::tuple"},
    {"__future_base", "std::future"},
    {"__basic_future", "std::future"},
    {"__atomic_futex", "std::future"},
    {"__atomic", "std::atomic"},
    {"__mutex_base", "std::mutex"},
    {"__recursive_mutex", "std::recursive_mutex"},
    {"__timed_mutex", "std::timed_mutex"},
    {"__shared_mutex", "std::shared_mutex"},
    {"__shared_timed_mutex", "std::shared_timed_mutex"},
    {"__condvar", "std::condition_variable"},
    {"__once", "std::call_once"},
    {"__tree_barrier", "std::barrier"},
    {"__ostream", "std::ostream"},
    {"__istream", "std::istream"},
    {"__basic_file", "std::fstream"},
    {"__regex", "std::regex"},
    {"_NFA", "std::regex"},
    {"_Compiler", "std::regex"},
    {"_Executor", "std::regex"},
    {"_Scanner", "std::regex"},
    {"__new_allocator", "std::allocator"},
    {"__alloc", "std::allocator"},
    {"__stoa", "std::stoi or another of its kind"},
    {"__to_chars", "std::to_chars"},
    {"__from_chars", "std::from_chars"},
    {"__format", "std::format"},
    {"__uninitialized", "a container of std"},
    {"__aligned", "a container of std"},
    {"__relocate", "a container of std"},
    {"__copy", "std::copy"},
    {"__fill", "std::fill"},
    {"__introsort", "std::sort"},
    {"__insertion_sort", "std::sort"},
    {"__unguarded", "std::sort"},
});

bool is_word(char byte) {
  return std::isalnum(static_cast<unsigned char>(byte)) != 0 || byte == '_';
}

bool stands_at(std::string_view name, std::size_t at, std::string_view text) {
  return name.substr(at).starts_with(text);
}

constexpr std::string_view kOperator = "operator";

// Whether "operator" stands there as a word.
bool is_operator(std::string_view name, std::size_t at) {
  return stands_at(name, at, kOperator) && (at == 0 || !is_word(name[at - 1])) &&
         (at + kOperator.size() == name.size() || !is_word(name[at + kOperator.size()]));
}

// Behind the operator's sign, where that has angles, which are no brackets; else behind "operator".
std::size_t end_of_operator(std::string_view name, std::size_t at) {
  at += kOperator.size();
  for (const std::string_view sign :
       {"<<=", ">>=", "<=>", "->*", "<<", ">>", "<=", ">=", "->", "<", ">"})
    if (stands_at(name, at, sign))
      return at + sign.size();
  return at;
}

// The '>' that closes the '<' at `begin`; npos where there is none.
std::size_t end_of_arguments(std::string_view name, std::size_t begin) {
  int angles = 0;
  int others = 0; // parentheses and braces, in which '>' compares
  for (std::size_t at = begin; at < name.size(); ++at) {
    const char byte = name[at];
    others += (byte == '(' || byte == '{') - (byte == ')' || byte == '}');
    if (others == 0 && byte == '<')
      ++angles;
    if (others == 0 && byte == '>' && name[at - 1] != '-' && --angles == 0)
      return at;
  }
  return std::string_view::npos;
}

// Behind the type that a function returns where it is written as an expression: "decltype(f()) ".
std::size_t end_of_decltype(std::string_view name) {
  int depth = 0;
  for (std::size_t at = name.starts_with("decltype(") ? 0 : name.size(); at < name.size(); ++at) {
    depth += (name[at] == '(') - (name[at] == ')');
    if (name[at] == ')' && depth == 0)
      return std::min(at + 2, name.size());
  }
  return 0;
}

// The scopes of a demangled name and, unless it is an operator, the function itself; each without
// its arguments. None where it is no C++ name.
std::vector<std::string_view> scopes_of(std::string_view name) {
  std::vector<std::string_view> scopes;
  std::size_t begin = end_of_decltype(name);
  std::size_t bare_end = std::string_view::npos; // before the arguments
  const auto take = [&](std::size_t end) {
    if (end > begin)
      scopes.push_back(name.substr(begin, std::min(end, bare_end) - begin));
    bare_end = std::string_view::npos;
  };
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  for (std::size_t at = end_of_decltype(name); at < name.size();) {
    if (is_operator(name, at))
      return scopes;
    if (stands_at(name, at, kAnonymous)) {
      at += kAnonymous.size();
    } else if (name[at] == '<') {
      const std::size_t end = end_of_arguments(name, at);
      if (end == std::string_view::npos)
        return {};
      bare_end = std::min(bare_end, at);
      at = end + 1;
    } else if (stands_at(name, at, "::")) {
      take(at);
      at += 2;
      begin = at;
    } else if (name[at] == ' ') { // behind what it returns
      scopes.clear();
      bare_end = std::string_view::npos;
      begin = ++at;
    } else if (name[at] == '(') {
      take(at);
      return scopes;
    } else {
      ++at;
    }
  }
  take(name.size());
  return scopes;
}

bool is_reserved(std::string_view scope) {
  return scope.size() > 1 && scope[0] == '_' &&
         (scope[1] == '_' || std::isupper(static_cast<unsigned char>(scope[1])) != 0);
}

bool is_cxx_library(const std::vector<std::string_view> &scopes) {
  return !scopes.empty() &&
         (scopes[0] == "std" || scopes[0] == "__gnu_cxx" || scopes[0] == "__cxxabiv1");
}

// "std::__throw_out_of_range_fmt"
std::string thrown(std::string_view name) {
  name.remove_prefix(std::string_view("__throw_").size());
  if (name.ends_with("_fmt"))
    name.remove_suffix(4);
  return name == "ios_failure" ? "throw std::ios_base::failure" : "throw std::" + std::string(name);
}

std::string librarys_own(const std::vector<std::string_view> &scopes, std::size_t first_reserved) {
  if (scopes.back().starts_with("__throw_"))
    return thrown(scopes.back());
  if (scopes[1] == "thread" || scopes[1] == "jthread")
    return "std::thread's start";
  if (first_reserved == 1)
    for (std::size_t at = 1; at < scopes.size(); ++at)
      for (const auto &[begin, part] : kParts)
        if (scopes[at].starts_with(begin))
          return "a part of " + std::string(part);
  if (first_reserved == 1)
    return "a part of the C++ library";
  std::string owner = "a part of std";
  for (std::size_t at = 1; at < first_reserved; ++at)
    owner += "::" + std::string(scopes[at]);
  return owner;
}

// What glibc's headers, by the program's language and its checks, make of the name of a function.
std::string_view undecorated(std::string_view symbol) {
  for (const std::string_view begin : {"__isoc99_", "__isoc23_", "__isoc11_"})
    if (symbol.starts_with(begin))
      return symbol.substr(begin.size());
  constexpr std::string_view kChecks = "_chk";
  if (symbol.starts_with("__") && symbol.ends_with(kChecks) && symbol.size() > kChecks.size() + 2)
    return symbol.substr(2, symbol.size() - kChecks.size() - 2);
  return symbol;
}

std::string demangled(std::string_view name) {
  if (!name.starts_with("_Z"))
    return std::string(name);
  int status = 0;
  const std::unique_ptr<char, void (*)(void *)> plain(
      abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status), std::free);
  return plain == nullptr ? std::string(name) : plain.get();
}

} // namespace

std::string shortened(std::string_view name) {
  constexpr std::size_t kLongArguments = 24;
  constexpr std::string_view kString =
      "std::basic_string<char, std::char_traits<char>, std::allocator<char>";
  std::string plain; // without what nobody writes
  for (std::size_t at = 0; at < name.size();) {
    const auto skip = [&](std::string_view text) {
      const bool here = stands_at(name, at, text);
      at += here ? text.size() : 0;
      return here;
    };
    const bool in_scope = plain.ends_with("::");
    if (plain.ends_with('>') && stands_at(name, at, " >"))
      ++at;
    if (!skip("[abi:cxx11]") && !(in_scope && (skip("__cxx11::") || skip("_V2::"))))
      plain += name[at++];
  }
  std::string result;
  for (std::size_t at = 0; at < plain.size();) {
    const std::string_view rest = std::string_view(plain).substr(at);
    if (rest.starts_with(kString)) {
      const std::size_t end = rest.find_first_not_of(' ', kString.size());
      if (end != std::string_view::npos && rest[end] == '>') {
        result += "std::string";
        at += end + 1;
        continue;
      }
    }
    if (is_operator(plain, at)) {
      const std::size_t end = end_of_operator(plain, at);
      result += rest.substr(0, end - at);
      at = end;
      continue;
    }
    const std::size_t end =
        rest.front() == '<' ? end_of_arguments(rest, 0) : std::string_view::npos;
    if (end != std::string_view::npos && end > kLongArguments) {
      const std::string inner = shortened(rest.substr(1, end - 1));
      result += inner.size() < kLongArguments ? "<" + inner + ">" : "<...>";
      at += end + 1;
      continue;
    }
    result += plain[at++];
  }
  return result;
}

std::string in_program_terms(std::string_view function) {
  for (const auto &[symbol, said] : kSymbols)
    if (symbol == function)
      return std::string(said);
  std::string name = shortened(demangled(function));
  // What a lambda that captures nothing is as a pointer to a function.
  constexpr std::string_view kInvoker = "::__invoke(";
  if (const std::size_t at = name.find(kInvoker); at != std::string::npos)
    name.replace(at, kInvoker.size(), "::operator()(");
  const std::vector<std::string_view> scopes = scopes_of(name);
  if (!is_cxx_library(scopes))
    return scopes.size() == 1 && scopes.front() == name ? std::string(undecorated(name)) : name;
  const auto first = std::find_if(scopes.begin() + 1, scopes.end(), is_reserved);
  if (first != scopes.end())
    return librarys_own(scopes, static_cast<std::size_t>(first - scopes.begin()));
  if (scopes.size() > 2 && name.find("std::_") != std::string::npos) // in what it is given
    return librarys_own(scopes, scopes.size() - 1);
  return name;
}

std::vector<std::string> in_program_terms(const std::vector<std::string> &functions) {
  std::vector<std::string> said;
  std::set<std::string> seen;
  for (const std::string &function : functions)
    if (std::string name = in_program_terms(function); seen.insert(name).second)
      said.push_back(std::move(name));
  return said;
}

ReportIrrevocable in_program_terms(const ReportIrrevocable &action) {
  ReportIrrevocable said = action;
  said.callee = in_program_terms(action.callee);
  said.chain.clear();
  said.places.clear();
  for (std::size_t i = 0; i < action.chain.size(); ++i) {
    std::string name = in_program_terms(action.chain[i]);
    if (!said.chain.empty() && said.chain.back() == name)
      continue;
    said.chain.push_back(std::move(name));
    if (i < action.places.size())
      said.places.push_back(action.places[i]);
  }
  if (said.places.size() >= said.chain.size() && !said.chain.empty())
    said.places.resize(said.chain.size() - 1);
  return said;
}

std::string print_chain(const ReportIrrevocable &action, std::string_view arrow) {
  std::string text;
  for (std::size_t i = 0; i < action.chain.size(); ++i) {
    text += (i == 0 ? "" : std::string(arrow)) + action.chain[i];
    if (i < action.places.size() && !action.places[i].empty())
      text += " (" + action.places[i] + ")";
  }
  return text;
}

bool is_of_cxx_library(std::string_view name) { return is_cxx_library(scopes_of(name)); }

} // namespace tandem
