#include "check.hpp"

#include <set>
#include <string>
#include <string_view>

#include "require.hpp"

namespace oomplan::fuzz {
namespace {

// Small, so that inputs of a few bytes reach every budget.
constexpr ReadBudget budget{.bytes = std::size_t{1} << 16, .depth = 24, .nodes = 600};

std::string_view nth_line(std::string_view text, int line) {
  for (; line > 1; --line) text.remove_prefix(text.find('\n') + 1);
  text = text.substr(0, text.find('\n'));
  return text.ends_with('\r') ? text.substr(0, text.size() - 1) : text;
}

int lines_of(std::string_view text) {
  int lines = 1;
  for (const char c : text) lines += c == '\n' ? 1 : 0;
  return lines;
}

void check_refusal(const Diagnostic& diagnostic, std::string_view text, int lines) {
  require(diagnostic.code.starts_with("read/"), "a refusal has a code of read");
  require(!diagnostic.message.empty(), "a refusal says why");
  const std::string shown = to_text(diagnostic);
  for (const char c : shown) require(c == '\n' || static_cast<unsigned char>(c) >= 0x20, "nothing drives a terminal");
  require(shown.size() < 4096 + diagnostic.message.size(), "a long line is cut");
  if (diagnostic.where.line == 0) return;
  require(diagnostic.where.line <= lines, "a refusal points into the text");
  require(diagnostic.excerpt == nth_line(text, diagnostic.where.line), "the excerpt is the line");
  require(diagnostic.where.column >= 1, "columns count from 1");
  require(static_cast<std::size_t>(diagnostic.where.column) <= diagnostic.excerpt.size() + 2,
          "the caret is on the line");
}

class Walk {
 public:
  explicit Walk(const Document& document) : document_(document), lines_(lines_of(document.text)) {}

  void run() {
    node(document_.root, 0);
    require(nodes_ <= budget.nodes, "the tree is within the budget of nodes");
  }

 private:
  void place(int line, int column) const {
    require(line >= 1 && line <= lines_ && column >= 1, "a place is in the text");
    require(static_cast<std::size_t>(column) <= document_.line(line).size() + 2, "a place is on its line");
  }

  void node(const Node& node, int depth) {
    require(++nodes_ > 0 && depth <= budget.depth, "the tree is within the budget of depth");
    place(node.line, node.column);
    require(node.is_scalar() || node.text.empty(), "only scalars have text");
    require(node.is_sequence() || node.items.empty(), "only sequences have items");
    require(node.is_mapping() || node.entries.empty(), "only mappings have entries");
    scalar(node);
    for (const Node& item : node.items) this->node(item, depth + 1);
    std::set<std::string_view> keys;
    for (const Entry& entry : node.entries) {
      require(keys.insert(entry.key).second, "keys are unique");
      require(node.find(entry.key) == &entry.value, "a key finds its value");
      place(entry.line, entry.column);
      ++nodes_;
      this->node(entry.value, depth + 1);
    }
  }

  static void scalar(const Node& node) {
    const auto integer = node.as_integer();
    const auto number = node.as_number();
    require(!integer || number, "an integer is a number");
    if (integer) require(static_cast<double>(*integer) == *number, "an integer is the same number");
    const bool huge = number && (*number >= 9.2e18 || *number <= -9.2e18);
    require(node.kind != Node::Kind::integer || !number || integer || huge, "an integer is one, or too large");
    if (number) require(*number - *number == 0, "numbers are finite");
    require(node.kind != Node::Kind::boolean || node.as_boolean(), "a boolean is true or false");
    require(node.kind != Node::Kind::null || node.text.empty(), "null has no text");
  }

  const Document& document_;
  int lines_;
  int nodes_ = 0;
};

}  // namespace

void check(Syntax syntax, const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Result<Document> document = parse_document(text, "fuzz", syntax, budget);
  if (document) return Walk(*document).run();
  const std::string_view mark = "\xEF\xBB\xBF";
  const std::string_view kept = std::string_view(text).substr(text.starts_with(mark) ? mark.size() : 0);
  require(!document.errors().empty(), "a refusal says something");
  for (const Diagnostic& diagnostic : document.errors()) check_refusal(diagnostic, kept, lines_of(kept));
}

}  // namespace oomplan::fuzz
