#include <algorithm>
#include <array>

#include "oomplan/ingest/ingest.hpp"
#include "steps.hpp"

namespace oomplan::ingestion {
namespace {

struct Size {
  std::string_view key{};
  std::string_view fact{};  ///< Of the plan.
};

// Of the dialects, of LLaMA-Factory, DeepSpeed, Unsloth and older TRL.
constexpr auto sizes = std::to_array<Size>({
    {"base_model", "model"},
    {"batch_size", "micro_batch_size"},
    {"block_size", "sequence_length"},
    {"context_length", "sequence_length"},
    {"cutoff_len", "sequence_length"},
    {"max_length", "sequence_length"},
    {"max_seq_len", "sequence_length"},
    {"max_seq_length", "sequence_length"},
    {"micro_batch_size", "micro_batch_size"},
    {"model_id", "model"},
    {"model_max_length", "sequence_length"},
    {"model_name", "model"},
    {"model_name_or_path", "model"},
    {"per_device_train_batch_size", "micro_batch_size"},
    {"per_gpu_train_batch_size", "micro_batch_size"},
    {"seq_len", "sequence_length"},
    {"seq_length", "sequence_length"},
    {"sequence_len", "sequence_length"},
    {"sequence_length", "sequence_length"},
    {"train_batch_size", "micro_batch_size"},
    {"train_micro_batch_size_per_gpu", "micro_batch_size"},
});

Diagnostic unused(const Input& input, const Dialect& dialect, const std::string& hint) {
  Diagnostic out = at_key(
      input, Severity::error, "ingest/unused-key",
      input.key + " sets a size elsewhere and is no key of " + std::string(dialect.name) + ", so it would be left out",
      hint.empty() ? "write it as " + std::string(dialect.name) + " has it, or leave it out" : hint);
  return out;
}

}  // namespace

void note_foreign_sizes(const Inputs& inputs, const Dialect& dialect, Draft& draft) {
  for (const Input& input : inputs) {
    const auto* size = std::ranges::find(sizes, input.key, &Size::key);
    if (size == sizes.end() || dialect.has(input.key) || !is_set(*input.value)) continue;
    if (fact_of(draft.plan, size->fact) == input.value->text) continue;
    std::string hint;
    std::erase_if(draft.plan.warnings, [&](const Diagnostic& one) {
      const bool same = one.code == "ingest/unknown-key" && one.where == input.key_at;
      if (same) hint = one.hint;
      return same;
    });
    draft.missing.push_back({std::string(size->fact), unused(input, dialect, hint)});
  }
}

}  // namespace oomplan::ingestion
