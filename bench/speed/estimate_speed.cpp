// One estimate inside the process: a model of 80 layers, as each common way of training it.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "oomplan/catalog.hpp"
#include "oomplan/estimate.hpp"
#include "oomplan/ingest.hpp"

namespace oomplan {
namespace {

template <class T>
T demand(Result<T> result) {
  if (result) return std::move(*result);
  for (const Diagnostic& error : result.errors()) std::cerr << to_text(error);
  std::exit(1);
}

TrainingPlan plan_of(const std::string& keys) {
  const std::string text = "model: meta-llama/Llama-3.1-70B\nmicro_batch_size: 1\nsequence_length: 4096\n" + keys;
  const Document document = demand(parse_document(text, "benchmark", Syntax::yaml));
  return demand(ingest(document, {.dialect = "oomplan"}));
}

void run(benchmark::State& state, const std::string& keys) {
  const TrainingPlan plan = plan_of(keys);
  const Architecture architecture = demand(find_model(plan.model.value));
  const Gpu gpu = demand(find_gpu("h100-80gb"));
  for (auto _ : state) benchmark::DoNotOptimize(fit(demand(estimate(plan, architecture)), gpu));
}

const std::string full = "weights_dtype: bf16\nattention: sdpa\noptimizer: adamw_fused\n";
const std::string lora = full + "adapter: lora\nlora_rank: 16\nlora_targets: all-linear\n";

BENCHMARK_CAPTURE(run, full, full);
BENCHMARK_CAPTURE(run, full_checkpointed, full + "gradient_checkpointing: true\n");
BENCHMARK_CAPTURE(run, lora, lora);
BENCHMARK_CAPTURE(run, qlora_checkpointed, lora + "quantization: nf4\ngradient_checkpointing: true\n");

}  // namespace
}  // namespace oomplan

BENCHMARK_MAIN();
