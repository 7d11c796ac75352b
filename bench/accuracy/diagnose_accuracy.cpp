// Diagnoses against labels: a line a log, then the totals.
//
//   build/release/diagnose_accuracy --labels LABELS.json --logs DIR [--json OUT] [--rules DIR]
//
// A label: file, where, cause, acceptable_causes (best first), phase, acceptable_phases, fields. Fields: *_bytes within
// 0.6 %, others equal; `format` is the family of the message.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "oomplan/diagnose/diagnose.hpp"

namespace {

using namespace oomplan;
using Json = nlohmann::json;

struct Totals {
  int right = 0, best = 0, logs = 0, where = 0, fields = 0, all_fields = 0, phase = 0, all_phases = 0, false_oom = 0;
};

Diagnosis diagnose_file(const Rulebook& rules, const std::string& path) {
  Inquest inquest(rules);
  inquest.begin(path);
  Result<LogText> log = LogText::open(path);
  if (!log) return inquest.finish();
  while (true) {
    const Result<std::optional<std::string_view>> block = log->next();
    if (!block || !*block) break;
    inquest.read(**block);
  }
  return inquest.finish();
}

std::string squeezed(const std::string& text) {
  std::string out;
  for (const char c : text)
    if (c != ' ') out += c;
  return out;
}

std::vector<const Reading*> all_named(const Diagnosis& d, const std::string& name) {
  std::vector<const Reading*> out;
  for (const Reading& fact : d.facts)
    if (fact.name == name) out.push_back(&fact);
  return out;
}

bool near(double found, double wanted) { return std::abs(found - wanted) <= 0.006 * std::abs(wanted) + 1; }

bool number_matches(const Diagnosis& d, const std::string& key, double wanted) {
  const std::string base = key.ends_with("_bytes") ? key.substr(0, key.size() - 6) : key;
  for (const Reading* fact : all_named(d, base)) {
    const double found = fact->kind == Reading::Kind::real ? fact->real : static_cast<double>(fact->integer);
    if (key.ends_with("_bytes") ? near(found, wanted) : found == wanted) return true;
    if (fact->kind == Reading::Kind::text && std::atof(fact->text.c_str()) == wanted) return true;
    return false;
  }
  return false;
}

// Values that a label derives from what the text prints.
bool derived_matches(const Diagnosis& d, const std::string& key, const Json& wanted) {
  const auto bytes = [&](const char* name) -> double {
    const auto found = all_named(d, name);
    return found.empty() ? -1 : static_cast<double>(found.front()->integer);
  };
  if (key == "reserved_unallocated_bytes") {
    const double cached = bytes("cached");
    if (cached >= 0) return near(cached, wanted);
    const double difference = std::max(0.0, bytes("reserved") - bytes("allocated"));
    return bytes("reserved") >= 0 && std::abs(difference - wanted.get<double>()) <= 0.006 * bytes("reserved");
  }
  if (key == "job_id")
    return !all_named(d, "step").empty() && std::atof(all_named(d, "step").front()->text.c_str()) == wanted;
  return false;
}

bool list_matches(const Diagnosis& d, const std::string& key, const Json& wanted) {
  if (key == "other_processes") {
    const auto pids = all_named(d, "other_pid");
    const auto sizes = all_named(d, "other_bytes");
    if (pids.size() != wanted.size()) return false;
    for (std::size_t i = 0; i < pids.size(); ++i)
      if (pids[i]->integer != wanted[i]["pid"] || !near(static_cast<double>(sizes[i]->integer), wanted[i]["bytes"]))
        return false;
    return true;
  }
  if (key == "pos") return number_matches(d, "pos", wanted[0]) && number_matches(d, "pos_wanted", wanted[1]);
  if (key != "pids") return false;
  std::vector<std::int64_t> found;
  if (d.root) found.push_back(d.root->number("pid").value_or(0));
  for (const Evidence& e : d.supporting)
    if (e.says == Says::kernel_killed) found.push_back(e.number("pid").value_or(0));
  return Json(found) == wanted;
}

bool text_matches(const Diagnosis& d, const std::string& key, const std::string& wanted) {
  const std::string base = key.ends_with("_text") ? key.substr(0, key.size() - 5) : key;
  for (const Reading* fact : all_named(d, base)) {
    std::string found = squeezed(fact->text);
    while (!found.empty() && (found.back() == '.' || found.back() == ',')) found.pop_back();
    return found == squeezed(wanted);
  }
  return false;
}

bool field_matches(const Diagnosis& d, const std::string& key, const Json& wanted) {
  if (key == "format") return d.root ? d.root->family == wanted : wanted == "none";
  if (wanted.is_null()) return all_named(d, key).empty() || all_named(d, key).front()->kind != Reading::Kind::integer;
  if (wanted.is_array()) return list_matches(d, key, wanted);
  if (wanted.is_boolean()) return text_matches(d, key, wanted.get<bool>() ? "true" : "false");
  const bool same = wanted.is_string() ? text_matches(d, key, wanted) : number_matches(d, key, wanted);
  return same || derived_matches(d, key, wanted);
}

std::string shown_field(const Diagnosis& d, const std::string& key) {
  for (const std::string end : {"", "_bytes", "_text"}) {
    const std::string base = key.ends_with(end) ? key.substr(0, key.size() - end.size()) : key;
    for (const Reading* fact : all_named(d, base)) return fact->text;
  }
  return key == "format" && d.root ? d.root->family : "nothing";
}

// The labels have words of their own for two phases.
std::string_view phase_in_labels(std::string_view phase) {
  if (phase == "optimizer_step") return "optimizer";
  return phase == "evaluation" ? "eval" : phase;
}

bool contains(const Json& list, std::string_view value) {
  return std::any_of(list.begin(), list.end(), [&](const Json& item) { return item == value; });
}

// "Not known" is right where it is none and the log names no other failure, and as good as an unknown SIGKILL.
bool unknown_is_right(const Json& label) {
  const auto& causes = label["acceptable_causes"];
  const auto& fields = label["fields"];
  const bool only_code = fields.value("exitcode", 0) == 1 || fields.value("exit_code", 0) == 1;
  const bool named = fields.contains("format") && fields["format"] != "none" && !only_code;
  return (contains(causes, "not_oom") && !named) || contains(causes, "sigkill_unknown");
}

Json judge(const Json& label, const Diagnosis& d, Totals& totals) {
  const std::string_view cause = name_of(d.verdict.cause);
  const bool unknown = d.verdict.cause == Cause::unknown;
  const bool right = unknown ? unknown_is_right(label) : contains(label["acceptable_causes"], cause);
  const bool best =
      unknown ? right && label["acceptable_causes"][0] == "not_oom" : cause == label["acceptable_causes"][0];
  const bool where = name_of(d.place) == label["where"];
  const bool phased = label["phase"] != "unknown";
  const bool phase = contains(label["acceptable_phases"], phase_in_labels(d.moment.phase));
  const bool false_oom = label["cause"] == "not_oom" && d.out_of_memory;
  std::string wrong;
  int good = 0;
  for (const auto& [key, wanted] : label["fields"].items()) {
    const bool matches = field_matches(d, key, wanted);
    good += matches ? 1 : 0;
    if (!matches) wrong += fmt::format(" {}={} not {}", key, shown_field(d, key), wanted.dump());
  }
  totals.logs += 1;
  totals.right += right;
  totals.best += best;
  totals.where += where;
  totals.fields += good;
  totals.all_fields += static_cast<int>(label["fields"].size());
  totals.all_phases += phased;
  totals.phase += phased && phase;
  totals.false_oom += false_oom;
  fmt::print("{} {}: cause {} ({}), where {}{}, phase {}{}{}\n", right ? (best ? "ok  " : "ok- ") : "MISS",
             label["file"].get<std::string>(), cause, best ? "best" : label["acceptable_causes"][0].get<std::string>(),
             name_of(d.place), where ? "" : " not " + label["where"].get<std::string>(), d.moment.phase,
             !phased || phase ? "" : " not " + label["phase"].get<std::string>(),
             wrong.empty() ? "" : "; fields:" + wrong);
  return {{"file", label["file"]},
          {"cause", cause},
          {"confidence", name_of(d.verdict.confidence)},
          {"right", right},
          {"best", best},
          {"where", where},
          {"phase", d.moment.phase},
          {"phase_right", !phased || phase},
          {"wrong_fields", wrong}};
}

std::string option(int argc, char** argv, const std::string& name) {
  for (int i = 1; i + 1 < argc; ++i)
    if (argv[i] == name) return argv[i + 1];
  return "";
}

}  // namespace

