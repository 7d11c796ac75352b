#include "matcher.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "hole.hpp"
#include "oomplan/core/last_byte.hpp"

namespace oomplan::diagnose {
namespace {

constexpr int most_steps = 4000;

bool space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }
char small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool same(char written, char wanted, Letters letters) {
  return written == wanted || (letters == Letters::any && small(written) == wanted);
}
bool starts_with(std::string_view text, std::string_view wanted, Letters letters) {
  return text.size() >= wanted.size() &&
         std::equal(wanted.begin(), wanted.end(), text.begin(),
                    [letters](char want, char written) { return same(written, want, letters); });
}
bool control(char c) { return static_cast<unsigned char>(c) < 0x20 && !space(c); }

struct Captured {
  const Hole* hole = nullptr;
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct Thread {
  std::size_t pc = 0;
  std::size_t at = 0;
  std::size_t captured = 0;
  std::size_t reach = 0;  // of an open hole: where the next try for its end begins; 0 for none
};

class Matcher {
 public:
  Matcher(const Program& program, std::string_view text, Letters letters)
      : program_(program), text_(text), letters_(letters) {
    stack_.reserve(16);
    captured_.reserve(8);
  }

  /// May be called again: most sentences are tried at several places.
  Attempt run(std::size_t begin) {
    stack_.clear();
    captured_.clear();
    steps_ = 0;
    wants_more_ = false;
    stack_.push_back({0, begin, 0, 0});
    while (!stack_.empty() && steps_ < most_steps) {
      const Thread thread = stack_.back();
      stack_.pop_back();
      captured_.resize(thread.captured);
      if (follow(thread)) return {finished(begin), wants_more_};
    }
    return {std::nullopt, wants_more_};
  }

 private:
  // Runs one thread until it matches (true) or dies.
  bool follow(Thread thread) {
    while (steps_++ < most_steps) {
      const Instruction& i = program_[thread.pc];
      switch (i.kind) {
        case Instruction::Kind::match:
          end_ = thread.at;
          return true;
        case Instruction::Kind::split:
          stack_.push_back({offset(thread.pc, i.other), thread.at, captured_.size(), 0});
          break;
        case Instruction::Kind::jump:
          break;
        case Instruction::Kind::literal:
          if (!literal(i.literal, thread.at)) return false;
          break;
        case Instruction::Kind::hole:
          if (!fill(i.hole, thread)) return false;
          break;
      }
      thread.pc = offset(thread.pc, i.next);
    }
    return false;
  }

  static std::size_t offset(std::size_t pc, std::ptrdiff_t by) {
    return static_cast<std::size_t>(static_cast<std::ptrdiff_t>(pc) + by);
  }

  bool literal(std::string_view wanted, std::size_t& at) {
    for (const char c : wanted) {
      if (c != ' ') {
        while (at < text_.size() && text_[at] == '\n') ++at;
        if (at < text_.size() && !same(text_[at], c, letters_) && stray_blank(at, c)) ++at;
        if (at == text_.size()) return ended();
        if (!same(text_[at], c, letters_)) return false;
        ++at;
        continue;
      }
      const std::size_t before = at;
      while (at < text_.size() && space(text_[at])) ++at;
      if (at == before && at == text_.size()) return ended();
      const bool spaced = before > 0 && space(text_[before - 1]);  // an empty value between two spaces
      if (at == before && !spaced && !control(text_[at])) return false;
    }
    return true;
  }

  // A recogniser of images and a translator put blanks before signs, and behind brackets.
  bool stray_blank(std::size_t at, char wanted) const {
    if (text_[at] != ' ' || at + 1 >= text_.size() || text_[at + 1] != wanted) return false;
    const bool sign = std::string_view(".,;:)").find(wanted) != std::string_view::npos;
    return sign || (at > 0 && text_[at - 1] == '(');
  }

  bool ended() {
    wants_more_ = true;
    return false;
  }

  bool fill(const Hole& hole, Thread& thread) {
    if (hole.type == HoleType::word || hole.type == HoleType::text) return fill_open(hole, thread);
    while (thread.at < text_.size() && text_[thread.at] == '\n') ++thread.at;
    if (thread.at > 0 && thread.at < text_.size() && text_[thread.at] == ' ' && text_[thread.at - 1] == '=')
      ++thread.at;
    const std::optional<std::size_t> span = span_of(hole.type, text_.substr(thread.at));
    if (!span) {
      if (thread.at + 24 >= text_.size()) wants_more_ = true;
      return false;
    }
    captured_.push_back({&hole, thread.at, thread.at + *span});
    thread.at += *span;
    return true;
  }

