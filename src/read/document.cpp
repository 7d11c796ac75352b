#include "oomplan/read/document.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "oomplan/core/text.hpp"
#include "syntax.hpp"
#include "tape.hpp"

namespace oomplan {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

// Python's json, by which transformers reads both configs and models' config.json.
void refuse_mark(const read::Source& source) {
  source.refuse(0, "read/encoding", "Python's json refuses a file that begins with a byte order mark",
                "save it as UTF-8 without one");
}

Node parse(const read::Source& source, Syntax syntax, const ReadBudget& budget) {
  read::Tape tape(source, budget);
  switch (syntax) {
    case Syntax::yaml:
      read::parse_yaml(source, tape);
      break;
    case Syntax::json:
      read::parse_json(source, tape);
      break;
    case Syntax::toml:
      read::parse_toml(source, tape);
      break;
    case Syntax::python:
    case Syntax::notebook:
      return read::parse_python(source, budget);
  }
  return read::build(tape);
}

/// Makes of a notebook's JSON the code of its cells.
void take_code(Document& document, const ReadBudget& budget) {
  const read::Source source(document.file, document.text);
  read::NotebookCode code = read::notebook_code(source, budget);
  document.text = std::move(code.text);
  document.parts = std::move(code.parts);
}

/// Lines of the text become lines of its parts.
Diagnostics placed(Diagnostics errors, const Document& document) {
  for (Diagnostic& one : errors) one.where = document.at(one.where.line, one.where.column);
  return errors;
}

}  // namespace

Location Document::at(int line, int column) const {
  const auto after = std::ranges::upper_bound(parts, line, {}, &DocumentPart::first_line);
  if (after == parts.begin()) return {file, line, column};
  const DocumentPart& part = *(after - 1);
  return {file + " " + part.name, line - part.first_line + 1, column};
}

std::string_view Document::excerpt(const Location& where) const {
  if (where.file == file) return line(where.line);
  const auto named = [&](const DocumentPart& part) { return where.file == file + " " + part.name; };
  const auto part = std::ranges::find_if(parts, named);
  return part == parts.end() || where.line < 1 ? std::string_view{} : line(part->first_line + where.line - 1);
}

std::string_view Document::line(int line) const {
  std::string_view rest = text;
  for (int at = 1; at < line; ++at) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) return {};
    rest.remove_prefix(end + 1);
  }
  return line < 1 ? std::string_view{} : read::line_around(rest, 0);
}

Result<Document> parse_document(std::string text, const std::string& file, Syntax syntax, const ReadBudget& budget) {
  if (text.size() > budget.bytes) {
    return Diagnostic{.code = "read/too-large",
                      .message = "the file is larger than " + to_text(Bytes(static_cast<std::int64_t>(budget.bytes))),
                      .where = {file}};
  }
  Document out{file, syntax, std::move(text), {}, false};
  out.byte_order_mark = out.text.starts_with(byte_order_mark);
  if (out.byte_order_mark) out.text.erase(0, byte_order_mark.size());
  try {
    const read::Source source(out.file, out.text);
    read::check_text(source);
    if (out.byte_order_mark && syntax == Syntax::json) refuse_mark(source);
    if (syntax != Syntax::notebook) out.root = parse(source, syntax, budget);
    if (syntax == Syntax::notebook) take_code(out, budget);
  } catch (read::Refused& refused) {
    return std::move(refused.diagnostics);
  }
  if (syntax != Syntax::notebook) return out;
  try {
    out.root = parse(read::Source(out.file, out.text), syntax, budget);
  } catch (read::Refused& refused) {
    return placed(std::move(refused.diagnostics), out);
  }
  return out;
}

}  // namespace oomplan
