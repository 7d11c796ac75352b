#include "outcome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "oomplan/core/text.hpp"

namespace oomplan::data {
namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(printable(text)); }
Json place_or_null(int place) { return place > 0 ? Json(place) : Json(); }

// As all other commands write it.
Json json_of(const Diagnostic& diagnostic) {
  constexpr std::array<std::string_view, 3> severities{"note", "warning", "error"};
  return {{"severity", severities.at(static_cast<std::size_t>(diagnostic.severity))},
          {"code", diagnostic.code},
          {"message", printable(diagnostic.message)},
          {"file", text_or_null(diagnostic.where.file)},
          {"line", place_or_null(diagnostic.where.line)},
          {"column", place_or_null(diagnostic.where.column)},
          {"hint", text_or_null(diagnostic.hint)}};
}

int exit_code_of(std::string_view verdict) {
  if (verdict == "answered") return 0;
  if (verdict == "usage") return 2;
  return verdict == "invalid" ? 3 : 5;
}

Json json_of(const measure::FileTotals& file) {
  return {{"path", printable(file.path)},
          {"format", file.format},
          {"bytes", file.bytes},
          {"rows", file.rows},
          {"declared_rows", file.declared_rows ? Json(*file.declared_rows) : Json()},
          {"decoded_bytes", file.decoded},
          {"skipped", file.skipped},
          {"broken", file.broken}};
}

}  // namespace

Diagnostic diagnostic_of(const Json& json) {
  const auto place = [&](const char* key) { return json[key].is_number_integer() ? json[key].get<int>() : 0; };
  const auto text = [&](const char* key) { return json[key].is_string() ? json[key].get<std::string>() : ""; };
  return {.code = text("code"),
          .message = text("message"),
          .where = {text("file"), place("line"), place("column")},
          .hint = text("hint")};
}

std::string_view verdict_of(const Diagnostics& errors) {
  std::string_view out = "answered";
  for (const Diagnostic& error : errors) {
    if (error.severity != Severity::error) continue;
    if (error.code == "measure/broken-budget" || error.code == "cli/bug") return "bug";
    if (error.code.starts_with("cli/") && error.code != "cli/no-memory")
      out = "usage";
    else if (out != "usage")
      out = "invalid";
  }
  return out;
}

Outcome outcome_of(std::string_view schema, const Json& body, const std::string& text, bool json,
                   const Diagnostics& diagnostics) {
  const std::string_view verdict = verdict_of(diagnostics);
  Outcome outcome{.code = exit_code_of(verdict)};
  if (json) {
    Json whole{{"schema", schema}, {"oomplan", OOMPLAN_VERSION}, {"verdict", verdict}};
    whole.update(body);
    whole["diagnostics"] = Json::array();
    for (const Diagnostic& diagnostic : diagnostics) whole["diagnostics"].push_back(json_of(diagnostic));
    outcome.out = whole.dump(2) + "\n";
    return outcome;
  }
  outcome.out = text;
  for (const Diagnostic& diagnostic : diagnostics) outcome.err += to_text(diagnostic);
  return outcome;
}

Json json_of(const measure::ReadTotals& totals) {
  Json files = Json::array();
  for (const measure::FileTotals& file : totals.listed) files.push_back(json_of(file));
  return {{"files", totals.files},
          {"file_bytes", totals.file_bytes},
          {"rows", totals.rows},
          {"decoded_bytes", totals.decoded},
          {"skipped_rows", totals.skipped},
          {"broken_files", totals.broken_files},
          {"first_files", files}};
}

Json json_of(const measure::Cost& cost) {
  return {{"seconds", cost.seconds}, {"cpu_seconds", cost.cpu_seconds}, {"peak_rss", cost.peak_rss}};
}

Json json_of(const measure::RowSizes& sizes) {
  return {{"mean", sizes.mean}, {"p50", sizes.p50}, {"p99", sizes.p99}, {"longest", sizes.longest}};
}

std::string files_text(const measure::ReadTotals& totals) {
  std::map<std::string, std::int64_t> formats;
  for (const measure::FileTotals& file : totals.listed) ++formats[file.format.empty() ? "unknown" : file.format];
  std::string kinds;
  for (const auto& [name, count] : formats) {
    kinds += kinds.empty() ? "" : ", ";
    kinds += formats.size() == 1 ? name : fmt::format("{} {}", count, name);
  }
  if (totals.files > static_cast<std::int64_t>(totals.listed.size())) kinds += ", …";
  return fmt::format("{} ({})", counted(totals.files, "file"), kinds);
}

std::string left_out_text(const measure::ReadTotals& totals) {
  if (totals.skipped + totals.broken_files == 0) return {};
  return fmt::format("  {} skipped, {} left unfinished\n", counted(totals.skipped, "row"),
                     counted(totals.broken_files, "file"));
}

std::string cost_text(const measure::Cost& cost, Bytes budget) {
  return fmt::format("{:.2f} s, {:.2f} s of CPU, at most {} of {}", cost.seconds, cost.cpu_seconds,
                     to_text(Bytes(cost.peak_rss)), to_text(budget));
}

}  // namespace oomplan::data
