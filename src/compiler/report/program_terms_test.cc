// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/report/program_terms.h"

#include <gmock/gmock.h>

namespace tandem {
namespace {

using testing::ElementsAre;

TEST(ProgramTerms, WhatCompilersCallByThemselves) {
  EXPECT_EQ(in_program_terms("__cxa_pure_virtual"), "call of a pure virtual function");
  EXPECT_EQ(in_program_terms("__cxa_throw"), "throw");
  EXPECT_EQ(in_program_terms("_ZSt20__throw_system_errori"), "throw std::system_error");
  EXPECT_EQ(in_program_terms("std::__throw_out_of_range_fmt(char const*, ...)"),
            "throw std::out_of_range");
  EXPECT_EQ(in_program_terms("__cxa_guard_acquire"), "making of a static variable in a function");
  EXPECT_EQ(in_program_terms("__clang_call_terminate"), "std::terminate()");
}

TEST(ProgramTerms, WhatHeadersMakeOfNames) {
  EXPECT_EQ(in_program_terms("__isoc99_sscanf"), "sscanf");
  EXPECT_EQ(in_program_terms("__isoc23_strtol"), "strtol");
  EXPECT_EQ(in_program_terms("__vsnprintf_chk"), "vsnprintf");
  EXPECT_EQ(in_program_terms("__open64_2"), "open64");
  EXPECT_EQ(in_program_terms("__assert_fail"), "assert");
  EXPECT_EQ(in_program_terms("__errno_location"), "errno");
}

TEST(ProgramTerms, InsidesOfTheLibrary) {
  EXPECT_EQ(in_program_terms("_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_"
                             "deleteIS1_EEPFvvE"),
            "std::thread's start");
  EXPECT_EQ(in_program_terms("std::thread::_State::~_State()"), "std::thread's start");
  EXPECT_EQ(in_program_terms("std::string::_M_create(unsigned long&, unsigned long)"),
            "a part of std::string");
  EXPECT_EQ(in_program_terms("_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_createERmm"),
            "a part of std::string");
  EXPECT_EQ(in_program_terms("std::_Rb_tree_insert_and_rebalance(bool, std::_Rb_tree_node_base*, "
                             "std::_Rb_tree_node_base*, std::_Rb_tree_node_base&)"),
            "a part of std::map or std::set");
  EXPECT_EQ(in_program_terms("std::pair<...> std::_Rb_tree<...>::_M_insert_unique<std::string "
                             "const&>(std::string const&)"),
            "a part of std::map or std::set");
  EXPECT_EQ(in_program_terms("std::basic_ostream<...>& std::__ostream_insert<...>(std::basic_"
                             "ostream<...>&, char const*, long)"),
            "a part of std::ostream");
  EXPECT_EQ(in_program_terms("void std::vector<...>::_M_realloc_insert<char (&) [256]>(__gnu_cxx::"
                             "__normal_iterator<...>, char (&) [256])"),
            "a part of std::vector");
  EXPECT_EQ(in_program_terms("std::__detail::_Prime_rehash_policy::_M_next_bkt(unsigned long)"),
            "a part of std::unordered_map or std::unordered_set");
  EXPECT_EQ(in_program_terms("std::pair<...>::pair<int, 0ul>(std::tuple<int>&, "
                             "std::_Index_tuple<0ul>)"),
            "a part of std::pair");
  EXPECT_EQ(in_program_terms("std::__no_such_thing(int)"), "a part of the C++ library");
}

TEST(ProgramTerms, WhatTheProgramCallsStays) {
  for (const char *name : {"printf",
                           "_exit",
                           "__secret",
                           "uv__close",
                           "_serverAssert",
                           "std::terminate()",
                           "std::thread::detach()",
                           "std::ostream::operator<<(int)",
                           "operator new(unsigned long)",
                           "(indirect call)",
                           "(atomic operation)",
                           "(inline assembly)",
                           "",
                           "_Z",
                           "_Znonsense<",
                           "Queue<Job>::_M_mine(int)",
                           "run()::{lambda()#1}::operator()() const",
                           "db::(anonymous namespace)::_Private::__make(std::_Vector_base<int>*)",
                           "std::this_thread::sleep_for<...>(std::chrono::duration<...> const&)",
                           "/usr/lib/libx.a(y.o)"})
    EXPECT_EQ(in_program_terms(name), name);
}

TEST(ProgramTerms, DemanglesAndShortens) {
  EXPECT_EQ(in_program_terms("_ZN5QueueI3JobE4pushERKS0_"), "Queue<Job>::push(Job const&)");
  EXPECT_EQ(shortened("std::__cxx11::list<int, std::allocator<int> >::push_back(int&&)"),
            "std::list<...>::push_back(int&&)");
  EXPECT_EQ(shortened("std::chrono::_V2::steady_clock::now()"), "std::chrono::steady_clock::now()");
  EXPECT_EQ(shortened("Key::text[abi:cxx11]() const"), "Key::text() const");
  EXPECT_EQ(shortened("f(std::__cxx11::basic_string<char, std::char_traits<char>, "
                      "std::allocator<char>> const&)"),
            "f(std::string const&)");
  EXPECT_EQ(shortened("std::operator<<<char, std::char_traits<char>>(int)"),
            "std::operator<<<...>(int)");
  EXPECT_EQ(shortened("Locked<std::vector<int> >::m"), "Locked<std::vector<int>>::m");
  EXPECT_EQ(in_program_terms("main::$_0::__invoke(int)"), "main::$_0::operator()(int)");
  EXPECT_EQ(
      in_program_terms("decltype(::new((void*)(0)) std::string(g())) std::__construct<int>(int)"),
      "a part of the C++ library");
  EXPECT_EQ(shortened("operators<int>()"), "operators<int>()");
  EXPECT_EQ(shortened("a < b"), "a < b");
}

TEST(ProgramTerms, NamesOfTheLibrary) {
  EXPECT_TRUE(is_of_cxx_library("void std::vector<...>::push_back(int)"));
  EXPECT_TRUE(is_of_cxx_library("std::operator+(std::string const&)"));
  EXPECT_FALSE(is_of_cxx_library("f(std::string const&)"));
  EXPECT_FALSE(is_of_cxx_library("printf"));
}

TEST(ProgramTerms, AStepThatIsSaidTwiceIsOne) {
  const ReportIrrevocable action{"_ZSt17__throw_bad_allocv",
                                 {"fill()", "std::vector<...>::_M_realloc_insert<int>(int)",
                                  "std::_Vector_base<...>::_M_allocate(unsigned long)",
                                  "_ZSt17__throw_bad_allocv"},
                                 {"a.cc:3", "vector.tcc:9", "stl_vector.h:4"}};
  const ReportIrrevocable said = in_program_terms(action);
  EXPECT_EQ(said.callee, "throw std::bad_alloc");
  EXPECT_THAT(said.chain, ElementsAre("fill()", "a part of std::vector", "throw std::bad_alloc"));
  EXPECT_THAT(said.places, ElementsAre("a.cc:3", "vector.tcc:9"));
  EXPECT_EQ(print_chain(said),
            "fill() (a.cc:3) -> a part of std::vector (vector.tcc:9) -> throw std::bad_alloc");
  EXPECT_EQ(
      print_chain(in_program_terms(ReportIrrevocable{
          "__cxa_throw", {"f", "__cxa_allocate_exception", "__cxa_throw"}, {"a.cc:1", "a.cc:1"}})),
      "f (a.cc:1) -> throw");
}

} // namespace
} // namespace tandem
