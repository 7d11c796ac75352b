// What a command comes to, for both kinds of reader.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "oomplan/core/result.hpp"
#include "oomplan/measure/measure.hpp"

namespace oomplan::data {

struct Outcome {
  int code = 0;  ///< As docs/manual.md lists them.
  std::string out{};
  std::string err{};
};

/// "answered", "usage", "invalid" or "bug": how `errors` end a command.
std::string_view verdict_of(const Diagnostics& errors);

/// `body` with the keys that every answer has, or `text`; diagnostics go to standard error where they are not in JSON.
Outcome outcome_of(std::string_view schema, const nlohmann::ordered_json& body, const std::string& text, bool json,
                   const Diagnostics& diagnostics);

/// An error of those that another process of ours wrote.
Diagnostic diagnostic_of(const nlohmann::ordered_json& json);

nlohmann::ordered_json json_of(const measure::ReadTotals& totals);
nlohmann::ordered_json json_of(const measure::Cost& cost);

nlohmann::ordered_json json_of(const measure::RowSizes& sizes);

/// `bytes_per_token` is 0 where it is not known.
nlohmann::ordered_json json_of(const measure::Tokens& tokens, double bytes_per_token);
/// Of what the above wrote, line by line.
std::string tokens_text(const nlohmann::ordered_json& tokens);

nlohmann::ordered_json json_of(const measure::Sampled& sampled);
/// Of what the above wrote.
measure::Sampled sampled_of(const nlohmann::ordered_json& json);

/// "  bytes of a row: mean 12.5, median 10, …", with the intervals of a sample; nothing where nothing is known.
std::string lengths_text(const std::optional<measure::RowSizes>& sizes, const std::optional<measure::Sampled>& sampled);
/// "3 files (2 parquet, 1 csv)", for a table's first line.
std::string files_text(const measure::ReadTotals& totals);
/// "  2 rows skipped, 1 file left unfinished"; nothing where all was read.
std::string left_out_text(const measure::ReadTotals& totals);
/// "1.20 s, 1.15 s of CPU, at most 88.20 MiB of 256.00 MiB"
std::string cost_text(const measure::Cost& cost, Bytes budget);

}  // namespace oomplan::data