// How often each word of confidence was right.
void add_confidence(const Json& result, std::map<std::string, std::pair<int, int>>& counts) {
  auto& [right, all] = counts[result["confidence"].get<std::string>()];
  right += result["right"].get<bool>() ? 1 : 0;
  ++all;
}

int main(int argc, char** argv) {
  const std::string labels = option(argc, argv, "--labels");
  const std::string logs = option(argc, argv, "--logs");
  const std::string out = option(argc, argv, "--json");
  std::ifstream file(labels);
  if (!file || logs.empty()) {
    fmt::print(stderr, "usage: diagnose_accuracy --labels LABELS.json --logs DIR [--json OUT]\n");
    return 2;
  }
  const std::string own = option(argc, argv, "--rules");
  const Result<Rulebook> rules = Rulebook::load(own.empty() ? std::vector<RuleFile>() : *read_rules(own));
  if (!rules) {
    fmt::print(stderr, "{}", to_text(rules.errors().front()));
    return 3;
  }
  Totals t;
  Json results = Json::array();
  std::map<std::string, std::pair<int, int>> confidence;
  for (const Json& label : Json::parse(file)) {
    results.push_back(judge(label, diagnose_file(*rules, logs + "/" + label["file"].get<std::string>()), t));
    add_confidence(results.back(), confidence);
  }
  if (!out.empty()) std::ofstream(out) << results.dump(1) << "\n";
  for (const auto& [word, counts] : confidence) fmt::print("{}: {} of {} right\n", word, counts.first, counts.second);
  fmt::print("cause: {} of {} right ({} best), where: {} of {}, fields: {} of {}, phase: {} of {}, false OOM: {}\n",
             t.right, t.logs, t.best, t.where, t.logs, t.fields, t.all_fields, t.phase, t.all_phases, t.false_oom);
  return 0;
}
