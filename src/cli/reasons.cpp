#include "reasons.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "codes.hpp"
#include "oomplan/core/text.hpp"
#include "screen.hpp"

namespace oomplan::cli {
namespace {

constexpr std::size_t fewest_lines = 8;
constexpr std::string_view unmodelled = "estimate/unmodelled";

/// One that stands at several places.
struct Reason {
  const Diagnostic* told = nullptr;
  std::vector<Location> places{};
};

struct Group {
  std::string_view code{};
  std::vector<Reason> reasons{};
};

std::size_t line_count(std::string_view text) { return static_cast<std::size_t>(std::ranges::count(text, '\n')); }

std::string each_of(const Diagnostics& problems) {
  std::string out;
  for (const Diagnostic& problem : problems) out += to_text(problem);
  return out;
}

std::vector<Group> groups_of(const Diagnostics& problems) {
  std::vector<Group> out;
  for (const Diagnostic& problem : problems) {
    if (problem.severity != Severity::error) continue;
    auto group = std::ranges::find(out, problem.code, &Group::code);
    if (group == out.end()) group = out.insert(out.end(), Group{problem.code, {}});
    const auto same = [&](const Reason& one) { return one.told->message == problem.message; };
    auto reason = std::ranges::find_if(group->reasons, same);
    if (reason == group->reasons.end()) reason = group->reasons.insert(reason, Reason{&problem, {}});
    reason->places.push_back(problem.where);
  }
  return out;
}

std::string heading_of(std::string_view code) {
  if (code == unmodelled) return fmt::format("not modelled yet [{}]:\n", code);
  return code == "ingest/missing-fact" ? fmt::format("not said [{}]:\n", code) : fmt::format("[{}]:\n", code);
}

/// Without what the heading says.
std::string_view message_of(const Diagnostic& told) {
  std::string_view out = told.message;
  if (told.code != unmodelled) return out;
  for (const std::string_view end : {" affects memory and is not modelled yet", " is not modelled yet"})
    if (out.ends_with(end)) out.remove_suffix(end.size());
  if (out.ends_with(',')) out.remove_suffix(1);
  return out;
}

/// "config.yml:3, config.yml:9": the folder is the headline's.
std::string places_of(const Reason& reason) {
  std::string out;
  for (const Location& where : reason.places) {
    if (where.line <= 0) continue;
    const std::string_view file = where.file;
    const std::string one = fmt::format("{}:{}", printable(file.substr(file.rfind('/') + 1)), where.line);
    if (out.find(one + ",") == std::string::npos && !out.ends_with(one)) out += (out.empty() ? "" : ", ") + one;
  }
  return out.empty() ? out : " (" + out + ")";
}

/// The screen in the making.
class Screen {
 public:
  explicit Screen(const ReasonsPlace& place) : place_(place), room_(std::max(place.lines, fewest_lines)) {}

  /// Whether there is room for it, and for a line after it.
  bool add(const std::string& text) {
    const std::string lines = in_columns(text, place_.width);
    if (line_count(out_) + line_count(lines) + 1 > room_) return false;
    out_ += lines;
    return true;
  }

  std::string text() && { return std::move(out_); }

 private:
  const ReasonsPlace& place_;
  std::size_t room_ = screen_lines;
  std::string out_{};
};

std::string block_of(const Reason& reason, const std::string& heading) {
  return heading + fmt::format("- {}{}\n", printable(message_of(*reason.told)), places_of(reason));
}

/// A hint can be longer than a screen: the reason is told without it where only that has room.
bool add_block(Screen& screen, const Reason& reason, const std::string& heading, std::string& last_hint) {
  const std::string block = block_of(reason, heading);
  const std::string& hint = reason.told->hint;
  const bool hinted = !hint.empty() && hint != last_hint && screen.add(block + "  hint: " + printable(hint) + "\n");
  last_hint = hint;
  return hinted || screen.add(block);
}

std::size_t count_of(const std::vector<Group>& groups) {
  std::size_t out = 0;
  for (const Group& group : groups) out += group.reasons.size();
  return out;
}

std::string grouped(const std::vector<Group>& groups, const ReasonsPlace& place) {
  const std::size_t count = count_of(groups);
  Screen screen(place);
  screen.add(fmt::format("{}: cannot be decided, for {} reasons\n", printable(place.config), count));
  std::size_t told = 0;
  bool room = true;
  for (const Group& group : groups) {
    std::string heading = heading_of(group.code);
    std::string last_hint;
    for (const Reason& reason : group.reasons) {
      room = room && add_block(screen, reason, heading, last_hint);
      if (!room) break;
      heading.clear();
      ++told;
    }
  }
  std::string out = std::move(screen).text();
  if (told < count) out += fmt::format("and {} more: {} has each, with its line\n", count - told, place.rest);
  return out;
}

}  // namespace

std::string reasons_text(const Diagnostics& problems, const ReasonsPlace& place) {
  std::string all = each_of(problems) + "oomplan: cannot be decided, for the reasons above\n";
  if (place.all || line_count(in_columns(all, place.width)) <= std::max(place.lines, fewest_lines)) return all;
  const std::vector<Group> groups = groups_of(problems);
  return count_of(groups) < 2 ? all : grouped(groups, place);
}

std::string refusal_text(const Diagnostics& problems, const ReasonsPlace& place) {
  return verdict_of(problems) == Verdict::undecided ? reasons_text(problems, place) : each_of(problems);
}

}  // namespace oomplan::cli
