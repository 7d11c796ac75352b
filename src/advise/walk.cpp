// The walk: sets of fixes from the cheapest on.
#include <algorithm>
#include <array>

#include "change.hpp"
#include "descent.hpp"
#include "facts.hpp"
#include "judge.hpp"
#include "oomplan/advise/advise.hpp"
#include "oomplan/ingest/keys.hpp"
#include "oomplan/plan/trainer.hpp"
#include "search.hpp"

namespace oomplan {
namespace advise {
namespace {

/// Of the cheapest, until it is known that some set fits.
constexpr std::int64_t first_sets = 1'000;
/// Of an alternative, which is worth a short search only.
constexpr std::int64_t most_sets_beside = 200;
/// Per cent by which the fastest is quicker than the cheapest at the least.
constexpr int worth_naming = 10;
/// Of one machine.
constexpr std::array<std::int64_t, 3> usual_worlds{2, 4, 8};

class Walk {
 public:
  Walk(const AdviceQuestion& question, const Ladder& ladder)
      : question_(question), ladder_(ladder), judge_(question, ladder) {}

  Result<Advice> answer() && {
    advice_.count = gpu_count(question_.plan);
    advice_.assumed_trainer = assumed_trainer(question_.plan);
    advice_.gpu = question_.gpu;
    advice_.headroom = question_.headroom;
    advice_.now = judge_.judge({}, question_.plan);
    if (!advice_.now.undecided.empty()) return undecided();
    offer_words();
    if (advice_.now.fits) return std::move(advice_);
    try_each();
    search_cheapest();
    if (advice_.found) describe();
    if (question_.cheapest_alone) return std::move(advice_);
    if (advice_.found && advice_.whole) add_alternatives();
    if (!advice_.found || advice_.found->cost.science != Cost{}.science) add_more_gpus();
    return std::move(advice_);
  }

 private:
  const Rung& rung(int i) const { return ladder_.rungs()[static_cast<std::size_t>(i)]; }
  int size() const { return static_cast<int>(ladder_.rungs().size()); }

  Diagnostics undecided() const { return {{.code = "estimate/unmodelled", .message = advice_.now.undecided}}; }

  void pass(const Rung& rung, std::string why, bool unneeded = false) {
    advice_.passed.push_back({rung.fix.id, rung.fix.title, std::move(why), unneeded});
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
        pass(rung(i), too_small(advice_.now.host) == nullptr
                          ? "what the tensors alone take is too much already; it only helps against fragmentation"
                          : "the GPU has room as it is; it only helps against fragmentation");
      } else {
        usable_.push_back(i);
        try_one(i);
      }
    }
  }

  void try_one(int i) {
    if (question_.cheapest_alone) return;
    std::optional<Trial> last;
    std::string why;
    for (int times = 1; times <= rung(i).repeat && !(last && last->fits); ++times) {
      const Choices choices{{i, times}};
      const Changing changing = change_by(choices, question_, ladder_);
      why = changing.objection;
      if (!changing.change) break;
      last = judge_.judge(choices, changing.change->plan);
    }
    if (!last) return pass(rung(i), why, !refusing_fact(as_said(question_), rung(i)).empty());
    if (!last->undecided.empty()) return pass(rung(i), last->undecided);
    advice_.tried.push_back(std::move(*last));
    advice_.rungs.push_back(fix_of(rung(i)));
  }

  /// Beyond the first sets it goes on only where going down found one that fits.
  void search_cheapest() {
    std::optional<FoundSet> lowest;
    const auto go_down = [&] {
      lowest = descend(usable_, question_, ladder_);
      return lowest && lowest->trial.fits;
    };
    Searched searched = search({.rungs = usable_,
                                .stranded = advice_.now.fragmentation,
                                .most_sets = question_.most_sets,
                                .first_sets = std::min(question_.most_sets, first_sets),
                                .goes_on = go_down},
                               question_, ladder_);
    advice_.sets = searched.sets;
    advice_.whole = searched.whole;
    if (searched.found) return take(std::move(*searched.found));
    if (!lowest) go_down();
    if (!lowest) return;
    if (lowest->trial.fits) return take(std::move(*lowest));
    if (lowest->trial.needed < advice_.now.needed) advice_.lowest = std::move(lowest->trial);
  }

  void take(FoundSet found) {
    advice_.found = found.trial;
    found_ = std::move(found);
  }

  std::vector<int> usable_without(Science science) const {
    std::vector<int> out = usable_;
    std::erase_if(out, [&](int i) { return rung(i).fix.science == science; });
    return out;
  }

  void add_alternative(std::string name, Wish wish) {
    wish.stranded = advice_.now.fragmentation;
    wish.most_sets = most_sets_beside;
    Searched searched = search(wish, question_, ladder_);
    if (!searched.found || searched.found->choices == found_.choices) return;
    const auto same = [&](const Alternative& one) { return one.trial.fixes == searched.found->trial.fixes; };
    if (std::ranges::any_of(advice_.alternatives, same)) return;
    add_alternative(std::move(name), std::move(*searched.found));
  }

