#include "oomplan/core/text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "../cards.hpp"
#include "../layout.hpp"
#include "oomplan/estimate/verdict.hpp"
#include "oomplan/report/sweep_view.hpp"

namespace oomplan {
namespace {

using report::Cell;
using report::Paint;
using report::Row;

constexpr std::size_t most_columns = 12;
constexpr std::size_t most_rows = 200;
constexpr std::size_t most_named = 5;

class Page {
 public:
  Page(const Sweep& sweep, const SweepViewOptions& options)
      : s_(sweep), colour_(options.colour), brief_(options.verdict_only), unit_(report::unit_for(sweep.gpu.total)) {}

  std::string text() {
    out_ = headline() + counts();
    if (brief_) return std::move(out_);
    add_frontier();
    add_grid();
    add_falling();
    add_lucky();
    add_undecided();
    return std::move(out_);
  }

 private:
  std::string named(std::size_t i) const {
    const std::vector<std::string> values = values_at(s_.axes, i);
    std::string out;
    for (std::size_t a = 0; a < values.size(); ++a)
      out += (a == 0 ? "" : ", ") + printable(s_.axes[a].key) + " " + printable(values[a]);
    return out;
  }

  std::string headline() const {
    const std::string card =
        fmt::format("{} with {:g} % left free", report::cards_text(s_.count, s_.gpu), s_.headroom * 100);
    const std::string note = s_.assumed_trainer.empty() ? "" : " (" + s_.assumed_trainer + ")";
    const std::string_view none = s_.lucky.empty() ? "nothing fits" : "nothing fits but by rounding";
    if (!s_.largest) return report::painted(std::string(none), Paint::red, colour_) + " on " + card + note + "\n";
    return fmt::format("{} on {}: {}, {} needed{}\n", report::painted("the largest that fits", Paint::green, colour_),
                       card, named(*s_.largest), oomplan::to_text(s_.points[*s_.largest].needed), note);
  }

  std::string counts() const {
    const auto count = [&](auto test) { return std::ranges::count_if(s_.points, test); };
    const auto undecided = count([](const auto& p) { return !p.undecided.empty(); });
    std::string out = fmt::format("{} of {} combinations fit; the allocator was played for {}",
                                  count([](const auto& p) { return p.fits; }), s_.points.size(),
                                  count([](const auto& p) { return p.replayed; }));
    if (undecided > 0) out += fmt::format("; {} cannot be decided", undecided);
    const auto too_much = count([](const auto& p) { return too_small(p.host) != nullptr; });
    if (too_much > 0) out += fmt::format("; {} fit the GPU and are too much for the host", too_much);
    return out + "\n";
  }

  void add_frontier() {
    if (s_.frontier.size() < 2) return;
    out_ += "\nThe frontier: what fits while nothing larger does\n";
    std::vector<Row> rows{heading(s_.axes.size())};
    for (const std::size_t i : s_.frontier) rows.push_back(line(i));
    out_ += report::aligned(rows, colour_);
  }

  Row heading(std::size_t axes) const {
    Row row;
    for (std::size_t a = 0; a < axes; ++a) row.push_back({printable(s_.axes[a].key), true, Paint::dim});
    row.push_back({std::string(unit_.name) + " needed", true, Paint::dim});
    return row;
  }

  Cell figure(const SweepPoint& point) const {
    if (!point.undecided.empty()) return {"?", true, Paint::dim};
    const std::string size = (point.at_least ? ">" : "") + report::in_unit(point.needed, unit_);
    return {point.fits ? size : "(" + size + ")", true, point.fits ? Paint::green : Paint::dim};
  }

  Row line(std::size_t i) const {
    Row row;
    for (const std::string& value : values_at(s_.axes, i)) row.push_back({printable(value), true});
    row.push_back(figure(s_.points[i]));
    return row;
  }

