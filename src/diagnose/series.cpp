#include "series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "cause.hpp"
#include "words.hpp"

namespace oomplan::diagnose {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t fewest_points = 5;

double slope(const SeriesPoint& a, const SeriesPoint& b) {
  return static_cast<double>(b.bytes - a.bytes) / static_cast<double>(b.step - a.step);
}

struct Print {
  std::size_t line = 0;
  std::optional<std::int64_t> rank{};
  std::optional<std::int64_t> step{};  // of this line, else the last one counted
  std::optional<std::int64_t> bytes{};
};

bool counts(const Case& c, const Evidence& e, bool of_tracker) {
  if (c.root == nullptr || e.order > c.root->order || !e.line) return false;
  if (e.says != Says::progress && e.says != Says::memory_state) return false;
  if ((e.family == "tensorboard") != of_tracker) return false;
  return of_tracker || !c.root->rank || e.rank == c.root->rank;  // a tracker has rank 0's, and names none
}

// "CPU mem: 3.1GB", "free mem=7.5GB": words of another memory in front of the figure, in its own clause.
bool names_another_memory(const Evidence& e, std::string_view name) {
  constexpr std::array words{"cpu"sv,  "host"sv,   "ram"sv,  "free"sv, "avail"sv, "available"sv,
                             "swap"sv, "system"sv, "disk"sv, "rss"sv,  "left"sv,  "remaining"sv};
  if (name == "step_rss") return false;
  const Reading* const fact = e.find(name);
  const std::size_t at = fact == nullptr ? std::string::npos : e.text.find(fact->text);
  if (at == std::string::npos) return false;
  std::string_view before = std::string_view(e.text).substr(0, at);
  const std::size_t clause = before.find_last_of(",;|([{");
  if (clause != std::string_view::npos) before.remove_prefix(clause);
  constexpr std::size_t most_words = 24;
  before.remove_prefix(before.size() - std::min(before.size(), most_words));
  return has_word_of(before, words);
}

// A line each: the memory may stand before the step.
std::vector<Print> prints(const Case& c, std::string_view name, bool of_tracker) {
  std::vector<Print> out;
  for (const Evidence& e : *c.evidence) {
    if (!counts(c, e, of_tracker)) continue;
    if (out.empty() || out.back().line != *e.line) {
      const std::optional<std::int64_t> step = out.empty() ? std::nullopt : out.back().step;
      out.push_back({.line = *e.line, .rank = e.rank, .step = step});
    }
    if (const auto told = e.number("step")) out.back().step = told;
    if (const auto memory = e.number(name); memory && !names_another_memory(e, name)) out.back().bytes = memory;
  }
  std::erase_if(out, [](const Print& p) { return !p.bytes; });
  const std::optional<std::int64_t> rank = out.empty() ? std::nullopt : out.front().rank;
  std::erase_if(out, [&](const Print& p) { return p.rank != rank; });  // one rank's memory, not all in turns
  return out;
}

Series series_of(const std::vector<Print>& prints) {
  Series out;
  for (const Print& p : prints)
    if (p.step && (out.points.empty() || *p.step > out.points.back().step)) out.points.push_back({*p.step, *p.bytes});
  if (out.points.size() >= fewest_points || prints.size() < fewest_points) return out;
  out = {.has_steps = false};
  for (const Print& p : prints) out.points.push_back({static_cast<std::int64_t>(out.points.size()) + 1, *p.bytes});
  return out;
}

}  // namespace

// Of a tracker's file, or of what was printed: the two measure different things.
Series memory_series(const Case& c, std::string_view name) {
  Series printed = series_of(prints(c, name, false));
  return printed.points.empty() ? series_of(prints(c, name, true)) : printed;
}

bool grows(const Series& series) {
  const std::vector<SeriesPoint>& points = series.points;
  if (points.size() < fewest_points) return false;
  for (std::size_t i = 1; i < points.size(); ++i)
    if (points[i].bytes <= points[i - 1].bytes) return false;
  const SeriesPoint& first = points.front();
  const SeriesPoint& last = points.back();
  return last.bytes - first.bytes >= first.bytes / 5 &&
         slope(points[points.size() - 2], last) * 4 >= slope(first, last);
}

bool grows_evenly(const Series& series) {
  const std::vector<SeriesPoint>& points = series.points;
  if (!grows(series)) return false;
  const double mean = slope(points.front(), points.back());
  for (std::size_t i = 1; i < points.size(); ++i) {
    const double here = slope(points[i - 1], points[i]);
    if (here * 4 < mean * 3 || here * 3 > mean * 4) return false;
  }
  return true;
}

std::string ends_of(const Series& series) {
  const SeriesPoint& first = series.points.front();
  const SeriesPoint& last = series.points.back();
  return fmt::format("{} at {} {}, {} at {} {}", shown(first.bytes), series.unit(), first.step, shown(last.bytes),
                     series.unit(), last.step);
}

}  // namespace oomplan::diagnose
