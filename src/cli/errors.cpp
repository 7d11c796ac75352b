#include "errors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "codes.hpp"
#include "oomplan/core/text.hpp"
#include "oomplan/ingest/ingest.hpp"

namespace oomplan::cli {

std::optional<Bucket> find_bucket(std::string_view name) {
  const auto* found = std::find(bucket_names.begin(), bucket_names.end(), name);
  if (found == bucket_names.end()) return std::nullopt;
  return static_cast<Bucket>(found - bucket_names.begin());
}

Diagnostic unknown_bucket(std::string_view name) {
  std::string hint;
  if (const auto near = nearest(name, bucket_names)) hint = fmt::format("did you mean '{}'? ", *near);
  return {Severity::error,
          "cli/unknown-bucket",
          fmt::format("there is no bucket '{}'", name),
          {},
          fmt::format("{}the buckets are {}", hint, fmt::join(bucket_names, ", ")),
          {}};
}

Diagnostic unknown_dialect(std::string_view name) {
  const std::vector<std::string_view> known = dialects();
  std::string hint;
  if (const auto near = nearest(name, known)) hint = fmt::format("did you mean '{}'? ", *near);
  return {Severity::error,
          "cli/unknown-dialect",
          fmt::format("there is no dialect '{}'", name),
          {},
          fmt::format("{}the dialects are {}", hint, fmt::join(known, ", ")),
          {}};
}

Diagnostics placed(Diagnostics errors, const Origin& origin) {
  for (Diagnostic& error : errors) {
    if (!error.where.file.empty() || origin.kind != Origin::Kind::config) continue;
    error.where = origin.where;
    error.excerpt.clear();
  }
  return errors;
}

Findings failed(Diagnostics errors) {
  Findings findings{.diagnostics = std::move(errors)};
  findings.verdict = verdict_of(findings.diagnostics);
  return findings;
}

}  // namespace oomplan::cli
