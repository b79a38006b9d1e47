// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C sources as the rewriting needs them: where functions, blocks, calls and returns stand, as plain
// data. Offsets are bytes of the unit's own file; what stands in headers or comes out of macros has
// none, and cannot be edited. Knows nothing of clang; immutable once collected.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tandem::rewrite {

// Bytes [begin, end) of the unit's text.
struct Range {
  unsigned begin = 0;
  unsigned end = 0;
  bool operator==(const Range &) const = default;
};

inline constexpr int kNoBlock = -1;
inline constexpr char kPlaceholder = '@'; // no character of C

// What gcc may refuse in a transaction, apart from calls.
struct Hazard {
  std::string what;  // completes "gcc accepts no ... in a transaction"
  std::string place; // "file:line"
  int block = kNoBlock;
  bool miscompiled = false; // gcc accepts it, and what it makes of it is wrong
};

struct Call {
  std::string callee;         // key of the function; empty: through a pointer
  std::string name;           // as in the source; empty where there is no callee
  std::optional<Range> token; // the name, where it is written in this file
  std::string type;           // of the function, canonical
  int block = kNoBlock;       // innermost atomic block around it
  std::string place;          // "file:line"
};

// A function that is mentioned without being called: its address is known from then on.
struct Reference {
  std::string callee;
  std::string name;
};

struct Return {
  Range keyword;        // "return"
  unsigned end = 0;     // past its value, or the keyword
  bool value = false;   // returns one
  bool written = false; // keyword and end of the value stand in this file
  bool comma = false;   // the value is a comma expression without parentheses
  // What it means does not depend on when the section ends: nothing, a constant.
  bool constant = false;
  bool parameter = false; // it is a parameter that nobody else can change
  bool local = false;     // the same of a variable of the function
};

// An atomic block.
struct Block {
  Range mark; // tandem_atomic, or the macro that stands for it
  Range body; // from the opening brace past the closing one
  int parent = kNoBlock;
  bool leaves = false;     // a jump in it leads out of it
  bool returns = false;    // a return statement does
  bool ends = true;        // control may reach its end
  bool in_compound = true; // the statement stands directly in a compound statement
  std::string file;        // as debug information has it
  unsigned line = 0;
};

struct Parameter {
  std::string name;
};

// A function that the unit defines, in its own file or in a header.
struct Function {
  std::string key; // unique in the program: the name, or "N:name" of unit N where it is not visible
  std::string name; // in the source
  std::string type; // canonical
  std::string file; // as debug information has it
  unsigned line = 0;
  bool visible = false; // from other units
  bool section = false;
  bool here = false; // the definition stands in the unit's own file, and not in a macro
  bool variadic = false;
  bool prototyped = true;
  bool static_locals = false;
  bool labels_taken = false; // it has addresses of labels: no second copy of its text works
  bool declared_in_header = false;
  bool says_static = false;
  unsigned lead = 0; // where further declarations may stand before it and its comment
  Range whole;       // from its first specifier past the closing brace
  Range token;       // its name
  Range body;        // from the opening brace past the closing one
  bool returns_value = false;
  // A declaration of a variable for what it returns, with kPlaceholder as its name.
  std::string result;
  bool result_assignable = true; // such a variable: its type has no const members
  bool trailing = false;         // the last of `returns` is the last statement of the body
  std::vector<Parameter> parameters;
  std::vector<Block> blocks; // in the order of the source; outer ones before inner ones
  std::vector<Call> calls;
  std::vector<Hazard> hazards;
  std::vector<Return> returns;
};

struct Include {
  Range line; // with its end of line
  std::string name;
};

// A function that the unit declares and calls, and does not define.
struct Declared {
  std::string name;
  bool in_header = false;
  bool gcc_knows = false; // a function without effects, as its declaration says
};

struct Source {
  std::string path; // as the user named it
  std::string text;
  std::vector<Function> functions;
  std::vector<Reference> references;
  std::vector<Declared> declared;
  std::vector<Range> marks; // of functions, in declarations and definitions; what to take away
  std::vector<Include> includes;
  unsigned prelude = 0;              // where further declarations may stand first
  std::vector<Range> strings;        // tokens that go over the end of a line and are no comments
  std::set<std::string> identifiers; // all of the unit, with its headers and macros
  std::string indentation = "  ";    // one step
};

} // namespace tandem::rewrite
