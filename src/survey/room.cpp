// room_of: a search over the micro-batch.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "largest.hpp"
#include "oomplan/core/text.hpp"
#include "oomplan/ingest/keys.hpp"

namespace oomplan {
namespace {

constexpr std::int64_t most_rows = std::int64_t{1} << 20;

/// What the last override of the key says, else the file, else the plan.
std::int64_t value_now(const RoomQuestion& question, const std::string& key) {
  std::int64_t out = question.plan.batch.micro_batch_size.value;
  if (const Node* node = find_path(question.document.root, key)) out = node->as_integer().value_or(out);
  for (const std::string& text : question.ingest.overrides) {
    if (!text.starts_with(key + "=")) continue;
    out = parse_integer(std::string_view(text).substr(key.size() + 1)).value_or(out);
  }
  return std::max(out, std::int64_t{1});
}

/// Unsloth makes a batch that num_generations does not divide num_generations: its key says little of its size.
bool made_otherwise(const TrainingPlan& plan) {
  return plan.kernels.unsloth.value != UnslothLayers::none && plan.recipe.kind.value == RecipeKind::grpo;
}

}  // namespace

std::optional<Room> room_of(const RoomQuestion& question) {
  if (made_otherwise(question.plan)) return std::nullopt;
  constexpr std::string_view fact = "micro_batch_size";  // which is the plain form's own key
  const std::string key = key_of_fact(fact, question.plan.dialect).value_or(std::string(fact));
  const std::int64_t now = value_now(question, key);
  if (now > most_rows) return std::nullopt;
  const auto found = survey::largest_on(question, {.key = key, .first = now, .most = most_rows});
  if (!found || found->value == most_rows) return std::nullopt;
  return Room{.key = key, .now = now, .largest = found->value, .needed = found->needed};
}

}  // namespace oomplan
