// A value is its kind as a letter, its line and column, then a scalar's text, a sequence's values, or a mapping's keys,
// each with its place, and values. Numbers are in decimal and end with a space; what follows a number of bytes or of
// values has as many.
#include "oomplan/read/packed.hpp"

#include <utility>

namespace oomplan {
namespace {

constexpr std::string_view letters = "nbirslm";  // in the order of Node::Kind

void add(std::string& out, std::size_t number) { (out += std::to_string(number)) += ' '; }

void add(std::string& out, std::string_view text) {
  add(out, text.size());
  out += text;
}

void add_place(std::string& out, int line, int column) {
  add(out, static_cast<std::size_t>(line));
  add(out, static_cast<std::size_t>(column));
}

void add(std::string& out, const Node& node) {
  out += letters[static_cast<std::size_t>(node.kind)];
  add_place(out, node.line, node.column);
  if (node.is_scalar()) return add(out, node.text);
  add(out, node.items.size() + node.entries.size());
  for (const Node& item : node.items) add(out, item);
  for (const Entry& entry : node.entries) {
    add(out, entry.key);
    add_place(out, entry.line, entry.column);
    add(out, entry.value);
  }
}

class Unpacker {
 public:
  explicit Unpacker(std::string_view packed) : rest_(packed) {}

  Node node() {
    Node out;
    out.kind = static_cast<Node::Kind>(letters.find(rest_.front()));
    rest_.remove_prefix(1);
    place(out);
    if (out.is_scalar()) {
      out.text = text();
    } else if (const std::size_t size = number(); out.is_sequence()) {
      out.items.reserve(size);
      for (std::size_t i = 0; i < size; ++i) out.items.push_back(node());
    } else {
      out.entries.reserve(size);
      for (std::size_t i = 0; i < size; ++i) out.entries.push_back(entry());
    }
    return out;
  }

 private:
  Entry entry() {
    Entry out{.key = std::string(text())};
    place(out);
    out.value = node();
    return out;
  }
  template <class Placed>
  void place(Placed& placed) {
    placed.line = static_cast<int>(number());
    placed.column = static_cast<int>(number());
  }
  std::string_view text() {
    const std::size_t size = number();
    const std::string_view out = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return out;
  }
  std::size_t number() {
    std::size_t out = 0;
    std::size_t digits = 0;
    for (; rest_[digits] != ' '; ++digits) out = 10 * out + static_cast<std::size_t>(rest_[digits] - '0');
    rest_.remove_prefix(digits + 1);
    return out;
  }

  std::string_view rest_;
};

}  // namespace

std::string pack(const Node& root) {
  std::string out;
  add(out, root);
  return out;
}

Node unpack(std::string_view packed) { return Unpacker(packed).node(); }

Result<Document> data_document(std::string_view text, std::string_view packed, const std::string& file,
                               const ReadBudget& budget) {
  if (packed.empty()) return parse_document(std::string(text), file, Syntax::yaml, budget);
  return Document{.file = file, .syntax = Syntax::yaml, .text = std::string(text), .root = unpack(packed)};
}

}  // namespace oomplan
