#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "../command.hpp"
#include "../reading.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan::data {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  Reading reading{};
  measure::DedupeOptions dedupe{};
  std::vector<std::string> key{};
};

std::string text_of(const measure::DedupeReport& report) {
  const measure::ReadTotals& totals = report.totals;
  std::string out =
      fmt::format("{} unique of {} in {}: {}\n", with_separators(report.unique), counted(totals.rows, "row"),
                  files_text(totals), counted(report.duplicates, "duplicate"));
  out += left_out_text(totals);
  out += fmt::format("  hashes: at most {} in memory, {} written to disk; ", to_text(Bytes(report.table_bytes)),
                     to_text(Bytes(report.spilled_bytes)));
  out += report.verified ? fmt::format("bytes compared: {} only shared a hash\n", counted(report.restored, "row"))
                         : fmt::format("chance of a false duplicate {:.1e}\n", report.false_duplicate);
  return out + "  " + cost_text(report.cost, report.budget) + "\n";
}

Json json_of(const measure::DedupeReport& report) {
  return {{"budget", report.budget.count()},
          {"rows", report.totals.rows},
          {"unique", report.unique},
          {"duplicates", report.duplicates},
          {"table_bytes", report.table_bytes},
          {"spilled_bytes", report.spilled_bytes},
          {"false_duplicate", report.false_duplicate},
          {"verified", report.verified},
          {"restored", report.restored},
          {"read", data::json_of(report.totals)},
          {"cost", data::json_of(report.cost)}};
}

Outcome run_dedupe(const Options& options) {
  const std::string_view schema = "oomplan/dedupe/1";
  Result<measure::ReadOptions> read = options_of(options.reading);
  if (!read) return outcome_of(schema, Json::object(), "", options.reading.json, read.errors());
  measure::DedupeOptions dedupe = options.dedupe;
  dedupe.read = std::move(*read);
  const bool whole_row = options.key.size() == 1 && options.key.front() == "row";
  if (!whole_row) dedupe.key = options.key;
  const measure::DedupeReport report = measure::dedupe(options.reading.paths, dedupe);
  if (!report.diagnostics.empty())
    return outcome_of(schema, Json::object(), "", options.reading.json, report.diagnostics);
  return outcome_of(schema, json_of(report), text_of(report), options.reading.json, {});
}

}  // namespace

Command commands::dedupe(const ArgumentParser& program) {
  const ArgumentParser app = program.command("dedupe", "Find the rows of a dataset that exactly equal an earlier one")
                                 .in("Data")
                                 .examples({"oomplan dedupe data --output unique.jsonl.zst",
                                            "oomplan dedupe train.parquet --key text --json"});
  auto options = std::make_shared<Options>();
  add_reading(app, options->reading);
  app.option("--key", options->key,
             "Columns by which rows are compared, with commas; row (where it is left out) for all")
      .separated_by(',')
      .repeatable()
      .type_name("COLUMNS");
  app.option("--output", options->dedupe.output, "Write the rows kept: a new .jsonl, .jsonl.zst or .parquet")
      .type_name("FILE");
  app.option("--indices", options->dedupe.indices, "Write the numbers of the rows kept, from 0, one a line")
      .type_name("FILE");
  app.flag("--verify", options->dedupe.verify, "Also compare the bytes of rows that have one hash");
  app.option("--tmp", options->dedupe.tmp, "Where hashes go that the budget does not hold ($TMPDIR or /var/tmp)")
      .type_name("DIR");
  return {app, [options] { return run_dedupe(*options); }};
}

}  // namespace oomplan::data
