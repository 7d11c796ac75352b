#include "reader.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "matcher.hpp"
#include "task_table.hpp"

namespace oomplan::diagnose {
namespace {

constexpr std::size_t most_joined_lines = 10;
constexpr std::size_t most_joined_bytes = 4096;
constexpr std::size_t most_evidence = 20'000;
constexpr std::size_t longest_excerpt = 600;

struct Found {
  const Sentence* sentence = nullptr;
  Match match{};
};

// tqdm writes between the lines of whatever else is printed.
bool is_progress_bar(const std::string& body) { return body.find("%|") != std::string::npos; }

class Reader {
 public:
  Reader(const Rules& rules, const std::vector<Line>& lines, const std::vector<std::string>& files)
      : rules_(rules), lines_(lines), files_(files) {}

  std::vector<Evidence> run() {
    for (std::size_t i = 0; i < lines_.size() && out_.size() < most_evidence; ++i) read(i);
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
    drop_covered(found);
    for (Found& one : found) tell(index, std::move(one));
    if (found.empty()) tell_task_row(index);
  }

  void tell_task_row(std::size_t index) {
    std::optional<std::vector<Reading>> facts = task_row(lines_[index].body);
    if (!facts) return;
    Evidence out = evidence_at(index);
    out.message = "kernel/task-row";
    out.family = "kernel_oom";
    out.place = Where::host;
    out.facts = std::move(*facts);
    out_.push_back(std::move(out));
  }

  void attempt(std::size_t index, const Prefilter::Hit& hit, std::vector<Found>& found) {
    const Sentence& sentence = rules_.sentences[hit.id];
    std::string_view text = lines_[index].body;
    std::string joined_text;
    std::size_t next = index;
    std::optional<Match> best;
    for (std::size_t joined = 0; joined <= most_joined_lines && text.size() <= most_joined_bytes; ++joined) {
      Attempt attempt = match_around(sentence.program, text, hit.at);
      const bool better =
          attempt.match && fits(sentence, *attempt.match, text) && (!best || attempt.match->end > best->end);
      if (better) best = std::move(attempt.match);
      const std::optional<std::size_t> more = attempt.wants_more ? next_of_speaker(index, next) : std::nullopt;
      if (!more) break;
      next = *more;
      joined_text = std::string(text) + '\n' + lines_[next].body;
      text = joined_text;
    }
    if (best) found.push_back({&sentence, std::move(*best)});
  }

  static bool fits(const Sentence& sentence, const Match& match, std::string_view text) {
    return !sentence.whole_line || (match.begin == 0 && match.end == text.size());
  }

  std::optional<std::size_t> next_of_speaker(std::size_t index, std::size_t from) const {
    const std::size_t end = std::min(lines_.size(), from + 24);
    for (std::size_t i = from + 1; i < end && !lines_[i].header; ++i)
      if (same_speaker(lines_[index], lines_[i]) && !is_progress_bar(lines_[i].body)) return i;
    return std::nullopt;
  }

  // A short sentence inside a longer one, or beside one that says the same, is the statement told with less; of one
  // sentence twice, one is enough.
  static bool covers(const Found& other, const Found& one) {
    const Match& a = other.match;
    const Match& b = one.match;
    if (a.begin == b.begin && a.end == b.end) return &other < &one;
    const bool inside = a.begin <= b.begin && b.end <= a.end;
    const bool overlaps = a.begin < b.end && b.begin < a.end;
    const bool longer = a.end - a.begin > b.end - b.begin;
    return inside || (overlaps && longer && other.sentence->says == one.sentence->says);
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
    out.text = line.body.substr(0, longest_excerpt);
    out.rank = line.rank;
    out.source = line.source;
    out.time = line.time;
    out.order = static_cast<std::int64_t>(index);
    return out;
  }

  void tell(std::size_t index, Found found) {
    const Sentence& sentence = *found.sentence;
    Evidence out = evidence_at(index);
    out.message = sentence.id;
    out.family = sentence.family;
    out.says = sentence.says;
    out.place = sentence.place;
    out.phase = sentence.phase;
    out.facts = std::move(found.match.facts);
    out.facts.insert(out.facts.end(), sentence.adds.begin(), sentence.adds.end());
    out_.push_back(std::move(out));
  }

  const Rules& rules_;
  const std::vector<Line>& lines_;
  const std::vector<std::string>& files_;
  std::vector<Evidence> out_{};
};

}  // namespace

std::vector<Evidence> read_lines(const Rules& rules, const std::vector<Line>& lines,
                                 const std::vector<std::string>& files) {
  return Reader(rules, lines, files).run();
}

}  // namespace oomplan::diagnose
