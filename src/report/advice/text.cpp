#include "oomplan/core/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "../cards.hpp"
#include "../layout.hpp"
#include "oomplan/estimate/verdict.hpp"
#include "oomplan/report/advice_view.hpp"
#include "rungs.hpp"

namespace oomplan {
namespace {

/// Without its end, taken off `rest`.
std::string_view next_line(std::string_view& rest) {
  const std::string_view line = rest.substr(0, rest.find('\n'));
  rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  return line;
}

using report::Cell;
using report::Paint;
using report::Row;

/// The text in the making, and what it speaks of.
class Page {
 public:
  Page(const Advice& advice, const AdviceViewOptions& options)
      : a_(advice), colour_(options.colour), width_(options.width), verdict_only_(options.verdict_only) {}

  std::string text() && {
    headline();
    if (verdict_only_) add_names();
    if (a_.now.fits || verdict_only_) return std::move(out_);
    add_steps();
    add_changes();
    add_alternatives();
    add_tried();
    add_passed();
    add_words();
    return std::move(out_);
  }

 private:
  std::string limit() const {
    const bool named = !a_.gpu.compute_capability.empty();
    const std::string one = report::cards_text(a_.count, a_.gpu);
    const std::string card = named               ? printable(one) + " (" + to_text(a_.gpu.total) + ")"
                             : a_.count.gpus > 1 ? printable(one)
                                                 : to_text(a_.gpu.total);
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
      if (!a_.whole) line += fmt::format("; there may be a cheaper set: none of the {} cheapest fits", a_.sets);
    } else {
      paint = Paint::red;
      line = fmt::format("{} makes it fit {}: it needs {}",
                         a_.whole ? "nothing that can be estimated" : "no set of fixes was found that", limit(),
                         needed(a_.now));
      if (a_.lowest) line += fmt::format(", and {} with {}", needed(*a_.lowest), fixes_of(*a_.lowest));
      if (!a_.whole) line += fmt::format("; the {} cheapest sets were looked at", a_.sets);
    }
    if (const HostFit* small = too_small(a_.now.host)) line += "; " + limit_text(*small) + with_found(small->name);
    if (!a_.assumed_trainer.empty()) line += " (" + a_.assumed_trainer + ")";
    const std::string head = printable(a_.config) + ": ";
    out_ += report::painted(head, Paint::bold, colour_) +
            report::painted(wrapped(line, report::width_of(head), 2), paint, colour_) + "\n";
  }

  /// What of it the set that was found takes.
  std::string with_found(const std::string& limit) const {
    if (!a_.found) return "";
    const auto left = std::ranges::find(a_.found->host, limit, &HostFit::name);
    return left == a_.found->host.end() ? "" : ", then " + to_text(left->needed);
  }

  void heading(std::string_view title) {
    out_ += "\n" + report::painted(std::string(title), Paint::bold, colour_) + "\n";
  }

  static std::string needed(const Trial& trial) { return (trial.at_least ? "at least " : "") + to_text(trial.needed); }

  static std::string fixes_of(const Trial& trial) {
    std::string out;
    for (std::size_t i = 0; i < trial.fixes.size(); ++i)
      out += (i == 0 ? "" : i + 1 == trial.fixes.size() ? " and " : ", ") + report::taken_text(trial.fixes[i]);
    return out;
  }

  void add_names() {
    if (a_.found) out_ += "  " + wrapped(fixes_of(*a_.found), 2, 2) + "\n";
  }

