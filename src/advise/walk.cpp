// The walk: sets of fixes from the cheapest on.
#include <algorithm>
#include <queue>
#include <tuple>

#include "change.hpp"
#include "facts.hpp"
#include "judge.hpp"
#include "oomplan/advise/advise.hpp"
#include "oomplan/ingest/keys.hpp"
#include "oomplan/plan/trainer.hpp"

namespace oomplan {
namespace advise {
namespace {

/// A set that waits for its turn. Of equal costs the smaller set goes first, then the one earlier in the ladder.
struct Waiting {
  Cost cost{};
  Choices choices{};
  bool operator>(const Waiting& other) const {
    const auto key = [](const Choices& of) {
      std::vector<std::pair<int, int>> out;
      for (const Choice& choice : of) out.emplace_back(choice.rung, choice.times);
      return out;
    };
    return std::tuple(cost, choices.size(), key(choices)) >
           std::tuple(other.cost, other.choices.size(), key(other.choices));
  }
};

class Walk {
 public:
  Walk(const AdviceQuestion& question, const Ladder& ladder)
      : question_(question), ladder_(ladder), judge_(question, ladder) {}

  Result<Advice> answer() && {
    advice_.assumed_trainer = assumed_trainer(question_.plan);
    advice_.gpu = question_.gpu;
    advice_.headroom = question_.headroom;
    advice_.now = judge_.judge({}, question_.plan);
    if (!advice_.now.undecided.empty()) return undecided();
    offer_words();
    if (advice_.now.fits) return std::move(advice_);
    try_each();
    search();
    if (advice_.found) describe();
    return std::move(advice_);
  }

 private:
  const Rung& rung(int i) const { return ladder_.rungs()[static_cast<std::size_t>(i)]; }
  int size() const { return static_cast<int>(ladder_.rungs().size()); }

  Diagnostics undecided() const { return {{.code = "estimate/unmodelled", .message = advice_.now.undecided}}; }

  void pass(const Rung& rung, std::string why) {
    advice_.passed.push_back({rung.fix.id, rung.fix.title, std::move(why)});
  }

  std::string unwanted(const Rung& rung) const {
    const auto names = [&](const auto& list) { return std::ranges::count(list, rung.fix.id) > 0; };
    if (names(question_.forbid)) return "forbidden";
    return question_.allow.empty() || names(question_.allow) ? "" : "not among those allowed";
  }

  std::string words_of(const Rung& rung) const {
    const std::string_view words = words_for_fix(rung.fix.id, question_.plan.dialect);
    return words.empty() ? rung.how : std::string(words);
  }

  LadderFix fix_of(const Rung& rung) const {
    LadderFix fix = rung.fix;
    fix.how = words_of(rung);
    return fix;
  }

  void offer_words() {
    for (const Rung& rung : ladder_.rungs())
      if (!rung.played && unwanted(rung).empty()) advice_.unplayed.push_back(fix_of(rung));
  }

  /// Each fix by itself: so that the reasoning can be followed, and so that the search knows which are out.
  void try_each() {
    for (int i = 0; i < size(); ++i) {
      if (!rung(i).played) continue;
      if (std::string why = unwanted(rung(i)); !why.empty()) {
        pass(rung(i), std::move(why));
      } else if (rung(i).only_against_fragmentation && !advice_.now.fragmentation) {
        usable_.push_back(i);
        pass(rung(i), "what the tensors alone take is too much already; it only helps against fragmentation");
      } else {
        usable_.push_back(i);
        try_one(i);
      }
    }
  }

  void try_one(int i) {
    std::optional<Trial> last;
    std::string why;
    for (int times = 1; times <= rung(i).repeat && !(last && last->fits); ++times) {
      const Choices choices{{i, times}};
      const Changing changing = change_by(choices, question_, ladder_);
      why = changing.objection;
      if (!changing.change) break;
      last = judge_.judge(choices, changing.change->plan);
    }
    if (!last) return pass(rung(i), why);
    if (!last->undecided.empty()) return pass(rung(i), last->undecided);
    advice_.tried.push_back(std::move(*last));
  }

