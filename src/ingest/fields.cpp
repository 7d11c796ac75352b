#include "fields.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace oomplan::ingestion {
namespace {

using Plan = TrainingPlan;

template <auto Member, const auto& Format, auto Group>
constexpr Row<Plan> field(std::string_view name) {
  return row<Plan, Member, Format, Group>(name);
}

constexpr std::array rows{
    field<&RecipeFacts::trainer, as::trainer, &Plan::recipe>("trainer"),
    field<&ModelFacts::name, as::text, &Plan::model>("model"),
    field<&BatchFacts::micro_batch_size, as::positive, &Plan::batch>("micro_batch_size"),
    field<&BatchFacts::sequence_length, as::positive, &Plan::batch>("sequence_length"),
    field<&BatchFacts::lengths, as::lengths, &Plan::batch>("lengths"),
    field<&BatchFacts::gradient_accumulation_steps, as::positive, &Plan::batch>("gradient_accumulation_steps"),
    field<&BatchFacts::padding_mask, as::boolean, &Plan::batch>("padding_mask"),
    field<&PrecisionFacts::weights_dtype, as::weights_dtype, &Plan::precision>("weights_dtype"),
    field<&PrecisionFacts::autocast, as::autocast, &Plan::precision>("autocast"),
    field<&AdapterFacts::kind, as::adapter, &Plan::adapter>("adapter"),
    field<&AdapterFacts::rank, as::positive, &Plan::adapter>("lora_rank"),
    field<&AdapterFacts::targets, as::names, &Plan::adapter>("lora_targets"),
    field<&AdapterFacts::dropout, as::fraction, &Plan::adapter>("lora_dropout"),
    field<&AdapterFacts::dtype, as::adapter_dtype, &Plan::adapter>("adapter_dtype"),
    field<&KernelFacts::lora_qkv, as::boolean, &Plan::kernels>("lora_qkv_kernel"),
    field<&KernelFacts::lora_o, as::boolean, &Plan::kernels>("lora_o_kernel"),
    field<&KernelFacts::lora_mlp, as::boolean, &Plan::kernels>("lora_mlp_kernel"),
    field<&QuantizationFacts::kind, as::quantization, &Plan::quantization>("quantization"),
    field<&QuantizationFacts::double_quantization, as::boolean, &Plan::quantization>("double_quantization"),
    field<&QuantizationFacts::compute_dtype, as::float_dtype, &Plan::quantization>("quantization_compute_dtype"),
    field<&QuantizationFacts::linear, as::quantized_linear, &Plan::quantization>("quantized_linear"),
    field<&PrecisionFacts::fp32_norms, as::boolean, &Plan::precision>("fp32_norms"),
    field<&PrecisionFacts::fp32_while_loading, as::boolean, &Plan::precision>("fp32_while_loading"),
    field<&QuantizationFacts::kbit_upcast, as::boolean, &Plan::quantization>("kbit_upcast"),
    field<&OptimizerFacts::name, as::text, &Plan::optimizer>("optimizer"),
    field<&OptimizerFacts::fp32_embedding_state, as::boolean, &Plan::optimizer>("fp32_embedding_state"),
    field<&EvaluationFacts::evaluates, as::boolean, &Plan::evaluation>("evaluates"),
    field<&EvaluationFacts::rows, as::count, &Plan::evaluation>("evaluation_rows"),
    field<&EvaluationFacts::length, as::count, &Plan::evaluation>("evaluation_length"),
    field<&EvaluationFacts::padded, as::boolean, &Plan::evaluation>("evaluation_padded"),
    field<&OptimizerFacts::clip_gradients, as::boolean, &Plan::optimizer>("clip_gradients"),
    field<&CheckpointingFacts::on, as::boolean, &Plan::checkpointing>("gradient_checkpointing"),
    field<&CheckpointingFacts::reentrant, as::boolean, &Plan::checkpointing>("reentrant_checkpointing"),
    field<&KernelFacts::attention, as::attention, &Plan::kernels>("attention"),
    field<&RecipeFacts::loss, as::loss, &Plan::recipe>("loss"),
    field<&RecipeFacts::outputs_kept, as::boolean, &Plan::recipe>("outputs_kept"),
    field<&PrecisionFacts::outputs_to_fp32, as::boolean, &Plan::precision>("outputs_to_fp32"),
    field<&OptimizerFacts::set_grads_to_none, as::boolean, &Plan::optimizer>("set_grads_to_none"),
    field<&RecipeFacts::use_cache, as::boolean, &Plan::recipe>("use_cache"),
    field<&RuntimeFacts::alloc_conf, as::text_or_nothing, &Plan::runtime>("alloc_conf"),
    field<&LoaderPlan::ranks, as::positive, &Plan::loader>("ranks"),
    field<&LoaderPlan::workers, as::count, &Plan::loader>("loader_workers"),
    field<&LoaderPlan::prefetch, as::positive, &Plan::loader>("loader_prefetch"),
    field<&LoaderPlan::start, as::worker_start, &Plan::loader>("loader_start"),
    field<&LoaderPlan::persistent, as::boolean, &Plan::loader>("loader_persistent"),
    field<&LoaderPlan::epochs, as::positive, &Plan::loader>("loader_epochs"),
    field<&LoaderPlan::shuffle, as::boolean, &Plan::loader>("loader_shuffle"),
    field<&LoaderPlan::pin_memory, as::boolean, &Plan::loader>("loader_pin_memory"),
    field<&LoaderPlan::rows_as, as::rows_as, &Plan::loader>("loader_rows_as"),
    field<&LoaderPlan::values, as::row_values, &Plan::loader>("loader_values"),
    field<&LoaderPlan::row_values, as::count, &Plan::loader>("loader_row_values"),
    field<&LoaderPlan::padded, as::boolean, &Plan::loader>("loader_padded"),
    field<&LoaderPlan::packed, as::boolean, &Plan::loader>("loader_packed"),
    field<&LoaderPlan::columns, as::positive, &Plan::loader>("loader_columns"),
    field<&LoaderPlan::shuffle_buffer, as::count, &Plan::loader>("loader_shuffle_buffer"),
    field<&LoaderPlan::map_processes, as::count, &Plan::loader>("loader_map_processes"),
    field<&LoaderPlan::map_a_core, as::boolean, &Plan::loader>("loader_map_a_core"),
    field<&LoaderPlan::libraries, as::names, &Plan::loader>("loader_libraries"),
};

// A value that converts to anything: an aggregate of n members can be made from at most n of them.
struct Anything {
  template <class T>
  operator T() const;  // NOLINT(google-explicit-constructor)
};

template <class T, std::size_t... I>
constexpr bool takes(std::index_sequence<I...> /*count*/) {
  return requires { T{(static_cast<void>(I), Anything{})...}; };
}

template <class T, std::size_t N = 0>
constexpr std::size_t members() {
  if constexpr (takes<T>(std::make_index_sequence<N + 1>{})) {
    return members<T, N + 1>();
  } else {
    return N;
  }
}

template <class... Groups>
constexpr std::size_t facts_in = (members<Groups>() + ...);

// dialect, framework, unmodelled and warnings are about the plan, not in it; the other members are groups.
static_assert(members<Plan>() == 12 + 4, "a group of TrainingPlan is not counted below");
static_assert(
    facts_in<RecipeFacts, ModelFacts, BatchFacts, PrecisionFacts, AdapterFacts, KernelFacts, QuantizationFacts,
             OptimizerFacts, CheckpointingFacts, EvaluationFacts, RuntimeFacts, LoaderPlan> == rows.size(),
    "a fact of a group has no row in fields.cpp");

}  // namespace

std::span<const Row<TrainingPlan>> plan_rows() { return rows; }

const Row<TrainingPlan>* find_plan_row(std::string_view name) {
  const auto* found = std::ranges::find(rows, name, &Row<TrainingPlan>::key);
  return found == rows.end() ? nullptr : found;
}

}  // namespace oomplan::ingestion
