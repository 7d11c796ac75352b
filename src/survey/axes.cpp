// The axes of a grid as a command line writes them.
#include <algorithm>
#include <optional>

#include "oomplan/core/text.hpp"
#include "oomplan/survey/survey.hpp"

namespace oomplan {
namespace {

Diagnostic refused(const std::string& text, std::string message) {
  return {.code = "survey/bad-axis",
          .message = "--over " + text + ": " + std::move(message),
          .hint = "KEY=1..64, KEY=1024:65536:x2, KEY=64:512:+64, KEY=1,2,4 or KEY=bf16|fp16"};
}

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> out;
  for (;;) {
    const std::size_t end = std::min(text.find(at), text.size());
    out.emplace_back(text.substr(0, end));
    if (end == text.size()) return out;
    text.remove_prefix(end + 1);
  }
}

struct Range {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t step = 1;
  bool times = false;
};

/// "x2", "+64" or "64".
bool read_step(std::string_view text, Range& range) {
  range.times = text.starts_with('x');
  if (range.times || text.starts_with('+')) text.remove_prefix(1);
  const auto step = parse_integer(text);
  range.step = step.value_or(0);
  return step && *step > (range.times ? 1 : 0);
}

/// Nothing where it is no range at all; `ok` is false where it is one, but makes no sense.
std::optional<Range> range_of(std::string_view text, bool& ok) {
  const std::size_t dots = text.find("..");
  const std::size_t colon = text.find(':');
  if (dots == text.npos && colon == text.npos) return std::nullopt;
  const bool stepped = dots == text.npos;
  const std::vector<std::string> parts =
      stepped ? split(text, ':') : std::vector{std::string(text.substr(0, dots)), std::string(text.substr(dots + 2))};
  const auto first = parse_integer(parts[0]);
  const auto last = parts.size() > 1 ? parse_integer(parts[1]) : std::nullopt;
  if (!first) return std::nullopt;
  Range range{*first, last.value_or(0)};
  ok = last && parts.size() == (stepped ? 3 : 2) && (!stepped || read_step(parts[2], range)) && *first <= *last &&
       (!range.times || *first > 0);
  return range;
}

std::int64_t next(const Range& range, std::int64_t value) {
  return range.times ? saturating_mul(value, range.step) : saturating_add(value, range.step);
}

Result<Axis> number_axis(const std::string& text, std::string key, const Range& range) {
  Axis axis{.key = std::move(key), .numbers = true};
  for (std::int64_t value = range.first; value <= range.last; value = next(range, value)) {
    if (static_cast<std::int64_t>(axis.values.size()) == most_points)
      return Diagnostic{.code = "survey/too-many-points",
                        .message = "--over " + text + " has more than " + with_separators(most_points) + " values"};
    axis.values.push_back(std::to_string(value));
    if (value == next(range, value)) break;
  }
  return axis;
}

Result<Axis> parse_axis(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == text.npos) return refused(text, "expected KEY=VALUES");
  const std::string values = text.substr(equals + 1);
  bool ok = false;
  if (const auto range = range_of(values, ok)) {
    if (!ok) return refused(text, "this is no range that goes up");
    return number_axis(text, text.substr(0, equals), *range);
  }
  Axis axis{.key = text.substr(0, equals), .values = split(values, '|')};
  for (const std::string& value : axis.values)
    if (value.empty()) return refused(text, "a value is missing");
  const auto number = [](const std::string& value) { return parse_number(value); };
  axis.numbers = std::ranges::all_of(axis.values, [&](const auto& value) { return number(value).has_value(); }) &&
                 std::ranges::is_sorted(axis.values, {}, [&](const auto& value) { return *number(value); });
  return axis;
}

Diagnostics too_many(const std::vector<Axis>& axes) {
  std::int64_t points = 1;
  for (const Axis& axis : axes) points = saturating_mul(points, static_cast<std::int64_t>(axis.values.size()));
  if (points <= most_points) return {};
  return {{.code = "survey/too-many-points",
           .message = "the grid has " + with_separators(points) + " points, and at most " +
                      with_separators(most_points) + " are estimated",
           .hint = "take larger steps (1024:65536:x2), or fewer values"}};
}

/// "a=1,2,b=3" is of two axes: what has no key of its own is one more value of the key before it.
std::vector<std::string> axes_in(const std::string& list) {
  std::vector<std::string> out;
  for (std::string& part : split(list, ',')) {
    if (out.empty() || part.empty() || part.find('=') != part.npos) {
      out.push_back(std::move(part));
    } else {
      out.back() += '|' + part;
    }
  }
  return out;
}

}  // namespace

Result<std::vector<Axis>> parse_axes(const std::vector<std::string>& texts) {
  std::vector<Axis> axes;
  Diagnostics errors;
  for (const std::string& list : texts) {
    for (const std::string& text : axes_in(list)) {
      Result<Axis> axis = parse_axis(text);
      if (!axis) {
        errors.insert(errors.end(), axis.errors().begin(), axis.errors().end());
      } else if (std::ranges::count(axes, axis->key, &Axis::key) > 0) {
        errors.push_back(refused(text, axis->key + " is there twice"));
      } else {
        axes.push_back(std::move(*axis));
      }
    }
  }
  if (errors.empty()) errors = too_many(axes);
  if (!errors.empty()) return errors;
  return axes;
}

}  // namespace oomplan
