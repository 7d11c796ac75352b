#include "vocabulary_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "oomplan/core/bytes.hpp"
#include "weight_checks.hpp"

namespace oomplan::estimator {
namespace {

// As check() has it for sizes: up to this there is room in 64 bits.
constexpr std::int64_t most_rows = std::int64_t{1} << 31;

std::int64_t places_of(const OpSpec& spec, std::int64_t rows) {
  constexpr std::array<std::string_view, 2> names{"rows", "vocabulary"};
  return std::ranges::count_if(spec.attributes, [&](const auto& row) {
    return std::ranges::count(names, row.first) > 0 && row.second == Attribute(rows);
  });
}

/// Whether the vocabulary is the rows of one embedding and of a head without biases, and no other size.
bool has_one_vocabulary(const Architecture& model) {
  const std::int64_t rows = vocabulary_of(model);
  std::int64_t embeddings = 0;
  std::int64_t others = 0;
  const auto count = [&](const std::vector<OpSpec>& ops) {
    for (const OpSpec& spec : ops) (spec.op == "embedding" ? embeddings : others) += places_of(spec, rows);
  };
  for (const Segment& segment : model.body) {
    count(segment.stem);
    count(segment.tail);
    for (const auto& kind : segment.kinds) count(kind);
  }
  const Attribute* bias = model.head.find("bias");
  const bool plain = bias == nullptr || *bias == Attribute(false);
  return embeddings == 1 && others == 0 && model.head.op == "linear_head" && plain && places_of(model.head, rows) == 1;
}

}  // namespace

void check_vocabulary(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  const Setting<std::int64_t>& vocabulary = plan.model.vocabulary;
  if (vocabulary.value == 0) return;
  const auto cannot = [&](const std::string& what) {
    errors.push_back(unmodelled(what + " is not modelled yet", vocabulary.origin));
  };
  if (vocabulary.value < vocabulary_of(architecture)) cannot("a vocabulary of fewer rows than the checkpoint has");
  if (vocabulary.value > most_rows) cannot(fmt::format("a vocabulary of {} rows", vocabulary.value));
  if (!has_one_vocabulary(architecture)) cannot("an enlarged vocabulary of a model of type " + architecture.model_type);
  if (!holds_whole(plan.mesh)) cannot("an enlarged vocabulary of a sharded model");
  if (architecture.teacher != nullptr) cannot("an enlarged vocabulary beside a teacher");
}

}  // namespace oomplan::estimator
