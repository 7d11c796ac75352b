#include "oomplan/core/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "../layout.hpp"
#include "oomplan/estimate/verdict.hpp"
#include "oomplan/report/layouts_view.hpp"

namespace oomplan {
namespace {

using report::Paint;
using report::Row;

constexpr std::size_t most_shown = 10;
constexpr std::size_t most_named = 4;  ///< With one reason.

class LayoutsPage {
 public:
  LayoutsPage(const LayoutsView& view, const LayoutsViewOptions& options)
      : view_(view), options_(options), unit_(report::unit_for(view.gpu.total)) {
    for (const Layout& layout : view.layouts) {
      if (layout.fits && layout.undecided.empty()) fitting_.push_back(&layout);
    }
  }

  std::string text() {
    out_ = headline();
    add_table();
    add_misfits();
    add_undecided();
    add_notes();
    return std::move(out_);
  }

 private:
  void add_paragraph(const std::string& text) { out_ += report::wrapped(text, 0, 2, options_.width) + "\n"; }

  std::string gpus() const {
    const LayoutWorld& world = view_.world;
    if (world.machines > 1)
      return fmt::format("{} machines with {} x {} each", world.machines, world.each, view_.gpu.title);
    return fmt::format("{} x {}", world.each, view_.gpu.title);
  }

  static std::string named(const Layout& layout) {
    return layout.kind.title + (layout.checkpointing ? " with checkpointing" : "");
  }

  std::string headline() const {
    const std::string on = " on " + gpus();
    if (fitting_.empty()) {
      const bool all =
          std::ranges::all_of(view_.layouts, [](const Layout& layout) { return layout.undecided.empty(); });
      return report::painted(all ? "nothing fits" : "cannot be decided: nothing that was decided fits", Paint::red,
                             options_.colour) +
             on + "\n";
    }
    const Layout& best = *fitting_.front();
    const bool piped = best.mesh && best.mesh->shape.pipeline > 1;
    const std::string times = best.accumulation == 1 ? ""
                              : piped                ? fmt::format(", {} of them in the pipeline", best.accumulation)
                                                     : fmt::format(", accumulated {} times", best.accumulation);
    return fmt::format("{}{}: {}; micro-batch {}{}; {} needed of {}\n",
                       report::painted("best", Paint::green, options_.colour), on, named(best), best.micro_batch, times,
                       to_text(best.needed), to_text(view_.gpu.total));
  }

  std::int64_t rows_of(const Layout& layout) const {
    if (layout.mesh) return layout.mesh->rows();
    return layout.micro_batch * layout.accumulation * view_.world.gpus();
  }

  bool times() const { return !fitting_.empty() && fitting_.front()->cost.seconds.has_value(); }

  /// Rows beyond those that were asked for are no gain of a mesh's, which may have fewer data ranks.
  double seconds_a_row(const Layout& layout) const {
    if (layout.mesh) return layout.cost.seconds.value_or(0) / static_cast<double>(view_.rows);
    return layout.cost.seconds.value_or(0) / static_cast<double>(layout.micro_batch * layout.accumulation);
  }

  void add_table() {
    if (fitting_.empty()) return;
    std::vector<Row> rows{{{"", true},
                           {"layout", false, Paint::dim},
                           {"checkpoints", false, Paint::dim},
                           {"batch", true, Paint::dim},
                           {"accumulated", true, Paint::dim},
                           {"rows", true, Paint::dim},
                           {std::string(unit_.name) + " needed", true, Paint::dim},
                           {"GB moved", true, Paint::dim}}};
    if (times()) rows.front().push_back({"time", true, Paint::dim});
    for (std::size_t i = 0; i < std::min(fitting_.size(), most_shown); ++i) {
      const Layout& layout = *fitting_[i];
      rows.push_back({{std::to_string(i + 1), true},
                      {layout.kind.title},
                      {layout.checkpointing ? "yes" : "no"},
                      {std::to_string(layout.micro_batch), true},
                      {std::to_string(layout.accumulation), true},
                      {std::to_string(rows_of(layout)), true},
                      {report::in_unit(layout.needed, unit_), true, Paint::green},
                      {fmt::format("{:.1f}", static_cast<double>(layout.cost.moved.count()) / 1e9), true}});
      if (times())
        rows.back().push_back({fmt::format("{:.2f}x", seconds_a_row(layout) / seconds_a_row(*fitting_.front())), true});
    }
    out_ += "\n" + report::aligned_within(rows, options_.colour, options_.width);
  }

