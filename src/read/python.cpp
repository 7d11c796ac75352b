// A Python script as data: its calls, what it assigns and imports. Statements are told apart by their first word and by
// marks outside of brackets, as Python's grammar allows; what stands between is searched for calls.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "python_value.hpp"
#include "syntax.hpp"

namespace oomplan::read {
namespace {

constexpr auto headers = std::to_array<std::string_view>({"if", "elif", "else", "for", "while", "with", "try", "except",
                                                          "finally", "def", "class", "async", "match", "case"});
constexpr auto augmented =
    std::to_array<std::string_view>({"+=", "-=", "*=", "/=", "//=", "%=", "**=", "&=", "|=", "^=", ">>=", "<<=", "@="});
// Words that a bracket may follow without a call.
constexpr auto words = std::to_array<std::string_view>(
    {"and",    "as", "assert", "await",  "del", "elif", "else",  "except", "exec",   "for",   "from", "if",
     "import", "in", "is",     "lambda", "not", "or",   "print", "raise",  "return", "while", "with", "yield"});

/// Tokens of a simple statement, and the scope that it stands in.
struct Statement {
  Tokens range{};
  int scope = 0;
};

class Script {
 public:
  Script(const Source& source, const ReadBudget& budget)
      : source_(source), tokens_(python_tokens(source, budget)), values_(source, tokens_, bindings_, budget) {}

  Node root() {
    for (std::size_t begin = 0; begin < tokens_.size();) {
      std::size_t end = begin;
      while (end < tokens_.size() && tokens_[end].kind != Token::Kind::line_end) ++end;
      if (end > begin) line({begin, end});
      begin = end + 1;
    }
    Node out;
    out.kind = Node::Kind::mapping;
    out.line = out.column = 1;
    Node steps = out;
    steps.kind = Node::Kind::sequence;
    for (const Statement& one : statements_) {
      assigned(one, steps);
      calls(one, steps);
    }
    out.entries.push_back({"imports", 1, 1, std::move(imports_)});
    out.entries.push_back({"steps", 1, 1, std::move(steps)});
    return out;
  }

 private:
  struct Suite {
    int indent = 0;  ///< Of the line that begins it.
    int scope = 0;   ///< Of what stands in it.
  };

  bool is_word(std::size_t at, std::string_view word) const {
    return at < tokens_.size() && tokens_[at].kind == Token::Kind::name && tokens_[at].text == word;
  }
  bool is_name(std::size_t at) const { return at < tokens_.size() && tokens_[at].kind == Token::Kind::name; }
  template <class Words>
  bool is_any(std::size_t at, const Words& those) const {
    return is_name(at) && std::ranges::count(those, tokens_[at].text) > 0;
  }
  bool mark(std::size_t at, std::string_view text) const { return values_.is_mark(at, text); }

  // ---- Lines -------------------------------------------------------------------------------------------------------

  void line(Tokens range) {
    const int indent = tokens_[range.begin].indent;
    if (dead_ && indent > *dead_) return;
    dead_.reset();
    while (!suites_.empty() && suites_.back().indent >= indent) suites_.pop_back();
    const int scope = suites_.empty() ? 0 : suites_.back().scope;
    if (!is_any(range.begin, headers) || is_soft(range)) return simple(range, scope);
    header(range, indent, scope);
  }

  // match and case are names elsewhere.
  bool is_soft(Tokens range) const {
    const bool soft = is_word(range.begin, "match") || is_word(range.begin, "case");
    return soft && !mark(range.end - 1, ":");
  }

  void header(Tokens range, int indent, int scope) {
    const bool never = (is_word(range.begin, "if") || is_word(range.begin, "while")) && range.end - range.begin > 2 &&
                       (is_word(range.begin + 1, "False") || tokens_[range.begin + 1].text == "0") &&
                       mark(range.begin + 2, ":");
    if (never) {
      dead_ = indent;
      return;
    }
    const std::size_t word = range.begin + (is_word(range.begin, "async") ? 1 : 0);
    const bool scoped = is_word(word, "def") || is_word(word, "class");
    const std::size_t colon = colon_of(range);
    const int inner = scoped ? ++scopes_ : scope;
    if (scoped && is_name(word + 1)) bind(scope, word + 1);
    if (is_word(word, "def")) parameters(word + 2, inner);
    if (is_word(word, "for")) bind_up_to(word + 1, colon, "in", scope);
    if (is_word(word, "with") || is_word(word, "except")) bind_after_as(word + 1, colon, scope);
    if (!scoped) statements_.push_back({{word + 1, colon}, scope});
    suites_.push_back({indent, inner});
    if (colon + 1 < range.end) simple({colon + 1, range.end}, inner);
  }

