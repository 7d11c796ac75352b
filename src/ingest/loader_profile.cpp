// A LoaderProfile out of the JSON of `oomplan measure`, and of oomplan.measure().
#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include "inputs.hpp"
#include "oomplan/ingest/ingest.hpp"

namespace oomplan {
namespace {

using ingestion::shown;

constexpr std::string_view schema = "oomplan/profile/1";

/// No more than 64 bits hold.
std::int64_t whole(double count) { return count < 9e18 ? static_cast<std::int64_t>(count) : Bytes::max().count(); }

Diagnostic bad(const Document& document, const Node& node, std::string message, std::string hint = {}) {
  Diagnostic out{Severity::error, "ingest/bad-profile", std::move(message), document.at(node), std::move(hint), {}};
  out.excerpt = std::string(document.line(node.line));
  return out;
}

/// The values of a profile; what is wrong with it is kept.
class Profile {
 public:
  explicit Profile(const Document& document) : document_(document) {}

  const Node& inside(const Node& mapping, std::string_view key) {
    const Node* found = mapping.find(key);
    if (found != nullptr && found->is_mapping()) return *found;
    refuse(found == nullptr ? mapping : *found, "expected the mapping \"" + std::string(key) + "\" here");
    return nothing_;
  }

  double number(const Node& mapping, std::string_view key, double least) {
    const Node* found = mapping.find(key);
    const auto value = found != nullptr && found->is_scalar() ? found->as_number() : std::nullopt;
    if (value && *value >= least) return *value;
    // What stands in a mapping that is not there has been said.
    if (&mapping != &nothing_) refuse_number(mapping, found, key, least);
    return 0;
  }

  std::int64_t count(const Node& mapping, std::string_view key, std::int64_t least) {
    return whole(number(mapping, key, static_cast<double>(least)));
  }

  void refuse(const Node& node, std::string message, std::string hint = {}) {
    if (errors_.empty()) errors_.push_back(bad(document_, node, std::move(message), std::move(hint)));
  }
  const Diagnostics& errors() const { return errors_; }

 private:
  void refuse_number(const Node& mapping, const Node* found, std::string_view key, double least) {
    const std::string name(key);
    if (found == nullptr) return refuse(mapping, name + " is missing");
    const std::string at_least = least > 0 ? "a number above 0" : "a number, 0 or more";
    refuse(*found, name + ": expected " + at_least + ", found " + shown(*found));
  }

  const Document& document_;
  const Node nothing_{};
  Diagnostics errors_{};
};

/// Whether it is a profile, and one of a dataset.
void check_kind(const Document& document, Profile& profile) {
  const Node& root = document.root;
  const Node* named = root.find("schema");
  if (!root.is_mapping() || named == nullptr || named->text != schema) {
    return profile.refuse(named == nullptr ? root : *named, "expected a profile of the schema " + std::string(schema),
                          "make one with: oomplan measure PATH --json > profile.json");
  }
  const Node* verdict = root.find("verdict");
  if (verdict == nullptr || verdict->text != "answered") {
    return profile.refuse(verdict == nullptr ? root : *verdict, "the measurement failed, so it says nothing");
  }
  if (root.find("read") != nullptr || root.find("loader") != nullptr) return;
  profile.refuse(root, "the profile is of a command, not of a dataset",
                 "measure the dataset's files: oomplan measure PATH --json");
}

void check_sizes(const Document& document, const LoaderProfile& read, Profile& profile) {
  const double longest = static_cast<double>(read.longest_row.count());
  if (read.mean_row.value_or(0) <= longest * 1.000001 + 1) return;
  profile.refuse(profile.inside(document.root, "row_bytes"), "the mean row is longer than the longest");
}

// ---- A sample ------------------------------------------------------------------------------------------------------

/// The high end of an estimate; nothing where the sample does not bound it.
std::optional<double> high_end(Profile& profile, const Node& estimates, std::string_view key, double least) {
  const Node& estimate = profile.inside(estimates, key);
  const Node* high = estimate.find("high");
  if (high != nullptr && high->kind == Node::Kind::null) return std::nullopt;
  return profile.number(estimate, "high", least);
}

/// What was read of a sample is a part; what all has, it says with its interval. More than there is holds too little.
void take_sample(const Node& sample, Profile& profile, LoaderProfile& out) {
  const auto rows = high_end(profile, sample, "rows", 1);
  out.rows = rows ? std::optional(whole(std::ceil(*rows))) : std::nullopt;
  out.mean_row = high_end(profile, profile.inside(sample, "row_bytes"), "mean", 0);
  out.sampled = profile.number(sample, "draws", 0) > 0;
}

// ---- A loader ------------------------------------------------------------------------------------------------------

MeasuredLoader loader_of(const Node& loader, Profile& profile) {
  MeasuredLoader out{profile.number(loader, "rows_per_second", std::numeric_limits<double>::min()), std::nullopt};
  const Node* workers = loader.find("workers");
  if (workers != nullptr && workers->kind != Node::Kind::null) out.workers = profile.count(loader, "workers", 0);
  return out;
}

// ---- What was not read ---------------------------------------------------------------------------------------------

void warn_of_lost(const Document& document, const Node& read, std::string_view key, std::string message,
                  LoaderProfile& out) {
  const Node* lost = read.find(key);
  if (lost == nullptr || lost->as_number().value_or(0) <= 0) return;
  Diagnostic warning{Severity::warning,
                     "ingest/partial-profile",
                     shown(*lost) + std::move(message),
                     document.at(*lost),
                     "the dataset is larger than the host memory is counted for",
                     {}};
  warning.excerpt = std::string(document.line(lost->line));
  out.warnings.push_back(std::move(warning));
}

// ---- The dataset ---------------------------------------------------------------------------------------------------

void take_dataset(const Document& document, Profile& profile, LoaderProfile& out) {
  const Node& read = profile.inside(document.root, "read");
  const Node& sizes = profile.inside(document.root, "row_bytes");
  out.rows = profile.count(read, "rows", 1);
  out.file_bytes = Bytes(profile.count(read, "file_bytes", 0));
  out.decoded = Bytes(profile.count(read, "decoded_bytes", 0));
  out.mean_row = profile.number(sizes, "mean", 0);
  out.longest_row = Bytes(profile.count(sizes, "longest", 0));
  out.rows_per_second = profile.number(document.root, "rows_per_second", std::numeric_limits<double>::min());
  if (profile.errors().empty()) check_sizes(document, out, profile);
  if (profile.errors().empty() && document.root.find("sample") != nullptr) {
    take_sample(profile.inside(document.root, "sample"), profile, out);
  }
  warn_of_lost(document, read, "skipped_rows", " rows could not be read, and are not in the profile", out);
  warn_of_lost(document, read, "broken_files", " files were not read to their end, and the profile lacks rows", out);
}

}  // namespace

Result<LoaderProfile> read_loader_profile(const Document& document) {
  Profile profile(document);
  check_kind(document, profile);
  if (!profile.errors().empty()) return profile.errors();
  LoaderProfile out{.file = document.file, .rows = std::nullopt, .mean_row = std::nullopt};
  if (document.root.find("loader") != nullptr) out.loader = loader_of(profile.inside(document.root, "loader"), profile);
  if (document.root.find("read") != nullptr) take_dataset(document, profile, out);
  if (!profile.errors().empty()) return profile.errors();
  return out;
}

}  // namespace oomplan
