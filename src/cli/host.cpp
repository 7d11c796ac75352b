#include "host.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "host_check.hpp"
#include "oomplan/core/text.hpp"
#include "oomplan/ingest/ingest.hpp"

namespace oomplan::cli {
namespace {

struct Asked {
  HostLimits limits{};
  std::optional<double> step_seconds{};
};

Diagnostic misused(std::string message) { return {.code = "cli/usage", .message = std::move(message)}; }

std::optional<Bytes> size_of(std::string_view option, const std::string& text, Diagnostics& errors) {
  if (text.empty()) return std::nullopt;
  const std::optional<Bytes> size = parse_bytes(text);
  if (size && *size > Bytes(0)) return size;
  errors.push_back({.code = "cli/bad-size",
                    .message = std::string(option) + " takes a size (64GiB), not '" + printable(text) + "'"});
  return std::nullopt;
}

std::optional<double> seconds_of(const std::string& text, Diagnostics& errors) {
  struct Unit {
    std::string_view name{};
    double seconds = 1;
  };
  constexpr std::array units{Unit{"ms", 1e-3}, Unit{"min", 60}, Unit{"s", 1}};
  if (text.empty()) return std::nullopt;
  const auto* unit = std::ranges::find_if(units, [&](const Unit& one) { return text.ends_with(one.name); });
  const auto number =
      unit == units.end() ? std::nullopt : parse_number(text.substr(0, text.size() - unit->name.size()));
  if (number && *number * unit->seconds > 1e-9) return *number * unit->seconds;
  errors.push_back(misused("--step-time takes a time (1.3s, 250ms, 2min), not '" + printable(text) + "'"));
  return std::nullopt;
}

Result<Asked> read_options(const HostQuestion& question) {
  Diagnostics errors;
  Asked out{{size_of("--host-ram", question.ram, errors), size_of("--shm", question.shared, errors),
             size_of("--cgroup", question.cgroup, errors)},
            seconds_of(question.step_time, errors)};
  if (out.step_seconds && question.loader.empty()) {
    errors.push_back(misused("--step-time is held against the rows a second of --loader, which is not given"));
  }
  if (!errors.empty()) return errors;
  return out;
}

Result<std::optional<LoaderProfile>> read_profile(const std::string& path) {
  if (path.empty()) return std::optional<LoaderProfile>();
  const Result<Document> document = read_document(path);
  if (!document) return document.errors();
  Result<LoaderProfile> profile = read_loader_profile(*document);
  if (!profile) return profile.errors();
  return std::optional(std::move(*profile));
}

Diagnostics placed(Diagnostics errors, const Origin& origin) {
  for (Diagnostic& error : errors) {
    if (error.where.file.empty() && origin.kind == Origin::Kind::config) error.where = origin.where;
  }
  return errors;
}

}  // namespace

Diagnostics wrong_in(const HostQuestion& question) {
  if (const Result<Asked> asked = read_options(question); !asked) return asked.errors();
  const Result<std::optional<LoaderProfile>> profile = read_profile(question.loader);
  return profile ? Diagnostics() : profile.errors();
}

Result<HostAnswer> answer_host(const HostQuestion& question, const TrainingPlan& plan, const HostModel* model,
                               const PagedOut& paged, const Catalog& catalog) {
  const Result<Asked> asked = read_options(question);
  if (!asked) return asked.errors();
  Result<std::optional<LoaderProfile>> profile = read_profile(question.loader);
  if (!profile) return profile.errors();
  const Setting<std::vector<std::string>>& names = plan.loader.libraries;
  const Result<std::vector<Library>> libraries = find_libraries(names.value, catalog);
  if (!libraries) return placed(libraries.errors(), names.origin);
  const Result<PythonCosts> costs = python_costs(catalog);
  if (!costs) return costs.errors();
  HostAnswer out{.profile = std::move(*profile)};
  const LoaderProfile* given = out.profile ? &*out.profile : nullptr;
  out.footprint = host_footprint(plan, model, given, *libraries, *costs);
  add_paged(out.footprint, plan, paged);
  out.fits = fit(out.footprint, asked->limits);
  if (given != nullptr) out.feed = feed(plan, *given, asked->step_seconds);
  return out;
}

Diagnostics undecided_on(const HostAnswer& host) {
  Diagnostics out;
  if (std::ranges::count(host.fits, FitVerdict::undecided, &HostFit::verdict) == 0) return out;
  for (const std::string& missing : host.footprint.missing) {
    out.push_back({.code = "estimate/host-unknown", .message = "host memory: not known is " + missing});
  }
  return out;
}

}  // namespace oomplan::cli