  void add_misfits() {
    std::string list;
    for (const Layout& layout : view_.layouts) {
      if (layout.fits || !layout.undecided.empty()) continue;
      if (const HostFit* small = too_small(layout.host)) {
        list += fmt::format("{}{} ({} at micro-batch {})", list.empty() ? "" : "; ", named(layout), limit_text(*small),
                            layout.micro_batch);
        continue;
      }
      list += fmt::format("{}{} ({}{} at micro-batch {})", list.empty() ? "" : "; ", named(layout),
                          layout.at_least ? "over " : "", to_text(layout.needed), layout.micro_batch);
    }
    if (list.empty()) return;
    out_ += "\n";
    add_paragraph("does not fit: " + list);
  }

  struct Reason {
    std::string why{};
    std::string titles{};
    std::size_t count = 0;
  };

  /// Each reason with what it is of.
  void add_undecided() {
    std::vector<Reason> reasons;
    for (const Layout& layout : view_.layouts) {
      if (layout.undecided.empty()) continue;
      const std::string& why = layout.undecided.front().message;
      auto known = std::ranges::find(reasons, why, &Reason::why);
      if (known == reasons.end()) known = reasons.insert(known, {.why = why});
      if (++known->count <= most_named || !view_.meshes)
        known->titles += (known->titles.empty() ? "" : "; ") + named(layout);
    }
    if (!reasons.empty()) out_ += "\n";
    for (const Reason& reason : reasons) {
      const bool all = !view_.meshes || reason.count <= most_named;
      add_paragraph(fmt::format("cannot be decided ({}{}): {}", reason.titles,
                                all ? "" : fmt::format(" and {} more", reason.count - most_named),
                                printable(reason.why)));
    }
  }

  void add_notes() {
    if (fitting_.empty()) return;
    out_ += "\n";
    const auto in_16_bits = [](const Layout* layout) { return !layout->fp32_trained; };
    const bool differ = std::ranges::any_of(fitting_, in_16_bits) && !std::ranges::all_of(fitting_, in_16_bits);
    if (differ) add_paragraph("results differ: " + masters());
    add_paragraph(fmt::format("{} a step at least, on all GPUs together; {:g} % of a GPU left free{}",
                              counted(view_.rows, "row"), view_.headroom * 100, times() ? ". " + cost_note() : ""));
    if (view_.meshes) add_paragraph(counts_note(*view_.meshes));
    if (!view_.recipe.empty()) add_paragraph("recipe: " + view_.recipe);
    add_paragraph(fmt::format("the first: {}; {}", fmt::join(fitting_.front()->settings, ", "), starts()));
  }

  static std::string counts_note(const MeshCounts& counts) {
    return fmt::format(
        "{} layouts: {} that cannot fit by a bound, {} played ({} too large), {} that cannot be decided, {} that "
        "the frameworks stop at; {} slower than those above, or of the same mesh",
        with_separators(counts.considered), with_separators(counts.too_large), with_separators(counts.played),
        with_separators(counts.misfits), with_separators(counts.undecided), with_separators(counts.refused),
        with_separators(counts.not_played));
  }

  std::string starts() const {
    if (view_.meshes && view_.files.empty()) return "in a config that --write FOLDER makes";
    if (view_.meshes) return "in " + printable(view_.files.front());
    if (view_.files.empty()) return "started by the launcher config that --write FOLDER makes, or --json has";
    const std::string script = view_.recipe.empty() ? "with your script and" : "-m trl.scripts.sft --config";
    return fmt::format("started by accelerate launch --config_file {} {} {}", printable(view_.files.front()), script,
                       printable(view_.files.back()));
  }

  std::string masters() const {
    std::vector<std::string> titles;
    for (const Layout* layout : fitting_)
      if (!layout->fp32_trained && std::ranges::count(titles, layout->kind.title) == 0)
        titles.push_back(layout->kind.title);
    std::string out;
    for (const std::string& title : titles) out += (out.empty() ? "" : ", ") + title;
    return "in " + out + " the optimizer updates weights of 16 bits; in the others it has them in 32 bits";
  }

  std::string cost_note() const {
    std::string out = "Times are compared by a model of operations and bytes moved, not measured (docs/planner.md)";
    if (view_.world.machines > 1)
      out += fmt::format("; between machines {:g} GB/s a GPU are taken (--network)", view_.world.network);
    return out;
  }

  const LayoutsView& view_;
  const LayoutsViewOptions& options_;
  report::Unit unit_;
  std::vector<const Layout*> fitting_{};
  std::string out_{};
};

}  // namespace

std::string layouts_text(const LayoutsView& view, const LayoutsViewOptions& options) {
  return LayoutsPage(view, options).text();
}

}  // namespace oomplan
