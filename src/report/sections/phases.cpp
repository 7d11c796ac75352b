// The table of buckets by phases.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "layout.hpp"
#include "oomplan/calibrate/calibration.hpp"
#include "sections.hpp"

namespace oomplan::report {
namespace {

/// With one GPU its context, what lies beside the pool, and what a calibration adds are part of the table, so that the
/// total at the peak is what the card has to hold.
Bytes runtime_of(const Report& report) {
  if (report.found.fits.size() != 1) return {};
  const Fit& fit = report.found.fits.front();
  Bytes out = fit.gpu.context + fit.apart;
  for (const RuntimeTerm& term : fit.runtime)
    if (term.name == calibrated_term) out += term.bytes;
  return out;
}

class PhaseTable {
 public:
  explicit PhaseTable(const Report& report)
      : phases_(report.phases),
        peak_(report.found.footprint->peak),
        runtime_(runtime_of(report)),
        unit_(unit_for(peak_.total + runtime_)) {}

  std::vector<Row> rows() const {
    std::vector<Row> rows{heading(), steps()};
    for (std::size_t i = 0; i < bucket_count; ++i) {
      const auto bucket = static_cast<Bucket>(i);
      if (bucket == Bucket::paged) continue;
      if (bucket == Bucket::slack && peak_.total > peak_.tensors()) {
        rows.push_back(line("= tensors", [](const PhasePeak& phase) { return phase.tensors(); }));
      }
      add(bucket, std::string(name_of(bucket)), rows);
    }
    rows.push_back(line("total", [&](const PhasePeak& phase) { return phase.total + runtime_; }));
    rows.push_back(marks());
    add(Bucket::paged, "paged, beside", rows);
    return rows;
  }

 private:
  void add(Bucket bucket, std::string name, std::vector<Row>& rows) const {
    Row row = line(std::move(name), [&](const PhasePeak& phase) { return size(phase, bucket); });
    const bool empty = std::all_of(row.begin() + 1, row.end(), [](const Cell& cell) { return cell.text == "-"; });
    if (!empty) rows.push_back(std::move(row));
  }

  bool highest(const PhasePeak& phase) const { return phase.phase == peak_.phase && phase.step == peak_.step; }

  Bytes size(const PhasePeak& phase, Bucket bucket) const {
    return at(phase.by_bucket, bucket) + (bucket == Bucket::runtime ? runtime_ : Bytes());
  }

  Row heading() const {
    Row row{{std::string(unit_.name), false, Paint::dim}};
    for (const PhasePeak& phase : phases_) row.push_back({std::string(name_of(phase.phase)), true, Paint::dim});
    return row;
  }

  Row steps() const {
    Row row{{""}};
    for (const PhasePeak& phase : phases_) {
      row.push_back({phase.step == 0 ? "" : fmt::format("step {}", phase.step), true, Paint::dim});
    }
    return row;
  }

  Row line(std::string name, const std::function<Bytes(const PhasePeak&)>& size) const {
    Row row{{std::move(name)}};
    for (const PhasePeak& phase : phases_) {
      row.push_back({in_unit(size(phase), unit_), true, highest(phase) ? Paint::bold : Paint::plain});
    }
    return row;
  }

  Row marks() const {
    Row row{{""}};
    for (const PhasePeak& phase : phases_) row.push_back({highest(phase) ? "^ peak" : "", true, Paint::bold});
    return row;
  }

  const std::vector<PhasePeak>& phases_;
  const PhasePeak& peak_;
  Bytes runtime_;
  Unit unit_;
};

}  // namespace

std::string phases_section(const Report& report, const ViewOptions& options) {
  const int steps = report.found.footprint->peaks.back().step;
  const std::string of = steps > 2 ? fmt::format("the worst of {} steps", steps) : "the worse of two steps";
  const bool keeps = report.found.fits.size() == 1;
  return "The highest moment of each phase, " + of + (keeps ? ", with room for what PyTorch keeps" : "") + "\n" +
         aligned_within(PhaseTable(report).rows(), options.colour, options.width);
}

}  // namespace oomplan::report