  // An open hole ends where the sentence goes on: the nearest such place first, the next ones on the stack.
  bool fill_open(const Hole& hole, Thread& thread) {
    const bool word = hole.type == HoleType::word;
    const std::size_t limit = std::min(text_.size(), thread.at + longest_gap);
    std::size_t stop = thread.at;
    while (stop < limit && !(word && space(text_[stop]))) ++stop;
    const Instruction& after = program_[thread.pc + 1];
    std::size_t end = stop;
    if (after.kind == Instruction::Kind::literal) {
      const std::size_t from = std::max(thread.at + (word ? 1 : 0), thread.reach);
      end = find(after.literal, from, stop);
      while (end == std::string_view::npos && word && stop < limit && text_[stop] == '\n') {  // broken within the word
        do ++stop;
        while (stop < limit && !space(text_[stop]));
        end = find(after.literal, from, stop);
      }
      if (end == std::string_view::npos) {
        if (stop == text_.size()) wants_more_ = true;
        return false;
      }
      stack_.push_back({thread.pc, thread.at, captured_.size(), end + 1});
      thread.reach = 0;
    } else if (after.kind == Instruction::Kind::match) {
      while (end > thread.at && space(text_[end - 1])) --end;
    } else if (!word) {
      end = std::max(thread.at, thread.reach);
      if (end < stop) stack_.push_back({thread.pc, thread.at, captured_.size(), end + 1});
      thread.reach = 0;
    }
    if (end == thread.at && word) return false;
    captured_.push_back({&hole, thread.at, end});
    thread.at = end;
    return true;
  }

  // Where `wanted` may begin between `from` and `to`, judged by its first character.
  std::size_t find(std::string_view wanted, std::size_t from, std::size_t to) const {
    const char first = wanted.front();
    const std::size_t end = std::min(to + 1, text_.size());
    if (first != ' ' && letters_ == Letters::as_written) {
      for (std::size_t at = from; at < end; ++at) {
        const void* found = std::memchr(text_.data() + at, first, end - at);
        if (found == nullptr) break;
        at = static_cast<std::size_t>(static_cast<const char*>(found) - text_.data());
        if (begins(wanted, at)) return at;
      }
      return std::string_view::npos;
    }
    for (std::size_t at = from; at < end; ++at)
      if (first == ' ' ? space(text_[at]) : same(text_[at], first, letters_) && begins(wanted, at)) return at;
    return std::string_view::npos;
  }

  bool begins(std::string_view wanted, std::size_t at) const {
    const std::size_t end = std::min({wanted.find(' '), wanted.size(), std::size_t{4}});
    const std::string_view here = text_.substr(at, end);
    return here.find('\n') != std::string_view::npos || here.size() < end ||
           starts_with(here, wanted.substr(0, end), letters_);
  }

  Match finished(std::size_t begin) const {
    Match match{begin, end_, {}};
    for (const Captured& c : captured_) {
      if (c.hole->name.empty()) continue;
      match.facts.push_back(fact_of(*c.hole, text_.substr(c.begin, c.end - c.begin)));
    }
    return match;
  }

