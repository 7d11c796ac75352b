#include "reader.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "continued.hpp"
#include "matcher.hpp"
#include "oomplan/core/text.hpp"
#include "sieve.hpp"

namespace oomplan::diagnose {
namespace {

constexpr std::size_t most_joined_lines = 10;
constexpr std::size_t most_evidence = 20'000;
constexpr std::size_t most_failures = 40'000;  // with the evidence before them
constexpr std::size_t narrowest_wrap = 60;
constexpr std::size_t longest_excerpt = 600;

class Reader {
 public:
  Reader(const Rules& rules, const std::vector<Line>& lines, const std::vector<std::string>& files)
      : rules_(rules), lines_(lines), files_(files) {}

  std::vector<Evidence> run() {
    for (std::size_t i = 0; i < lines_.size() && out_.size() < most_failures; ++i) read(i);
    return std::move(out_);
  }

 private:
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
    sieve_.drop_what_is_no_report(index, found);
    told_before_ = out_.size();
    for (Found& one : found) tell(one.line, std::move(one));
    if (found.empty() && !tell_task_row(index) && !tell_epoch_row(index)) tell_exception(index);
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
    Evidence row = evidence_at(index);
    row.message = "kernel/task-row";
    row.family = "kernel_oom";
    row.place = Where::host;
    return tell_row(std::move(row), task_row(lines_[index].body));
  }

  bool tell_epoch_row(std::size_t index) {
    Evidence row = evidence_at(index);
    row.message = "progress/epoch-row";
    row.family = "printed_memory";
    row.says = Says::memory_state;
    row.place = Where::gpu;
    return tell_row(std::move(row), epoch_row(lines_[index].body));
  }

  // Where the line has the row's columns.
  bool tell_row(Evidence row, std::optional<std::vector<Reading>> facts) {
    if (!facts) return false;
    row.facts = std::move(*facts);
    out_.push_back(std::move(row));
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
      const std::optional<std::string_view> more = asks ? ahead_.text(index, joined + 1) : std::nullopt;
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
    for (std::size_t at = index; const std::optional<std::string_view> text = behind_.text(index, index - at + 1);) {
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
      const std::optional<std::size_t> more = next_of_speaker(lines_, index, next);
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
    const std::optional<std::size_t> next = next_of_speaker(lines_, index, index);
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

  // "…Driver_OOMKilled"; "_OOMKilled_" is a word in italics.
  static bool is_end_of_name(std::string_view text) {
    if (text.size() > 1 && text.ends_with('_')) text.remove_suffix(1);
    return !text.empty() && std::isalnum(static_cast<unsigned char>(text.back())) != 0;
  }

  // BuildKit's seconds: "17.52 vite v5.4.14 building for production..."
  static std::string_view without_seconds(std::string_view text) {
    const std::size_t end = text.find_first_not_of("0123456789");
    if (end == 0 || end >= text.size() || text[end] != '.') return text;
    const std::size_t stop = text.find_first_not_of("0123456789", end + 1);
    const bool seconds = stop != std::string_view::npos && stop > end + 1 && text[stop] == ' ';
    return seconds ? text.substr(stop) : text;
  }

  // Nothing but blanks beside it.
  static bool fits(const Sentence& sentence, const Match& match, std::string_view text) {
    if (sentence.whole_word && is_end_of_name(text.substr(0, match.begin))) return false;
    if (!sentence.whole_line) return true;
    const auto blank = [](std::string_view part) {
      return part.find_first_not_of(" \n\"'`*}])>,") == std::string_view::npos;
    };
    const bool below_frame = text.starts_with("File \"") || text.find("  File \"") != std::string_view::npos;
    return (blank(without_seconds(text.substr(0, match.begin))) || below_frame) && blank(text.substr(match.end));
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
    const bool quoted = sentence.says <= Says::other_failure && sieve_.is_told_of(found);
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
  const std::vector<std::string>& files_;
  Sieve sieve_{rules_.wordings, lines_};
  Ahead ahead_{lines_};
  Behind behind_{lines_};
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
