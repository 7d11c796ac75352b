#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "../command.hpp"
#include "../reading.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan::data {
namespace {

struct Options {
  Reading reading{};
  Sampling sampling{};
  Tokenizing tokenizing{};
  bool sizes = false;
};

std::string text_of(const measure::StreamReport& report, const Options& asked) {
  const measure::ReadTotals& totals = report.totals;
  std::string out = fmt::format("{} in {}\n", counted(totals.rows, "row"), files_text(totals));
  out += fmt::format("  {} on disk, {} decoded\n", to_text(Bytes(totals.file_bytes)), to_text(Bytes(totals.decoded)));
  out += left_out_text(totals);
  if (report.diagnostics.empty()) out += lengths_text(report.row_sizes, report.sampled);
  if (report.diagnostics.empty() && report.tokens)
    out += tokens_text(json_of(*report.tokens, asked.tokenizing.bytes_per_token));
  return out + "  " + cost_text(report.cost, report.budget) + "\n";
}

Outcome run_stream(const Options& asked) {
  const Reading& reading = asked.reading;
  Result<measure::ReadOptions> options = options_of(reading);
  if (!options)
    return outcome_of("oomplan/stream/1", nlohmann::ordered_json::object(), "", reading.json, options.errors());
  options->row_sizes = asked.sizes || asked.sampling.draws > 0;
  options->tokens = asked.tokenizing.tokens;
  options->sample = asked.sampling.draws;
  options->seed = asked.sampling.seed;
  const measure::StreamReport report = measure::stream(reading.paths, *options);
  nlohmann::ordered_json body{
      {"budget", report.budget.count()}, {"read", json_of(report.totals)}, {"cost", json_of(report.cost)}};
  if (report.row_sizes) body["row_bytes"] = json_of(*report.row_sizes);
  if (report.tokens) body["tokens"] = json_of(*report.tokens, asked.tokenizing.bytes_per_token);
  if (report.sampled) body["sample"] = json_of(*report.sampled);
  return outcome_of("oomplan/stream/1", body, report.totals.files > 0 ? text_of(report, asked) : "", reading.json,
                    report.diagnostics);
}

}  // namespace

Command commands::stream(const ArgumentParser& program) {
  const ArgumentParser app =
      program.command("stream", "Read every row of a dataset within a memory budget, and count them")
          .in("Data")
          .examples({"oomplan stream data/*.jsonl.zst", "oomplan stream data --budget 64MiB --json"});
  auto options = std::make_shared<Options>();
  add_reading(app, options->reading);
  add_sampling(app, options->sampling);
  add_tokenizing(app, options->tokenizing);
  app.find("--tokens").excludes(app.find("--sample"));
  app.flag("--sizes", options->sizes, "Also say how long rows are: mean, median, 99th percentile, longest");
  return {app, [options] { return run_stream(*options); }};
}

}  // namespace oomplan::data
