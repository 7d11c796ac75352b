#include "oomplan/plan/lengths.hpp"

#include <algorithm>
#include <functional>

namespace oomplan::planning {
namespace {

constexpr std::int64_t usual_steps = 32;

std::optional<std::vector<std::int64_t>> read_list(const Node& node) {
  std::vector<std::int64_t> out;
  for (const Node& item : node.items) {
    const auto length = read_positive(item);
    if (!length || out.size() == most_steps) return std::nullopt;
    out.push_back(*length);
  }
  return out;
}

/// The i-th of n points of [0, 1), spread evenly and without trend: multiples of the golden ratio.
double spread(std::int64_t i) {
  constexpr double golden = 0.6180339887498949;
  const double at = golden * static_cast<double>(i + 1);
  return at - static_cast<double>(static_cast<std::int64_t>(at));
}

std::vector<std::int64_t> points(std::int64_t low, std::int64_t high, std::int64_t steps) {
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < steps; ++i) {
    out.push_back(low + static_cast<std::int64_t>(spread(i) * static_cast<double>(high - low + 1)));
  }
  *std::ranges::max_element(out) = high;  // Ends of a range are meant.
  *std::ranges::min_element(out) = low;
  return out;
}

std::optional<std::int64_t> positive_in(const Node& node, std::string_view key) {
  const Node* value = node.find(key);
  return value == nullptr ? std::nullopt : read_positive(*value);
}

std::optional<std::vector<std::int64_t>> read_range(const Node& node) {
  for (const Entry& entry : node.entries) {
    const auto known = {"min", "max", "distribution", "steps"};
    if (std::ranges::find(known, entry.key) == known.end()) return std::nullopt;
  }
  const auto low = positive_in(node, "min");
  const auto high = positive_in(node, "max");
  const auto steps = node.find("steps") == nullptr ? usual_steps : positive_in(node, "steps");
  if (!low || !high || *low > *high || !steps || *steps < 2 || *steps > static_cast<std::int64_t>(most_steps))
    return {};
  std::vector<std::int64_t> out = points(*low, *high, *steps);
  const Node* order = node.find("distribution");
  if (order == nullptr || order->text == "uniform") return out;
  if (order->text == "ascending") return std::ranges::sort(out), out;
  if (order->text == "descending") return std::ranges::sort(out, std::greater<>()), out;
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<std::int64_t>> read_lengths(const Node& node) {
  return node.is_sequence() ? read_list(node) : node.is_mapping() ? read_range(node) : std::nullopt;
}

std::string write_lengths(const std::vector<std::int64_t>& lengths) {
  std::vector<std::string> items;
  for (const std::int64_t length : lengths) items.push_back(write_integer(length));
  return yaml_list(items);
}

}  // namespace oomplan::planning
