#include "reader.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "code.hpp"
#include "matcher.hpp"
#include "oomplan/core/text.hpp"
#include "page.hpp"
#include "prose.hpp"

namespace oomplan::diagnose {
namespace {

constexpr std::size_t most_joined_lines = 10;
constexpr std::size_t most_joined_bytes = 4096;
constexpr std::size_t most_evidence = 20'000;
constexpr std::size_t most_failures = 40'000;  // with the evidence before them
constexpr std::size_t narrowest_wrap = 60;
constexpr std::size_t most_lines_back = 4;
constexpr std::size_t longest_excerpt = 600;

struct Found {
  const Sentence* sentence = nullptr;
  Match match{};
  std::size_t line = 0;   // where it begins
  std::size_t begin = 0;  // and where in that line
};

// tqdm writes between the lines of whatever else is printed.
bool is_progress_bar(const std::string& body) { return body.find("%|") != std::string::npos; }

class Reader {
 public:
  Reader(const Rules& rules, const std::vector<Line>& lines, const std::vector<std::string>& files)
      : rules_(rules), lines_(lines), files_(files) {}

  std::vector<Evidence> run() {
    for (std::size_t i = 0; i < lines_.size() && out_.size() < most_failures; ++i) read(i);
    return std::move(out_);
  }

 private:
  // A line with those that the same speaker goes on with, joined once for all sentences.
  class Ahead {
   public:
    std::optional<std::string_view> text(const Reader& reader, std::size_t index, std::size_t joined) {
      if (index != index_) {
        index_ = last_ = index;
        joined_ = reader.lines_[index].body;
        ends_.assign(1, joined_.size());
      }
      while (ends_.size() <= joined) {
        const std::optional<std::size_t> next = reader.next_of_speaker(index, last_);
        if (!next) return std::nullopt;
        last_ = *next;
        joined_ += '\n';
        joined_ += reader.lines_[last_].body;
        ends_.push_back(joined_.size());
      }
      return std::string_view(joined_).substr(0, ends_[joined]);
    }

   private:
    std::size_t index_ = std::string::npos;
    std::size_t last_ = 0;
    std::string joined_{};
    std::vector<std::size_t> ends_{};
  };

  // A line with those before it that it may go on from, and behind them what goes on from itself.
  class Behind {
   public:
    std::optional<std::string_view> text(const Reader& reader, std::size_t index, std::size_t back) {
      if (index != index_) join(reader, index);
      if (back >= begins_.size()) return std::nullopt;
      return std::string_view(joined_).substr(begins_[back], end_ - begins_[back]);
    }
    bool goes_on() const { return end_ < joined_.size(); }
    /// `text` is what text() gave last.
    std::string_view with_next(std::string_view text) const {
      return std::string_view(joined_).substr(end_ - text.size());
    }

   private:
    void join(const Reader& reader, std::size_t index) {
      const std::vector<Line>& lines = reader.lines_;
      index_ = index;
      std::vector<std::size_t> sizes{lines[index].body.size()};
      std::size_t first = index;
      for (; first > 0 && sizes.size() <= most_lines_back; --first) {
        const Line& before = lines[first - 1];
        const bool joins = !lines[first].header && before.file == lines[first].file && !before.body.empty() &&
                           (!lines[first].prefixed || same_speaker(before, lines[first]));
        if (!joins || sizes.back() + before.body.size() > most_joined_bytes) break;
        sizes.push_back(sizes.back() + before.body.size() + 1);
      }
      joined_.clear();
      for (std::size_t i = first; i < index; ++i) joined_ += lines[i].body + '\n';
      joined_ += lines[index].body;
      end_ = joined_.size();
      begins_.clear();
      for (const std::size_t size : sizes) begins_.push_back(end_ - size);
      const std::optional<std::size_t> next = reader.next_of_speaker(index, index);
      if (next) joined_ += '\n' + lines[*next].body;
    }

