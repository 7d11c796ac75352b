#include "join.hpp"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "../group.hpp"
#include "../layout.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan::report {
namespace {

using Json = nlohmann::ordered_json;

std::string size(std::int64_t bytes) { return to_text(Bytes(bytes)); }

/// "16384 × 128256 × 4"; the bytes of one where a quantised or packed storage is not its shape's product.
std::string product(const Match& match) {
  LiveGroup one = match.tensors;
  one.count = 1;
  if (unrounded(one).rounded_up(512).count() != match.bytes) return with_separators(match.bytes) + " bytes";
  std::string out;
  for (const std::int64_t length : match.tensors.shape) out += std::to_string(length) + " × ";
  return out + std::to_string(bytes_of(match.tensors.dtype));
}

std::string sentence(const Match& match) {
  const LiveGroup& t = match.tensors;
  std::string out = fmt::format("{} = {}: {} in {}, made by {} in {}", size(match.bytes), product(match),
                                name_of(t.bucket), name_of(t.dtype), op_text(t), name_of(t.born));
  const std::string place = printable(place_text(t));
  if (!place.empty()) out += " (" + place + ")";
  return out;
}

/// What the two figures are, where the name does not say it.
std::string note(std::string_view what) {
  if (what == "tensors") return "observed: held and asked for";
  if (what == "reserved" || what == "process") return "predicted: at most, with unlimited memory";
  return {};
}

std::string item(const std::string& text, std::size_t width) { return "  " + wrapped(text, 2, 4, width) + "\n"; }

std::string table(const Join& join, bool colour, std::size_t width) {
  if (join.compared.empty()) return item("the log has no figures of the GPU to hold against it", width);
  const std::string when = join.phase.empty() ? "predicted" : "predicted in " + join.phase;
  std::vector<Row> rows{{{""}, {when, true, Paint::dim}, {"observed", true, Paint::dim}}};
  for (const Compared& c : join.compared)
    rows.push_back({{c.what}, {size(c.predicted), true}, {size(c.observed), true}, {note(c.what), false, Paint::dim}});
  return folded(rows, colour, width);
}

std::string request(const Join& join, std::size_t width) {
  if (join.requested.empty()) return {};
  if (join.matches.empty())
    return item("no tensor that the config makes is of the " + printable(join.requested) + " that were asked for",
                width);
  std::string out = item("the " + printable(join.requested) + " that were asked for may be", width);
  for (const Match& match : join.matches) out += "    " + wrapped(sentence(match), 4, 6, width) + "\n";
  if (join.more_matches > 0) out += item(fmt::format("  and {} more of that size", join.more_matches), width);
  return out;
}

Json of(const Compared& c) { return {{"what", c.what}, {"predicted", c.predicted}, {"observed", c.observed}}; }

Json of(const Match& match) {
  const LiveGroup& t = match.tensors;
  return {{"bytes", match.bytes},        {"shape", t.shape}, {"dtype", name_of(t.dtype)},
          {"bucket", name_of(t.bucket)}, {"op", t.op},       {"module", t.module},
          {"phase", name_of(t.born)},    {"count", t.count}, {"same_phase", match.same_phase}};
}

template <class T>
Json list_of(const std::vector<T>& items) {
  Json out = Json::array();
  for (const T& item : items) out.push_back(of(item));
  return out;
}

}  // namespace

std::string join_text(const std::optional<Join>& join, bool colour, std::size_t width) {
  if (!join) return {};
  std::string out = "\n" + painted("Against " + printable(join->config), Paint::bold, colour) + "\n";
  if (!join->problem.empty()) return out + item("it cannot be estimated: " + printable(join->problem), width);
  out += table(*join, colour, width) + request(*join, width);
  for (const std::string& contradiction : join->contradictions) out += item("but " + printable(contradiction), width);
  return out;
}

Json join_json(const std::optional<Join>& join) {
  if (!join) return nullptr;
  return {{"config", join->config},
          {"problem", join->problem.empty() ? Json(nullptr) : Json(join->problem)},
          {"phase", join->phase.empty() ? Json(nullptr) : Json(join->phase)},
          {"compared", list_of(join->compared)},
          {"requested", join->requested.empty() ? Json(nullptr) : Json(join->requested)},
          {"matches", list_of(join->matches)},
          {"more_matches", join->more_matches},
          {"contradictions", join->contradictions}};
}

}  // namespace oomplan::report
