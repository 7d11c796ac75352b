// What the tests of host memory share: small plans, and the terms of their footprints.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "oomplan/estimate/host.hpp"

namespace oomplan::host_plans {

/// Figures that are easy to add by hand.
inline PythonCosts costs() {
  PythonCosts out;
  out.forked_worker.bytes = Bytes(1'000);
  out.forked_object_worker.bytes = Bytes(2'000);
  out.helper.bytes = Bytes(500);
  out.integer.bytes = Bytes(32);
  out.slot.bytes = Bytes(8);
  out.list.bytes = Bytes(88);
  out.text.bytes = Bytes(49);
  out.pickled_integer.bytes = Bytes(5);
  out.page.bytes = Bytes(4096);
  return out;
}

inline const std::vector<Library> torch{{"torch", "PyTorch", Bytes(100'000), Bytes(70'000), "measured"}};

/// 1,000 rows of 512 int64.
inline LoaderProfile profile() {
  return {"profile.json", 1000, Bytes(1'000'000), Bytes(4'096'000), 4096, Bytes(4096), 2000};
}

inline TrainingPlan plan() {
  TrainingPlan out;
  out.batch.micro_batch_size.value = 16;
  out.batch.gradient_accumulation_steps.value = 1;
  out.batch.sequence_length.value = 1024;
  LoaderPlan& loader = out.loader;
  for (auto one : {&LoaderPlan::ranks, &LoaderPlan::epochs, &LoaderPlan::columns}) (loader.*one).value = 1;
  loader.prefetch.value = 2;
  loader.shuffle.value = true;
  loader.rows_as.value = RowsAs::numpy;
  return out;
}

inline HostFootprint footprint(const TrainingPlan& plan, const HostModel& model) {
  const LoaderProfile given = profile();
  return host_footprint(plan, &model, &given, torch, costs());
}

inline const HostModel none;

inline HostFootprint footprint(const TrainingPlan& plan) { return footprint(plan, none); }

inline Bytes at(const HostFootprint& footprint, std::string_view name, HostMoment moment,
                HostPlace place = HostPlace::process) {
  const auto found = std::ranges::find_if(
      footprint.terms, [&](const HostTerm& term) { return term.name == name && term.place == place; });
  return found == footprint.terms.end() ? Bytes(-1) : found->at[static_cast<std::size_t>(moment)];
}

inline Bytes running(const HostFootprint& footprint, std::string_view name) {
  const auto found = std::ranges::find(footprint.terms, name, &HostTerm::name);
  return found == footprint.terms.end() ? Bytes(-1) : at(footprint, name, HostMoment::running, found->place);
}

}  // namespace oomplan::host_plans