  /// Two axes make a table, the longer one downwards; more a line each.
  void add_grid() {
    const bool crossed = s_.axes.size() == 2 && std::min(size(0), size(1)) <= most_columns;
    if ((crossed ? std::max(size(0), size(1)) : s_.points.size()) > most_rows) {
      out_ += fmt::format("\nThe grid is too long for a page: --csv and --json have all of it\n");
      return;
    }
    out_ +=
        fmt::format("\n{} needed; in brackets where it does not fit, > where the tensors alone are more\n", unit_.name);
    out_ += report::aligned(crossed ? table(size(0) >= size(1)) : lines(), colour_);
  }

  std::size_t size(std::size_t axis) const { return s_.axes[axis].values.size(); }

  std::vector<Row> table(bool first_down) const {
    const std::size_t down = first_down ? 0 : 1;
    const Axis& rows_axis = s_.axes[down];
    const Axis& columns = s_.axes[1 - down];
    std::vector<Row> rows{{{printable(rows_axis.key) + " \\ " + printable(columns.key), true, Paint::dim}}};
    for (const std::string& value : columns.values) rows.front().push_back({printable(value), true, Paint::dim});
    for (std::size_t r = 0; r < rows_axis.values.size(); ++r) {
      Row row{{printable(rows_axis.values[r]), true}};
      for (std::size_t c = 0; c < columns.values.size(); ++c)
        row.push_back(figure(s_.points[first_down ? r * size(1) + c : c * size(1) + r]));
      rows.push_back(std::move(row));
    }
    return rows;
  }

  std::vector<Row> lines() const {
    std::vector<Row> rows{heading(s_.axes.size())};
    for (std::size_t i = 0; i < s_.points.size(); ++i) rows.push_back(line(i));
    return rows;
  }

  /// Whether less is needed at `i` than where one number is the next smaller.
  bool falls(std::size_t i) const {
    std::size_t stride = 1;
    for (std::size_t a = s_.axes.size(); a-- > 0; stride *= size(a)) {
      if (!s_.axes[a].numbers || i / stride % size(a) == 0) continue;
      const SweepPoint& before = s_.points[i - stride];
      const bool known = before.undecided.empty() && s_.points[i].undecided.empty() && !s_.points[i].at_least;
      if (known && s_.points[i].needed < before.needed) return true;
    }
    return false;
  }

  void add_falling() {
    std::size_t count = 0;
    for (std::size_t i = 0; i < s_.points.size(); ++i) count += falls(i) ? 1 : 0;
    if (count == 0) return;
    out_ +=
        "\n" +
        report::wrapped(fmt::format("{} of {} need less than the next smaller one: the allocator rounds sizes up, and "
                                    "larger ones can leave less of a segment unused",
                                    count, s_.points.size()),
                        0, 2) +
        "\n";
  }

  void add_lucky() {
    if (s_.lucky.empty()) return;
    std::string text;
    for (std::size_t k = 0; k < std::min(s_.lucky.size(), most_named); ++k)
      text += (k == 0 ? "" : "; ") + named(s_.lucky[k]);
    if (s_.lucky.size() > most_named) text += fmt::format(" and {} more", s_.lucky.size() - most_named);
    out_ += "\n" +
            report::wrapped("fits though something smaller does not, by that rounding: " + text +
                                ". None of these is taken for the largest or the frontier",
                            0, 2) +
            "\n";
  }

  void add_undecided() {
    for (std::size_t i = 0; i < s_.points.size(); ++i) {
      if (s_.points[i].undecided.empty()) continue;
      const std::string head = fmt::format("cannot be decided ({}): ", named(i));
      out_ += "\n" + report::wrapped(head + printable(s_.points[i].undecided), 0, 2) + "\n";
      return;  // The first: the others are mostly of the same reason, and --json has each.
    }
  }

  const Sweep& s_;
  bool colour_ = false;
  bool brief_ = false;
  report::Unit unit_;
  std::string out_{};
};

}  // namespace

std::string sweep_text(const Sweep& sweep, const SweepViewOptions& options) { return Page(sweep, options).text(); }

}  // namespace oomplan
