#include "python_value.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>

#include "oomplan/core/text.hpp"
#include "tape.hpp"

namespace oomplan::read {
namespace {

constexpr std::size_t longest_expression = 200;
constexpr int deepest = 256;     // trees are built and destroyed by recursion
constexpr int levels_above = 6;  // of a value in the document

/// An integer or a real number of Python; integers here end at 64 bits.
struct Number {
  bool real = false;
  std::int64_t whole = 0;
  double broken = 0;

  double as_real() const { return real ? broken : static_cast<double>(whole); }
};

std::optional<Number> number_of(std::string text) {
  std::erase(text, '_');
  const std::string_view view = text;
  std::int64_t whole = 0;
  const auto reads = [&](std::string_view digits, int base) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), whole, base);
    return error == std::errc{} && end == digits.data() + digits.size();
  };
  if (view.starts_with("0x") || view.starts_with("0X"))
    return reads(view.substr(2), 16) ? std::optional(Number{false, whole}) : std::nullopt;
  const bool zeros = view.size() > 1 && view.front() == '0' && view.find_first_not_of("0123456789") == view.npos;
  if (!zeros && reads(view, 10)) return Number{false, whole};
  if (view.find_first_not_of("0123456789.eE+-") != view.npos || view.find_first_of(".eE") == view.npos)
    return std::nullopt;
  const std::optional<double> real = parse_number(text);
  return real && std::isfinite(*real) ? std::optional(Number{true, 0, *real}) : std::nullopt;
}

std::string text_of(const Number& number) {
  char buffer[40];
  const auto end = number.real ? std::to_chars(buffer, buffer + sizeof buffer, number.broken).ptr
                               : std::to_chars(buffer, buffer + sizeof buffer, number.whole).ptr;
  std::string out(buffer, end);
  return number.real && out.find_first_of(".e") == out.npos ? out + ".0" : out;
}

std::optional<Number> of_node(const Node& node) {
  const bool is_number = node.kind == Node::Kind::integer || node.kind == Node::Kind::real;
  if (!is_number) return std::nullopt;
  const bool negative = node.text.starts_with('-');
  std::optional<Number> out = number_of(node.text.substr(negative ? 1 : 0));
  if (out && negative) {
    out->whole = -out->whole;
    out->broken = -out->broken;
  }
  return out;
}

// Python's // and % round towards minus infinity.
std::int64_t floored(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a % b < 0) != (b < 0) ? 1 : 0); }

std::optional<Number> of_reals(double a, double b, std::string_view mark) {
  double out = 0;
  if (mark == "+") out = a + b;
  if (mark == "-") out = a - b;
  if (mark == "*") out = a * b;
  if (mark == "**") out = std::pow(a, b);
  if ((mark == "/" || mark == "//" || mark == "%") && b == 0) return std::nullopt;
  if (mark == "/") out = a / b;
  if (mark == "//") out = std::floor(a / b);
  if (mark == "%") out = a - std::floor(a / b) * b;
  return std::isfinite(out) ? std::optional(Number{true, 0, out}) : std::nullopt;
}

std::optional<std::int64_t> power(std::int64_t base, std::int64_t exponent) {
  std::int64_t out = 1;
  for (std::int64_t i = 0; i < exponent; ++i) {
    if (__builtin_mul_overflow(out, base, &out)) return std::nullopt;
    if (out == 0 || out == 1) break;
    if (out == -1) return exponent % 2 == 0 ? 1 : -1;
  }
  return out;
}

std::optional<Number> worked_out(const Number& a, const Number& b, std::string_view mark) {
  const bool whole = !a.real && !b.real && mark != "/" && !(mark == "**" && b.whole < 0);
  if (!whole) return of_reals(a.as_real(), b.as_real(), mark);
  std::int64_t out = 0;
  bool bad = false;
  if (mark == "+") bad = __builtin_add_overflow(a.whole, b.whole, &out);
  if (mark == "-") bad = __builtin_sub_overflow(a.whole, b.whole, &out);
  if (mark == "*") bad = __builtin_mul_overflow(a.whole, b.whole, &out);
  if (mark == "//" || mark == "%") {
    bad = b.whole == 0 || (a.whole == std::numeric_limits<std::int64_t>::min() && b.whole == -1);
    if (!bad) out = floored(a.whole, b.whole);
    if (!bad && mark == "%") out = a.whole - out * b.whole;
  }
  if (mark == "**") {
    const auto value = power(a.whole, b.whole);
    bad = !value;
    out = value.value_or(0);
  }
  return bad ? std::nullopt : std::optional(Number{false, out});
}

