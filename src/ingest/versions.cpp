#include "versions.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <tuple>

namespace oomplan::ingestion {
namespace {

using Numbers = std::vector<std::int64_t>;

/// Of "5.14.1.dev0+cu130": 5, 14, 1.
Numbers numbers_of(std::string_view version) {
  Numbers out;
  const char* at = version.data();
  const char* const end = at + version.size();
  while (at != end) {
    std::uint32_t number = 0;
    const auto read = std::from_chars(at, end, number);
    if (read.ec != std::errc()) break;
    out.push_back(std::int64_t{number});
    at = read.ptr;
    if (at == end || *at != '.') break;
    ++at;
  }
  return out;
}

std::int64_t part(const Numbers& numbers, std::size_t i) { return i < numbers.size() ? numbers[i] : 0; }

/// By the second number; by the third where that is the same.
auto distance(const Numbers& a, const Numbers& b) {
  const std::int64_t second = std::abs(part(a, 1) - part(b, 1));
  return std::tuple(second, second == 0 ? std::abs(part(a, 2) - part(b, 2)) : 0);
}

std::vector<std::string> versions_of(std::string_view package) {
  std::vector<std::string> out;
  for (const StackLayer& layer : stack_layers()) {
    if (layer.package == package && !layer.version.empty()) out.push_back(layer.version);
  }
  return out;
}

std::string written(const NamedVersion& named) { return named.package + "==" + named.version; }

std::string joined(const std::set<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

Diagnostic warning(const NamedVersion& named, std::string_view code, std::string message, std::string hint) {
  return {Severity::warning, std::string(code), std::move(message), named.where, std::move(hint), {}};
}

}  // namespace

thread_local ChosenVersions* ChosenVersions::current_ = nullptr;

bool is_version(std::string_view wanted, std::string_view version) {
  const Numbers a = numbers_of(wanted);
  const Numbers b = numbers_of(version);
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != part(b, i)) return false;
  }
  return !a.empty();
}

bool is_older(std::string_view version, std::string_view other) { return numbers_of(version) < numbers_of(other); }

std::optional<std::string> nearest_version(std::string_view wanted, const std::vector<std::string>& known) {
  const Numbers numbers = numbers_of(wanted);
  const std::string* best = nullptr;
  for (const std::string& one : known) {
    const Numbers there = numbers_of(one);
    if (numbers.empty() || part(there, 0) != numbers[0]) continue;
    if (best == nullptr) best = &one;
    const auto rank = [&](const std::string& version) {
      const Numbers n = numbers_of(version);
      return std::tuple(!is_version(wanted, version), distance(numbers, n), -part(n, 1), -part(n, 2));
    };
    if (rank(one) < rank(*best)) best = &one;
  }
  return best == nullptr ? std::nullopt : std::optional(*best);
}

const NamedVersion* ChosenVersions::named(std::string_view package) const {
  const auto found = std::ranges::find(named_, package, &NamedVersion::package);
  return found == named_.end() ? nullptr : &*found;
}

void ChosenVersions::use(const std::vector<StackLayer>& layers) {
  for (const StackLayer& layer : layers) {
    if (!layer.version.empty()) packages_.insert(layer.package);
  }
}

std::string ChosenVersions::in_front_of(const StackLayer& layer) const {
  if (layer.version.empty()) return {};
  const NamedVersion* name = named(layer.package);
  const auto version = name == nullptr ? std::nullopt : nearest_version(name->version, versions_of(layer.package));
  if (!version || version == layer.version) return {};
  // "trl-1.16-scripts" has another version beside it with the same end.
  const auto end_of = [](const std::string& file, const std::string& package) {
    const auto dash = file.find('-', package.size() + 1);
    return dash == file.npos ? std::string() : file.substr(dash);
  };
  for (const StackLayer& other : stack_layers()) {
    const bool same = other.package == layer.package && other.version == *version;
    if (same && end_of(other.name, other.package) == end_of(layer.name, layer.package)) return other.name;
  }
  return {};
}

std::string ChosenVersions::key() const {
  std::string out;
  for (const NamedVersion& one : named_) out += written(one) + ";";
  return out;
}

void ChosenVersions::report(Draft& draft) const {
  for (const NamedVersion& one : named_) {
    if (!packages_.contains(one.package)) {
      if (one.asked)
        draft.plan.warnings.push_back(warning(one, "ingest/unused-version",
                                              written(one) + ": this config takes no defaults of " + one.package,
                                              "it takes those of " + joined(packages_)));
      continue;
    }
    const auto version = nearest_version(one.version, versions_of(one.package));
    if (!version) {
      draft.plan.unmodelled.push_back({"a major version whose defaults are not known", written(one), one.where});
    } else if (!is_version(one.version, *version)) {
      draft.plan.warnings.push_back(warning(
          one, "ingest/nearest-version",
          written(one) + ": its defaults are not known; those of " + one.package + " " + *version + " are taken", {}));
    }
  }
}

}  // namespace oomplan::ingestion
