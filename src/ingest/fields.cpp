#include "fields.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace oomplan::ingestion {
namespace {

using Plan = TrainingPlan;

template <auto Member, const auto& Format>
constexpr Row<Plan> field(std::string_view name) {
  return row<Plan, Member, Format>(name);
}

template <auto Member, const auto& Format>
constexpr Row<Plan> loader(std::string_view name) {
  return row<Plan, Member, Format, &Plan::loader>(name);
}

using L = LoaderPlan;

constexpr std::array rows{
    field<&Plan::trainer, as::trainer>("trainer"),
    field<&Plan::model, as::text>("model"),
    field<&Plan::micro_batch_size, as::positive>("micro_batch_size"),
    field<&Plan::sequence_length, as::positive>("sequence_length"),
    field<&Plan::lengths, as::lengths>("lengths"),
    field<&Plan::gradient_accumulation_steps, as::positive>("gradient_accumulation_steps"),
    field<&Plan::padding_mask, as::boolean>("padding_mask"),
    field<&Plan::weights_dtype, as::weights_dtype>("weights_dtype"),
    field<&Plan::autocast, as::autocast>("autocast"),
    field<&Plan::adapter, as::adapter>("adapter"),
    field<&Plan::lora_rank, as::positive>("lora_rank"),
    field<&Plan::lora_targets, as::names>("lora_targets"),
    field<&Plan::lora_dropout, as::fraction>("lora_dropout"),
    field<&Plan::adapter_dtype, as::adapter_dtype>("adapter_dtype"),
    field<&Plan::lora_qkv_kernel, as::boolean>("lora_qkv_kernel"),
    field<&Plan::lora_o_kernel, as::boolean>("lora_o_kernel"),
    field<&Plan::lora_mlp_kernel, as::boolean>("lora_mlp_kernel"),
    field<&Plan::quantization, as::quantization>("quantization"),
    field<&Plan::double_quantization, as::boolean>("double_quantization"),
    field<&Plan::quantization_compute_dtype, as::float_dtype>("quantization_compute_dtype"),
    field<&Plan::quantized_linear, as::quantized_linear>("quantized_linear"),
    field<&Plan::fp32_norms, as::boolean>("fp32_norms"),
    field<&Plan::fp32_while_loading, as::boolean>("fp32_while_loading"),
    field<&Plan::kbit_upcast, as::boolean>("kbit_upcast"),
    field<&Plan::optimizer, as::text>("optimizer"),
    field<&Plan::fp32_embedding_state, as::boolean>("fp32_embedding_state"),
    field<&Plan::evaluates, as::boolean>("evaluates"),
    field<&Plan::evaluation_rows, as::count>("evaluation_rows"),
    field<&Plan::evaluation_length, as::count>("evaluation_length"),
    field<&Plan::evaluation_padded, as::boolean>("evaluation_padded"),
    field<&Plan::clip_gradients, as::boolean>("clip_gradients"),
    field<&Plan::gradient_checkpointing, as::boolean>("gradient_checkpointing"),
    field<&Plan::reentrant_checkpointing, as::boolean>("reentrant_checkpointing"),
    field<&Plan::attention, as::attention>("attention"),
    field<&Plan::loss, as::loss>("loss"),
    field<&Plan::outputs_kept, as::boolean>("outputs_kept"),
    field<&Plan::outputs_to_fp32, as::boolean>("outputs_to_fp32"),
    field<&Plan::set_grads_to_none, as::boolean>("set_grads_to_none"),
    field<&Plan::use_cache, as::boolean>("use_cache"),
    field<&Plan::alloc_conf, as::text_or_nothing>("alloc_conf"),
    loader<&L::ranks, as::positive>("ranks"),
    loader<&L::workers, as::count>("loader_workers"),
    loader<&L::prefetch, as::positive>("loader_prefetch"),
    loader<&L::start, as::worker_start>("loader_start"),
    loader<&L::persistent, as::boolean>("loader_persistent"),
    loader<&L::epochs, as::positive>("loader_epochs"),
    loader<&L::shuffle, as::boolean>("loader_shuffle"),
    loader<&L::pin_memory, as::boolean>("loader_pin_memory"),
    loader<&L::rows_as, as::rows_as>("loader_rows_as"),
    loader<&L::values, as::row_values>("loader_values"),
    loader<&L::row_values, as::count>("loader_row_values"),
    loader<&L::padded, as::boolean>("loader_padded"),
    loader<&L::packed, as::boolean>("loader_packed"),
    loader<&L::columns, as::positive>("loader_columns"),
    loader<&L::shuffle_buffer, as::count>("loader_shuffle_buffer"),
    loader<&L::map_processes, as::count>("loader_map_processes"),
    loader<&L::map_a_core, as::boolean>("loader_map_a_core"),
    loader<&L::libraries, as::names>("loader_libraries"),
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

// dialect, framework, unmodelled and warnings are about the plan, not in it; loader holds fields of its own.
static_assert(members<Plan>() + members<L>() == rows.size() + 5, "a field of TrainingPlan has no row in fields.cpp");

}  // namespace

std::span<const Row<TrainingPlan>> plan_rows() { return rows; }

const Row<TrainingPlan>* find_plan_row(std::string_view name) {
  const auto* found = std::ranges::find(rows, name, &Row<TrainingPlan>::key);
  return found == rows.end() ? nullptr : found;
}

}  // namespace oomplan::ingestion
