// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/points_to/assembly.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"

namespace tandem {

using namespace llvm;

namespace {

bool may_begin(char c) { return isAlpha(c) || c == '_' || c == '.'; }
bool may_continue(char c) { return may_begin(c) || isDigit(c) || c == '$'; }

// The words of assembly that may be symbols. Of a statement within a function the first word is an
// instruction, a prefix of one, or a label; a word behind % is a register.
void add_words(StringRef text, bool within_function, StringSet<> &words) {
  bool first = within_function;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '\n' || c == ';') {
      first = within_function;
      ++at;
    } else if (may_begin(c)) {
      std::size_t end = at;
      while (end < text.size() && may_continue(text[end]))
        ++end;
      const StringRef word = text.substr(at, end - at);
      const bool is_register = at > 0 && text[at - 1] == '%';
      const bool is_prefix = first && (word.starts_with("rep") || word == "lock");
      if (!first && !is_register)
        words.insert(word);
      first = is_prefix || (first && end < text.size() && text[end] == ':');
      at = end;
    } else {
      ++at;
    }
  }
}

const InlineAsm *assembly_of(const Instruction &instruction) {
  const auto *call = dyn_cast<CallBase>(&instruction);
  return call == nullptr ? nullptr : dyn_cast<InlineAsm>(call->getCalledOperand());
}

// Two modules' symbols of one name that are linked together: one has a number.
StringRef name_in_source(const GlobalValue &value) {
  const auto [base, suffix] = value.getName().rsplit('.');
  return !suffix.empty() && all_of(suffix, isDigit) ? base : value.getName();
}

bool names(const StringSet<> &words, const GlobalValue &value) {
  return words.contains(value.getName()) || words.contains(name_in_source(value));
}

} // namespace

SetVector<const GlobalValue *> named_in_assembly(const Module &module) {
  StringSet<> words;
  add_words(module.getModuleInlineAsm(), /*within_function=*/false, words);
  for (const Function &function : module)
    for (const Instruction &instruction : instructions(function))
      if (const InlineAsm *assembly = assembly_of(instruction))
        add_words(assembly->getAsmString(), /*within_function=*/true, words);
  SetVector<const GlobalValue *> named;
  if (words.empty())
    return named;
  for (const GlobalValue &value : module.global_values())
    if (!value.isDeclaration() && names(words, value))
      named.insert(&value);
  return named;
}

bool leaves_by_assembly(const CallBase &call) {
  const InlineAsm *assembly = assembly_of(call);
  if (assembly == nullptr || assembly->getAsmString().empty())
    return false;
  const StringRef text = assembly->getAsmString();
  for (const StringRef word : {"call", "jmp"})
    for (std::size_t at = text.find(word); at != StringRef::npos; at = text.find(word, at + 1))
      if ((at == 0 || !may_continue(text[at - 1])) && // not syscall
          (word == "call" || text.substr(at + word.size()).ltrim(" \tq").starts_with("*")))
        return true;
  StringSet<> words;
  add_words(text, /*within_function=*/true, words);
  return any_of(words.keys(), [&](StringRef word) {
    const GlobalValue *value = call.getModule()->getNamedValue(word);
    return value != nullptr && !value->isDeclaration();
  });
}

} // namespace tandem
