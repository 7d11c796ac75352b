// A small run with every bucket filled, for the views' tests.
#pragma once

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "oomplan/report/report.hpp"

namespace oomplan::report {

inline LiveGroup group(Bucket bucket, std::string op, std::string module, std::int64_t count, Bytes bytes) {
  return {.bucket = bucket,
          .op = std::move(op),
          .module = std::move(module),
          .shape = {bytes.count() / 4 / count},
          .dtype = DType::fp32,
          .first_layer = count > 1 ? 0 : -1,
          .last_layer = count > 1 ? static_cast<int>(count) - 1 : -1,
          .count = count,
          .bytes = bytes};
}

/// `scale` times 1, 2, 3, … GiB in the buckets that tensors fill.
inline PhasePeak moment(Phase phase, int step, std::int64_t scale) {
  PhasePeak peak{.phase = phase, .step = step};
  for (std::size_t i = 0; i < bucket_count; ++i) {
    if (static_cast<Bucket>(i) > Bucket::inputs) continue;
    peak.by_bucket.at(i) = Bytes::gib(scale * static_cast<std::int64_t>(i + 1));
    peak.total += peak.by_bucket.at(i);
  }
  return peak;
}

inline std::vector<LiveGroup> groups_of(const PhasePeak& peak) {
  std::vector<LiveGroup> groups;
  for (std::size_t i = 0; i < bucket_count; ++i) {
    const Bytes half(peak.by_bucket.at(i).count() / 2);
    if (half.count() == 0) continue;
    groups.push_back(group(static_cast<Bucket>(i), "aten::mm", "model.layers.*.mlp", 2, half));
    groups.push_back(group(static_cast<Bucket>(i), "parameter", "lm_head", 1, half));
  }
  return groups;
}

inline Footprint example_footprint() {
  Footprint footprint{.parameters = 1'000'000, .trainable_parameters = 10'000};
  footprint.peaks = {moment(Phase::load, 0, 1),    moment(Phase::forward, 1, 2), moment(Phase::backward, 1, 3),
                     moment(Phase::between, 1, 1), moment(Phase::forward, 2, 2), moment(Phase::backward, 2, 4),
                     moment(Phase::between, 2, 1)};
  footprint.peak = footprint.peaks.at(5);
  footprint.at_peak = groups_of(footprint.peak);
  for (std::size_t i = 0; i < bucket_count; ++i) {
    footprint.bucket_peaks.push_back(footprint.peak);
    std::vector<LiveGroup> own;
    for (const LiveGroup& group : footprint.at_peak) {
      if (group.bucket == static_cast<Bucket>(i)) own.push_back(group);
    }
    footprint.at_bucket_peaks.push_back(own);
  }
  return footprint;
}

inline Fit example_fit(std::string title, Bytes total) {
  const Footprint footprint = example_footprint();
  Fit fit{.gpu = {.name = "test", .title = std::move(title), .total = total, .context = Bytes::gib(1)}};
  fit.runtime = {{"CUDA context", Bytes::mib(512), "measured on one"}, {"cuBLAS", Bytes::mib(512), "torch"}};
  fit.needed = footprint.peak.total + Bytes::gib(1);
  fit.headroom = total - fit.needed;
  fit.verdict = fit.headroom >= Bytes() ? FitVerdict::fits : FitVerdict::does_not_fit;
  return fit;
}

inline Report example(std::vector<Fit> fits = {}) {
  Findings findings{.config = "config.yml"};
  TrainingPlan plan{.dialect = "oomplan", .framework = "transformers 5.23.0"};
  plan.model.name = {"org/model", {Origin::Kind::config, "model", {"config.yml", 3, 8}}};
  plan.batch.micro_batch_size = {2, {Origin::Kind::command_line, "--set micro_batch_size=2", {}}};
  plan.batch.sequence_length = {2048, {Origin::Kind::config, "sequence_length", {"base.yml", 7, 1}}};
  plan.optimizer.name = {"adamw_fused",
                         {Origin::Kind::framework_default, "transformers 5.23.0: TrainingArguments", {}}};
  findings.plan = plan;
  findings.architecture = Architecture{.name = "llama", .model_type = "llama", .source = "org/model", .layers = 2};
  findings.architecture->config = {{"vocab_size", std::int64_t{32000}}, {"hidden_size", std::int64_t{64}}};
  findings.footprint = example_footprint();
  findings.fits = std::move(fits);
  return collect(std::move(findings));
}

}  // namespace oomplan::report
