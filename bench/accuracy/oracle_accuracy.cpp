// Holds estimates against the true allocated bytes of training steps.
//
//   oracle_accuracy --models MODELS.json --cases CASES.json --results RESULTS.json [--json OUT] [--catalog DIR]
//
// MODELS: name -> {arch, config: Hugging Face keys}. CASES: a list of plans. RESULTS: for each case its id and the
// peaks of each phase of steps 1 and 2. DIR: as `--models` of the program, so that an architecture's file is tried
// without a build. Prints a line a case and, last, "S of N supported, A within 0.1 %, B within 1
// %, worst W %".
#include <fmt/format.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "oracle.hpp"

namespace {

using nlohmann::json;
using namespace oomplan::oracle;

void print(const Case& c, const Outcome& o) {
  if (!o.unsupported.empty()) {
    fmt::print("{} {:<18} unsupported: {}\n", c.id, c.model, o.unsupported);
    return;
  }
  fmt::print("{} {:<18} predicted {:>15} true {:>15} error {:>8.4f} % phase {:<4} true {:<4} worst phase {:>8.4f} %\n",
             c.id, c.model, o.predicted, c.truth.peak, o.error, short_name(o.predicted_phase), c.truth.peak_phase,
             o.worst_phase);
}

json phases_of(const Outcome& o) {
  json out = json::array();
  for (const Outcome::PhaseBytes& p : o.phases) {
    out.push_back({{"phase", short_name(p.phase)}, {"step", p.step}, {"predicted", p.predicted}, {"true", p.truth}});
  }
  return out;
}

json buckets_of(const Outcome& o) {
  json out = json::object();
  for (std::size_t i = 0; i < oomplan::bucket_count; ++i) {
    if (o.peak[i] > oomplan::Bytes(0)) out[std::string(oomplan::bucket_names[i])] = o.peak[i].count();
  }
  return out;
}

json row(const Case& c, const Outcome& o) {
  if (!o.unsupported.empty()) return {{"id", c.id}, {"unsupported", o.unsupported}};
  return {{"id", c.id},
          {"predicted", o.predicted},
          {"true", c.truth.peak},
          {"error_percent", o.error},
          {"predicted_phase", short_name(o.predicted_phase)},
          {"true_phase", c.truth.peak_phase},
          {"worst_phase_percent", o.worst_phase},
          {"by_bucket", buckets_of(o)},
          {"phases", phases_of(o)}};
}

int report(const std::string& models, const std::string& cases_path, const std::string& results,
           const std::string& json_path, const oomplan::Catalog& catalog) {
  const Cases cases = read_cases(models, cases_path, results, catalog);
  json rows = json::array();
  Summary s;
  for (const Case& c : cases.known) {
    const Outcome o = run(c);
    print(c, o);
    rows.push_back(row(c, o));
    s.add(o, c.truth);
  }
  if (!json_path.empty()) std::ofstream(json_path) << rows.dump(1) << '\n';
  fmt::print("peak phase right in {} of {}, every phase peak within 1 % in {} of {}\n", s.right_phase, s.supported,
             s.phases_within_percent, s.supported);
  fmt::print("{} of {} supported, {} within 0.1 %, {} within 1 %, worst {:.4f} %\n", s.supported, cases.all,
             s.within_tenth_percent, s.within_percent, s.worst);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::map<std::string, std::string> options;
  for (int i = 1; i + 1 < argc; i += 2) options[argv[i]] = argv[i + 1];
  if (!options.contains("--models") || !options.contains("--cases") || !options.contains("--results")) {
    fmt::print(stderr,
               "usage: oracle_accuracy --models MODELS.json --cases CASES.json --results RESULTS.json [--json OUT] "
               "[--catalog DIR]\n");
    return 2;
  }
  try {
    oomplan::Catalog catalog;
    if (options.contains("--catalog")) {
      const auto read = oomplan::read_models(options["--catalog"]);
      if (!read) throw std::runtime_error(to_text(read.errors().front()));
      catalog = *read;
    }
    return report(options["--models"], options["--cases"], options["--results"], options["--json"], catalog);
  } catch (const std::exception& e) {
    fmt::print(stderr, "oracle_accuracy: {}\n", e.what());
    return 3;
  }
}
