#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "example.hpp"
#include "formula.hpp"
#include "group.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan::report {
namespace {

using ::testing::HasSubstr;

std::string explained(const Report& report, Bucket bucket) { return *render(report, "explain", {.bucket = bucket}); }

TEST(ExplainView, TheSumIsTheTablesFigure) {
  const Report report = example();
  for (std::size_t i = 0; i < bucket_count; ++i) {
    const auto bucket = static_cast<Bucket>(i);
    if (bucket > Bucket::inputs) continue;
    const Bytes figure = at(report.found.footprint->peak.by_bucket, bucket);
    const std::string sum = with_separators(figure.count()) + "  = " + oomplan::to_text(figure);
    EXPECT_THAT(explained(report, bucket), HasSubstr(sum)) << name_of(bucket);
  }
}

TEST(ExplainView, NamesTensorsPlacesAndOps) {
  EXPECT_THAT(explained(example(), Bucket::weights),
              HasSubstr("2,147,483,648  2 × 268435456 fp32 × 4 B  layers 0-1: mlp  mm\n"));
}

TEST(ExplainView, RuntimeComesWithAGpu) {
  EXPECT_THAT(explained(example(), Bucket::runtime), HasSubstr("--gpu"));
  EXPECT_THAT(explained(example({example_fit("A", Bytes::gib(200))}), Bucket::runtime),
              HasSubstr("512.00 MiB  CUDA context  measured on one"));
}

TEST(ExplainView, EveryBucketHasAFormula) {
  for (std::size_t i = 0; i < bucket_count; ++i) {
    const auto bucket = static_cast<Bucket>(i);
    EXPECT_FALSE(formula_text(example(), bucket, Bytes::gib(1)).empty()) << name_of(bucket);
  }
  EXPECT_THAT(formula_text(example(), Bucket::logits_and_loss, Bytes(2 * 2048 * 32000 * std::int64_t{12})),
              HasSubstr("2×2048 tokens × 32,000 vocabulary × 12.00 B"));
}

// The sentence is its bucket's, in words that no other has.
TEST(ExplainView, EachBucketHasItsOwnFormula) {
  const std::vector<std::pair<Bucket, std::string>> words{{Bucket::weights, "every parameter in the dtype"},
                                                          {Bucket::optimizer, "keeps for each trained parameter from"},
                                                          {Bucket::gradients, "that backward has reached"},
                                                          {Bucket::activations, "ops save for backward"},
                                                          {Bucket::attention_scores, "every token with every token"},
                                                          {Bucket::logits_and_loss, "each word of the vocabulary"},
                                                          {Bucket::autocast_copies, "low-precision copies"},
                                                          {Bucket::temporaries, "inside one op"},
                                                          {Bucket::inputs, "the model's own buffers"},
                                                          {Bucket::gathered, "made whole from the shards"},
                                                          {Bucket::communication, "reduce their gradients"},
                                                          {Bucket::slack, "gives them back"},
                                                          {Bucket::fragmentation, "cannot be given back"},
                                                          {Bucket::paged, "managed memory"},
                                                          {Bucket::runtime, "the CUDA context"}};
  EXPECT_EQ(words.size(), bucket_count);
  for (const auto& [bucket, phrase] : words) {
    for (const auto& [other, unused] : words) {
      const bool has = formula_text(example(), other, Bytes::gib(1)).find(phrase) != std::string::npos;
      EXPECT_EQ(has, other == bucket) << name_of(other) << " / " << phrase;
    }
  }
}

TEST(ExplainView, AChunkedLossHasNoScoresOfAllTokens) {
  Report report = example();
  report.found.plan->recipe.loss.value = Loss::chunked_logprob;
  const std::string text = formula_text(report, Bucket::logits_and_loss, Bytes::gib(1));
  EXPECT_THAT(text, HasSubstr("at most 4,096 tokens × 32,768 words"));
  EXPECT_THAT(text, HasSubstr("2×2048 tokens × 64 hidden"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("B over all copies")));
}

TEST(Group, RoundingIsWhatTheAllocatorAdds) {
  const LiveGroup one{.shape = {3}, .dtype = DType::bf16, .count = 2, .bytes = Bytes(1024)};
  EXPECT_EQ(unrounded(one), Bytes(12));
  EXPECT_EQ(tensors_text(one), "2 × 3 bf16");
  EXPECT_EQ(shape_text({}), "scalar");
}

}  // namespace
}  // namespace oomplan::report
