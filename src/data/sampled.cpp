// A sample's estimates, for both kinds of reader.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "oomplan/core/text.hpp"
#include "outcome.hpp"

namespace oomplan::data {
namespace {

using Json = nlohmann::ordered_json;
using measure::Estimate;

Json json_of(const Estimate& estimate) {
  return {{"value", estimate.value}, {"low", estimate.low}, {"high", estimate.high ? Json(*estimate.high) : Json()}};
}

Estimate estimate_of(const Json& json) {
  Estimate out{json["value"], json["low"]};
  if (!json["high"].is_null()) out.high = json["high"].get<double>();
  return out;
}

std::string of_all(const measure::RowSizes& sizes) {
  return fmt::format("  bytes of a row: mean {:.1f}, median {}, 99 % at most {}, longest {}\n", sizes.mean,
                     with_separators(sizes.p50), with_separators(sizes.p99), with_separators(sizes.longest));
}

std::string number(double value) { return with_separators(std::llround(value)); }
std::string size(double value) { return to_text(Bytes(std::llround(value))); }

std::string interval(const Estimate& estimate, std::string (*shown)(double)) {
  if (estimate.high == estimate.value && estimate.low == estimate.value) return shown(estimate.value);
  if (!estimate.high) return fmt::format("{} ({} or more)", shown(estimate.value), shown(estimate.low));
  return fmt::format("{} ({} to {})", shown(estimate.value), shown(estimate.low), shown(*estimate.high));
}

std::string of_sample(const measure::Sampled& sampled, std::int64_t longest) {
  std::string out =
      fmt::format("  a sample of {} of {} blocks in {} draws; of 95 in 100 seeds the intervals hold what is true\n",
                  with_separators(sampled.blocks), with_separators(sampled.of_blocks), with_separators(sampled.draws));
  out +=
      fmt::format("  all rows: {}{}\n", interval(sampled.rows, number), sampled.rows_known ? ", as the files say" : "");
  out += fmt::format("  all decoded: {}\n", interval(sampled.decoded, size));
  return out + fmt::format("  bytes of a row: mean {}, median {}, 99 % at most {}, longest at least {}\n",
                           interval(sampled.mean, number), interval(sampled.p50, number), interval(sampled.p99, number),
                           with_separators(longest));
}

}  // namespace

Json json_of(const measure::Sampled& sampled) {
  return {
      {"draws", sampled.draws},
      {"blocks", sampled.blocks},
      {"of_blocks", sampled.of_blocks},
      {"seed", sampled.seed},
      {"rows_known", sampled.rows_known},
      {"rows", json_of(sampled.rows)},
      {"decoded_bytes", json_of(sampled.decoded)},
      {"row_bytes", {{"mean", json_of(sampled.mean)}, {"p50", json_of(sampled.p50)}, {"p99", json_of(sampled.p99)}}}};
}

measure::Sampled sampled_of(const Json& json) {
  const Json& sizes = json["row_bytes"];
  return {.draws = json["draws"],
          .blocks = json["blocks"],
          .of_blocks = json["of_blocks"],
          .seed = json["seed"],
          .rows_known = json["rows_known"],
          .rows = estimate_of(json["rows"]),
          .decoded = estimate_of(json["decoded_bytes"]),
          .mean = estimate_of(sizes["mean"]),
          .p50 = estimate_of(sizes["p50"]),
          .p99 = estimate_of(sizes["p99"])};
}

std::string lengths_text(const std::optional<measure::RowSizes>& sizes,
                         const std::optional<measure::Sampled>& sampled) {
  if (!sizes) return {};
  if (!sampled) return of_all(*sizes);
  if (sampled->draws > 0) return of_sample(*sampled, sizes->longest);
  return fmt::format("  no sample: all {} blocks were read\n", with_separators(sampled->blocks)) + of_all(*sizes);
}

}  // namespace oomplan::data
