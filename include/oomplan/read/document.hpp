// A config file as a tree whose keys and values know where they stand. After reading, no stage sees YAML or JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "oomplan/core/result.hpp"

namespace oomplan {

/// A key and its value in a mapping. A template only so that Node may hold what holds a Node; say Entry.
template <class Value>
struct KeyAnd {
  std::string key{};
  int line = 0;  ///< Where the key begins, from 1.
  int column = 0;
  Value value{};
};

struct Node;
using Entry = KeyAnd<Node>;

/// One value of a document: a scalar, a sequence or a mapping.
struct Node {
  /// An expression is what a script writes that is no value (a call, a condition): its text, and no more.
  enum class Kind { null, boolean, integer, real, string, sequence, mapping, expression };

  Kind kind = Kind::null;
  std::string text{};  ///< A scalar as written (unquoted, escapes resolved); empty for null.
  int line = 0;        ///< Where the value begins, from 1; of an alias, where its anchor's value does.
  int column = 0;
  std::vector<Node> items{};     ///< Of a sequence.
  std::vector<Entry> entries{};  ///< Of a mapping, in the file's order, merged ones last; keys are unique.

  /// The value of `key` in a mapping, or null.
  const Node* find(std::string_view key) const;

  /// The scalar as a value of that type; nothing where the scalar is not one. YAML's spellings are resolved by `kind`:
  /// a quoted "8" is a string, but as_integer still reads it, as the frameworks' own int() does. as_number gives finite
  /// numbers only, integers included, and reads "1e-5", which YAML 1.1 calls a string.
  std::optional<bool> as_boolean() const;
  std::optional<std::int64_t> as_integer() const;
  std::optional<double> as_number() const;

  bool is_scalar() const { return kind != Kind::sequence && kind != Kind::mapping; }
  bool is_mapping() const { return kind == Kind::mapping; }
  bool is_sequence() const { return kind == Kind::sequence; }
};

enum class Syntax { yaml, json, toml, python, notebook };

/// A script is code, which is read and never run.
inline bool is_script(Syntax syntax) { return syntax == Syntax::python || syntax == Syntax::notebook; }

/// A piece of a text that has a name of its own, up to the next one.
struct DocumentPart {
  int first_line = 1;  ///< Of the text, from 1.
  std::string name{};  ///< "cell 7"
};

/// A parsed file. `text` is what was read (without a byte order mark), for excerpts and patches; of a notebook it is
/// the code of its cells, of which each is a part.
///
/// The root of a script is a mapping. `imports` lists the modules that it imports. `steps` has in the order of the
/// text, without what stands under `if False:`, each call as {call: "a.b.f", positional: [...], keywords: {...}}, each
/// assignment to a member as {set: "a.b", value: ...} (`os.environ["X"]` is "os.environ.X"), and each line for a shell
/// as {shell: "!pip ..."}. Values are literals, names that stand for one value in all of the text, sums of numbers,
/// lists and mappings of these; anything else is an expression. A keyword "**" is an expression whose keys are not
/// known.
struct Document {
  std::string file{};
  Syntax syntax = Syntax::yaml;
  std::string text{};
  Node root{};
  bool byte_order_mark = false;  ///< The file began with one: `text` and all positions are without it.
  std::vector<DocumentPart> parts{};

  /// Where line `line` of the text is: in a notebook the cell's file is "train.ipynb cell 7", and lines are its own.
  Location at(int line, int column) const;
  Location at(const Node& node) const { return at(node.line, node.column); }
  Location at(const Entry& entry) const { return at(entry.line, entry.column); }
  /// The line of `text` that the place is in; empty where it is in no line of this document.
  std::string_view excerpt(const Location& where) const;
  /// Line `line` (from 1) of the text without its end, for a Diagnostic's excerpt; empty where there is none.
  std::string_view line(int line) const;
};

/// What a reader may take before it refuses: all input is hostile.
struct ReadBudget {
  std::size_t bytes = std::size_t{8} << 20;  ///< Of the file, and again of all scalars after aliases are expanded.
  int depth = 64;                            ///< Mappings and sequences within each other; never more than 256.
  int nodes = 100'000;  ///< Keys and values after aliases are expanded: 304 bytes of YAML can mean six million.
};

/// Reads a config file. The extensions .json, .toml, .yaml, .yml, .py and .ipynb say what it is; any other file is JSON
/// where it begins with '{' or '[', and YAML otherwise. Errors have one of these codes:
/// read/missing          there is no such file
/// read/not-a-file       a directory, a device, a pipe
/// read/unreadable       the system refuses to open or read it
/// read/empty            nothing but space and comments
/// read/binary           a NUL or another control character, which no config syntax allows
/// read/encoding         not UTF-8
/// read/syntax           not YAML, JSON or TOML as the syntax has it
/// read/many-documents   a second YAML document
/// read/duplicate-key    a key twice in one mapping
/// read/too-large, read/too-deep, read/too-many-nodes   the budget is exceeded
Result<Document> read_document(const std::string& path, const ReadBudget& budget = {});

/// The same from text already in memory; `file` is only the name used in messages.
Result<Document> parse_document(std::string text, const std::string& file, Syntax syntax,
                                const ReadBudget& budget = {});

}  // namespace oomplan
