// How fast a log is read for a diagnosis: text in memory, so that the disk has no part in it, and a whole file by name.
//
//   build/release/diagnose_speed [FILE]      (a file instead of the made-up logs; prints MB/s and the peak memory)
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <string>

#include "oomplan/diagnose/diagnose.hpp"

namespace {

using namespace oomplan;

const Rulebook& rules() {
  static const Rulebook book = *Rulebook::load();
  return book;
}

std::string interleaved(std::size_t bytes) {
  std::string out;
  for (int step = 0; out.size() < bytes; ++step) {
    for (int rank = 0; rank < 8; ++rank)
      out += "[rank" + std::to_string(rank) + "]: 2024-05-01 10:00:00,123 INFO trainer step " + std::to_string(step) +
             " loss 2.3141 lr 1.0e-04 grad_norm 0.91 mem 41.2GiB tok/s 10240\n";
    if (step % 1000 == 999)
      out +=
          "[rank3]: UserWarning: NCCL_ASYNC_ERROR_HANDLING is deprecated, use TORCH_NCCL_ASYNC_ERROR_HANDLING "
          "instead\n";
  }
  return out +
         "[rank5]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 5 has a total capacity "
         "of 79.15 GiB of which 1.21 GiB is free. Including non-PyTorch memory, this process has 77.93 GiB memory in "
         "use. Of the allocated memory 75.40 GiB is allocated by PyTorch, and 1.30 GiB is reserved by PyTorch but "
         "unallocated.\n";
}

void read_all(Inquest& inquest, std::string_view text) {
  inquest.begin("log");
  while (!text.empty()) {
    std::string_view block = text.substr(0, LogText::most);
    const std::size_t end = block.rfind('\n');
    if (end != std::string_view::npos) block = block.substr(0, end + 1);
    inquest.read(block);
    text.remove_prefix(block.size());
  }
}

void diagnose(benchmark::State& state, const std::string& text) {
  for (auto _ : state) {
    Inquest inquest(rules());
    read_all(inquest, text);
    const Diagnosis diagnosis = inquest.finish();
    if (diagnosis.verdict.cause != Cause::vram_exhausted) state.SkipWithError("the diagnosis is wrong");
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}

void interleaved_log(benchmark::State& state) { diagnose(state, interleaved(std::size_t{64} << 20)); }
void one_line(benchmark::State& state) {
  std::string text(std::size_t{64} << 20, 'x');
  diagnose(state, text + "\n" + interleaved(1));
}
void all_loud(benchmark::State& state) {
  std::string text;
  while (text.size() < std::size_t{8} << 20) text += "RuntimeError: CUDA error: out of memory\n";
  diagnose(state, text + interleaved(1));
}
void load_rules(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Rulebook::load());
}
BENCHMARK(interleaved_log)->Unit(benchmark::kMillisecond);
BENCHMARK(one_line)->Unit(benchmark::kMillisecond);
BENCHMARK(all_loud)->Unit(benchmark::kMillisecond);
BENCHMARK(load_rules)->Unit(benchmark::kMillisecond);

int time_file(const char* path) {
  const auto begin = std::chrono::steady_clock::now();
  Inquest inquest(rules());
  inquest.begin(path);
  Result<LogText> log = LogText::open(path);
  if (!log) return 3;
  std::size_t bytes = 0;
  while (true) {
    const Result<std::optional<std::string_view>> block = log->next();
    if (!block || !*block) break;
    bytes += (*block)->size();
    inquest.read(**block);
  }
  const Diagnosis diagnosis = inquest.finish();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%s: %.0f MB in %.2f s, %.0f MB/s, %s, peak %ld kB\n", path, static_cast<double>(bytes) / 1e6, seconds,
              static_cast<double>(bytes) / 1e6 / seconds, std::string(name_of(diagnosis.verdict.cause)).c_str(),
              usage.ru_maxrss);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && argv[1][0] != '-') return time_file(argv[1]);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
