#include "replayed.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "oomplan/read/event_list.hpp"

namespace oomplan::replayed {
namespace {

using nlohmann::json;

void require(const Diagnostics& errors) {
  if (!errors.empty()) throw std::runtime_error(to_text(errors.front()));
}

Result::Failure failure_of(const json& oom) {
  return {oom.at("event"),
          {Bytes(oom.at("request")), Bytes(oom.at("allocated")), Bytes(oom.at("reserved")), oom.at("message")}};
}

Result truth_of(const json& expected) {
  Result r{.peak_allocated = expected.at("peak_allocated"),
           .peak_reserved = expected.at("peak_reserved"),
           .end_allocated = expected.at("end_allocated"),
           .end_reserved = expected.at("end_reserved"),
           .device_allocs = expected.at("num_device_alloc"),
           .device_frees = expected.at("num_device_free"),
           .retries = expected.at("retries")};
  if (!expected.at("oom").is_null()) r.failure = failure_of(expected.at("oom"));
  return r;
}

Card card_of(const json& settings) {
  Card card{Bytes(settings.at("total")), Bytes(settings.at("context")), {}};
  // As the truth was made: parts in a million times 1e-6, in doubles.
  if (!settings.at("fraction_ppm").is_null()) card.fraction = settings.at("fraction_ppm").get<double>() * 1e-6;
  card.order = SegmentOrder::ascending;  // so the driver's stand-in gave them out
  return card;
}

std::optional<Result::Failure> run(EventList& list, Allocator& allocator) {
  std::vector<Event> events;
  for (require(list.next(events)); !events.empty(); require(list.next(events))) {
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (allocator.play(events[i])) continue;
      return Result::Failure{list.lines_before() + static_cast<std::int64_t>(i), *allocator.out_of_memory()};
    }
  }
  return std::nullopt;
}

class Comparison {
 public:
  void bytes(const std::string& what, std::int64_t played, std::int64_t truth) {
    if (played == truth) return;
    differ(what, std::to_string(played), std::to_string(truth));
    const double of = std::max(1.0, std::abs(static_cast<double>(truth)));
    out_.worst = std::max(out_.worst, 100.0 * std::abs(static_cast<double>(played) - static_cast<double>(truth)) / of);
  }
  void count(const std::string& what, std::int64_t played, std::int64_t truth) {
    text(what, std::to_string(played), std::to_string(truth));
  }
  void text(const std::string& what, const std::string& played, const std::string& truth) {
    if (played != truth) differ(what, played, truth);
  }
  void failures(const std::optional<Result::Failure>& played, const std::optional<Result::Failure>& truth) {
    text("runs out", played ? "yes" : "no", truth ? "yes" : "no");
    if (!played || !truth) return;
    count("event", played->event, truth->event);
    bytes("asked", played->out_of_memory.asked.count(), truth->out_of_memory.asked.count());
    bytes("allocated then", played->out_of_memory.allocated.count(), truth->out_of_memory.allocated.count());
    bytes("reserved then", played->out_of_memory.reserved.count(), truth->out_of_memory.reserved.count());
    text("message", played->out_of_memory.message, truth->out_of_memory.message);
  }
  Outcome outcome() const { return out_; }

 private:
  void differ(const std::string& what, const std::string& played, const std::string& truth) {
    out_.wrong.push_back({what, played, truth});
  }
  Outcome out_{};
};

}  // namespace

std::vector<Case> read_truth(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error(path + ": cannot be read");
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::vector<Case> out;
  for (const json& c : json::parse(in)) {
    const json& settings = c.at("settings");
    out.push_back({c.at("id"), (folder / c.at("events").get<std::string>()).string(), settings.at("conf"),
                   card_of(settings), truth_of(c.at("expected"))});
  }
  return out;
}

Result play(const Case& c) {
  const auto settings = parse_alloc_conf(c.conf, c.id);
  if (!settings) require(settings.errors());
  auto list = EventList::open(c.events);
  if (!list) require(list.errors());
  Allocator allocator(*settings, c.card);
  const std::optional<Result::Failure> failure = run(*list, allocator);
  const AllocatorStatistics& s = allocator.statistics();
  return {s.peak_allocated.count(), s.peak_reserved.count(), s.allocated.count(), s.reserved.count(),
          s.device_allocs,          s.device_frees,          s.retries,           failure};
}

Outcome compare(const Case& c, const Result& played) {
  Comparison all;
  all.failures(played.failure, c.truth.failure);
  all.bytes("peak allocated", played.peak_allocated, c.truth.peak_allocated);
  all.bytes("peak reserved", played.peak_reserved, c.truth.peak_reserved);
  all.bytes("end allocated", played.end_allocated, c.truth.end_allocated);
  all.bytes("end reserved", played.end_reserved, c.truth.end_reserved);
  all.count("device allocs", played.device_allocs, c.truth.device_allocs);
  all.count("device frees", played.device_frees, c.truth.device_frees);
  all.count("retries", played.retries, c.truth.retries);
  return all.outcome();
}

}  // namespace oomplan::replayed
