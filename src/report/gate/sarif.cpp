// SARIF 2.1.0 (OASIS): a result for each config that does not simply fit.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "formats.hpp"
#include "oomplan/core/text.hpp"
#include "oomplan/report/report.hpp"
#include "sentences.hpp"

namespace oomplan::report::gate {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view schema =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// A relative reference (RFC 3986): what is not unreserved or '/' goes as %XX.
std::string uri_of(std::string_view path) {
  std::string out;
  for (const char letter : path) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
                       std::string_view("-._~/").find(letter) != std::string_view::npos;
    out += plain ? std::string(1, letter) : fmt::format("%{:02X}", byte);
  }
  return path.starts_with('/') ? "file://" + out : out;
}

Json location_of(const Location& where) {
  Json physical{{"artifactLocation", {{"uri", uri_of(where.file)}}}};
  if (where.line > 0) {
    physical["region"] = {{"startLine", where.line}};
    if (where.column > 0) physical["region"]["startColumn"] = where.column;
  }
  return {{"physicalLocation", std::move(physical)}};
}

std::string rule_of(GateVerdict verdict) {
  std::string out = "gate/" + std::string(name_of(verdict));
  std::ranges::replace(out, '_', '-');
  return out;
}

std::string message_of(const GateItem& item) {
  const std::string growth = growth_of(item);
  return fmt::format("{}: {}: {}{}{}", printable(item.config), words_of(item.verdict), reason_of(item),
                     growth.empty() ? "" : "; ", growth);
}

Json replacement_of(const GateReplacement& one) {
  return {{"deletedRegion",
           {{"startLine", one.line},
            {"startColumn", one.column},
            {"endLine", one.end_line},
            {"endColumn", one.end_column}}},
          {"insertedContent", {{"text", one.text}}}};
}

/// Of the config, whatever file the place of the result is in.
Json fix_of(const GateFix& fix, std::string_view config) {
  Json replacements = Json::array();
  for (const GateReplacement& one : fix.replacements) replacements.push_back(replacement_of(one));
  Json change{{"artifactLocation", {{"uri", uri_of(config)}}}, {"replacements", std::move(replacements)}};
  return {{"description", {{"text", printable(fix.about)}}}, {"artifactChanges", Json::array({std::move(change)})}};
}

Json result_of(const GateItem& item) {
  const std::string_view level = item.verdict == GateVerdict::allowed ? "note" : "error";
  Json out{{"ruleId", rule_of(item.verdict)},
           {"ruleIndex", static_cast<int>(item.verdict) - 1},
           {"level", level},
           {"message", {{"text", message_of(item)}}},
           {"locations", Json::array({location_of(item.where)})},
           {"partialFingerprints", {{"oomplan/config", item.config}}}};
  if (item.fix) out["fixes"] = Json::array({fix_of(*item.fix, item.config)});
  return out;
}

Json rules() {
  struct About {
    std::string_view text{};
    std::string_view help{};
  };
  constexpr std::array<About, 5> abouts{
      {{"The run does not fit on a GPU that the policy names for it.",
        "`oomplan fix CONFIG --gpu NAME` finds the cheapest change that makes it fit, and writes it as a patch; "
        "where the config alone says it, it is the result's fix."},
       {"The run's peak grows by more than the policy's budget.",
        "The message says which settings changed. Take them back, or raise `budget` in the policy."},
       {"Whether the run fits cannot be decided, and the policy does not allow that.",
        "The message says what keeps it from an answer: a setting that is not modelled yet, or a number that the "
        "config "
        "does not say. `allow_undecided` in the policy lets such a config pass."},
       {"Whether the run fits cannot be decided, and the policy allows that.",
        "The message says what keeps it from an answer."},
       {"The config cannot be read.",
        "The message says where, and what was expected; `oomplan explain CODE` says more."}}};
  Json out = Json::array();
  for (std::size_t i = 0; i < abouts.size(); ++i)
    out.push_back({{"id", rule_of(static_cast<GateVerdict>(i + 1))},
                   {"shortDescription", {{"text", abouts.at(i).text}}},
                   {"help", {{"text", abouts.at(i).help}}}});
  return out;
}

Json notification_of(const Diagnostic& problem) {
  Json out{
      {"level", "error"}, {"message", {{"text", printable(problem.message)}}}, {"descriptor", {{"id", problem.code}}}};
  if (!problem.where.file.empty()) out["locations"] = Json::array({location_of(problem.where)});
  return out;
}

}  // namespace

std::string sarif(const Gate& gate, const GateViewOptions&) {
  Json results = Json::array();
  for (const GateItem& item : gate.items)
    if (item.verdict != GateVerdict::fits) results.push_back(result_of(item));
  Json run{{"tool", {{"driver", {{"name", "oomplan"}, {"version", version()}, {"rules", rules()}}}}},
           {"columnKind", "utf16CodeUnits"},
           {"results", std::move(results)}};
  Json notes = Json::array();
  for (const Diagnostic& problem : gate.diagnostics) notes.push_back(notification_of(problem));
  run["invocations"] = Json::array(
      {{{"executionSuccessful", gate.diagnostics.empty()}, {"toolConfigurationNotifications", std::move(notes)}}});
  const Json out{{"$schema", schema}, {"version", "2.1.0"}, {"runs", Json::array({std::move(run)})}};
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace oomplan::report::gate