    std::size_t index_ = std::string::npos;
    std::string joined_{};
    std::size_t end_ = 0;                // of the line itself
    std::vector<std::size_t> begins_{};  // of the text with so many lines before it
  };

  void read(std::size_t index) {
    const std::string& body = lines_[index].body;
    if (body.size() < Prefilter::gram) return;
    std::vector<Found> found;
    std::vector<Prefilter::Hit> hits;
    for (std::size_t at = 0; at < body.size();) {
      at = rules_.every.find(body, at, hits);
      for (const Prefilter::Hit& hit : hits) attempt(index, hit, found);
    }
    attempt_seams(index, found);
    drop_general(index, found);
    drop_examples(index, found);
    drop_code(found);
    drop_help(index, found);
    drop_denied(index, found);
    drop_covered(found);
    told_before_ = out_.size();
    for (Found& one : found) tell(one.line, std::move(one));
    if (found.empty() && !tell_task_row(index)) tell_exception(index);
  }

  // The end of a traceback names what was raised, by a name that no sentence has.
  void tell_exception(std::size_t index) {
    const std::optional<std::string_view> name = exception_below_frame(lines_, index);
    if (!name) return;
    Evidence out = evidence_at(index);
    out.message = "endings/raised";
    out.family = "python";
    out.says = Says::other_failure;
    out.place = Where::none;
    out.facts = {{.name = "exception", .text = std::string(*name)}, {.name = "general", .text = "yes"}};
    out_.push_back(std::move(out));
    begins_.push_back(0);
  }

  bool tell_task_row(std::size_t index) {
    std::optional<std::vector<Reading>> facts = task_row(lines_[index].body);
    if (!facts) return false;
    Evidence out = evidence_at(index);
    out.message = "kernel/task-row";
    out.family = "kernel_oom";
    out.place = Where::host;
    out.facts = std::move(*facts);
    out_.push_back(std::move(out));
    begins_.push_back(0);
    return true;
  }

  void attempt(std::size_t index, const Prefilter::Hit& hit, std::vector<Found>& found) {
    const Sentence& sentence = rules_.sentences[hit.id];
    std::string_view text = lines_[index].body;
    std::optional<Match> best;
    const bool cut = hit.at + sentence.anchor.size() > text.size();  // its own words go on in the next line
    for (std::size_t joined = 0; joined <= most_joined_lines && text.size() <= most_joined_bytes; ++joined) {
      Attempt attempt = match_around(sentence.program, text, hit.at, sentence.letters);
      const bool here = attempt.match && attempt.match->begin <= hit.at;  // not the same words in a later line
      const bool better = here && fits(sentence, *attempt.match, text) && (!best || attempt.match->end > best->end);
      if (better) best = std::move(attempt.match);
      const bool asks = attempt.wants_more || (cut && joined == 0);
      const std::optional<std::string_view> more = asks ? ahead_.text(*this, index, joined + 1) : std::nullopt;
      if (!more) break;
      text = *more;
    }
    const bool may_begin_before = !best || (best->begin == 0 && !lines_[index].prefixed);
    if (may_begin_before && attempt_back(index, hit, found)) return;
    if (!best) return;
    const std::size_t begin = best->begin;
    found.push_back({&sentence, std::move(*best), index, begin});
  }

