// Holds the played allocator against PyTorch's own: what it reserved for lists of real events, and where it ran out.
//
//   reserved_accuracy --truth TRUTH.json [--json OUT]
//
// TRUTH: a list of {id, events, settings {conf, total, context, fraction_ppm}, expected {peak_allocated, peak_reserved,
// end_allocated, end_reserved, num_device_alloc, num_device_free, retries, oom}}; `events` is a path from the truth's
// folder, and `oom` is null or {event, request, allocated, reserved, message}. Prints a line a list and setting and,
// last, "N of M exact, worst W %". Every number counts, and the message; W is of the bytes.
#include <fmt/format.h>

#include <exception>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "replayed.hpp"

namespace {

using nlohmann::json;
using namespace oomplan::replayed;

json row(const Case& c, const Outcome& outcome) {
  json wrong = json::array();
  for (const Difference& d : outcome.wrong)
    wrong.push_back({{"what", d.what}, {"played", d.played}, {"true", d.truth}});
  return {
      {"id", c.id}, {"conf", c.conf}, {"exact", outcome.exact()}, {"worst_percent", outcome.worst}, {"wrong", wrong}};
}

void print(const Case& c, const Outcome& outcome) {
  fmt::print("{:<32} {:<40} {}\n", c.id, c.conf.empty() ? "default" : c.conf, outcome.exact() ? "exact" : "OFF");
  for (const Difference& d : outcome.wrong) fmt::print("    {}: played {}, true {}\n", d.what, d.played, d.truth);
}

/// A list or setting that cannot be read is off, and keeps no other from being compared.
Outcome outcome_of(const Case& c) {
  try {
    return compare(c, play(c));
  } catch (const std::exception& e) {
    return {{{"readable", e.what(), "yes"}}, 100.0};
  }
}

int report(const std::string& truth, const std::string& json_path) {
  json rows = json::array();
  std::size_t exact = 0;
  double worst = 0;
  const std::vector<Case> cases = read_truth(truth);
  for (const Case& c : cases) {
    const Outcome outcome = outcome_of(c);
    print(c, outcome);
    rows.push_back(row(c, outcome));
    exact += outcome.exact() ? 1 : 0;
    worst = std::max(worst, outcome.worst);
  }
  if (!json_path.empty()) std::ofstream(json_path) << rows.dump(1) << '\n';
  fmt::print("{} of {} exact, worst {:.4f} %\n", exact, cases.size(), worst);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::map<std::string, std::string> options;
  for (int i = 1; i + 1 < argc; i += 2) options[argv[i]] = argv[i + 1];
  if (!options.contains("--truth")) {
    fmt::print(stderr, "usage: reserved_accuracy --truth TRUTH.json [--json OUT]\n");
    return 2;
  }
  try {
    return report(options["--truth"], options["--json"]);
  } catch (const std::exception& e) {
    fmt::print(stderr, "reserved_accuracy: {}\n", e.what());
    return 3;
  }
}
