// What is made of the memory that a loop prints: what is allocated leaks, what is reserved alone does not.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "reader.hpp"
#include "support.hpp"

namespace oomplan::diagnose {
namespace {

constexpr int prints = 8;

/// The lines of a loop whose print is written by `line`, of the step and the GiB then, and the failure.
Diagnosis after(const std::function<std::string(int step, double gib)>& line,
                const std::string& failure = oom(1, 24, 0.5, 23.5, 22, 1)) {
  std::string log;
  for (int i = 0; i < prints; ++i) log += line(10 * i, 4 + 2.25 * i) + "\n";
  return diagnosed(log + failure);
}

bool finds(const Diagnosis& d, const std::string& id) {
  return std::any_of(d.also.begin(), d.also.end(), [&](const Finding& f) { return f.id == id; });
}

void expect_leak(const Diagnosis& d, Confidence confidence) {
  EXPECT_EQ(d.verdict.cause, Cause::vram_leak_suspected);
  EXPECT_EQ(d.verdict.confidence, confidence);
  EXPECT_FALSE(finds(d, "reserved_grows"));
}

TEST(PrintedMemory, ThatIsAllocatedAndGrowsLeaks) {
  const auto likely = [](const std::function<std::string(int, double)>& line) {
    expect_leak(after(line), Confidence::likely);
  };
  likely([](int step, double g) { return fmt::format("step {} loss 2.1 mem {:.2f}GB", step, g); });
  likely([](int step, double g) {
    return fmt::format("step {}: allocated {:.2f} GiB, reserved {:.2f} GiB", step, g, g + 1);
  });
  likely([](int step, double g) {
    return fmt::format("Step {} | torch.cuda.memory_allocated: {:.2f} GB | torch.cuda.memory_reserved: {:.2f} GB", step,
                       g, g + 1);
  });
  likely([](int step, double g) {
    return fmt::format("  1%|#  | {}/1000 [00:10<10:00,  1.2it/s, loss=1.2, mem={:.2f}G]", step, g);
  });
  likely([](int step, double g) { return fmt::format("{{'loss': 1.2, 'gpu_mem_gb': {:.2f}, 'step': {}}}", g, step); });
  likely([](int step, double g) {
    return fmt::format(
        "[Rank 0] (after {} iterations) memory (MB) | allocated: {:.1f} | max allocated: {:.1f} | reserved: {:.1f} | "
        "max reserved: 1.0",
        step, g * 1024, g * 1024, g * 1024);
  });
  likely([](int step, double g) {
    return fmt::format(
        "step={}, skipped=0\n[INFO] see_memory_usage] MA {:.2f} GB         Max_MA {:.2f} GB         CA {:.2f} GB       "
        "  Max_CA 1 GB",
        step, g, g, g);
  });
}

// A peak is kept once a batch has set it: it is told behind what the numbers of the failure say.
void expect_possible_leak(const Diagnosis& d, const std::string& arithmetic) {
  EXPECT_EQ(d.verdict.cause, Cause::vram_exhausted);
  EXPECT_EQ(d.verdict.confidence, Confidence::proved);
  ASSERT_FALSE(d.alternatives.empty());
  EXPECT_EQ(d.alternatives.front().cause, Cause::vram_leak_suspected);
  EXPECT_EQ(d.alternatives.front().confidence, Confidence::possible);
  EXPECT_EQ(d.alternatives.front().arithmetic.front(), arithmetic);
}

TEST(PrintedMemory, OfPeaksSaysLess) {
  // records, which come ever more rarely; without steps, the prints count
  expect_possible_leak(after([](int step, double) {
                         const double record = 4 + 16.0 * step / (step + 40);
                         return fmt::format("iter: {}  total_loss: 1.1  max_mem: {:.0f}M", step, record * 1024);
                       }),
                       "4.00 GiB at print 1, 14.18 GiB at print 8: 1.45 GiB a print over 8 prints");
  // evenly, as what leaks raises it, and as batches do that are ever longer
  const Diagnosis even = after([](int, double g) {
    return fmt::format("{{'loss': 1.2, 'memory/max_active (GiB)': {:.2f}, 'memory/device_reserved (GiB)': {:.2f}}}", g,
                       g + 1);
  });
  expect_leak(even, Confidence::possible);
  EXPECT_EQ(even.verdict.arithmetic.front(),
            "4.00 GiB at print 1, 19.75 GiB at print 8: 2.25 GiB a print over 8 prints");
}

TEST(PrintedMemory, OfAnotherKindIsNoGpus) {
  for (const char* words : {"step {0} loss 2.1 CPU mem {1:.2f}GB", "step {0} free mem = {1:.2f}GB",
                            "step {0} loss 2.1, host mem: {1:.2f}GB", "step {0} RAM mem={1:.2f}G"}) {
    const Diagnosis d = after([&](int step, double g) { return fmt::format(fmt::runtime(words), step, g); });
    EXPECT_EQ(d.verdict.cause, Cause::vram_exhausted) << words;
  }
  expect_leak(after([](int step, double g) { return fmt::format("step {} RAM: ok, mem {:.2f}GB", step, g); }),
              Confidence::likely);
}

TEST(PrintedMemory, OfRowsWithoutABarIsReserved) {
  const Diagnosis d = after([](int step, double g) {
    return fmt::format("     {}/300     {:.2f}G   0.05523   0.03412   0.01433        32       640", step, g);
  });
  EXPECT_EQ(d.verdict.cause, Cause::vram_exhausted);
  EXPECT_TRUE(finds(d, "reserved_grows"));
  for (const char* row : {"3/100 8.40 1.2 2.3 1.0 23 640", "3/100 8.40G 1.2 2.3 1.0 23 640 more", "3/100 8.40G 23 640",
                          "3 8.40G 1.2 2.3 1.0 23 640"})
    EXPECT_FALSE(epoch_row(row)) << row;
}

TEST(PrintedMemory, ThatIsReservedOnlyIsNoLeak) {
  const Diagnosis titan =
      after([](int step, double g) { return fmt::format("step: {}  loss: 8.1  memory: {:.2f}GiB(16.88%)", step, g); });
  EXPECT_EQ(titan.verdict.cause, Cause::vram_exhausted);
  EXPECT_TRUE(finds(titan, "reserved_grows"));
  const Diagnosis flat = after([](int step, double g) {
    return fmt::format("step {}: allocated {:.2f} GiB, reserved {:.2f} GiB", step, 4 + (step % 20) * 0.01, g);
  });
  EXPECT_EQ(flat.verdict.cause, Cause::vram_exhausted);
  EXPECT_TRUE(finds(flat, "reserved_grows"));
}

TEST(PrintedMemory, OfOneRankIsItsOwn) {
  const Diagnosis d = after([](int step, double g) {
    return fmt::format("[rank0]: step {} mem 4.00GB\n[rank1]: step {} mem {:.2f}GB", step, step + 1, g);
  });
  EXPECT_EQ(d.verdict.cause, Cause::vram_exhausted);
}

TEST(PrintedMemory, OfTheHostIsTold) {
  const auto line = [](int step, double g) { return fmt::format("step {} rss={:.0f}MB", step, g * 1024); };
  const Diagnosis d = after(line, "MemoryError\n");
  EXPECT_TRUE(finds(d, "host_memory_grows"));
  ASSERT_FALSE(d.to_do.empty());
  EXPECT_EQ(d.to_do.front().id, "keep-numbers");
  EXPECT_FALSE(finds(after(line), "host_memory_grows"));
}

}  // namespace
}  // namespace oomplan::diagnose
