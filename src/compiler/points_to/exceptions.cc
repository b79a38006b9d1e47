// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What flows from throw to catch. All that is thrown is in one variable, and whatever catches may
// get any of it: the object, what a thrown pointer points to, a base of one of these (Itanium C++
// ABI, Exception Handling, 2.5.3; libstdc++'s std::exception_ptr).
#include "compiler/points_to/solver.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/InstIterator.h"

namespace tandem {

using namespace llvm;

namespace {

enum class ExceptionCall {
  none,
  throws,     // argument 0 is the object, argument 2 its destructor
  catches,    // returns what was thrown
  finishes,   // may destroy any exception
  copies_to,  // argument 0 becomes the std::exception_ptr of an exception
  takes_from, // throws what the std::exception_ptr of argument 0 has
  adopts,     // argument 0 becomes the std::exception_ptr of the object that argument 1 is
  copies,     // a std::exception_ptr to another
  swaps,      // two of them
  knows,      // nothing is stored
};

ExceptionCall call_of(StringRef name) {
  return StringSwitch<ExceptionCall>(name)
      .Cases("__cxa_throw", "__cxa_init_primary_exception", ExceptionCall::throws)
      .Cases("__cxa_begin_catch", "__cxa_get_exception_ptr", ExceptionCall::catches)
      .Cases("__cxa_end_catch", "_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv",
             "_ZNSt15__exception_ptr13exception_ptrD1Ev",
             "_ZNSt15__exception_ptr13exception_ptrD2Ev", ExceptionCall::finishes)
      .Case("_ZSt17current_exceptionv", ExceptionCall::copies_to)
      .Case("_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE",
            ExceptionCall::takes_from)
      .Cases("_ZNSt15__exception_ptr13exception_ptrC1EPv",
             "_ZNSt15__exception_ptr13exception_ptrC2EPv", ExceptionCall::adopts)
      .Cases("_ZNSt15__exception_ptr13exception_ptrC1ERKS0_",
             "_ZNSt15__exception_ptr13exception_ptrC2ERKS0_",
             "_ZNSt15__exception_ptr13exception_ptraSERKS0_", ExceptionCall::copies)
      .Case("_ZNSt15__exception_ptr13exception_ptr4swapERS0_", ExceptionCall::swaps)
      .Cases("__cxa_free_exception", "__cxa_rethrow",
             "_ZNSt15__exception_ptr13exception_ptr9_M_addrefEv", ExceptionCall::knows)
      .Default(ExceptionCall::none);
}

// Code that knows nothing of the program's classes, and throws none of them: C++'s library.
bool is_of_cxx_library(StringRef name) {
  constexpr StringRef kPrefixes[] = {"_ZSt",          "_ZNSt",          "_ZNKSt",
                                     "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx", "_ZN10__cxxabiv1",
                                     "__cxa_",        "_Unwind_",       "__gxx_personality"};
  return any_of(kPrefixes, [&](StringRef prefix) { return name.starts_with(prefix); });
}

} // namespace

// Whether exceptions may come from code that nothing is known of, or go there.
bool PointsToGraph::has_foreign_exceptions() {
  const auto lands = [](const Function &function) { return function.hasPersonalityFn(); };
  return any_of(module_, lands) && any_of(module_, [&](const Function &function) {
           return function.isDeclaration() && !function.isIntrinsic() && !function.use_empty() &&
                  !function.doesNotThrow() && !is_of_cxx_library(function.getName()) &&
                  entry(function).touches_anything;
         });
}

void PointsToGraph::start_exceptions() {
  exceptions_ = nowhere(kProgram);
  destructors_ = nowhere(kProgram);
  if (has_foreign_exceptions())
    mix(exceptions_, outside());
  // The base of a class with several, or with a virtual one, is somewhere within.
  const GlobalValue *several = module_.getNamedValue("_ZTVN10__cxxabiv121__vmi_class_type_infoE");
  has_inner_bases_ = several != nullptr && !several->use_empty();
}

void PointsToGraph::catch_any(const CallBase &call) {
  if (!call.getType()->isPointerTy())
    return;
  const Pointer pointed = load(exceptions_);
  define(&call, 0, exceptions_);
  define(&call, 0, pointed);
  if (has_inner_bases_)
    for (const Pointer &whole : {exceptions_, pointed})
      index(whole, 1, true);
}

// Each destructor of a thrown object may run within the call.
void PointsToGraph::destroy_exceptions(const CallBase &call) {
  const std::uint32_t site =
      new_site({.call = &call, .pointer = destructors_, .actuals = {exceptions_}, .direct = false});
  if (preset_ != nullptr)
    enter_preset(site);
  else
    graph_.add_call(destructors_.cell.node, site);
}

bool PointsToGraph::add_exception_call(const CallBase &call, const Function &callee) {
  const ExceptionCall kind = call_of(callee.getName());
  const auto argument = [&](unsigned number) {
    const std::optional<Pointer> known =
        number < call.arg_size() ? pointer(call.getArgOperand(number)) : std::nullopt;
    return known ? *known : nowhere(scope_of_value(&call));
  };
  switch (kind) {
  case ExceptionCall::none:
    return false;
  case ExceptionCall::throws:
    pass(argument(0), exceptions_);
    pass(argument(2), destructors_);
    if (call.getType()->isPointerTy())
      define(&call, 0, exceptions_);
    break;
  case ExceptionCall::catches:
    pass(argument(0), exceptions_);
    catch_any(call);
    break;
  case ExceptionCall::finishes:
    destroy_exceptions(call);
    break;
  case ExceptionCall::copies_to:
    store(argument(0), exceptions_);
    break;
  case ExceptionCall::takes_from:
    pass(load(argument(0)), exceptions_);
    break;
  case ExceptionCall::adopts:
    store(argument(0), argument(1));
    break;
  case ExceptionCall::swaps:
    store(argument(1), load(argument(0)));
    [[fallthrough]];
  case ExceptionCall::copies:
    store(argument(0), load(argument(1)));
    destroy_exceptions(call);
    if (call.getType()->isPointerTy())
      define(&call, 0, argument(0));
    break;
  case ExceptionCall::knows:
    break;
  }
  return true;
}

} // namespace tandem