/// With one space for each run of space, and shortened.
std::string one_line(std::string_view text, std::size_t most) {
  std::string out;
  for (const char c : text) {
    const bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!space) out += c;
    if (space && !out.ends_with(' ')) out += ' ';
    if (out.size() > most) break;
  }
  if (out.size() <= most) return out;
  out.resize(most);
  out.resize(valid_utf8(out));
  return out + "…";
}

std::size_t nodes_in(const Node& node) {
  std::size_t out = 1;
  for (const Node& item : node.items) out += nodes_in(item);
  for (const Entry& entry : node.entries) out += 1 + nodes_in(entry.value);
  return out;
}

}  // namespace

// Reads a range by Python's precedence as far as it is a value; nothing where it is more.
class PythonValues::Reader {
 public:
  Reader(PythonValues& all, Tokens range, int scope) : all_(all), at_(range.begin), end_(range.end), scope_(scope) {}

  std::optional<Node> whole() {
    std::optional<Node> out = sum();
    return out && at_ == end_ ? std::move(out) : std::nullopt;
  }

 private:
  // Names and brackets may lie within each other; a chain of signs too.
  class Deeper {
   public:
    Deeper(PythonValues& all, std::size_t offset) : all_(all) {
      if (++all_.depth_ > all_.budget_.depth) {
        const int most = all_.budget_.depth;
        all_.depth_ = 0;
        refuse_depth(all_.source_, offset, most);
      }
    }
    ~Deeper() { --all_.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

   private:
    PythonValues& all_;
  };

  bool here(std::string_view mark) const { return at_ < end_ && all_.is_mark(at_, mark); }
  const Token& token() const { return all_.tokens_[at_]; }

  template <class Operand>
  std::optional<Node> chain(Operand operand, std::initializer_list<std::string_view> marks) {
    std::optional<Node> left = (this->*operand)();
    while (left && at_ < end_) {
      const auto* mark = std::ranges::find_if(marks, [&](std::string_view one) { return here(one); });
      if (mark == marks.end()) break;
      ++at_;
      const std::optional<Node> right = (this->*operand)();
      left = right ? joined(*left, *right, *mark) : std::nullopt;
    }
    return left;
  }

  std::optional<Node> sum() { return chain(&Reader::product, {"+", "-"}); }
  std::optional<Node> product() { return chain(&Reader::sign, {"*", "//", "/", "%"}); }

  std::optional<Node> sign() {
    if (!here("-") && !here("+")) return raised();
    const std::size_t begin = at_;
    const Deeper deeper(all_, token().begin);
    const bool negative = here("-");
    ++at_;
    const std::optional<Node> value = sign();
    const auto number = value ? of_node(*value) : std::nullopt;
    if (!number) return std::nullopt;
    if (!negative) return value;
    const auto out = worked_out({false, 0}, *number, "-");
    return out ? std::optional(numeric(*out, begin)) : std::nullopt;
  }

  std::optional<Node> raised() {
    std::optional<Node> base = atom();
    if (!base || !here("**")) return base;
    const Deeper deeper(all_, token().begin);
    ++at_;
    const std::optional<Node> exponent = sign();
    return exponent ? joined(*base, *exponent, "**") : std::nullopt;
  }

  std::optional<Node> joined(const Node& left, const Node& right, std::string_view mark) const {
    const auto a = of_node(left);
    const auto b = of_node(right);
    const auto out = a && b ? worked_out(*a, *b, mark) : std::nullopt;
    if (!out) return std::nullopt;
    Node node = left;
    node.kind = out->real ? Node::Kind::real : Node::Kind::integer;
    node.text = text_of(*out);
    return node;
  }

  Node numeric(const Number& number, std::size_t at) {
    return all_.made(number.real ? Node::Kind::real : Node::Kind::integer, at, text_of(number));
  }

  std::optional<Node> atom() {
    if (at_ >= end_) return std::nullopt;
    std::optional<Node> out;
    switch (token().kind) {
      case Token::Kind::number:
        if (const auto number = number_of(token().text)) out = numeric(*number, at_);
        ++at_;
        break;
      case Token::Kind::string:
        out = text();
        break;
      case Token::Kind::name:
        out = name();
        break;
      case Token::Kind::mark:
        out = bracket();
        break;
      default:
        break;
    }
    // A call, a part or a member of it is no value.
    return here(".") || here("(") || here("[") ? std::nullopt : std::move(out);
  }