  /// The header's end; of a lambda's or an annotation's colon it is none.
  std::size_t colon_of(Tokens range) const {
    int lambdas = 0;
    for (std::size_t i = range.begin; i < range.end; ++i) {
      if (mark(i, "(") || mark(i, "[") || mark(i, "{")) i = values_.matching(i);
      if (is_word(i, "lambda")) ++lambdas;
      if (mark(i, ":") && lambdas-- == 0) return i;
    }
    return range.end;
  }

  void parameters(std::size_t open, int scope) {
    if (!mark(open, "(")) return;
    for (const Tokens& part : values_.parts({open + 1, values_.matching(open)})) {
      std::size_t at = part.begin;
      while (mark(at, "*") || mark(at, "**")) ++at;
      if (at < part.end && is_name(at)) bind(scope, at);
    }
  }

  void bind_up_to(std::size_t at, std::size_t end, std::string_view word, int scope) {
    for (; at < end && !is_word(at, word); ++at) {
      if (is_name(at)) bind(scope, at);
    }
  }

  void bind_after_as(std::size_t at, std::size_t end, int scope) {
    for (; at + 1 < end; ++at) {
      if (is_word(at, "as") && is_name(at + 1)) bind(scope, at + 1);
    }
  }

  void bind(int scope, std::size_t name) { bindings_[{scope, tokens_[name].text}].other = true; }

  // ---- Simple statements -------------------------------------------------------------------------------------------

  void simple(Tokens range, int scope) {
    for (const Tokens& part : values_.parts(range, ";")) {
      if (part.empty()) continue;
      statements_.push_back({part, scope});
      if (is_word(part.begin, "import") || is_word(part.begin, "from")) {
        import(part, scope);
      } else if (is_word(part.begin, "global") || is_word(part.begin, "nonlocal") || is_word(part.begin, "del")) {
        for (std::size_t i = part.begin + 1; i < part.end; ++i) {
          if (is_name(i)) bind(0, i), bind(scope, i);
        }
      } else {
        bind_assigned(part, scope);
      }
    }
  }

  void import(Tokens range, int scope) {
    const bool from = is_word(range.begin, "from");
    std::size_t names = range.begin + 1;
    if (from) {
      imports_.items.push_back(values_.made(Node::Kind::string, names, path_at(names, range.end)));
      while (names < range.end && !is_word(names, "import")) ++names;
      ++names;
    }
    Tokens rest{std::min(names, range.end), range.end};
    if (mark(rest.begin, "(")) rest = {rest.begin + 1, values_.matching(rest.begin)};
    for (const Tokens& part : values_.parts(rest)) {
      if (!is_name(part.begin)) continue;
      if (!from) imports_.items.push_back(values_.made(Node::Kind::string, part.begin, path_at(part.begin, part.end)));
      const bool renamed = part.end - part.begin > 2 && is_word(part.end - 2, "as");
      bind(scope, renamed && is_name(part.end - 1) ? part.end - 1 : part.begin);
    }
  }

  /// "a.b.c" from there on.
  std::string path_at(std::size_t at, std::size_t end) const {
    std::string out;
    for (; at < end && (mark(at, ".") || (is_name(at) && (out.empty() || out.ends_with('.')))); ++at) {
      out += tokens_[at].text;
    }
    return out;
  }

  /// The ranges that marks of assignment part: the targets, and what they get; one where nothing is assigned.
  std::vector<Tokens> sides(Tokens range) const {
    for (std::size_t i = range.begin; i < range.end; ++i) {
      if (is_word(i, "lambda")) return {range};
      if (mark(i, "=")) break;
    }
    return values_.parts(range, "=");
  }

  void bind_assigned(Tokens range, int scope) {
    for (std::size_t i = range.begin; i + 1 < range.end; ++i) {
      const bool changed = tokens_[i + 1].kind == Token::Kind::mark &&
                           (std::ranges::count(augmented, tokens_[i + 1].text) > 0 || tokens_[i + 1].text == ":=");
      if (is_name(i) && changed) bind(scope, i);
    }
    const std::vector<Tokens> all = sides(range);
    for (std::size_t i = 0; i + 1 < all.size(); ++i) bind_target(all[i], all.back(), scope);
  }

