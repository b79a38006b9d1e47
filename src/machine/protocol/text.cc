// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <bit>

#include <fmt/format.h>

#include "machine/protocol/document.h"

namespace tandem::machine {

namespace {

std::string set_name(std::uint32_t set, const std::vector<StateInfo> &states) {
  std::string names;
  unsigned count = 0;
  for (std::size_t i = 0; i < states.size(); ++i)
    if ((set >> i & 1) != 0) {
      names += fmt::format("{}{}", names.empty() ? "" : ",", states[i].name);
      ++count;
    }
  if (count == states.size() && count > 1)
    return "*";
  return count == 1 ? names : "(" + names + ")";
}

std::string joined(const std::vector<std::string> &parts, const char *between) {
  std::string all;
  for (const std::string &part : parts)
    all += (all.empty() ? "" : between) + part;
  return all;
}

std::string result_name(const TableDocument::Controller &c, const TableDocument::Row &row) {
  if (row.kind == RowKind::stall)
    return "stalls";
  if (row.kind == RowKind::nack)
    return "refuses";
  if (row.kind == RowKind::refuse)
    return "refuses for good";
  std::string next;
  if (row.next_line >= 0 || row.next_tbe >= 0)
    next = fmt::format(
        " -> {}/{}",
        row.next_line >= 0 ? c.lines[static_cast<std::size_t>(row.next_line)].name : "=",
        row.next_tbe >= 0 ? c.tbes[static_cast<std::size_t>(row.next_tbe)].name : "=");
  return (row.actions.empty() ? "nothing" : joined(row.actions, "; ")) + next;
}

} // namespace

std::string row_name(const TableDocument &document, const TableDocument::Controller &controller,
                     const TableDocument::Row &row) {
  std::string name =
      fmt::format("{}/{} {}", set_name(row.lines, controller.lines),
                  set_name(row.tbes, controller.tbes), document.events[row.event].name);
  if (!row.guards.empty())
    name += " if " + joined(row.guards, ", ");
  return name;
}

std::string text(const TableDocument &document) {
  std::string out = fmt::format("{}: {}\n", document.name, document.summary);
  for (const TableDocument::Option &option : document.options)
    out += fmt::format("  option {} ({}): {}\n", option.name, option.set ? "set" : "clear",
                       option.description);
  for (const TableDocument::Controller &c : document.controllers) {
    out += fmt::format("\n{}: {} rows\n", c.name, c.rows.size());
    for (const TableDocument::Row &row : c.rows) {
      const std::string taken = document.proofs.empty() ? "" : fmt::format("{:>10}  ", row.taken);
      out += fmt::format("  {}{}: {}\n", taken, row_name(document, c, row), result_name(c, row));
    }
  }
  return out;
}

} // namespace tandem::machine