  std::optional<Node> text() {
    const std::size_t begin = at_;
    std::string value;
    for (; at_ < end_ && token().kind == Token::Kind::string; ++at_) {
      if (!token().fixed) return std::nullopt;
      value += token().text;
    }
    return all_.made(Node::Kind::string, begin, std::move(value));
  }

  std::optional<Node> name() {
    const std::size_t at = at_++;
    const std::string& word = all_.tokens_[at].text;
    if (word == "None") return all_.made(Node::Kind::null, at);
    if (word == "True" || word == "False") return all_.made(Node::Kind::boolean, at, word == "True" ? "true" : "false");
    if (word == "dict" && here("(")) return keywords_of_dict();
    if (here("(") || here(".") || here("[")) return std::nullopt;
    return bound(word, at);
  }

  std::optional<Node> keywords_of_dict() {
    const std::size_t close = all_.matching(at_);
    const Deeper deeper(all_, token().begin);
    CallArguments inside = all_.arguments({at_ + 1, close}, scope_);
    at_ = close + 1;
    if (!inside.positional.items.empty()) return std::nullopt;
    return std::move(inside.keywords);
  }

  // All that a name may stand for must be one value.
  std::optional<Node> bound(const std::string& word, std::size_t at) {
    for (const int scope : {scope_, 0}) {
      const auto found = all_.bindings_.find(std::pair(scope, word));
      if (found == all_.bindings_.end()) continue;
      if (found->second.other || found->second.values.empty()) return std::nullopt;
      const Deeper deeper(all_, all_.tokens_[at].begin);
      std::optional<Node> out;
      for (const Tokens& range : found->second.values) {
        std::optional<Node> value = Reader(all_, range, scope).whole();
        if (!value || (out && !same(*out, *value))) return std::nullopt;
        if (!out) out = std::move(value);
      }
      all_.count(all_.tokens_[at].begin, nodes_in(*out));
      return out;
    }
    return std::nullopt;
  }

  static bool same(const Node& a, const Node& b) {
    const auto entry = [](const Entry& x, const Entry& y) { return x.key == y.key && same(x.value, y.value); };
    return a.kind == b.kind && a.text == b.text && std::ranges::equal(a.items, b.items, same) &&
           std::ranges::equal(a.entries, b.entries, entry);
  }

  std::optional<Node> bracket() {
    const std::string open = token().text;
    if (open != "(" && open != "[" && open != "{") return std::nullopt;
    const Deeper deeper(all_, token().begin);
    const std::size_t at = at_;
    const std::size_t close = all_.matching(at);
    const Tokens inside{at + 1, close};
    at_ = close + 1;
    if (open == "{") return mapping(at, inside);
    const auto parts = all_.parts(inside);
    const bool tuple = inside.empty() || all_.is_mark(close - 1, ",") || parts.size() > 1;
    if (open == "(" && !tuple) return Reader(all_, inside, scope_).whole();
    Node out = all_.made(Node::Kind::sequence, at);
    for (const Tokens& part : parts) {
      std::optional<Node> item = Reader(all_, part, scope_).whole();
      if (!item) return std::nullopt;
      out.items.push_back(*std::move(item));
    }
    return out;
  }

  std::optional<Node> mapping(std::size_t at, Tokens inside) {
    Node out = all_.made(Node::Kind::mapping, at);
    std::set<std::string> seen;
    for (const Tokens& part : all_.parts(inside)) {
      const auto sides = all_.parts(part, ":");
      if (sides.size() != 2) return std::nullopt;
      const std::optional<Node> key = Reader(all_, sides[0], scope_).whole();
      std::optional<Node> value = Reader(all_, sides[1], scope_).whole();
      // Of a key that is given twice Python takes the last; a reader of values has no need to.
      if (!key || !value || !key->is_scalar() || !seen.insert(key->text).second) return std::nullopt;
      out.entries.push_back({key->text, key->line, key->column, *std::move(value)});
    }
    return out;
  }

  PythonValues& all_;
  std::size_t at_;
  std::size_t end_;
  int scope_;
};

PythonValues::PythonValues(const Source& source, const std::vector<Token>& tokens, const Bindings& bindings,
                           const ReadBudget& budget)
    : source_(source), tokens_(tokens), bindings_(bindings), budget_(budget), matches_(tokens.size()) {
  budget_.depth = std::min(budget_.depth, deepest) - levels_above;
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind != Token::Kind::mark) continue;
    if (is_mark(i, "(") || is_mark(i, "[") || is_mark(i, "{")) open.push_back(i);
    if (!is_mark(i, ")") && !is_mark(i, "]") && !is_mark(i, "}")) continue;
    matches_[open.back()] = i;
    open.pop_back();
  }
}