  void add_alternative(std::string name, FoundSet found) {
    Alternative out{.name = std::move(name), .trial = std::move(found.trial)};
    for (const Choice& choice : found.choices) out.taken.push_back(fix_of(rung(choice.rung)));
    advice_.alternatives.push_back(std::move(out));
  }

  /// The cheapest changes as little as can be: who would rather have another experiment than less precision, or less
  /// precision than a slower step, has other sets.
  void add_alternatives() {
    const Cost& cost = advice_.found->cost;
    const bool is_bf16 = question_.plan.precision.autocast.value == Autocast::bf16;
    if (cost.science[1] > 0)
      add_alternative(is_bf16 ? "keeps bf16" : "keeps the precision", {.rungs = usable_without(Science::numerics)});
    const bool same_experiment = cost.science[0] == 0;
    if (cost.slower >= worth_naming)
      add_alternative("fastest", {.rungs = same_experiment ? usable_without(Science::changes_experiment) : usable_,
                                  .speed_first = true,
                                  .below = Cost{.slower = cost.slower - worth_naming + 1}});
  }

  /// The question on several cards of the kind, where the config can be read so.
  std::optional<AdviceQuestion> on_gpus(std::int64_t gpus) const {
    AdviceQuestion out = question_;
    out.ingest.world = {.each = gpus, .said = std::to_string(gpus) + " GPUs"};
    Result<TrainingPlan> plan = ingest(*question_.document, out.ingest);
    if (plan) plan = with_model_defaults(std::move(*plan), question_.architecture);
    if (!plan || !plan->unmodelled.empty() || plan->mesh.world_size.value != gpus) return std::nullopt;
    out.plan = std::move(*plan);
    return out;
  }

  /// It changes no result; nor is it for one card as well, as what puts the model on the host is.
  bool is_for_more_gpus(const Rung& rung) const {
    const bool shares = std::ranges::count(rung.guard, std::string("world_size"), &Guard::fact) > 0;
    return rung.played && rung.fix.science == Science::none && (rung.launch.file.empty() || shares) &&
           unwanted(rung).empty();
  }

  /// Who would rather pay for cards than change the results.
  void add_more_gpus() {
    if (question_.document == nullptr || question_.plan.mesh.world_size.value > 1) return;
    Wish wish{.stranded = advice_.now.fragmentation, .most_sets = most_sets_beside};
    for (int i = 0; i < size(); ++i)
      if (is_for_more_gpus(rung(i))) wish.rungs.push_back(i);
    for (const std::int64_t gpus : usual_worlds) {
      const std::optional<AdviceQuestion> question = on_gpus(gpus);
      if (!question) return;
      Searched searched = search(wish, *question, ladder_);
      if (searched.found) return add_alternative("on " + std::to_string(gpus) + " GPUs", std::move(*searched.found));
    }
  }

  void add_step(const Choices& part) {
    const Changing changing = change_by(part, question_, ladder_);
    if (changing.change) advice_.steps.push_back(judge_.judge(part, changing.change->plan));
  }

  void describe() {
    Choices part;
    for (const Choice& choice : found_.choices) {
      part.push_back(choice);
      advice_.taken.push_back(fix_of(rung(choice.rung)));
      if (!question_.cheapest_alone) add_step(part);
    }
    for (const std::string_view fact : fact_names()) {
      const std::string before = fact_of(question_.plan, fact).value_or("");
      const std::string after = fact_of(found_.change.plan, fact).value_or("");
      if (before != after) advice_.changes.push_back({std::string(fact), before, after});
    }
    std::erase_if(advice_.passed, [&](const Passed& one) { return is_taken(one.id); });
    advice_.keys = found_.change.keys;
    advice_.launcher = found_.change.launcher;
    advice_.no_patch = found_.change.in_words;
    for (const LadderFix& fix : advice_.taken)
      if (found_.change.says_beside(fix.id)) advice_.beside.push_back(fix.how);
    write_patch();
  }

  bool is_taken(const std::string& id) const { return std::ranges::count(advice_.taken, id, &LadderFix::id) > 0; }

  /// Only where the patched file, read again, is the plan that was judged.
  void write_patch() {
    if (question_.document == nullptr || !advice_.no_patch.empty()) return;
    if (advice_.keys.empty() && !advice_.launcher) {
      advice_.no_patch = "no key of the config says it";
      return;
    }
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
    if (advice_.launcher) advice_.patch += unified_diff(advice_.launcher->name, "", advice_.launcher->text);
  }

  bool reads_as_found(const Document& document, const std::string& text) const {
    const Result<Document> again = parse_document(text, document.file, document.syntax);
    if (!again) return false;
    Result<TrainingPlan> plan = ingest(*again, options_with(found_.change, question_.ingest));
    if (plan) plan = with_model_defaults(std::move(*plan), question_.architecture);
    return plan && same_plan(*plan, found_.change.plan);
  }

  const AdviceQuestion& question_;
  const Ladder& ladder_;
  Judge judge_;
  Advice advice_{};
  std::vector<int> usable_{};
  FoundSet found_{};
};

}  // namespace
}  // namespace advise

Result<Advice> find_advice(const AdviceQuestion& question, const Ladder& ladder) {
  return advise::Walk(question, ladder).answer();
}

}  // namespace oomplan
