// A value is its kind and size in one number, its place, then a scalar's text, a sequence's values, or a mapping's
// keys, each with its size, text and place, and values. A number is seven bits a byte, the lowest first. A place is
// told from where the text before it ended, so that most are the same few bytes, which pack well.
#include "oomplan/read/packed.hpp"

#include <utility>

namespace oomplan {
namespace {

constexpr std::size_t kinds = 7;  // of Node::Kind; YAML has no expressions

/// Where the last text ended, on both sides.
struct Cursor {
  int line = 1;
  int column = 1;

  int base(int of_line) const { return of_line == line ? column : 0; }
};

class Packer {
 public:
  void add(const Node& node) {
    number((node.is_scalar() ? node.text.size() : node.items.size() + node.entries.size()) * kinds +
           static_cast<std::size_t>(node.kind));
    place(node);
    if (node.is_scalar()) return text(node.text);
    for (const Node& item : node.items) add(item);
    for (const Entry& entry : node.entries) {
      number(entry.key.size());
      place(entry);
      text(entry.key);
      add(entry.value);
    }
  }

  std::string out;

 private:
  void number(std::size_t value) {
    for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
    out += static_cast<char>(value);
  }
  void difference(int value) {
    number(value < 0 ? ~(static_cast<std::size_t>(value) << 1) : static_cast<std::size_t>(value) << 1);
  }
  template <class Placed>
  void place(const Placed& placed) {
    difference(placed.line - last_.line);
    difference(placed.column - last_.base(placed.line));
    last_ = {placed.line, placed.column};
  }
  void text(std::string_view text) {
    out += text;
    last_.column += static_cast<int>(text.size());
  }

  Cursor last_;
};

class Unpacker {
 public:
  explicit Unpacker(std::string_view packed) : rest_(packed) {}

  Node node() {
    Node out;
    const std::size_t both = number();
    const std::size_t size = both / kinds;
    out.kind = static_cast<Node::Kind>(both % kinds);
    place(out);
    if (out.is_scalar()) {
      out.text = text(size);
    } else if (out.is_sequence()) {
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
    Entry out;
    const std::size_t size = number();
    place(out);
    out.key = text(size);
    out.value = node();
    return out;
  }
  template <class Placed>
  void place(Placed& placed) {
    placed.line = last_.line + difference();
    placed.column = last_.base(placed.line) + difference();
    last_ = {placed.line, placed.column};
  }
  std::string_view text(std::size_t size) {
    const std::string_view out = rest_.substr(0, size);
    rest_.remove_prefix(size);
    last_.column += static_cast<int>(size);
    return out;
  }
  int difference() {
    const std::size_t both = number();
    const int value = static_cast<int>(both >> 1);
    return (both & 1) != 0 ? ~value : value;
  }
  std::size_t number() {
    std::size_t out = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      out |= static_cast<std::size_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return out;
    }
  }

  std::string_view rest_;
  Cursor last_;
};

}  // namespace

std::string pack(const Node& root) {
  Packer packer;
  packer.add(root);
  return packer.out;
}

Node unpack(std::string_view packed) { return Unpacker(packed).node(); }

Result<Document> data_document(std::string_view text, std::string_view packed, const std::string& file,
                               const ReadBudget& budget) {
  if (packed.empty()) return parse_document(std::string(text), file, Syntax::yaml, budget);
  return Document{.file = file, .syntax = Syntax::yaml, .text = {}, .root = unpack(packed)};
}

}  // namespace oomplan
