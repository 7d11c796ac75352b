#include "terms.hpp"

#include <fmt/format.h>

#include <utility>

#include "oomplan/core/text.hpp"

namespace oomplan::host {
namespace {

std::string names_of(const std::vector<Library>& libraries) {
  std::string out;
  for (const Library& library : libraries) out += (out.empty() ? "" : ", ") + library.name;
  return out;
}

std::string sources_of(const std::vector<Library>& libraries) {
  std::string out;
  for (const Library& library : libraries) {
    out += fmt::format("{}{}: {}; {}", out.empty() ? "" : ". ", library.name, library.title, library.source);
  }
  return out;
}

}  // namespace

HostTerm term(std::string name, HostPlace place, Bytes bytes, HostMoment since, std::string formula,
              std::string source) {
  HostTerm out{std::move(name), place, {}, std::move(formula), std::move(source)};
  for (std::size_t moment = 0; moment < out.at.size(); ++moment) {
    if (has(since, moment)) out.at[moment] = bytes;
  }
  return out;
}

HostTerm passing_term(std::string name, HostPlace place, Bytes bytes, const std::vector<HostMoment>& moments,
                      std::string formula, std::string source) {
  HostTerm out{std::move(name), place, {}, std::move(formula), std::move(source)};
  for (const HostMoment moment : moments) out.at[static_cast<std::size_t>(moment)] = bytes;
  return out;
}

std::string workers_text(const LoaderPlan& loader) {
  return counted(loader.ranks.value, "rank") + " × " + counted(loader.workers.value, "worker");
}

Bytes own(const std::vector<Library>& libraries) {
  Bytes out;
  for (const Library& library : libraries) out += library.own;
  return out;
}

void add_imports(const Question& question, HostFootprint& out) {
  const Bytes each = own(question.libraries);
  Bytes mapped;
  for (const Library& library : question.libraries) mapped += library.mapped;
  const std::int64_t ranks = question.plan.loader.ranks.value;
  const std::string names = names_of(question.libraries);
  out.terms.push_back(term("ranks", HostPlace::process, ranks * each, HostMoment::loading,
                           fmt::format("{} × {} ({})", counted(ranks, "rank"), to_text(each), names),
                           sources_of(question.libraries)));
  out.terms.push_back(term("libraries' files", HostPlace::files, mapped, HostMoment::loading,
                           "mapped pages of " + names + ", once for all processes", "measured with them"));
}

}  // namespace oomplan::host