  void search() {
    push_after({}, true);
    while (!waiting_.empty()) {
      if (advice_.sets == question_.most_sets) {
        advice_.whole = false;
        return;
      }
      const Waiting next = waiting_.top();
      waiting_.pop();
      if (look_at(next.choices)) return;
    }
  }

  /// True where it is the one. What cannot be taken takes all that go on from it along.
  bool look_at(const Choices& choices) {
    const Changing changing = change_by(choices, question_, ladder_);
    if (!changing.change) return false;
    ++advice_.sets;
    Trial trial = judge_.judge(choices, changing.change->plan);
    if (trial.fits) {
      found_ = *changing.change;
      chosen_ = choices;
      advice_.found = std::move(trial);
      return true;
    }
    push_after(choices, trial.fragmentation);
    Choices again = choices;
    if (++again.back().times <= rung(again.back().rung).repeat) push(std::move(again));
    return false;
  }

  void push(Choices choices) {
    Cost cost = judge_.cost_of(choices);
    waiting_.push({cost, std::move(choices)});
  }

  void push_after(const Choices& choices, bool fragmentation) {
    for (const int i : usable_) {
      if (!choices.empty() && i <= choices.back().rung) continue;
      const bool stranded = choices.empty() ? advice_.now.fragmentation : fragmentation;
      if (rung(i).only_against_fragmentation && !stranded) continue;
      Choices more = choices;
      more.push_back({i, 1});
      push(std::move(more));
    }
  }

  void describe() {
    Choices part;
    for (const Choice& choice : chosen_) {
      part.push_back(choice);
      const Changing changing = change_by(part, question_, ladder_);
      if (changing.change) advice_.steps.push_back(judge_.judge(part, changing.change->plan));
      advice_.taken.push_back(fix_of(rung(choice.rung)));
    }
    for (const std::string_view fact : fact_names()) {
      const std::string before = fact_of(question_.plan, fact).value_or("");
      const std::string after = fact_of(found_.plan, fact).value_or("");
      if (before != after) advice_.changes.push_back({std::string(fact), before, after});
    }
    std::erase_if(advice_.passed, [&](const Passed& one) { return is_taken(one.id); });
    advice_.keys = found_.keys;
    advice_.no_patch = found_.in_words;
    write_patch();
  }

  bool is_taken(const std::string& id) const { return std::ranges::count(advice_.taken, id, &LadderFix::id) > 0; }

  /// Only where the patched file, read again, is the plan that was judged.
  void write_patch() {
    if (question_.document == nullptr || !advice_.no_patch.empty()) return;
    const Document& document = *question_.document;
    const Result<std::string> text = patched(document, advice_.keys);
    if (!text) {
      advice_.no_patch = text.errors().front().message;
      return;
    }
    if (!reads_as_found(document, *text)) {
      advice_.no_patch = "a value of it is not the file's own (extends, an anchor, or --set)";
      return;
    }
    const std::string mark = document.byte_order_mark ? "\xEF\xBB\xBF" : "";
    advice_.patch = unified_diff(document.file, mark + document.text, mark + *text);
  }

  bool reads_as_found(const Document& document, const std::string& text) const {
    const Result<Document> again = parse_document(text, document.file, document.syntax);
    if (!again) return false;
    Result<TrainingPlan> plan = ingest(*again, question_.ingest);
    if (plan) plan = with_model_defaults(std::move(*plan), question_.architecture);
    return plan && same_plan(*plan, found_.plan);
  }

  const AdviceQuestion& question_;
  const Ladder& ladder_;
  Judge judge_;
  Advice advice_{};
  std::vector<int> usable_{};
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting_{};
  Change found_{};
  Choices chosen_{};
};

}  // namespace
}  // namespace advise

Result<Advice> find_advice(const AdviceQuestion& question, const Ladder& ladder) {
  return advise::Walk(question, ladder).answer();
}

}  // namespace oomplan