  // The words that the sentence is looked for by may stand in a later line than its beginning.
  bool attempt_back(std::size_t index, const Prefilter::Hit& hit, std::vector<Found>& found) {
    const Sentence& sentence = rules_.sentences[hit.id];
    std::size_t near = hit.at;
    for (std::size_t at = index;
         const std::optional<std::string_view> text = behind_.text(*this, index, index - at + 1);) {
      const Line& before = lines_[--at];
      near += before.body.size() + 1;
      Attempt attempt = match_around(sentence.program, *text, near, sentence.letters);
      std::string_view seen = *text;
      if (!attempt.match && attempt.wants_more && behind_.goes_on()) {
        seen = behind_.with_next(*text);
        attempt = match_around(sentence.program, seen, near, sentence.letters);
      }
      if (!attempt.match || attempt.match->begin >= before.body.size() || !fits(sentence, *attempt.match, seen))
        continue;
      if (is_looked_for(sentence, seen.substr(attempt.match->begin, near - attempt.match->begin)))
        return false;  // it was found from there
      attempt.match = whole_from(sentence, index, std::string(*text), std::move(*attempt.match));
      const std::size_t begin = attempt.match->begin;
      attempt.match->begin = hit.at;  // of this line
      attempt.match->end = hit.at + sentence.anchor.size();
      found.push_back({&sentence, std::move(*attempt.match), at, begin});
      return true;
    }
    return false;
  }

  static bool is_looked_for(const Sentence& sentence, std::string_view text) {
    if (sentence.letters == Letters::as_written) return text.find(sentence.anchor) != std::string_view::npos;
    return lowered(text).find(sentence.anchor) != std::string::npos;
  }

  // The longest match from where one begins, with the lines that follow.
  Match whole_from(const Sentence& sentence, std::size_t index, std::string text, Match best) const {
    std::size_t next = index;
    for (std::size_t joined = 0; joined < most_joined_lines && text.size() <= most_joined_bytes; ++joined) {
      const std::optional<std::size_t> more = next_of_speaker(index, next);
      if (!more) break;
      next = *more;
      text += '\n' + lines_[next].body;
      Attempt attempt = match_at(sentence.program, text, best.begin, sentence.letters);
      if (attempt.match && attempt.match->end > best.end) best = std::move(*attempt.match);
      if (!attempt.wants_more) break;
    }
    return best;
  }

  // A line's end may be in the middle of the words that sentences are looked for by, whether a blank stood there or
  // not.
  void attempt_seams(std::size_t index, std::vector<Found>& found) {
    const std::string& body = lines_[index].body;
    for (std::size_t at = body.find('\n'); at != std::string::npos; at = body.find('\n', at + 1)) {
      attempt_seam(index, at, std::string_view(body).substr(at + 1), "", found);
      attempt_seam(index, at, std::string_view(body).substr(at + 1), " ", found);
    }
    const std::optional<std::size_t> next = next_of_speaker(index, index);
    if (!next) return;
    attempt_seam(index, body.size(), lines_[*next].body, " ", found);
    const bool wide = std::max(body.size(), lines_[index].width) >= narrowest_wrap || body.ends_with('-');
    if (wide && !lines_[*next].prefixed) attempt_seam(index, body.size(), lines_[*next].body, "", found);
  }

  void attempt_seam(std::size_t index, std::size_t end, std::string_view rest, std::string_view between,
                    std::vector<Found>& found) {
    constexpr std::size_t reach = 48;
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    const std::size_t tail = std::min(end, reach);
    std::string seam = lines_[index].body.substr(end - tail, tail);
    seam += between;
    seam += rest.substr(0, std::min(reach, rest.find('\n')));
    std::vector<Prefilter::Hit> hits;
    for (std::size_t at = 0; at < seam.size();) {  // a sentence is known by its rarest letters, which may stand late
      at = rules_.every.find(seam, at, hits);
      for (const Prefilter::Hit& hit : hits) {
        const std::size_t end_of_anchor = hit.at + rules_.sentences[hit.id].anchor.size();
        // The blank that it ends with went with the line's end, where a terminal broke that.
        const bool ends_there =
            end_of_anchor == tail + between.size() && std::max(end, lines_[index].width) >= narrowest_wrap;
        const bool across =
            hit.at < tail && (end_of_anchor > tail + between.size() || (ends_there && end_of_anchor > tail));
        if (across) attempt(index, {end - tail + hit.at, hit.id}, found);
      }
    }
  }

