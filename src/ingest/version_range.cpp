// PEP 440's specifiers, for versions of numbers.
#include "oomplan/ingest/version_range.hpp"

#include <algorithm>
#include <vector>

#include "versions.hpp"

namespace oomplan {
namespace {

using ingestion::covers;
using ingestion::is_older;
using ingestion::StackLayer;

struct Term {
  std::string_view sign{};
  std::string_view version{};
};

std::vector<Term> terms_of(std::string_view range) {
  std::vector<Term> out;
  while (!range.empty()) {
    const std::string_view one = range.substr(0, range.find(','));
    range.remove_prefix(std::min(one.size() + 1, range.size()));
    const auto digits = one.find_first_not_of("<>=!~");
    if (digits != one.npos) out.push_back({one.substr(0, digits), one.substr(digits)});
  }
  return out;
}

/// "0.19.*" of "0.19.1".
std::string_view without_last(std::string_view version) { return version.substr(0, version.rfind('.')); }

bool equals(std::string_view version, std::string_view wanted) {
  const bool all = wanted.ends_with(".*");
  if (all) return ingestion::is_version(wanted.substr(0, wanted.size() - 2), version);
  return !is_older(version, wanted) && !is_older(wanted, version);
}

bool holds(std::string_view version, const Term& term) {
  if (term.sign == "==" || term.sign == "===") return equals(version, term.version);
  if (term.sign == "!=") return !equals(version, term.version);
  if (term.sign == ">=") return !is_older(version, term.version);
  if (term.sign == "<=") return !is_older(term.version, version);
  if (term.sign == ">") return is_older(term.version, version);
  if (term.sign == "<") return is_older(version, term.version);
  if (term.sign == "~=")
    return !is_older(version, term.version) && ingestion::is_version(without_last(term.version), version);
  return false;
}

/// The newest of the layer's versions that is known to exist by its ends and the range's; empty where none is left.
std::string newest_within(const StackLayer& layer, std::string_view range) {
  std::vector<std::string> known{layer.version, layer.since};
  for (const Term& term : terms_of(range)) {
    const bool all = term.version.ends_with(".*");
    known.emplace_back(all ? term.version.substr(0, term.version.size() - 2) : term.version);
  }
  std::string out;
  for (const std::string& one : known) {
    const bool left = is_within(one, range) && covers(layer, one);
    if (left && (out.empty() || is_older(out, one))) out = one;
  }
  return out;
}

}  // namespace

bool is_within(std::string_view version, std::string_view range) {
  return std::ranges::all_of(terms_of(range), [&](const Term& term) { return holds(version, term); });
}

std::optional<RangeVersion> version_of_range(std::string_view package, std::string_view range) {
  RangeVersion out;
  bool held = false;
  std::string newest;
  for (const StackLayer& layer : ingestion::stack_layers()) {
    if (layer.package != package || layer.since.empty()) continue;
    held = true;
    if (newest.empty() || is_older(newest, layer.version)) newest = layer.version;
    const std::string left = newest_within(layer, range);
    if (left.empty()) continue;
    out.several = !out.version.empty();
    if (out.version.empty() || is_older(out.version, left)) out.version = left;
  }
  const auto terms = terms_of(range);
  if (!held || terms.empty() || is_within(newest, range)) return std::nullopt;
  if (out.version.empty()) out.version = terms.front().version;
  return out;
}

}  // namespace oomplan