bool PythonValues::is_mark(std::size_t at, std::string_view text) const {
  return at < tokens_.size() && tokens_[at].kind == Token::Kind::mark && tokens_[at].text == text;
}

std::vector<Tokens> PythonValues::parts(Tokens range, std::string_view comma) const {
  std::vector<Tokens> out;
  std::size_t begin = range.begin;
  for (std::size_t i = range.begin; i < range.end; ++i) {
    if (is_mark(i, "(") || is_mark(i, "[") || is_mark(i, "{")) i = matches_[i];
    if (!is_mark(i, comma)) continue;
    out.push_back({begin, i});
    begin = i + 1;
  }
  if (begin < range.end) out.push_back({begin, range.end});
  return out;
}

void PythonValues::count(std::size_t offset, std::size_t nodes) {
  nodes_ += nodes;
  if (nodes_ > static_cast<std::size_t>(budget_.nodes)) refuse_nodes(source_, offset, budget_.nodes);
}

Node PythonValues::made(Node::Kind kind, std::size_t token, std::string text) {
  const std::size_t offset = tokens_[token].begin;
  count(offset);
  bytes_ += text.size();
  if (bytes_ > budget_.bytes) {
    const Bytes most(static_cast<std::int64_t>(budget_.bytes));
    source_.refuse(offset, "read/too-large", "more than " + to_text(most) + " of text");
  }
  const Location where = source_.at(offset);
  return {kind, std::move(text), where.line, where.column, {}, {}};
}

Node PythonValues::expression(Tokens range) {
  const std::size_t begin = tokens_[range.begin].begin;
  const std::string_view text = source_.text().substr(begin, tokens_[range.end - 1].end - begin);
  return made(Node::Kind::expression, range.begin, one_line(text, longest_expression));
}

bool PythonValues::is_name(Tokens range) const {
  return range.end - range.begin == 1 && tokens_[range.begin].kind == Token::Kind::name;
}

/// Of a name that is given something once, that.
Tokens PythonValues::written(Tokens range, int scope) const {
  if (!is_name(range)) return range;
  for (const int one : {scope, 0}) {
    const auto found = bindings_.find(std::pair(one, tokens_[range.begin].text));
    if (found == bindings_.end()) continue;
    return found->second.other || found->second.values.size() != 1 ? range : found->second.values.front();
  }
  return range;
}

/// `n - name`, where n is a value.
void PythonValues::add_difference(Node& node, Tokens range, int scope) {
  const auto sides = parts(written(range, scope), "-");
  if (sides.size() != 2 || sides[0].empty() || !is_name(sides[1])) return;
  std::optional<Node> from = Reader(*this, sides[0], scope).whole();
  if (!from) return;
  node.items = {*std::move(from), expression(sides[1])};
}

Node PythonValues::value(Tokens range, int scope) {
  if (std::optional<Node> out = Reader(*this, range, scope).whole()) return *std::move(out);
  Node out = expression(range);
  add_difference(out, range, scope);
  return out;
}

PythonValues::CallArguments PythonValues::arguments(Tokens inside, int scope) {
  const std::size_t open = inside.begin - 1;
  CallArguments out{made(Node::Kind::sequence, open), made(Node::Kind::mapping, open)};
  std::set<std::string, std::less<>> seen;
  const auto add = [&](std::string key, int line, int column, Node node, std::size_t offset) {
    if (!seen.insert(key).second) source_.refuse(offset, "read/duplicate-key", "argument '" + key + "' is given twice");
    count(offset);
    out.keywords.entries.push_back({std::move(key), line, column, std::move(node)});
  };
  for (const Tokens& part : parts(inside)) {
    if (part.empty()) continue;
    const Token& first = tokens_[part.begin];
    const Location where = source_.at(first.begin);
    if (first.kind == Token::Kind::name && part.end - part.begin > 2 && is_mark(part.begin + 1, "=")) {
      add(first.text, where.line, where.column, value({part.begin + 2, part.end}, scope), first.begin);
    } else if (is_mark(part.begin, "**") && part.end - part.begin > 1) {
      Node rest = value({part.begin + 1, part.end}, scope);
      if (!rest.is_mapping()) add("**", where.line, where.column, std::move(rest), first.begin);
      for (Entry& entry : rest.entries) {
        add(std::move(entry.key), entry.line, entry.column, std::move(entry.value), first.begin);
      }
    } else {
      out.positional.items.push_back(value(part, scope));
    }
  }
  return out;
}

}  // namespace oomplan::read
