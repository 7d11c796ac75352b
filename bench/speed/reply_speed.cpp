// Answers to whole command lines in one process, as the Python package asks for them (bench/python/api.py compares).
#include <benchmark/benchmark.h>

#include "oomplan/catalog/catalog.hpp"
#include "oomplan/cli/cli.hpp"
#include "oomplan/estimate/estimate.hpp"
#include "oomplan/ingest/ingest.hpp"
#include "oomplan/read/document.hpp"

namespace {

void answer(benchmark::State& state, const std::vector<std::string>& words) {
  for (auto _ : state) {
    oomplan::Reply reply = oomplan::reply_to(words);
    if (reply.code != 0) state.SkipWithError(reply.err.c_str());
    benchmark::DoNotOptimize(reply);
  }
}

const std::string config = "examples/axolotl/llama-3.1-8b-qlora.yml";

/// What of `answer/tensors` is reading the config, and what is knowing the model; the tensors alone are
/// `part/estimates`, and the rest is the command line and the JSON.
void reads(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(oomplan::ingest(oomplan::read_document(config).value()));
}

void knows(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(oomplan::find_model("meta-llama/Llama-3.1-8B"));
}

void estimates(benchmark::State& state) {
  const auto model = oomplan::find_model("meta-llama/Llama-3.1-8B").value();
  const auto plan =
      oomplan::with_model_defaults(oomplan::ingest(oomplan::read_document(config).value()).value(), model).value();
  for (auto _ : state) benchmark::DoNotOptimize(oomplan::estimate(plan, model));
}

}  // namespace

BENCHMARK_CAPTURE(answer, peak, {"estimate", "--quiet", "--json", "--", config});
BENCHMARK_CAPTURE(answer, tensors, {"estimate", "--json", "--no-replay", "--", config});
BENCHMARK_CAPTURE(answer, gpu, {"estimate", "--quiet", "--json", "--gpu=rtx-4090", "--", config});
BENCHMARK(reads)->Name("part/reads");
BENCHMARK(knows)->Name("part/knows");
BENCHMARK(estimates)->Name("part/estimates");

BENCHMARK_MAIN();