  const Program& program_;
  std::string_view text_;
  Letters letters_;
  std::vector<Thread> stack_{};
  std::vector<Captured> captured_{};
  std::size_t end_ = 0;
  int steps_ = 0;
  bool wants_more_ = false;
};

// A sentence that begins with a hole begins somewhere before its first literal: a word where the word begins, open text
// where the line does, and everything else where the value can begin.
std::size_t begin_of(const Hole& hole, std::string_view text, std::size_t literal) {
  const std::size_t floor = literal > longest_gap ? literal - longest_gap : 0;
  std::size_t at = literal;
  if (hole.type == HoleType::text) {
    while (at > floor && text[at - 1] != '\n') --at;
    return at;
  }
  while (at > floor && !space(text[at - 1])) --at;
  return at;
}

}  // namespace

Attempt match_at(const Program& program, std::string_view text, std::size_t begin, Letters letters) {
  return Matcher(program, text, letters).run(begin);
}

namespace {

// The instructions that a match may begin with: past splits, both ways.
void add_entries(const Program& program, std::size_t pc, std::vector<std::size_t>& out) {
  const Instruction& i = program[pc];
  const auto at = [pc](std::ptrdiff_t by) { return static_cast<std::size_t>(static_cast<std::ptrdiff_t>(pc) + by); };
  if (i.kind == Instruction::Kind::split) {
    add_entries(program, at(i.next), out);
    add_entries(program, at(i.other), out);
  } else if (i.kind == Instruction::Kind::jump) {
    add_entries(program, at(i.next), out);
  } else if (i.kind != Instruction::Kind::match) {
    out.push_back(pc);
  }
}

/// Whether `word` begins at `at`, where a line's end may stand within it.
bool stands_broken(std::string_view word, std::string_view text, std::size_t at, Letters letters) {
  std::size_t matched = 0;
  for (; matched < word.size() && at < text.size(); ++at) {
    if (text[at] == '\n' && matched > 0) continue;
    if (!same(text[at], word[matched], letters)) return false;
    ++matched;
  }
  return matched == word.size();
}

// As rfind, not before `floor`.
std::size_t rfind(std::string_view word, std::string_view text, std::size_t until, std::size_t floor, Letters letters) {
  if (word.empty()) return std::min(until, text.size());
  std::size_t end = until < text.size() ? until + 1 : text.size();
  if (letters == Letters::any) {
    while (end-- > floor)
      if (starts_with(text.substr(end), word, letters)) return end;
    return std::string_view::npos;
  }
  while (end > floor) {
    const std::size_t found = last_byte(text.substr(floor, end - floor), word.front());
    if (found == std::string_view::npos) break;
    end = floor + found;
    if (text.substr(end).starts_with(word)) return end;
  }
  return std::string_view::npos;
}

// As rfind, where a line's end may stand within the word: then it begins less than its length before that end.
std::size_t rfind_broken(std::string_view word, std::string_view text, std::size_t until, Letters letters) {
  constexpr std::size_t none = std::string_view::npos;
  const std::size_t floor = until > 2 * longest_gap ? until - 2 * longest_gap : 0;
  const std::size_t whole = rfind(word, text, until, floor, letters);
  for (std::size_t end = rfind("\n", text, until + word.size(), floor, Letters::as_written); end != none && end > floor;
       end = rfind("\n", text, end - 1, floor, Letters::as_written)) {
    if (whole != none && whole > end) return whole;
    const std::size_t after = whole == none ? floor : std::max(floor, whole + 1);
    const std::size_t least = std::max(after, end >= word.size() ? end + 1 - word.size() : 0);
    for (std::size_t at = end; at-- > least && text[at] != '\n';)
      if (at <= until && stands_broken(word, text, at, letters)) return at;
  }
  return whole;
}

// Where `literal` last begins at or before `until`, white space at its ends aside; at most `longest_gap` before.
std::optional<std::size_t> last_before(std::string_view literal, std::string_view text, std::size_t until,
                                       Letters letters) {
  const std::size_t padding = literal.starts_with(' ') ? 1 : 0;
  literal.remove_prefix(padding);
  const std::string_view first_word = literal.substr(0, literal.find(' '));
  const std::size_t at = rfind_broken(first_word, text, until, letters);
  if (at == std::string_view::npos || at + 2 * longest_gap < until) return std::nullopt;
  std::size_t begin = at;
  while (padding > 0 && begin > 0 && space(text[begin - 1])) --begin;
  return begin;
}

constexpr int most_tries = 6;
constexpr std::size_t longest_anchor = 64;

// An earlier place may begin the same way, so several are tried.
void try_literal(Matcher& matcher, const Program& program, std::size_t entry, std::string_view text, std::size_t near,
                 Letters letters, Attempt& best) {
  const bool hole = program[entry].kind == Instruction::Kind::hole;
  const std::string_view literal = program[entry + (hole ? 1 : 0)].literal;
  std::size_t until = near + longest_anchor;
  for (int tries = 0; tries < most_tries; ++tries) {
    const std::optional<std::size_t> at = last_before(literal, text, until, letters);
    if (!at) return;
    const std::size_t begin = hole ? begin_of(program[entry].hole, text, *at) : *at;
    Attempt attempt = matcher.run(begin);
    best.wants_more = best.wants_more || attempt.wants_more;
    const bool behind = best.match && best.match->begin > near;  // the same words once more
    if (attempt.match && (!best.match || (behind && attempt.match->begin <= near)))
      best.match = std::move(attempt.match);
    if ((best.match && best.match->begin <= near) || *at == 0) return;
    until = *at - 1;
  }
}

}  // namespace

Attempt match_around(const Program& program, std::string_view text, std::size_t near, Letters letters) {
  std::vector<std::size_t> entries;
  entries.reserve(8);
  Matcher matcher(program, text, letters);
  add_entries(program, 0, entries);
  Attempt best;
  for (const std::size_t entry : entries) {
    const bool hole = program[entry].kind == Instruction::Kind::hole;
    if (hole && program[entry + 1].kind != Instruction::Kind::literal) continue;
    Attempt one;
    try_literal(matcher, program, entry, text, near, letters, one);
    best.wants_more = best.wants_more || one.wants_more;
    const auto length = [](const Attempt& a) { return a.match ? a.match->end - a.match->begin : 0; };
    if (length(one) > length(best)) best.match = std::move(one.match);
  }
  return best;
}

}  // namespace oomplan::diagnose
