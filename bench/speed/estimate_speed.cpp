// Time of one estimate inside a process: what a search over thousands of plans pays for each.
//
//   build/release/estimate_speed [--benchmark_filter=70B]
#include <benchmark/benchmark.h>

#include <string>

#include "oomplan/catalog/catalog.hpp"
#include "oomplan/estimate/estimate.hpp"

namespace {

using namespace oomplan;

constexpr const char* small_model = "meta-llama/Llama-3.1-8B";
constexpr const char* large_model = "meta-llama/Llama-3.1-70B";

/// A full fine-tune in bf16 autocast over fp32 weights.
TrainingPlan full() {
  TrainingPlan p;
  p.batch.micro_batch_size.value = 2;
  p.batch.sequence_length.value = 2048;
  p.batch.gradient_accumulation_steps.value = 4;
  p.precision.weights_dtype.value = WeightsDType::fp32;
  p.precision.autocast.value = Autocast::bf16;
  p.optimizer.name.value = "adamw_fused";
  p.optimizer.clip_gradients.value = true;
  p.kernels.attention.value = Attention::sdpa;
  p.optimizer.set_grads_to_none.value = true;
  return p;
}

TrainingPlan checkpointed() {
  TrainingPlan p = full();
  p.checkpointing.on.value = p.checkpointing.early_stop.value = true;
  return p;
}

TrainingPlan qlora() {
  TrainingPlan p = checkpointed();
  p.precision.weights_dtype.value = WeightsDType::bf16;
  p.adapter.kind.value = Adapter::lora;
  p.adapter.rank.value = 32;
  p.adapter.targets.value = {"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"};
  p.adapter.dropout.value = 0.05;
  p.quantization.kind.value = Quantization::nf4;
  p.quantization.double_quantization.value = true;
  p.quantization.compute_dtype.value = DType::bf16;
  p.optimizer.name.value = "paged_adamw_8bit";
  return p;
}

TrainingPlan lora() {
  TrainingPlan p = qlora();
  p.quantization.kind.value = Quantization::none;
  p.checkpointing.on.value = false;
  p.optimizer.name.value = "adamw_fused";
  return p;
}

using MakePlan = TrainingPlan (*)();

template <class Answer>
void time(benchmark::State& state, const char* model, MakePlan make_plan, Answer&& answer) {
  const auto architecture = find_model(model);
  const TrainingPlan plan = make_plan();
  if (!architecture || !answer(plan, *architecture)) return state.SkipWithError("the plan cannot be estimated");
  for (auto _ : state) benchmark::DoNotOptimize(answer(plan, *architecture));
}

void footprint(benchmark::State& state, const char* model, MakePlan plan) {
  time(state, model, plan, [](const TrainingPlan& p, const Architecture& a) { return estimate(p, a); });
}

void peaks(benchmark::State& state, const char* model, MakePlan plan) {
  time(state, model, plan, [](const TrainingPlan& p, const Architecture& a) { return estimate(p, a, Detail::peaks); });
}

BENCHMARK_CAPTURE(footprint, 8B / full, small_model, full);
BENCHMARK_CAPTURE(footprint, 8B / checkpointing, small_model, checkpointed);
BENCHMARK_CAPTURE(footprint, 8B / qlora, small_model, qlora);
BENCHMARK_CAPTURE(footprint, 70B / full, large_model, full);
BENCHMARK_CAPTURE(footprint, 70B / checkpointing, large_model, checkpointed);
BENCHMARK_CAPTURE(footprint, 70B / qlora, large_model, qlora);
BENCHMARK_CAPTURE(peaks, 8B / full, small_model, full);
BENCHMARK_CAPTURE(peaks, 8B / checkpointing, small_model, checkpointed);
BENCHMARK_CAPTURE(peaks, 8B / qlora, small_model, qlora);
BENCHMARK_CAPTURE(peaks, 70B / full, large_model, full);
BENCHMARK_CAPTURE(peaks, 70B / checkpointing, large_model, checkpointed);
BENCHMARK_CAPTURE(peaks, 70B / qlora, large_model, qlora);
BENCHMARK_CAPTURE(footprint, 70B / lora, large_model, lora);
BENCHMARK_CAPTURE(peaks, 70B / lora, large_model, lora);

}  // namespace

BENCHMARK_MAIN();
