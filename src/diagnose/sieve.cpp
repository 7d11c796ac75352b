#include "sieve.hpp"

#include <algorithm>

#include "changes.hpp"
#include "code.hpp"
#include "examples.hpp"
#include "prose.hpp"
#include "reader.hpp"
#include "tables.hpp"
#include "words.hpp"

namespace oomplan::diagnose {
namespace {

bool names_what_ran_out(const Sentence& sentence) {
  return sentence.says <= Says::host_alloc_failed || sentence.says == Says::disk_full;
}

// "FrobOutOfMemoryError: …", "Check failed: …" are errors of any kind; the words for memory or a disk in them say
// which.
bool is_error_around(const Found& other, const Found& one) {
  return is_general(*one.sentence) && names_what_ran_out(*one.sentence) &&
         other.sentence->says == Says::other_failure && is_general(*other.sentence) &&
         other.match.begin <= one.match.begin && one.match.end <= other.match.end;
}

// "java.lang.OutOfMemoryError: Could not allocate native memory: … RMM failure …": who passes on another allocator's
// words is not the one whose memory ran out.
bool carries(const Found& other, const Found& one) {
  return passes_on(*other.sentence) && one.sentence->says <= Says::host_alloc_failed && !is_general(*one.sentence) &&
         one.sentence->family != other.sentence->family && other.match.begin < one.match.begin &&
         one.match.end <= other.match.end;
}

// A short sentence inside a longer one, or beside one that says the same, is the statement told with less; of one
// sentence twice, one is enough.
bool covers(const Found& other, const Found& one) {
  if (is_error_around(other, one) || carries(other, one)) return false;
  if (carries(one, other)) return true;
  const Match& a = other.match;
  const Match& b = one.match;
  if (a.begin == b.begin && a.end == b.end) return &other < &one;
  const bool from_one_place = other.line == one.line && other.begin == one.begin && a.begin != b.begin;
  if (from_one_place) return a.end > b.end;  // both begin in an earlier line
  const bool inside = a.begin <= b.begin && b.end <= a.end;
  const bool overlaps = a.begin < b.end && b.begin < a.end;
  const bool longer = a.end - a.begin > b.end - b.begin;
  return inside || (overlaps && longer && other.sentence->says == one.sentence->says);
}

// `reason{pod="a",reason="OOMKilled"} 0` of Prometheus: the state that the pod is not in.
bool is_series_of_none(std::string_view text, std::string_view rest) {
  const std::size_t close = rest.find("} ");
  const std::size_t open = text.find('{');
  if (close == rest.npos || open == text.npos || open == 0 || text.substr(0, open).find(' ') != text.npos) return false;
  const std::string_view value = rest.substr(close + 2);
  return value.substr(0, value.find(' ')) == "0" || value.substr(0, value.find(' ')) == "0.0";
}

// "OOMKilled: no", "Detected 0 oom-kill event(s)".
bool is_denied(const Found& one, std::string_view text) {
  const auto none = [](const Reading& r) { return r.name == "events" && r.integer == 0; };
  if (std::any_of(one.match.facts.begin(), one.match.facts.end(), none)) return true;
  const std::string_view lead = text.substr(0, std::min(one.match.begin, text.size()));
  std::string_view rest = text.substr(std::min(one.match.end, text.size()));
  if (lead.ends_with(" not ") || lead.ends_with(" no ")) return true;
  if (lead.ends_with(" if ") && one.match.facts.empty()) return true;
  if (rest.starts_with(" is not ") || is_series_of_none(text, rest)) return true;
  const std::size_t sign = rest.find_first_not_of("\"' ");
  if (sign == rest.npos || (rest[sign] != ':' && rest[sign] != '=')) return false;
  rest.remove_prefix(std::min(rest.find_first_not_of(" \"'", sign + 1), rest.size()));
  const std::string_view word = rest.substr(0, rest.find_first_of(" ,\"'}"));
  return word == "no" || word == "false" || word == "0";
}

// "Exit code 137 indicates that the process was killed by SIGKILL.", "exit code 137/143 in the logs"
bool explains_code(const Wordings& wordings, std::string_view text, std::size_t end) {
  const bool of_many = end + 1 < text.size() && text[end] == '/' && text[end + 1] >= '0' && text[end + 1] <= '9';
  return of_many || explains(wordings, text) || text.find(" indicates that ") != std::string_view::npos;
}

void drop_covered(std::vector<Found>& found) {
  std::vector<Found> kept;
  for (const Found& one : found) {
    const bool covered = std::any_of(found.begin(), found.end(),
                                     [&](const Found& other) { return &other != &one && covers(other, one); });
    if (!covered) kept.push_back(one);
  }
  found = std::move(kept);
  std::stable_sort(found.begin(), found.end(),
                   [](const Found& a, const Found& b) { return a.match.begin < b.match.begin; });
}

}  // namespace

// "RuntimeError        Traceback (most recent call last)" of IPython, which says why below the frames; of these
// classes that may be anything.
bool Sieve::heads_traceback(std::size_t index) const {
  const std::string_view name = lines_[index].body;
  if (name != "RuntimeError" && name != "OSError" && name != "Exception") return false;
  return index + 1 < lines_.size() && lines_[index + 1].number == lines_[index].number &&
         lines_[index + 1].file == lines_[index].file && lines_[index + 1].body.starts_with("Traceback (most recent");
}

// General words tell nothing beside words that are known, and nothing where they report no failure.
void Sieve::drop_general(std::size_t index, std::vector<Found>& found) const {
  const bool known = std::any_of(found.begin(), found.end(), [](const Found& one) {
    return !is_general(*one.sentence) && one.sentence->says != Says::frame && one.sentence->says != Says::progress;
  });
  const bool only_code = std::all_of(found.begin(), found.end(), [](const Found& one) {  // of what, it does not say
    return is_general(*one.sentence) || one.sentence->says == Says::launcher;
  });
  std::erase_if(found, [&](const Found& one) {
    if (!is_general(*one.sentence)) return false;
    if (one.sentence->says == Says::other_failure && heads_traceback(index)) return true;
    const std::size_t length = one.match.end - one.match.begin;
    const bool of_memory = one.sentence->says <= Says::host_alloc_failed;
    if ((known && !(only_code && of_memory)) ||
        !stands_as_failure(lines_, index, *one.sentence, one.match.begin, length))
      return true;
    return names_kind(one) || (!of_memory && is_quoted(one));  // a failure that is talked of is possible
  });
}

// Whether the sentence is no report of its own line but somebody's words about one.
bool Sieve::is_quoted(const Found& one) const {
  const bool foreign = one.sentence->id.starts_with("localised/");
  if (foreign && stands_in_foreign_prose(lines_[one.line].body, one.begin, end_of(one))) return true;
  return names_kind(one) || stands_in_prose(lines_, one.line, one.begin, end_of(one));
}

// Of a mail that a person wrote; a scheduler's names the job's end.
bool Sieve::is_subject(const Found& one) const {
  return one.sentence->says <= Says::host_alloc_failed && lines_[one.line].body.starts_with("Subject: ");
}

bool Sieve::names_kind(const Found& one) const { return names_a_kind(wordings_, lines_[one.line].body, end_of(one)); }

std::size_t Sieve::end_of(const Found& one) const {
  const bool here = one.match.begin == one.begin;  // else its first words were found from a later line
  return here ? one.match.end : lines_[one.line].body.size();
}

void Sieve::drop_denied(std::size_t index, std::vector<Found>& found) const {
  std::erase_if(found, [&](const Found& one) {
    return one.sentence->says <= Says::other_failure && is_denied(one, lines_[index].body);
  });
}

// What a page of documentation quotes did not happen.
void Sieve::drop_examples(std::size_t index, std::vector<Found>& found) const {
  const bool failure = std::any_of(found.begin(), found.end(),
                                   [](const Found& one) { return one.sentence->says <= Says::other_failure; });
  if (!failure) return;
  std::erase_if(found, [&](const Found& one) {
    if (one.sentence->says > Says::other_failure) return false;
    return stands_as_example(wordings_, lines_, index, one.match.begin, one.match.end) ||
           (one.line != index && stands_as_example(wordings_, lines_, one.line, one.begin, end_of(one)));
  });
}

// What code would print if it ran, and what a page says that an exit code means.
void Sieve::drop_code(std::vector<Found>& found) const {
  std::erase_if(found, [&](const Found& one) {
    const bool ends = one.sentence->says == Says::launcher || one.sentence->says == Says::killed;
    if (!ends && one.sentence->says > Says::other_failure) return false;
    if (ends && explains_code(wordings_, lines_[one.line].body, end_of(one))) return true;
    return stands_in_code(lines_[one.line].body, one.begin, end_of(one)) ||
           is_defined(wordings_, lines_[one.line].body, end_of(one));
  });
}

// A program's own report, with what it measured or the frames that it came from: whatever text shows it, it may be of
// the run that is asked about.
bool Sieve::is_reported(const Found& one) const {
  const Says says = one.sentence->says;
  if (says > Says::other_failure) return false;
  const auto is_size = [](const Reading& r) { return r.kind == Reading::Kind::bytes; };
  return says == Says::kernel_killed || says == Says::kernel_detail || std::ranges::any_of(one.match.facts, is_size) ||
         below_frame(lines_, one.line);
}

// A page of help says what may go wrong, and what it looks like; a list of changes what went wrong once.
void Sieve::drop_help(std::size_t index, std::vector<Found>& found) {
  const auto of_failure = [](const Found& one) {
    return one.sentence->says <= Says::other_failure || one.sentence->says == Says::consequence ||
           one.sentence->says == Says::launcher || one.sentence->says == Says::killed;
  };
  if (!std::ranges::any_of(found, of_failure)) return;
  const bool of_article = articles_.of(lines_[index].file) == Writing::article;
  if (help_.holds(index) || stands_in_explaining_table(wordings_, lines_, index)) std::erase_if(found, of_failure);
  if (of_article) std::erase_if(found, [&](const Found& one) { return of_failure(one) && !is_reported(one); });
  std::erase_if(found, [&](const Found& one) {
    return of_failure(one) && (stands_in_history(lines_, one.line, one.begin) || stands_in_change(lines_, one.line));
  });
}

void Sieve::drop_what_is_no_report(std::size_t index, std::vector<Found>& found) {
  drop_general(index, found);
  drop_examples(index, found);
  drop_code(found);
  drop_help(index, found);
  drop_denied(index, found);
  drop_covered(found);
}

// "With these settings I run |out of memory|": who writes so is no program.
bool Sieve::is_of_a_writer(const Found& one) const {
  const std::string_view text = lines_[one.line].body;
  return is_general(*one.sentence) && words_of(text.substr(0, std::min(one.begin, text.size()))).first_person;
}

bool Sieve::is_told_of(const Found& one) {
  return is_quoted(one) || is_of_a_writer(one) || is_subject(one) ||
         articles_.of(lines_[one.line].file) != Writing::other;
}

}  // namespace oomplan::diagnose
