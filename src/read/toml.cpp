// TOML by toml++, whose tree is put on the tape in the file's order and let go.
#include <toml++/toml.h>

#include <algorithm>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "columns.hpp"
#include "syntax.hpp"
#include "toml_guard.hpp"

namespace oomplan::read {
namespace {

class Writer {
 public:
  Writer(const Source& source, Tape& tape) : source_(source), tape_(tape), columns_(source) {}

  std::size_t offset(const toml::source_position& where) const {
    return columns_.offset(static_cast<int>(where.line), static_cast<int>(where.column));
  }

  void value(const toml::node& node) {
    if (const toml::table* table = node.as_table()) return mapping(*table);
    if (const toml::array* array = node.as_array()) return sequence(*array);
    const std::size_t begin = offset(node.source().begin);
    if (const auto* text = node.as_string()) return tape_.scalar(begin, Node::Kind::string, text->get());
    const std::size_t end = std::max(begin, offset(node.source().end));
    tape_.scalar(begin, kind_of(node), std::string(source_.text().substr(begin, end - begin)));
  }

 private:
  struct Row {
    std::size_t offset = 0;
    std::string_view key;
    const toml::node* value = nullptr;
  };

  static Node::Kind kind_of(const toml::node& node) {
    if (node.is_boolean()) return Node::Kind::boolean;
    if (node.is_integer()) return Node::Kind::integer;
    return node.is_floating_point() ? Node::Kind::real : Node::Kind::string;  // dates and times are text to a plan
  }

  // toml++ keeps a table sorted by key.
  void mapping(const toml::table& table) {
    std::vector<Row> rows;
    for (const auto& [key, value] : table) rows.push_back({offset(key.source().begin), key.str(), &value});
    std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.offset < b.offset; });
    tape_.open(offset(table.source().begin), Node::Kind::mapping);
    for (const Row& row : rows) {
      tape_.scalar(row.offset, Node::Kind::string, std::string(row.key));
      value(*row.value);
    }
    tape_.close();
  }

  void sequence(const toml::array& array) {
    tape_.open(offset(array.source().begin), Node::Kind::sequence);
    for (const toml::node& item : array) value(item);
    tape_.close();
  }

  const Source& source_;
  Tape& tape_;
  Columns columns_;
};

[[noreturn]] void refuse(const Source& source, const toml::parse_error& error) {
  const toml::source_position where = error.source().begin;
  const std::size_t offset = Columns(source).offset(static_cast<int>(where.line), static_cast<int>(where.column));
  constexpr std::string_view preamble = "Error while parsing ";
  std::string_view what = error.description();
  if (what.starts_with(preamble)) what.remove_prefix(preamble.size());
  const bool twice = what.find("redefine") != std::string_view::npos;
  source.refuse(offset, twice ? "read/duplicate-key" : "read/syntax", std::string(what));
}

}  // namespace

void parse_toml(const Source& source, Tape& tape) {
  guard_toml(source, tape.budget());
  try {
    const toml::table root = toml::parse(source.text());
    if (root.empty()) source.refuse(0, "read/empty", "the file holds nothing but comments");
    Writer(source, tape).value(root);
  } catch (const toml::parse_error& error) {
    refuse(source, error);
  } catch (const std::exception& error) {
    source.refuse(0, "read/syntax", std::string("the TOML parser gave up: ") + error.what());
  }
}

}  // namespace oomplan::read