  // Nothing but blanks beside it.
  static bool fits(const Sentence& sentence, const Match& match, std::string_view text) {
    const bool in_word = match.begin > 0 && std::isalnum(static_cast<unsigned char>(text[match.begin - 1])) != 0;
    if (sentence.whole_word && in_word) return false;
    if (!sentence.whole_line) return true;
    const auto blank = [](std::string_view part) {
      return part.find_first_not_of(" \n\"'`*}])>,") == std::string_view::npos;
    };
    const bool below_frame = text.starts_with("File \"") || text.find("  File \"") != std::string_view::npos;
    return (blank(text.substr(0, match.begin)) || below_frame) && blank(text.substr(match.end));
  }

  std::optional<std::size_t> next_of_speaker(std::size_t index, std::size_t from) const {
    const std::size_t end = std::min(lines_.size(), from + 24);
    bool beside = true;
    for (std::size_t i = from + 1; i < end && !lines_[i].header; ++i) {
      if (is_progress_bar(lines_[i].body)) continue;
      const bool goes_on = beside && !lines_[i].prefixed && lines_[i].file == lines_[index].file;
      if (goes_on || same_speaker(lines_[index], lines_[i])) return i;
      beside = false;
    }
    return std::nullopt;
  }

  static bool names_what_ran_out(const Sentence& sentence) {
    return sentence.says <= Says::host_alloc_failed || sentence.says == Says::disk_full;
  }

  // "FrobOutOfMemoryError: …", "Check failed: …" are errors of any kind; the words for memory or a disk in them say
  // which.
  static bool is_error_around(const Found& other, const Found& one) {
    return is_general(*one.sentence) && names_what_ran_out(*one.sentence) &&
           other.sentence->says == Says::other_failure && is_general(*other.sentence) &&
           other.match.begin <= one.match.begin && one.match.end <= other.match.end;
  }

  // "java.lang.OutOfMemoryError: Could not allocate native memory: … RMM failure …": who passes on another allocator's
  // words is not the one whose memory ran out.
  static bool carries(const Found& other, const Found& one) {
    return passes_on(*other.sentence) && one.sentence->says <= Says::host_alloc_failed && !is_general(*one.sentence) &&
           one.sentence->family != other.sentence->family && other.match.begin < one.match.begin &&
           one.match.end <= other.match.end;
  }

