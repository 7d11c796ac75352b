#include "host_json.hpp"

namespace oomplan::report {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const HostTerm& term) {
  Json out{{"name", term.name}, {"place", name_of(term.place)}};
  for (const HostMoment moment : host_moments) {
    out[std::string(name_of(moment))] = term.at[static_cast<std::size_t>(moment)].count();
  }
  out["formula"] = term.formula;
  out["source"] = term.source;
  return out;
}

Json json_of(const HostFit& fit) {
  return {{"name", fit.name},
          {"limit", fit.limit.count()},
          {"needed", fit.needed.count()},
          {"headroom", fit.headroom().count()},
          {"fits", fit.fits()},
          {"verdict", name_of(fit.verdict)}};
}

Json json_of(const Feed& feed) {
  const auto keeps_up = feed.keeps_up();
  return {{"measured", feed.is_of_loader ? "loader" : "reader"},
          {"read_per_second", feed.read_per_second},
          {"readers", feed.readers},
          {"taken_per_second", feed.taken_per_second ? Json(*feed.taken_per_second) : Json()},
          {"keeps_up", keeps_up ? Json(*keeps_up) : Json()}};
}

}  // namespace

Json limits_json(const std::vector<HostFit>& limits) {
  Json out = Json::array();
  for (const HostFit& fit : limits) out.push_back(json_of(fit));
  return out;
}

Json host_json(const HostAnswer& host) {
  const HostFootprint& footprint = host.footprint;
  Json terms = Json::array();
  for (const HostTerm& term : footprint.terms) terms.push_back(json_of(term));
  return {{"profile", host.profile ? Json(host.profile->file) : Json()},
          {"ram", footprint.ram().count()},
          {"worst", name_of(footprint.worst())},
          {"shm", footprint.shared().count()},
          {"unreclaimable", footprint.unreclaimable().count()},
          {"page_cache", footprint.page_cache().count()},
          {"terms", std::move(terms)},
          {"missing", footprint.missing},
          {"limits", limits_json(host.fits)},
          {"feed", host.feed ? json_of(*host.feed) : Json()}};
}

}  // namespace oomplan::report
