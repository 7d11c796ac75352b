// A Jupyter notebook: JSON (nbformat 3 and 4) whose code cells, one after the other, are a script.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "syntax.hpp"

namespace oomplan::read {
namespace {

// What a notebook shows, pictures among it, stands beside its code; bytes are what bounds that.
constexpr int most_nodes = 1'000'000;

std::string text_of(const Node& source) {
  std::string out = source.text;
  for (const Node& line : source.items) out += line.text;
  return out;
}

bool is_python(std::string_view code) {
  const std::size_t first = code.find_first_not_of(" \t\r\n");
  if (first == code.npos || !code.substr(first).starts_with("%%")) return true;
  // A magic of the whole cell: these run it as Python.
  const std::string_view magic = code.substr(first + 2, code.find_first_of(" \t\r\n", first) - first - 2);
  return magic == "capture" || magic == "time" || magic == "timeit" || magic == "prun";
}

void add_cell(const Node& cell, int number, std::string& text, std::vector<DocumentPart>& parts) {
  const Node* type = cell.find("cell_type");
  const Node* source = cell.find("source");
  if (source == nullptr) source = cell.find("input");
  if (type == nullptr || type->text != "code" || source == nullptr) return;
  const std::string code = text_of(*source);
  if (!is_python(code)) return;
  parts.push_back({static_cast<int>(std::ranges::count(text, '\n')) + 1, "cell " + std::to_string(number)});
  text += code;
  if (!text.ends_with('\n')) text += '\n';
}

}  // namespace

NotebookCode notebook_code(const Source& source, ReadBudget budget) {
  budget.nodes = std::max(budget.nodes, most_nodes);
  Tape tape(source, budget);
  parse_json(source, tape);
  const Node root = build(tape);
  const Node* cells = root.find("cells");
  const Node* sheets = root.find("worksheets");
  if (cells == nullptr && sheets != nullptr && !sheets->items.empty()) cells = sheets->items.front().find("cells");
  if (cells == nullptr || !cells->is_sequence()) {
    source.refuse(0, "read/syntax", "the JSON has no cells, so this is no notebook");
  }
  NotebookCode out;
  int number = 0;
  for (const Node& cell : cells->items) add_cell(cell, ++number, out.text, out.parts);
  if (out.text.empty()) source.refuse(0, "read/empty", "the notebook has no cell of Python");
  return out;
}

}  // namespace oomplan::read
