#include "oomplan/core/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "../layout.hpp"
#include "oomplan/report/comparison_view.hpp"

namespace oomplan {
namespace {

using report::Paint;
using report::Row;

constexpr std::size_t most_shown = 10;
constexpr std::size_t most_frames = 4;
constexpr double most_percent = 1000;  // beyond it says nothing that both figures do not

std::string moment_text(const PhaseOfStep& at) {
  return at.step == 0 ? std::string(name_of(at.phase)) : fmt::format("{} of step {}", name_of(at.phase), at.step);
}

std::string tensor_text(const PredictedTensor& tensor) {
  std::string out = printable(tensor.op);
  if (!tensor.module.empty()) out += " in " + printable(tensor.module);
  return fmt::format("{} ({})", out, name_of(tensor.bucket));
}

std::string what_differs(const Difference& one) {
  const std::string predicted = to_text(one.predicted);
  const std::string observed = to_text(one.observed);
  switch (one.kind) {
    case DifferenceKind::only_observed:
      return observed + " that the prediction does not have";
    case DifferenceKind::only_predicted:
      return predicted + " that the snapshot does not have";
    case DifferenceKind::other_size:
      return observed + " in place of " + predicted;
    case DifferenceKind::freed_later:
      return predicted +
             (one.entry > 0 ? " held longer than predicted" : " held to the end, which is predicted to be freed");
    case DifferenceKind::freed_sooner:
      return predicted + " freed sooner than predicted";
  }
  return {};
}

std::string percent(Bytes predicted, Bytes observed) {
  if (predicted.count() == 0) return "";
  const double by = 100 * static_cast<double>((observed - predicted).count()) / static_cast<double>(predicted.count());
  return std::abs(by) > most_percent ? "" : fmt::format("{:+.1f} %", by);
}

class ComparisonPage {
 public:
  ComparisonPage(const ComparisonView& view, const ComparisonOptions& options)
      : view_(view), found_(view.found), options_(options), unit_(report::unit_for(largest())) {}

  std::string text() {
    add_headline();
    add_peaks();
    add_moments();
    add_first();
    add_most();
    add_phases();
    add_buckets();
    add_sizes();
    add_notes();
    return std::move(out_);
  }

 private:
  Bytes largest() const {
    return std::max({found_.predicted_reserved, found_.observed_reserved.value_or(Bytes()), found_.end_reserved});
  }

  void add_paragraph(const std::string& text) { out_ += report::wrapped(text, 0, 2, options_.width) + "\n"; }
  void add_table(const std::vector<Row>& rows) {
    out_ += "\n" + report::aligned_within(rows, options_.colour, options_.width);
  }

  void add_headline() {
    const bool same = found_.is_same();
    const bool open = !found_.is_lined_up();
    const std::string word = open ? "cannot be lined up" : same ? "the same" : "differs";
    const std::string what = fmt::format(": {}, GPU {}, against the prediction of {}", printable(found_.file),
                                         found_.device, printable(view_.config));
    out_ += report::painted(word, same ? Paint::green : Paint::red, options_.colour) +
            report::wrapped(what, word.size(), 2, options_.width) + "\n";
    if (found_.coverage == Coverage::end_only) {
      add_paragraph("The snapshot has no trace: it shows what was in use when it was written, and no peak.");
    } else {
      add_paragraph(
          fmt::format("{}, {}; {} lined up{}", counted(found_.entries, "event"),
                      found_.coverage == Coverage::cut ? "beginning within the run" : "from the start of the run",
                      counted(found_.lined_up, "allocation"), told()));
    }
    if (found_.ends_early) add_paragraph("it ends before the prediction does, whose peaks are those up to there");
    if (!found_.undecided.empty()) add_paragraph("undecided, because " + found_.undecided);
  }

  std::string told() const {
    const std::string steps = found_.steps > 0 ? ", " + counted(found_.steps, "step") : "";
    switch (found_.told_by) {
      case ToldBy::exported:
        return ", phases as oomplan's export names them" + steps;
      case ToldBy::frames:
        return ", phases by their frames" + steps;
      case ToldBy::order:
        return ", phases by the order of sizes";
      case ToldBy::nothing:
        break;
    }
    return "";
  }

  Row figures(std::string name, const std::optional<Bytes>& predicted, const std::optional<Bytes>& observed) const {
    const auto shown = [&](const std::optional<Bytes>& b) { return b ? report::in_unit(*b, unit_) : std::string(); };
    Row row{{std::move(name)}, {shown(predicted), true}, {shown(observed), true}};
    if (predicted && observed) {
      const Bytes apart = *observed - *predicted;
      row.push_back({apart.count() == 0 ? "" : with_separators(apart.count()) + " B", true});
      row.push_back({apart.count() == 0 ? "" : percent(*predicted, *observed), true});
    }
    return row;
  }

  Row heading(const std::string& of) const {
    Row row{{std::string(unit_.name) + " " + of}, {"predicted", true}, {"observed", true}, {"apart", true}, {"", true}};
    for (report::Cell& cell : row) cell.paint = Paint::dim;
    return row;
  }

