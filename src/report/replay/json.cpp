// For programs: sizes in bytes. One object, whatever happened.
#include <nlohmann/json.hpp>

#include "../json_values.hpp"
#include "oomplan/report/replay.hpp"

namespace oomplan {
namespace {

using Json = nlohmann::ordered_json;

Json ran_out_json(const std::optional<RanOut>& ran_out) {
  if (!ran_out) return nullptr;
  return {{"line", ran_out->line},
          {"asked", ran_out->memory.asked.count()},
          {"allocated", ran_out->memory.allocated.count()},
          {"reserved", ran_out->memory.reserved.count()},
          {"message", ran_out->memory.message}};
}

Json agreement_json(const std::optional<Agreement>& agreement) {
  if (!agreement) return nullptr;
  return {{"allocations", agreement->allocations},
          {"at_their_address", agreement->at_their_address},
          {"segments", agreement->segments},
          {"same", agreement->same},
          {"first_different", agreement->first_different ? Json(*agreement->first_different) : Json()}};
}

Json run_json(const ReplayRun& run) {
  const AllocatorStatistics& s = run.statistics;
  return {{"alloc_conf", run.alloc_conf},
          {"peak_allocated", s.peak_allocated.count()},
          {"peak_reserved", s.peak_reserved.count()},
          {"slack", (s.peak_reserved - s.peak_allocated).count()},
          {"peak_fragmented", s.peak_fragmented.count()},
          {"end_allocated", s.allocated.count()},
          {"end_reserved", s.reserved.count()},
          {"peak_segments", s.peak_segments},
          {"device_allocs", s.device_allocs},
          {"device_frees", s.device_frees},
          {"retries", s.retries},
          {"ran_out", ran_out_json(run.ran_out)},
          {"survived", run.survived},
          {"as_recorded", agreement_json(run.agreement)}};
}

Json list_json(const ReplayedList& list) {
  Json runs = Json::array();
  for (const ReplayRun& run : list.runs) runs.push_back(run_json(run));
  return {{"file", list.file},
          {"events", list.events},
          {"streams", list.streams},
          {"room", list.room ? Json(list.room->count()) : Json()},
          {"runs", std::move(runs)}};
}

}  // namespace

std::string replay_json(const Replay& replay) {
  Json lists = Json::array();
  for (const ReplayedList& list : replay.lists) lists.push_back(list_json(list));
  Json diagnostics = Json::array();
  for (const Diagnostic& diagnostic : replay.diagnostics) diagnostics.push_back(report::diagnostic_json(diagnostic));
  const Json out{
      {"schema", "oomplan/replay/1"},         {"oomplan", version()},
      {"verdict", name_of(replay.verdict)},   {"capacity", replay.capacity ? Json(replay.capacity->count()) : Json()},
      {"context", replay.context.count()},    {"lists", std::move(lists)},
      {"diagnostics", std::move(diagnostics)}};
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace oomplan