  void add_steps() {
    if (!a_.found) return;
    heading(a_.whole ? "The cheapest way, step by step" : "A way, step by step");
    std::vector<Row> rows{report::rung_heads(), report::rung_row("as it is", a_.now, nullptr, a_.now)};
    for (std::size_t i = 0; i < a_.steps.size() && i < a_.taken.size(); ++i)
      rows.push_back(report::rung_row(report::taken_text(a_.steps[i].fixes.back()), a_.steps[i], &a_.taken[i],
                                      i == 0 ? a_.now : a_.steps[i - 1]));
    out_ += report::folded(rows, colour_, width_);
    for (const LadderFix& fix : a_.taken) {
      out_ += "\n  " + fix.id + ": " + wrapped(fix.title, fix.id.size() + 4, 4) + "\n";
      if (!fix.verify.empty()) out_ += "    verify: " + wrapped(fix.verify, 12, 12) + "\n";
      if (fix.slower && fix.slower->most > 0)
        out_ += "    slower: " + wrapped(fmt::format("{} ({})", report::slower_text(fix), fix.slower->source), 12, 12) +
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
    if (!a_.patch.empty()) {
      add_patch();
      for (const std::string& how : a_.beside) out_ += "\n  " + wrapped(how, 2, 2) + "\n";
      return add_start();
    }
    for (const KeyChange& key : a_.keys) out_ += "  " + key.key + ": " + printable(key.value) + "\n";
    for (const LadderFix& fix : a_.taken)
      if (!fix.how.empty()) out_ += "  " + fix.id + ": " + fix.how + "\n";
    if (!a_.no_patch.empty())
      out_ += "  " + wrapped("No patch of the file: " + printable(a_.no_patch) + ".", 2, 2) + "\n";
    if (!a_.launcher) return;
    out_ += "  a new file, " + a_.launcher->name + ":\n";
    for (std::string_view rest = a_.launcher->text; !rest.empty();)
      out_ += "    " + std::string(next_line(rest)) + "\n";
    add_start();
  }

  void add_start() {
    if (!a_.launcher) return;
    out_ += "\n  " +
            wrapped("start the script with: accelerate launch --config_file " + a_.launcher->name +
                        " …, in place of any other launcher's config",
                    2, 2) +
            "\n";
  }

  /// Line by line: a terminal is not to obey what the file holds.
  void add_patch() {
    std::string_view rest = a_.patch;
    while (!rest.empty()) {
      std::string_view line = next_line(rest);
      const bool carriage = line.ends_with('\r');
      if (carriage) line.remove_suffix(1);
      const Paint paint = line.starts_with('+') ? Paint::green : line.starts_with('-') ? Paint::red : Paint::plain;
      out_ += report::painted(printable(line), paint, colour_) + (carriage ? "\r\n" : "\n");
    }
  }

  /// What changes no result first, and of these what needs least.
  std::vector<std::size_t> tried_in_order() const {
    std::vector<std::size_t> out(std::min(a_.tried.size(), a_.rungs.size()));
    std::iota(out.begin(), out.end(), std::size_t{0});
    std::ranges::stable_sort(out, {},
                             [&](std::size_t i) { return std::pair(a_.rungs[i].science, a_.tried[i].needed); });
    return out;
  }

  void add_tried() {
    if (a_.tried.empty()) return;
    heading("Each fix by itself");
    std::vector<Row> rows{report::rung_heads()};
    for (const std::size_t i : tried_in_order())
      rows.push_back(
          report::rung_row(report::taken_text(a_.tried[i].fixes.front()), a_.tried[i], &a_.rungs[i], a_.now));
    out_ += report::folded(rows, colour_, width_);
    out_ += "  " +
            wrapped(fmt::format("{} {} of fixes looked at, the cheapest first: science, then speed, then effort",
                                a_.sets, a_.sets == 1 ? "set" : "sets"),
                    2, 2) +
            "\n";
  }

  void add_alternatives() {
    if (a_.alternatives.empty() && a_.larger.empty()) return;
    heading("Or instead");
    for (const Alternative& one : a_.alternatives) {
      std::string fixes;
      for (std::size_t i = 0; i < one.taken.size(); ++i)
        fixes += (i == 0 ? "" : ", ") + report::taken_text(one.trial.fixes[i]) + slower_by(one.taken[i]);
      out_ += "  " +
              wrapped(fmt::format("{}: {}, needs {}{}", one.name, fixes, to_text(one.trial.needed),
                                  results(one.trial.cost)),
                      2, 4) +
              "\n";
    }
    if (!a_.larger.empty()) out_ += "  " + wrapped("as it is, on a larger card: " + larger_text(), 2, 4) + "\n";
  }

  /// Those about as large as the smallest that does.
  std::string larger_text() const {
    constexpr std::size_t most = 3;
    std::string out;
    for (std::size_t i = 0; i < std::min(most, a_.larger.size()); ++i)
      out += (i == 0 ? "" : ", ") + printable(a_.larger[i].title);
    if (a_.larger.size() > most) out += fmt::format(" and {} alike", a_.larger.size() - most);
    return out + " (" + to_text(a_.larger.front().total) + ")";
  }

  static std::string slower_by(const LadderFix& fix) {
    return fix.slower && fix.slower->most == 0 ? "" : " (" + report::slower_text(fix) + " slower)";
  }

  static std::string_view results(const Cost& cost) {
    if (cost.science[0] > 0) return ", another experiment";
    if (cost.science[1] > 0) return ", other precision";
    return cost.science[2] > 0 ? ", other batch statistics" : ", same results";
  }

  std::string wrapped(const std::string& text, std::size_t at, std::size_t indent) const {
    return report::wrapped(text, at, indent, width_);
  }

  void add_passed() {
    if (a_.passed.empty()) return;
    heading("Left out");
    std::size_t names = 0;
    for (const Passed& one : a_.passed)
      if (!one.unneeded) names = std::max(names, one.id.size());
    const std::size_t at = 2 + names + 2;
    std::string unneeded;
    for (const Passed& one : a_.passed) {
      if (one.unneeded) unneeded += (unneeded.empty() ? "" : ", ") + one.id;
      if (!one.unneeded)
        out_ += fmt::format("  {:{}}  ", one.id, names) +
                report::painted(wrapped(printable(one.why), at, at), Paint::dim, colour_) + "\n";
    }
    if (!unneeded.empty())
      out_ += "  " + report::painted(wrapped("nothing to change for: " + unneeded, 2, 4), Paint::dim, colour_) + "\n";
  }

  void add_words() {
    if (a_.found || a_.unplayed.empty()) return;
    heading("Effect not estimated");
    for (const LadderFix& fix : a_.unplayed) {
      out_ += "  " + fix.id + ": " + wrapped(fix.title, fix.id.size() + 4, 4) + "\n";
      if (!fix.how.empty()) out_ += "    " + wrapped(fix.how, 4, 4) + "\n";
    }
  }

  const Advice& a_;
  bool colour_ = false;
  std::size_t width_ = report::page_width;
  bool verdict_only_ = false;
  std::string out_{};
};

}  // namespace

std::string advice_text(const Advice& advice, const AdviceViewOptions& options) { return Page(advice, options).text(); }

}  // namespace oomplan
