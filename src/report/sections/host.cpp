// What the ranks and their loaders take of the host, moment by moment, and why.
//
//   Host memory of 1 rank
//     MiB             starting  running  where
//     ranks             145.00   145.00  process
//     …
//   fits in 64.00 GiB of host RAM: 1.12 GiB needed, headroom 62.88 GiB
#include <fmt/format.h>

#include <algorithm>

#include "layout.hpp"
#include "oomplan/core/text.hpp"
#include "sections.hpp"

namespace oomplan::report {
namespace {

using oomplan::to_text;

/// Of loading, preparing and saving those in which something is there that is not while the loaders run.
std::vector<HostMoment> moments_of(const HostFootprint& footprint) {
  std::vector<HostMoment> out;
  for (const HostMoment moment : host_moments) {
    const auto more = [&](const HostTerm& term) {
      const bool counts = term.place != HostPlace::page_cache || moment == HostMoment::loading;
      const auto at = [&](HostMoment of) { return term.at[static_cast<std::size_t>(of)]; };
      return counts && at(moment) > at(HostMoment::running);
    };
    const bool always = moment == HostMoment::starting || moment == HostMoment::running;
    if (always || std::ranges::any_of(footprint.terms, more)) out.push_back(moment);
  }
  return out;
}

class HostTable {
 public:
  explicit HostTable(const HostFootprint& footprint)
      : footprint_(footprint),
        moments_(moments_of(footprint)),
        unit_(unit_for(std::max(footprint.ram(), footprint.page_cache()))) {}

  std::vector<Row> rows() const {
    std::vector<Row> rows{heading()};
    for (const HostTerm& term : footprint_.terms) {
      rows.push_back(line(term.name, [&](HostMoment moment) { return term.at[static_cast<std::size_t>(moment)]; }));
      rows.back().push_back({std::string(name_of(term.place)), false, Paint::dim});
    }
    rows.push_back(line("= RAM", [&](HostMoment moment) { return footprint_.ram(moment); }));
    rows.back().push_back({"all but page_cache", false, Paint::dim});
    rows.push_back(line("= /dev/shm", [&](HostMoment moment) { return footprint_.in(HostPlace::shared, moment); }));
    return rows;
  }

 private:
  Row heading() const {
    Row row{{std::string(unit_.name), false, Paint::dim}};
    for (const HostMoment moment : moments_) row.push_back({std::string(name_of(moment)), true, Paint::dim});
    row.push_back({"in", false, Paint::dim});
    return row;
  }

  template <class Size>
  Row line(const std::string& name, Size size) const {
    Row row{{name}};
    for (const HostMoment moment : moments_) row.push_back({in_unit(size(moment), unit_), true});
    return row;
  }

  const HostFootprint& footprint_;
  std::vector<HostMoment> moments_;
  Unit unit_;
};

std::string_view title_of(const HostFit& fit) {
  return fit.name == "host_ram" ? "of host RAM" : fit.name == "shm" ? "of /dev/shm" : "of the cgroup's limit";
}

std::string fit_line(const HostFit& fit, bool colour) {
  constexpr std::array<std::string_view, 4> words{"fits", "fits, at the edge,", "does not fit", "cannot be decided"};
  constexpr std::array paints{Paint::green, Paint::bold, Paint::red, Paint::red};
  const auto i = static_cast<std::size_t>(fit.verdict);
  const std::string head = painted(std::string(words.at(i)), paints.at(i), colour);
  const std::string of = fmt::format("{} in {} {}", head, to_text(fit.limit), title_of(fit));
  if (fit.verdict == FitVerdict::undecided)
    return fmt::format("{}: {} and what is not known\n", of, to_text(fit.needed));
  const std::string rest =
      fit.fits() ? "headroom " + to_text(fit.headroom()) : to_text(Bytes(0) - fit.headroom()) + " too much";
  return fmt::format("{}: {} needed, {}\n", of, to_text(fit.needed), rest);
}

/// Whether a limit of the host comes before the verdict on the GPU: one that is too small, and one that is not decided
/// where the GPU is not too small itself.
bool leads(const HostFit& fit, const Report& report) {
  if (!report.found.footprint || fit.fits()) return false;
  const bool too_small = std::ranges::count(report.found.fits, FitVerdict::does_not_fit, &Fit::verdict) > 0;
  return fit.verdict == FitVerdict::does_not_fit || !too_small;
}

std::string terms_text(const HostFootprint& footprint, std::size_t width) {
  std::size_t names = 0;
  for (const HostTerm& term : footprint.terms) names = std::max(names, term.name.size());
  std::string out;
  for (const HostTerm& term : footprint.terms) {
    const std::string head = fmt::format("  {:{}}  ", term.name, names);
    out += head + wrapped(printable(term.formula + ". " + term.source), head.size(), head.size(), width) + "\n";
  }
  return out;
}

std::string feed_text(const Feed& feed) {
  const std::string reads = fmt::format(
      "{} {:.0f} rows a second", feed.is_of_loader ? "the loader gives" : "one process reads", feed.read_per_second);
  if (!feed.taken_per_second) return reads + "; " + feed.unknown + "\n";
  const std::string_view verdict = *feed.keeps_up() ? "the loader feeds the step" : "the loader does not feed the step";
  if (feed.is_of_loader) return fmt::format("{}: {} and a rank takes {:.1f}\n", verdict, reads, *feed.taken_per_second);
  return fmt::format(
      "{}: {} and a rank takes {:.1f}, with {} of them; not counted is what is done to rows once they are "
      "read\n",
      verdict, reads, *feed.taken_per_second, feed.readers);
}

}  // namespace

std::string host_verdict_section(const Report& report, const ViewOptions& options) {
  std::string out;
  if (!report.found.host) return out;
  for (const HostFit& fit : report.found.host->fits) {
    if (leads(fit, report)) out += wrapped(fit_line(fit, options.colour), 0, 2, options.width);
  }
  return out;
}

std::string host_section(const Report& report, const ViewOptions& options) {
  if (!report.found.host) return {};
  const HostAnswer& host = *report.found.host;
  std::string out = "Host memory\n" + aligned_within(HostTable(host.footprint).rows(), options.colour, options.width);
  for (const std::string& missing : host.footprint.missing)
    out += wrapped("not known: " + missing, 0, 2, options.width) + "\n";
  for (const HostFit& fit : host.fits) {
    if (!leads(fit, report)) out += wrapped(fit_line(fit, options.colour), 0, 2, options.width);
  }
  if (host.feed) out += wrapped(feed_text(*host.feed), 0, 2, options.width);
  out += "\nWhat it is made of\n" + terms_text(host.footprint, options.width);
  return out +
         wrapped("Not in the number: evaluation's DataLoader, and what the training script keeps itself.", 0, 2,
                 options.width) +
         "\n";
}

}  // namespace oomplan::report
