// TOML 1.0. No library here: toml++ 3.3 takes things for granted of malformed text (`[` at a line's end, `[}`, letters
// beyond ASCII) that the compiler believes, has no budget while it parses, and its destructor recurses as deep as a
// dotted key is long.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "syntax.hpp"
#include "toml_scalar.hpp"
#include "toml_text.hpp"
#include "toml_tree.hpp"

namespace oomplan::read {
namespace {

using Form = TomlTree::Form;

class Parser {
 public:
  Parser(const Source& source, Tape& tape)
      : source_(source), tape_(tape), text_(source), tree_(source, tape.budget()) {}

  void document() {
    for (text_.skip_blank(); !text_.ended(); text_.skip_blank()) {
      if (text_.peek() == '[') {
        header();
      } else {
        pair(table_);
      }
      text_.end_line();
    }
    if (tree_.empty()) source_.refuse(0, "read/empty", "the file holds nothing but comments");
    tree_.write(tape_);
  }

 private:
  void header() {
    const std::size_t begin = text_.offset();
    const bool item = text_.take("[[");
    if (!item) text_.expect("[", "");
    const std::vector<TomlKey> keys = key();
    text_.expect(item ? "]]" : "]", item ? "']]' must stand here" : "']' must stand here");
    table_ = tree_.header(keys, begin, item);
  }

  std::vector<TomlKey> key() {
    std::vector<TomlKey> out;
    do {
      text_.skip_space();
      const std::size_t begin = text_.offset();
      if (static_cast<int>(out.size()) >= tape_.budget().depth) refuse_depth(source_, begin, tape_.budget().depth);
      out.push_back({begin, text_.key_part()});
      text_.skip_space();
    } while (text_.take("."));
    return out;
  }

  void pair(TomlTree::Index table) {
    const std::vector<TomlKey> keys = key();
    text_.expect("=", "'=' must stand between a key and its value");
    text_.skip_space();
    const TomlTree::Index owner = tree_.dotted(table, keys);
    fill(tree_.add(owner, keys.back(), form(), text_.offset()));
  }

  Form form() const {
    if (text_.peek() == '[') return Form::array;
    return text_.peek() == '{' ? Form::inline_table : Form::scalar;
  }

  // The value here, for which the tree has a place already.
  void fill(TomlTree::Index index) {
    const char c = text_.peek();
    if (c == '[') return array(index);
    if (c == '{') return inline_table(index);
    if (c == '"' || c == '\'') return tree_.set(index, Node::Kind::string, text_.string());
    const std::size_t begin = text_.offset();
    const std::string_view word = text_.word();
    const auto kind = toml_kind(word);
    if (!kind) refuse_word(begin, word);
    tree_.set(index, *kind, std::string(word));
  }

  [[noreturn]] void refuse_word(std::size_t begin, std::string_view word) const {
    if (word.empty()) text_.refuse_at(begin, "a value must begin here");
    text_.refuse_at(begin, "not a valid TOML value: strings are quoted, and numbers fit in 64 bits");
  }

  void array(TomlTree::Index index) {
    text_.expect("[", "");
    for (text_.skip_blank(); !text_.take("]"); text_.skip_blank()) {
      fill(tree_.add_item(index, form(), text_.offset()));
      text_.skip_blank();
      if (!text_.take(",") && text_.peek() != ']') text_.refuse("',' or ']' must stand here");
    }
  }

  void inline_table(TomlTree::Index index) {
    text_.expect("{", "");
    text_.skip_space();
    if (text_.take("}")) return;
    do {
      pair(index);
      text_.skip_space();
    } while (text_.take(","));
    text_.expect("}", "',' or '}' must stand here: an inline table is one line");
  }

  const Source& source_;
  Tape& tape_;
  TomlText text_;
  TomlTree tree_;
  TomlTree::Index table_ = TomlTree::root;
};

}  // namespace

void parse_toml(const Source& source, Tape& tape) { Parser(source, tape).document(); }

}  // namespace oomplan::read
