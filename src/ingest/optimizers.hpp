// Optimizers as Hugging Face's Trainer names them; Axolotl hands it the same names.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "codec.hpp"

namespace oomplan::ingestion {

/// A name of transformers' OptimizerNames; `plan` is empty where the optimizer is not modelled.
struct OptimizerName {
  std::string_view theirs{};
  std::string_view plan{};
};

// transformers 5.23.0: training_args.py OptimizerNames, and which class trainer_optimizer.py makes of each. The first
// of two names of one optimizer is the one that is written. adamw_hf and adamw_apex_fused were dropped in version 5.
inline constexpr std::array optimizer_table{
    OptimizerName{"adamw_torch_fused", "adamw_fused"},
    OptimizerName{"adamw_torch", "adamw_foreach"},
    OptimizerName{"adamw_8bit", "adamw_8bit"},
    OptimizerName{"adamw_bnb_8bit", "adamw_8bit"},
    OptimizerName{"paged_adamw_8bit", "paged_adamw_8bit"},
    OptimizerName{"paged_adamw_32bit", "paged_adamw_32bit"},
    OptimizerName{"adafactor", "adafactor"},
    OptimizerName{"sgd", "sgd"},
    OptimizerName{"adamw_torch_xla", ""},
    OptimizerName{"adamw_torch_npu_fused", ""},
    OptimizerName{"adamw_anyprecision", ""},
    OptimizerName{"adamw_torch_4bit", "torchao_adamw_4bit"},
    OptimizerName{"adamw_torch_8bit", "torchao_adamw_8bit"},
    OptimizerName{"adamw_hf", ""},
    OptimizerName{"adamw_apex_fused", ""},
    OptimizerName{"ademamix", "ademamix"},
    OptimizerName{"ademamix_8bit", "ademamix_8bit"},
    OptimizerName{"paged_ademamix_32bit", "paged_ademamix_32bit"},
    OptimizerName{"paged_ademamix_8bit", "paged_ademamix_8bit"},
    OptimizerName{"adagrad", "adagrad"},
    OptimizerName{"lion_8bit", "lion_8bit"},
    OptimizerName{"lion_32bit", "lion_32bit"},
    OptimizerName{"paged_lion_32bit", "paged_lion_32bit"},
    OptimizerName{"paged_lion_8bit", "paged_lion_8bit"},
    OptimizerName{"rmsprop", "rmsprop"},
    OptimizerName{"rmsprop_bnb", ""},
    OptimizerName{"rmsprop_bnb_8bit", ""},
    OptimizerName{"rmsprop_bnb_32bit", ""},
    OptimizerName{"galore_adamw", ""},
    OptimizerName{"galore_adamw_8bit", ""},
    OptimizerName{"galore_adafactor", ""},
    OptimizerName{"galore_adamw_layerwise", ""},
    OptimizerName{"galore_adamw_8bit_layerwise", ""},
    OptimizerName{"galore_adafactor_layerwise", ""},
    OptimizerName{"lomo", ""},
    OptimizerName{"adalomo", ""},
    OptimizerName{"grokadamw", ""},
    OptimizerName{"schedule_free_radam", ""},
    OptimizerName{"schedule_free_adamw", ""},
    OptimizerName{"schedule_free_sgd", ""},
    OptimizerName{"apollo_adamw", ""},
    OptimizerName{"apollo_adamw_layerwise", ""},
    OptimizerName{"stable_adamw", ""},
};

inline constexpr auto optimizer_names = [] {
  std::array<std::string_view, optimizer_table.size()> out{};
  std::ranges::transform(optimizer_table, out.begin(), &OptimizerName::theirs);
  return out;
}();

const OptimizerName* find_optimizer(std::string_view theirs);

/// The Trainer's name of a plan's optimizer; the name itself where it has none.
std::string trainer_name(std::string_view plan);

/// Whether the Trainer's `optim_args` ("momentum=0.9, nesterov=true") give SGD a momentum.
bool has_momentum(std::string_view optim_args);

std::optional<std::string> read_optimizer(const Node& node);

namespace as {
inline constexpr Codec<std::string> optimizer{"an optimizer that transformers names", read_optimizer, write_text,
                                              optimizer_names.data(), optimizer_names.size()};
}  // namespace as

}  // namespace oomplan::ingestion
