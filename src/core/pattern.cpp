#include "oomplan/core/pattern.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>

namespace oomplan {
namespace {

using Letters = std::bitset<256>;

constexpr std::size_t unbounded = std::numeric_limits<std::size_t>::max();
constexpr std::size_t deepest = 16;
constexpr std::size_t longest = 4096;
constexpr std::int64_t most_steps = 20'000;
constexpr int most_frames = 1'000;

std::size_t code(char c) { return static_cast<unsigned char>(c); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

Letters between(char first, char last) {
  Letters out;
  for (std::size_t i = code(first); i <= code(last); ++i) out.set(i);
  return out;
}

/// What follows a backslash; nothing for what means more than a letter.
std::optional<Letters> escaped(char c) {
  const Letters digits = between('0', '9');
  const Letters words = digits | between('a', 'z') | between('A', 'Z') | between('_', '_');
  if (c == 'd') return digits;
  if (c == 'D') return ~digits;
  if (c == 'w') return words;
  if (c == 'W') return ~words;
  if (c == 's') return between('\t', '\r') | between(' ', ' ');
  if (words.test(code(c))) return std::nullopt;
  return between(c, c);
}

}  // namespace

bool is_module_name(std::string_view text) {
  const Letters plain =
      between('0', '9') | between('a', 'z') | between('A', 'Z') | between('_', '_') | between('-', '.');
  for (const char c : text) {
    if (!plain.test(code(c))) return false;
  }
  return true;
}

bool is_expression(const std::vector<std::string>& targets) {
  return targets.size() == 1 && !is_module_name(targets.front());
}

class Pattern::Reader {
 public:
  Reader(std::string_view text, std::vector<std::vector<Sequence>>& groups) : text_(text), groups_(groups) {}

  bool whole() {
    groups_.emplace_back();
    return group(0, 0) && at_ == text_.size();
  }

 private:
  bool ends() const { return at_ == text_.size(); }
  bool is(char c) const { return !ends() && text_[at_] == c; }
  bool take(char c) {
    if (!is(c)) return false;
    ++at_;
    return true;
  }

  bool group(std::size_t index, std::size_t depth) {
    if (depth > deepest) return false;
    do {
      Sequence sequence;
      while (!ends() && !is('|') && !is(')')) {
        if (!piece(sequence, depth)) return false;
      }
      groups_[index].push_back(std::move(sequence));
    } while (take('|'));
    return true;
  }

  bool piece(Sequence& sequence, std::size_t depth) {
    Piece out;
    if (!one(out, depth) || !repeat(out)) return false;
    const bool repeated = out.least != 1 || out.most != 1;
    if (repeated && (out.kind == Kind::begin || out.kind == Kind::end)) return false;
    sequence.push_back(out);
    return true;
  }

  bool one(Piece& out, std::size_t depth) {
    const char c = text_[at_++];
    if (c == '(') return inner(out, depth);
    if (c == '[') return letters(out.letters);
    if (c == '^' || c == '$') out.kind = c == '^' ? Kind::begin : Kind::end;
    if (out.kind != Kind::letter) return true;
    if (c == '\\') return escape(out.letters);
    if (c == '*' || c == '+' || c == '?' || c == '{' || c == '}' || c == ']') return false;
    out.letters = c == '.' ? ~between('\n', '\n') : between(c, c);
    return true;
  }

  bool inner(Piece& out, std::size_t depth) {
    if (take('?') && !take(':')) return false;
    out.kind = Kind::group;
    out.group = groups_.size();
    groups_.emplace_back();
    return group(out.group, depth + 1) && take(')');
  }

  bool escape(Letters& out) {
    if (ends()) return false;
    const auto found = escaped(text_[at_++]);
    if (found) out |= *found;
    return found.has_value();
  }

  bool letters(Letters& out) {
    const bool other = take('^');
    if (is(']')) return false;
    while (!ends() && !is(']')) {
      if (!letter(out)) return false;
    }
    if (other) out.flip();
    return take(']');
  }

  bool letter(Letters& out) {
    const char first = text_[at_++];
    const auto spans = [&] { return is('-') && at_ + 1 < text_.size() && text_[at_ + 1] != ']'; };
    if (first == '\\') return escape(out) && !spans();
    const bool span = spans();
    const char last = span ? text_[at_ + 1] : first;
    if (span) at_ += 2;
    if (last == '\\' || code(last) < code(first)) return false;
    out |= between(first, last);
    return true;
  }