  void bind_target(Tokens target, Tokens value, int scope) {
    if (target.empty() || value.empty() || !is_name(target.begin)) {
      return bind_all(target, scope);
    }
    const bool plain = target.end - target.begin == 1 || mark(target.begin + 1, ":");
    if (plain) {
      bindings_[{scope, tokens_[target.begin].text}].values.push_back(value);
    } else if (!mark(target.begin + 1, ".") && !mark(target.begin + 1, "[")) {
      bind_all(target, scope);
    } else {
      // A list or mapping that is changed is not what it was.
      bind(scope, target.begin);
    }
  }

  void bind_all(Tokens target, int scope) {
    for (std::size_t i = target.begin; i < target.end; ++i) {
      if (is_name(i)) bind(scope, i);
    }
  }

  // ---- What a script does ------------------------------------------------------------------------------------------

  Entry entry(std::string_view key, std::size_t token, Node node) {
    values_.count(tokens_[token].begin);
    const Location where = source_.at(tokens_[token].begin);
    return {std::string(key), where.line, where.column, std::move(node)};
  }

  void assigned(const Statement& one, Node& steps) {
    if (tokens_[one.range.begin].kind == Token::Kind::shell) {
      Node step = values_.made(Node::Kind::mapping, one.range.begin);
      const std::string& text = tokens_[one.range.begin].text;
      step.entries.push_back(entry("shell", one.range.begin, values_.made(Node::Kind::string, one.range.begin, text)));
      steps.items.push_back(std::move(step));
      return;
    }
    const std::vector<Tokens> all = sides(one.range);
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
      const std::string target = member_of(all[i]);
      if (target.empty() || all.back().empty()) continue;
      Node step = values_.made(Node::Kind::mapping, all[i].begin);
      step.entries.push_back(entry("set", all[i].begin, values_.made(Node::Kind::string, all[i].begin, target)));
      step.entries.push_back(entry("value", all[i].begin, values_.value(all.back(), one.scope)));
      steps.items.push_back(std::move(step));
    }
  }

  /// "args.max_steps" of `args.max_steps`, and "os.environ.NAME" of `os.environ["NAME"]`; empty of anything else.
  std::string member_of(Tokens range) const {
    if (range.end - range.begin < 3 || !is_name(range.begin)) return {};
    std::size_t at = range.begin + 1;
    std::string out = tokens_[range.begin].text;
    for (; at + 1 < range.end && mark(at, ".") && is_name(at + 1); at += 2) out += "." + tokens_[at + 1].text;
    const bool item = at + 3 == range.end && mark(at, "[") && tokens_[at + 1].kind == Token::Kind::string;
    if (item) return out + "." + tokens_[at + 1].text;
    return at == range.end ? out : std::string();
  }

  void calls(const Statement& one, Node& steps) {
    for (std::size_t i = one.range.begin + 1; i < one.range.end; ++i) {
      if (mark(i, "(") && is_name(i - 1) && !is_any(i - 1, words)) call(i, one, steps);
    }
  }

  void call(std::size_t open, const Statement& one, Node& steps) {
    std::size_t first = open - 1;
    while (first >= one.range.begin + 2 && mark(first - 1, ".") && is_name(first - 2)) first -= 2;
    std::string name = first > one.range.begin && mark(first - 1, ".") ? "." : "";
    for (std::size_t i = first; i < open; ++i) name += tokens_[i].text;
    Node step = values_.made(Node::Kind::mapping, first);
    step.entries.push_back(entry("call", first, values_.made(Node::Kind::string, first, std::move(name))));
    PythonValues::CallArguments inside = values_.arguments({open + 1, values_.matching(open)}, one.scope);
    step.entries.push_back(entry("positional", open, std::move(inside.positional)));
    step.entries.push_back(entry("keywords", open, std::move(inside.keywords)));
    steps.items.push_back(std::move(step));
  }

  const Source& source_;
  std::vector<Token> tokens_;
  Bindings bindings_;
  PythonValues values_;
  std::vector<Statement> statements_;
  std::vector<Suite> suites_;
  std::optional<int> dead_;  // the indent of an `if False:` whose suite this is
  int scopes_ = 0;
  Node imports_{Node::Kind::sequence, {}, 1, 1, {}, {}};
};

}  // namespace

Node parse_python(const Source& source, const ReadBudget& budget) { return Script(source, budget).root(); }

}  // namespace oomplan::read
