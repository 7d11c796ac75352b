#include "cards.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace oomplan::cli {
namespace {

constexpr std::int64_t most = 100'000;

/// "8x" at the front, which is taken off; never the whole of the text.
std::optional<std::int64_t> take_count(std::string_view& text) {
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const auto digits = static_cast<std::size_t>(end - text.data());
  const bool read = error == std::errc() && count > 0 && count <= most && digits + 1 < text.size();
  if (!read || (text[digits] != 'x' && text[digits] != 'X')) return std::nullopt;
  text.remove_prefix(digits + 1);
  return count;
}

}  // namespace

Cards cards_of(const std::string& text) {
  std::string_view rest = text;
  const auto first = take_count(rest);
  const auto second = first ? take_count(rest) : std::nullopt;
  return {std::string(rest), second ? *first : 1, second.value_or(first.value_or(0))};
}

std::vector<std::string> world_of(const std::vector<std::string>& gpus) {
  if (gpus.empty()) return {};
  const Cards cards = cards_of(gpus.front());
  if (cards.each == 0) return {};
  return {"plan.ranks=" + std::to_string(cards.each), "plan.world_size=" + std::to_string(cards.each * cards.machines)};
}

Diagnostics check_counts(const std::vector<std::string>& gpus) {
  const auto differs = [&](const std::string& gpu) { return world_of({gpu}) != world_of({gpus.front()}); };
  const auto other = std::ranges::find_if(gpus, differs);
  if (other == gpus.end()) return {};
  return {{Severity::error,
           "cli/usage",
           "--gpu " + *other + " is another number of GPUs than " + gpus.front(),
           {},
           "one run has one world: ask again for the other",
           {}}};
}

}  // namespace oomplan::cli
