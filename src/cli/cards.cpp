#include "cards.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "oomplan/catalog/catalog.hpp"
#include "oomplan/estimate/estimate.hpp"

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

/// A number with an x behind it that counts no GPUs.
bool has_no_such_count(const std::string& text) {
  std::string_view rest = text;
  while (take_count(rest)) {
  }
  const auto digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  return digits > 0 && digits + 1 < rest.size() && (rest[digits] == 'x' || rest[digits] == 'X');
}

}  // namespace

Cards cards_of(const std::string& text) {
  std::string_view rest = text;
  const auto first = take_count(rest);
  const auto second = first ? take_count(rest) : std::nullopt;
  return {std::string(rest), second ? *first : 1, second.value_or(first.value_or(0))};
}

NamedWorld world_of(const std::vector<std::string>& gpus) {
  if (gpus.empty()) return {};
  const Cards cards = cards_of(gpus.front());
  if (cards.each == 0) return {};
  return {cards.each, cards.machines, "--gpu " + gpus.front()};
}

std::string older_gpu(const std::vector<std::string>& gpus) {
  const auto older = [](const std::string& text) {
    const Result<Gpu> gpu = find_gpu(cards_of(text).name);
    return gpu && is_older(*gpu);
  };
  const bool all = !gpus.empty() && std::ranges::all_of(gpus, older);
  return all ? "--gpu " + gpus.front() : std::string();
}

Diagnostics check_counts(const std::vector<std::string>& gpus) {
  const auto usage = [](std::string message, std::string hint) {
    return Diagnostics{{Severity::error, "cli/usage", std::move(message), {}, std::move(hint), {}}};
  };
  const auto bad = std::ranges::find_if(gpus, has_no_such_count);
  if (bad != gpus.end()) {
    return usage("--gpu " + *bad + ": a run has 1 to " + std::to_string(most) + " GPUs on a machine",
                 "write the number in front of the GPU's name, as in 8xh100");
  }
  const auto counts = [](const std::string& gpu) {
    const Cards cards = cards_of(gpu);
    return std::pair(cards.machines, cards.each);
  };
  const auto differs = [&](const std::string& gpu) { return counts(gpu) != counts(gpus.front()); };
  const auto other = std::ranges::find_if(gpus, differs);
  if (other == gpus.end()) return {};
  return usage("--gpu " + *other + " is another number of GPUs than " + gpus.front(),
               "one run has one world: ask again for the other");
}

}  // namespace oomplan::cli