  bool repeat(Piece& out) {
    if (take('*')) {
      out.least = 0;
      out.most = unbounded;
    } else if (take('+')) {
      out.most = unbounded;
    } else if (take('?')) {
      out.least = 0;
    } else if (take('{')) {
      if (!bounds(out)) return false;
    } else {
      return true;
    }
    take('?');  // What is matched is the same.
    return !is('*') && !is('+') && !is('?') && !is('{');
  }

  std::optional<std::size_t> number() {
    std::size_t out = 0;
    const std::size_t from = at_;
    while (!ends() && is_digit(text_[at_]) && at_ - from < 4) out = out * 10 + code(text_[at_++]) - code('0');
    return at_ == from ? std::nullopt : std::optional(out);
  }

  bool bounds(Piece& out) {
    const auto least = number();
    if (!least) return false;
    out.least = out.most = *least;
    if (take(',')) out.most = number().value_or(unbounded);
    return take('}') && out.least <= out.most;
  }

  std::string_view text_;
  std::vector<std::vector<Sequence>>& groups_;
  std::size_t at_ = 0;
};

/// Tries one way after the other, within a budget: nested repetitions have very many.
class Pattern::Matcher {
 public:
  using Next = std::function<bool(std::size_t)>;

  Matcher(const Pattern& pattern, std::string_view name, Budget& budget)
      : groups_(pattern.groups_), name_(name), budget_(budget) {}

  bool group(std::size_t index, std::size_t at, const Next& next) {
    for (const Sequence& sequence : groups_[index]) {
      if (run(sequence, 0, at, next)) return true;
    }
    return false;
  }

  bool gave_up() const { return gave_up_; }

 private:
  bool run(const Sequence& sequence, std::size_t piece, std::size_t at, const Next& next) {
    if (is_spent() || frames_ > most_frames) gave_up_ = true;
    if (gave_up_) return false;
    if (piece == sequence.size()) return next(at);
    ++frames_;
    const bool out = repeat(sequence, piece, at, 0, next);
    --frames_;
    return out;
  }

  bool repeat(const Sequence& sequence, std::size_t piece, std::size_t at, std::size_t done, const Next& next) {
    const Piece& p = sequence[piece];
    const auto again = [&](std::size_t after) {
      if (after == at && done >= p.least) return false;  // An empty turn brings no other.
      return ++frames_ <= most_frames ? counted(repeat(sequence, piece, after, done + 1, next)) : give_up();
    };
    if (done < p.most && one(p, at, again)) return true;
    return !gave_up_ && done >= p.least && run(sequence, piece + 1, at, next);
  }

  bool is_spent() { return ++steps_ > most_steps || --budget_.steps < 0; }
  bool counted(bool out) {
    --frames_;
    return out;
  }
  bool give_up() {
    gave_up_ = true;
    return false;
  }

  bool one(const Piece& p, std::size_t at, const Next& next) {
    if (is_spent()) return give_up();
    if (p.kind == Kind::group) return group(p.group, at, next);
    if (p.kind == Kind::begin) return at == 0 && next(at);
    if (p.kind == Kind::end) return at == name_.size() && next(at);
    return at < name_.size() && p.letters.test(code(name_[at])) && next(at + 1);
  }

  const std::vector<std::vector<Sequence>>& groups_;
  std::string_view name_;
  Budget& budget_;
  std::int64_t steps_ = 0;
  int frames_ = 0;
  bool gave_up_ = false;
};

std::optional<Pattern> Pattern::parse(std::string_view text) {
  Pattern out;
  const bool ascii = std::ranges::all_of(text, [](char c) { return code(c) < 0x80; });
  if (!ascii || text.size() > longest || !Reader(text, out.groups_).whole()) return std::nullopt;
  return out;
}

std::optional<bool> Pattern::matches(std::string_view name, bool whole, Budget& budget) const {
  Matcher matcher(*this, name, budget);
  const bool found = matcher.group(0, 0, [&](std::size_t at) { return !whole || at == name.size(); });
  return matcher.gave_up() && !found ? std::nullopt : std::optional(found);
}

}  // namespace oomplan