  void add_peaks() {
    std::vector<Row> rows{heading("at the peak")};
    rows.push_back(figures("allocated", found_.predicted_allocated, found_.observed_allocated));
    rows.push_back(figures("reserved", found_.predicted_reserved, found_.observed_reserved));
    rows.push_back(figures("reserved beyond it", found_.predicted_reserved - found_.predicted_allocated,
                           found_.observed_reserved
                               ? std::optional(*found_.observed_reserved - *found_.observed_allocated)
                               : std::nullopt));
    rows.push_back(figures("allocated at its end", std::nullopt, found_.end_allocated));
    rows.push_back(figures("reserved at its end", std::nullopt, found_.end_reserved));
    add_table(rows);
  }

  void add_moments() {
    out_ += "\n";
    if (found_.coverage == Coverage::cut) add_paragraph(seen_text("it begins", found_.begins));
    add_paragraph(seen_text("it ends", found_.ends));
  }

  static std::string seen_text(const std::string& what, const SeenMoment& seen) {
    if (!seen.undecided.empty()) return "where " + what + " cannot be told: " + seen.undecided;
    std::string after;
    for (std::size_t i = 0; i < seen.after.size(); ++i) {
      const bool last = i + 1 == seen.after.size();
      after += (i == 0 ? "" : last ? " or " : ", ") + moment_text(seen.after[i]);
    }
    std::string out = what + " with what is in use at the end of " + after;
    if (seen.apart.count() > 0) out += ", but for " + to_text(seen.apart);
    if (!seen.optimizer_state)
      return out + "; whether the optimizer's state is there is undecided, because both are near";
    return out + (*seen.optimizer_state ? "; the optimizer's state is there" : "; there is no optimizer state");
  }

  void add_difference(const Difference& one, const std::string& before) {
    std::string line = before + what_differs(one);
    if (one.at) line += ", in " + moment_text(*one.at);
    const bool held = one.kind == DifferenceKind::freed_later || one.kind == DifferenceKind::freed_sooner;
    if (one.entry > 0) line += fmt::format(", {} event {}", held ? "freed at" : "at", with_separators(one.entry));
    add_paragraph(line);
    if (one.tensor) add_paragraph("    predicted: " + tensor_text(*one.tensor));
    std::size_t shown = 0;
    for (const std::string& frame : one.frames) {
      if (shown++ == most_frames) break;
      add_paragraph("    " + printable(frame));
    }
  }

  void add_first() {
    if (!found_.first) return;
    out_ += "\n";
    add_difference(*found_.first, "first difference: ");
  }

  void add_most() {
    if (found_.differences.size() < 2) return;
    out_ += "\nwhat differs most:\n";
    std::size_t shown = 0;
    for (const Difference& one : found_.differences) {
      if (shown++ == most_shown) break;
      add_difference(one, one.count > 1 ? "  " + with_separators(one.count) + " x " : "  ");
    }
    const std::int64_t more =
        found_.more_differences + static_cast<std::int64_t>(found_.differences.size() - std::min(shown, most_shown));
    if (shown > most_shown) out_ += fmt::format("  and {} more kinds (--json)\n", with_separators(more));
  }

  void add_phases() {
    if (found_.phases.empty()) return;
    std::vector<Row> rows{heading("of tensors, highest in")};
    for (const ComparedPhase& one : found_.phases)
      if (one.observed) rows.push_back(figures(moment_text(one.at), one.predicted, one.observed));
    if (rows.size() > 1) add_table(rows);
  }

  void add_buckets() {
    std::vector<Row> rows{heading(found_.coverage == Coverage::end_only ? "at its end" : "at each one's peak")};
    for (const ComparedBucket& one : found_.buckets) rows.push_back(figures(one.name, one.predicted, one.observed));
    if (rows.size() > 1) add_table(rows);
  }

  void add_sizes() {
    if (found_.sizes.empty()) return;
    std::vector<Row> rows{{{"tensors of", true}, {"predicted", true}, {"observed", true}, {"what"}}};
    for (report::Cell& cell : rows.front()) cell.paint = Paint::dim;
    for (std::size_t i = 0; i < std::min(found_.sizes.size(), most_shown); ++i) {
      const ComparedSize& one = found_.sizes[i];
      const std::string what = one.tensor           ? tensor_text(*one.tensor)
                               : one.frames.empty() ? std::string()
                                                    : printable(one.frames.front());
      rows.push_back({{to_text(one.size), true},
                      {with_separators(one.predicted), true},
                      {with_separators(one.observed), true},
                      {what}});
    }
    add_table(rows);
  }

  void add_notes() {
    if (!view_.gpu.empty()) return;
    out_ += "\n";
    add_paragraph("No GPU is named: the prediction is without cuBLAS's workspaces (--gpu).");
  }

  const ComparisonView& view_;
  const Comparison& found_;
  ComparisonOptions options_;
  report::Unit unit_;
  std::string out_{};
};

}  // namespace

std::string comparison_text(const ComparisonView& view, const ComparisonOptions& options) {
  return ComparisonPage(view, options).text();
}

}  // namespace oomplan
