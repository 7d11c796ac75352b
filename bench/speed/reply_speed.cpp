// Answers to whole command lines in one process, as the Python package asks for them (bench/python/api.py compares).
#include <benchmark/benchmark.h>

#include "oomplan/cli/cli.hpp"

namespace {

void answer(benchmark::State& state, const std::vector<std::string>& words) {
  for (auto _ : state) {
    oomplan::Reply reply = oomplan::reply_to(words);
    if (reply.code != 0) state.SkipWithError(reply.err.c_str());
    benchmark::DoNotOptimize(reply);
  }
}

const std::string config = "examples/axolotl/llama-3.1-8b-qlora.yml";

}  // namespace

BENCHMARK_CAPTURE(answer, peak, {"estimate", "--quiet", "--json", "--", config});
BENCHMARK_CAPTURE(answer, tensors, {"estimate", "--json", "--no-replay", "--", config});
BENCHMARK_CAPTURE(answer, gpu, {"estimate", "--quiet", "--json", "--gpu=rtx-4090", "--", config});

BENCHMARK_MAIN();
