#include "oomplan/core/text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "../layout.hpp"
#include "oomplan/report/advice_view.hpp"

namespace oomplan {
namespace {

using report::Cell;
using report::Paint;
using report::Row;

/// The text in the making, and what it speaks of.
class Page {
 public:
  Page(const Advice& advice, const AdviceViewOptions& options) : a_(advice), colour_(options.colour) {}

  std::string text() && {
    headline();
    if (a_.now.fits) return std::move(out_);
    add_steps();
    add_changes();
    add_tried();
    add_passed();
    add_words();
    return std::move(out_);
  }

 private:
  std::string limit() const {
    const bool named = !a_.gpu.compute_capability.empty();
    const std::string card =
        named ? printable(a_.gpu.name) + " (" + to_text(a_.gpu.total) + ")" : to_text(a_.gpu.total);
    return a_.headroom > 0 ? fmt::format("{} with {:g} % free", card, a_.headroom * 100) : card;
  }

  void headline() {
    std::string line;
    Paint paint = Paint::green;
    if (a_.now.fits) {
      line = fmt::format("fits already: it needs {} of {}", to_text(a_.now.needed), limit());
    } else if (a_.found) {
      line = fmt::format("{} {} make{} it fit {}: {} instead of {}", a_.taken.size(),
                         a_.taken.size() == 1 ? "fix" : "fixes", a_.taken.size() == 1 ? "s" : "", limit(),
                         to_text(a_.found->needed), needed(a_.now));
    } else {
      paint = Paint::red;
      line = fmt::format("nothing that can be estimated makes it fit {}: it needs {}", limit(), needed(a_.now));
      if (!a_.whole) line += fmt::format("; only the {} cheapest sets of fixes were looked at", a_.sets);
    }
    if (!a_.assumed_trainer.empty()) line += " (" + a_.assumed_trainer + ")";
    out_ += report::painted(printable(a_.config) + ": ", Paint::bold, colour_) + report::painted(line, paint, colour_) +
            "\n";
  }

  void heading(std::string_view title) {
    out_ += "\n" + report::painted(std::string(title), Paint::bold, colour_) + "\n";
  }

  static std::string needed(const Trial& trial) { return (trial.at_least ? "at least " : "") + to_text(trial.needed); }

  static std::string times(const Taken& taken) {
    return taken.id + (taken.times > 1 ? fmt::format(" x{}", taken.times) : "");
  }

  static std::string cost(const Cost& cost) {
    std::string out;
    const auto say = [&](const std::string& what) { out += (out.empty() ? "" : ", ") + what; };
    if (cost.science[0] > 0) say("changes the experiment");
    if (cost.science[1] > 0) say("changes numerics");
    if (cost.science[2] > 0) say("changes batch statistics");
    if (cost.slower > 0) say(fmt::format("up to {} % slower", cost.slower));
    return out.empty() ? "free" : out;
  }

  Row row(const std::string& name, const Trial& trial) const {
    const bool fits = trial.fits;
    return {{name},
            {needed(trial), true},
            {fits                  ? "fits"
             : trial.fragmentation ? "fragmented"
                                   : "does not fit",
             false, fits ? Paint::green : Paint::red},
            {trial.fixes.empty() ? "" : cost(trial.cost), false, Paint::dim}};
  }

  void add_steps() {
    if (!a_.found) return;
    heading("The cheapest way");
    std::vector<Row> rows{row("as it is", a_.now)};
    for (const Trial& step : a_.steps) rows.push_back(row("+ " + times(step.fixes.back()), step));
    out_ += report::aligned(rows, colour_);
    for (const LadderFix& fix : a_.taken) {
      out_ += "\n  " + fix.id + ": " + report::wrapped(fix.title, fix.id.size() + 4, 4) + "\n";
      if (!fix.verify.empty()) out_ += "    verify: " + report::wrapped(fix.verify, 12, 12) + "\n";
      if (fix.slower && fix.slower->most > 0)
        out_ += "    slower: " +
                report::wrapped(fmt::format("{} to {} % ({})", fix.slower->least, fix.slower->most, fix.slower->source),
                                12, 12) +
                "\n";
      out_ += "    source: " + fix.source + "\n";
    }
  }

  void add_changes() {
    if (!a_.found) return;
    heading("What changes");
    std::vector<Row> rows;
    for (const Changed& change : a_.changes)
      rows.push_back(
          {{change.fact}, {printable(change.before.empty() ? "-" : change.before)}, {"->"}, {printable(change.after)}});
    out_ += report::aligned(rows, colour_);
    heading("What to write");
    if (!a_.patch.empty()) return add_patch();
    for (const KeyChange& key : a_.keys) out_ += "  " + key.key + ": " + printable(key.value) + "\n";
    for (const LadderFix& fix : a_.taken)
      if (!fix.how.empty()) out_ += "  " + fix.id + ": " + fix.how + "\n";
    if (!a_.no_patch.empty())
      out_ += "  " + report::wrapped("No patch of the file: " + printable(a_.no_patch) + ".", 2, 2) + "\n";
  }

  /// Line by line: a terminal is not to obey what the file holds.
  void add_patch() {
    std::string_view rest = a_.patch;
    while (!rest.empty()) {
      std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      const bool carriage = line.ends_with('\r');
      if (carriage) line.remove_suffix(1);
      const Paint paint = line.starts_with('+') ? Paint::green : line.starts_with('-') ? Paint::red : Paint::plain;
      out_ += report::painted(printable(line), paint, colour_) + (carriage ? "\r\n" : "\n");
    }
  }

  void add_tried() {
    if (a_.tried.empty()) return;
    heading("Each fix by itself");
    std::vector<Row> rows;
    for (const Trial& trial : a_.tried) rows.push_back(row(times(trial.fixes.front()), trial));
    out_ += report::aligned(rows, colour_);
    out_ += fmt::format("  {} {} of fixes looked at, the cheapest first: science, then speed, then effort\n", a_.sets,
                        a_.sets == 1 ? "set" : "sets");
  }

  void add_passed() {
    if (a_.passed.empty()) return;
    heading("Left out");
    std::vector<Row> rows;
    for (const Passed& one : a_.passed) rows.push_back({{one.id}, {printable(one.why), false, Paint::dim}});
    out_ += report::aligned(rows, colour_);
  }

  void add_words() {
    if (a_.found || a_.unplayed.empty()) return;
    heading("Effect not estimated");
    for (const LadderFix& fix : a_.unplayed) {
      out_ += "  " + fix.id + ": " + report::wrapped(fix.title, fix.id.size() + 4, 4) + "\n";
      if (!fix.how.empty()) out_ += "    " + report::wrapped(fix.how, 4, 4) + "\n";
    }
  }

  const Advice& a_;
  bool colour_ = false;
  std::string out_{};
};

}  // namespace

std::string advice_text(const Advice& advice, const AdviceViewOptions& options) { return Page(advice, options).text(); }

}  // namespace oomplan
