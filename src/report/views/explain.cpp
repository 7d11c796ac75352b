// What one bucket is made of, tensor by tensor, where it is highest and at the peak of the whole run.
//
//   logits_and_loss, highest in backward of step 1: 3.91 GiB
//
//               B  tensors                                in       made by
//   2,101,346,304  1 × 1×4096×128256 fp32 × 4 B           lm_head  aten::_to_copy
//   …
//   4,202,692,608  sum
#include <fmt/format.h>

#include "../formula.hpp"
#include "../group.hpp"
#include "../layout.hpp"
#include "../sections.hpp"
#include "../view.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan::report {
namespace {

Row explained(const LiveGroup& group) {
  const Bytes rounding = group.bytes - unrounded(group);
  std::string tensors = fmt::format("{} × {} B", tensors_text(group), bytes_of(group.dtype));
  if (rounding.count() != 0) tensors += fmt::format(" + {} B of rounding", with_separators(rounding.count()));
  return {{with_separators(group.bytes.count()), true}, {tensors}, {place_text(group)}, {op_text(group)}};
}

std::string moment(const std::vector<LiveGroup>& groups, const std::string& title, bool colour) {
  if (groups.empty()) return title + ": nothing\n";
  Bytes sum;
  std::vector<Row> rows{{{"B", true}, {"count × shape, dtype × B"}, {"in"}, {"made by"}}};
  for (Cell& cell : rows.front()) cell.paint = Paint::dim;
  for (const LiveGroup& group : groups) {
    rows.push_back(explained(group));
    sum += group.bytes;
  }
  rows.push_back({{with_separators(sum.count()), true, Paint::bold}, {"= " + oomplan::to_text(sum)}});
  return title + "\n" + aligned(rows, colour);
}

std::string runtime_terms(const Report& report) {
  const std::string terms = runtime_section(report, {});
  return terms.empty() ? "It depends on the GPU: name one with --gpu.\n" : terms;
}

std::string tensor_terms(const Report& report, Bucket bucket, bool colour) {
  const Footprint& footprint = *report.found.footprint;
  const std::size_t i = static_cast<std::size_t>(bucket);
  const std::string name(name_of(bucket));
  std::string out;
  if (i < footprint.bucket_peaks.size() && i < footprint.at_bucket_peaks.size()) {
    const PhasePeak& highest = footprint.bucket_peaks[i];
    out += moment(of_bucket(footprint.at_bucket_peaks[i], bucket),
                  fmt::format("{} at its own highest, in {}", name, moment_text(highest)), colour);
    out += "\n" + wrapped(formula_text(report, bucket, at(highest.by_bucket, bucket)), 0, 0) + "\n";
  }
  if (bucket == Bucket::paged) return out;  // Of no total, so that no peak is made of it.
  return out + "\n" +
         moment(of_bucket(footprint.at_peak, bucket),
                fmt::format("{} at the peak, in {}", name, moment_text(footprint.peak)), colour);
}

}  // namespace

std::string views::explain(const Report& report, const ViewOptions& options) {
  if (!report.found.footprint || !options.bucket) return {};
  const Bucket bucket = *options.bucket;
  const std::string terms =
      bucket == Bucket::runtime ? runtime_terms(report) : tensor_terms(report, bucket, options.colour);
  return terms + fmt::format("\nBy what rules: docs/formulas.md, \"{}\".\n", name_of(bucket));
}

}  // namespace oomplan::report