  // A short sentence inside a longer one, or beside one that says the same, is the statement told with less; of one
  // sentence twice, one is enough.
  static bool covers(const Found& other, const Found& one) {
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

  // "RuntimeError        Traceback (most recent call last)" of IPython, which says why below the frames; of these
  // classes that may be anything.
  bool heads_traceback(std::size_t index) const {
    const std::string_view name = lines_[index].body;
    if (name != "RuntimeError" && name != "OSError" && name != "Exception") return false;
    return index + 1 < lines_.size() && lines_[index + 1].number == lines_[index].number &&
           lines_[index + 1].file == lines_[index].file && lines_[index + 1].body.starts_with("Traceback (most recent");
  }

  // General words tell nothing beside words that are known, and nothing where they report no failure.
  void drop_general(std::size_t index, std::vector<Found>& found) const {
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
  bool is_quoted(const Found& one) const {
    return names_kind(one) || stands_in_prose(lines_, one.line, one.begin, end_of(one));
  }

  // Of a mail that a person wrote; a scheduler's names the job's end.
  bool is_subject(const Found& one) const {
    return one.sentence->says <= Says::host_alloc_failed && lines_[one.line].body.starts_with("Subject: ");
  }

  bool names_kind(const Found& one) const { return names_a_kind(lines_[one.line].body, end_of(one)); }

  std::size_t end_of(const Found& one) const {
    const bool here = one.match.begin == one.begin;  // else its first words were found from a later line
    return here ? one.match.end : lines_[one.line].body.size();
  }

  // `reason{pod="a",reason="OOMKilled"} 0` of Prometheus: the state that the pod is not in.
  static bool is_series_of_none(std::string_view text, std::string_view rest) {
    const std::size_t close = rest.find("} ");
    const std::size_t open = text.find('{');
    if (close == rest.npos || open == text.npos || open == 0 || text.substr(0, open).find(' ') != text.npos)
      return false;
    const std::string_view value = rest.substr(close + 2);
    return value.substr(0, value.find(' ')) == "0" || value.substr(0, value.find(' ')) == "0.0";
  }

  // "OOMKilled: no", "Detected 0 oom-kill event(s)".
  static bool is_denied(const Found& one, std::string_view text) {
    const auto none = [](const Reading& r) { return r.name == "events" && r.integer == 0; };
    if (std::any_of(one.match.facts.begin(), one.match.facts.end(), none)) return true;
    std::string_view rest = text.substr(std::min(one.match.end, text.size()));
    if (text.substr(0, std::min(one.match.begin, text.size())).ends_with(" not ")) return true;
    if (rest.starts_with(" is not ") || is_series_of_none(text, rest)) return true;
    const std::size_t sign = rest.find_first_not_of("\"' ");
    if (sign == rest.npos || (rest[sign] != ':' && rest[sign] != '=')) return false;
    rest.remove_prefix(std::min(rest.find_first_not_of(" \"'", sign + 1), rest.size()));
    const std::string_view word = rest.substr(0, rest.find_first_of(" ,\"'}"));
    return word == "no" || word == "false" || word == "0";
  }

  void drop_denied(std::size_t index, std::vector<Found>& found) const {
    std::erase_if(found, [&](const Found& one) {
      return one.sentence->says <= Says::other_failure && is_denied(one, lines_[index].body);
    });
  }

  // What a page of documentation quotes did not happen.
  void drop_examples(std::size_t index, std::vector<Found>& found) const {
    const bool failure = std::any_of(found.begin(), found.end(),
                                     [](const Found& one) { return one.sentence->says <= Says::other_failure; });
    if (!failure) return;
    std::erase_if(found, [&](const Found& one) {
      if (one.sentence->says > Says::other_failure) return false;
      return stands_as_example(lines_, index, one.match.begin) ||
             (one.line != index && stands_as_example(lines_, one.line, one.begin));
    });
  }

  // "Exit code 137 indicates that the process was killed by SIGKILL."
  static bool explains_code(std::string_view text) {
    return explains(text) || text.find(" indicates that ") != std::string_view::npos;
  }

  // What code would print if it ran, and what a page says that an exit code means.
  void drop_code(std::vector<Found>& found) const {
    std::erase_if(found, [&](const Found& one) {
      const bool ends = one.sentence->says == Says::launcher || one.sentence->says == Says::killed;
      if (!ends && one.sentence->says > Says::other_failure) return false;
      if (ends && explains_code(lines_[one.line].body)) return true;
      return stands_in_code(lines_[one.line].body, one.begin, end_of(one)) ||
             is_defined(lines_[one.line].body, end_of(one));
    });
  }

  // A page of help says what may go wrong, and what it looks like; a list of changes what went wrong once.
  void drop_help(std::size_t index, std::vector<Found>& found) {
    const auto of_failure = [](const Found& one) {
      return one.sentence->says <= Says::other_failure || one.sentence->says == Says::consequence ||
             one.sentence->says == Says::launcher || one.sentence->says == Says::killed;
    };
    if (!std::ranges::any_of(found, of_failure)) return;
    if (help_.holds(index)) std::erase_if(found, of_failure);
    std::erase_if(found,
                  [&](const Found& one) { return of_failure(one) && stands_in_history(lines_, one.line, one.begin); });
  }

  static void drop_covered(std::vector<Found>& found) {
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

  Evidence evidence_at(std::size_t index) const {
    const Line& line = lines_[index];
    Evidence out{.where = {files_[static_cast<std::size_t>(line.file)],
                           static_cast<int>(std::min<std::int64_t>(line.number, 1 << 30)), 0}};
    out.where.column = line.column;
    out.text = line.quoted().substr(0, longest_excerpt);
    std::replace(out.text.begin(), out.text.end(), '\n', ' ');
    out.rank = line.rank;
    out.source = line.source;
    out.time = line.time;
    out.order = Order{static_cast<std::int64_t>(index)};
    out.line = index;
    return out;
  }

  // Where the words are all of the line, it goes on from the one before.
  bool is_of_gpu(std::size_t index, const std::string& text) const {
    if (speaks_of_gpu(text)) return true;
    constexpr std::size_t short_line = 32;
    const bool goes_on = index > 0 && text.size() <= short_line && same_speaker(lines_[index - 1], lines_[index]) &&
                         !lines_[index].header;
    return goes_on && speaks_of_gpu(lines_[index - 1].body);
  }

  // The runtime refuses pinned memory of the host in the words that it has for a GPU's.
  bool says_pinned(std::size_t index, const Sentence& sentence, const Evidence& out) const {
    if (sentence.family != "raw_cuda" || sentence.says != Says::gpu_alloc_failed) return false;
    for (std::size_t i = index, seen = 0; i-- > 0 && seen < 3; ++seen)
      if (lines_[i].body.find(".pin_memory(") != std::string::npos) return out.find("requested") == nullptr;
    return false;
  }

  // What an earlier line was taken to say may be how this begins, or a shorter form of it.
  void forget_beginning(const Found& found, std::size_t index) {
    for (std::size_t i = told_before_; i-- > 0 && out_[i].line && *out_[i].line >= found.line;) {
      const bool begins = *out_[i].line == found.line && begins_[i] == found.begin;
      const bool within = *out_[i].line > found.line || begins_[i] >= found.begin;
      const bool shorter = within && *out_[i].line < index && out_[i].family == found.sentence->family;
      if (!begins && !shorter) continue;
      out_.erase(out_.begin() + static_cast<std::ptrdiff_t>(i));
      begins_.erase(begins_.begin() + static_cast<std::ptrdiff_t>(i));
      --told_before_;
    }
  }

  void tell(std::size_t index, Found found) {
    const Sentence& sentence = *found.sentence;
    forget_beginning(found, index);
    if (out_.size() >= most_evidence && sentence.says > Says::other_failure) return;
    const bool quoted = sentence.says <= Says::other_failure && (is_quoted(found) || is_subject(found));
    Evidence out = evidence_at(index);
    out.message = sentence.id;
    out.family = sentence.family;
    out.says = sentence.says;
    out.place = sentence.place;
    if (sentence.says == Says::host_alloc_failed && is_general(sentence) && is_of_gpu(index, out.text)) {
      out.says = Says::gpu_alloc_failed;
      out.place = Where::gpu;
    }
    if (says_pinned(index, sentence, out)) {
      out.says = Says::host_alloc_failed;
      out.place = Where::host;
    }
    out.phase = sentence.phase;
    out.facts = std::move(found.match.facts);
    out.facts.insert(out.facts.end(), sentence.adds.begin(), sentence.adds.end());
    if (quoted) out.facts.push_back({.name = "quoted", .text = "yes"});
    out_.push_back(std::move(out));
    begins_.push_back(found.begin);
  }

  const Rules& rules_;
  const std::vector<Line>& lines_;
  HelpPages help_{lines_};
  const std::vector<std::string>& files_;
  Ahead ahead_{};
  Behind behind_{};
  std::vector<Evidence> out_{};
  std::vector<std::size_t> begins_{};  // of each, in its line
  std::size_t told_before_ = 0;        // the line that is read now
};

}  // namespace

std::vector<Evidence> read_lines(const Rules& rules, const std::vector<Line>& lines,
                                 const std::vector<std::string>& files) {
  return Reader(rules, lines, files).run();
}

}  // namespace oomplan::diagnose
