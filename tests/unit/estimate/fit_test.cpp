#include <gtest/gtest.h>

#include "oomplan/estimate.hpp"

namespace oomplan {
namespace {

Gpu gpu(Bytes total) {
  return {.name = "test",
          .total = total,
          .context = Bytes::mib(500),
          .cublas_workspace = Bytes::mib(8),
          .context_source = "measured"};
}

Footprint of(Bytes peak) {
  Footprint f;
  f.peak.total = peak;
  return f;
}

TEST(Fit, NeedsThePeakTheContextAndAWorkspaceForEachOfTwoThreads) {
  const Fit out = fit(of(Bytes::gib(10)), gpu(Bytes::gib(24)));
  EXPECT_EQ(out.needed, Bytes::gib(10) + Bytes::mib(500 + 2 * 8));
  EXPECT_EQ(out.headroom, Bytes::gib(14) - Bytes::mib(516));
  EXPECT_TRUE(out.fits);
  Bytes terms;
  for (const RuntimeTerm& term : out.runtime) {
    EXPECT_FALSE(term.name.empty());
    EXPECT_FALSE(term.source.empty()) << term.name;
    terms += term.bytes;
  }
  EXPECT_EQ(terms, Bytes::mib(516));
  EXPECT_EQ(out.gpu.name, "test");
}

TEST(Fit, FitsToTheLastByteAndNotOneMore) {
  const Bytes room = Bytes::gib(24) - Bytes::mib(516);
  EXPECT_TRUE(fit(of(room), gpu(Bytes::gib(24))).fits);
  EXPECT_EQ(fit(of(room), gpu(Bytes::gib(24))).headroom, Bytes(0));
  EXPECT_FALSE(fit(of(room + Bytes(1)), gpu(Bytes::gib(24))).fits);
  EXPECT_EQ(fit(of(room + Bytes(1)), gpu(Bytes::gib(24))).headroom, Bytes(-1));
}

TEST(Fit, AFigureThatRanOutOfRangeNeverFits) {
  EXPECT_FALSE(fit(of(Bytes::max()), gpu(Bytes::gib(24))).fits);
  EXPECT_FALSE(fit(of(Bytes::max()), gpu(Bytes::max())).fits);
  EXPECT_FALSE(fit(of(Bytes::max() - Bytes(1)), gpu(Bytes::max())).fits);  // The runtime terms take it there.
}

Gpu of_capability(std::string capability) {
  Gpu g = gpu(Bytes::gib(24));
  g.title = "NVIDIA Test";
  g.compute_capability = std::move(capability);
  return g;
}

TEST(Undecided, OnlyWhereFlashAttentionWasPlayedForAGpuThatHasNone) {
  Footprint f = of(Bytes::gib(1));
  EXPECT_FALSE(undecided_on(f, of_capability("7.5")));
  f.attention_kernels = {"efficient"};
  EXPECT_FALSE(undecided_on(f, of_capability("7.5")));
  f.attention_kernels = {"efficient", "flash"};
  EXPECT_FALSE(undecided_on(f, of_capability("8.0")));
  EXPECT_FALSE(undecided_on(f, of_capability("12.0")));
  EXPECT_FALSE(undecided_on(f, of_capability("")));  // CUDA has none: a size, or another maker's.
  const auto why = undecided_on(f, of_capability("7.5"));
  ASSERT_TRUE(why);
  EXPECT_EQ(why->code, "estimate/unmodelled");
  EXPECT_EQ(
      why->message,
      "NVIDIA Test (compute capability 7.5) has no flash attention, and what runs in its place is not modelled yet");
}

}  // namespace
}  // namespace oomplan
