// lengths_of against a search of every length.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "oomplan/catalog/catalog.hpp"
#include "oomplan/core/text.hpp"
#include "oomplan/estimate/fit_check.hpp"
#include "oomplan/survey/survey.hpp"

namespace oomplan {
namespace {

struct Asked {
  explicit Asked(const std::string& model_name = "openai-community/gpt2", const std::string& rest = "")
      : document(*parse_document("model: " + model_name + "\nmicro_batch_size: 4\noptimizer: adamw_foreach\n" + rest,
                                 "config.yml", Syntax::yaml)),
        model(*find_model(model_name)) {}

  std::optional<Lengths> on(Bytes total) {
    plan = plan_but_for_length(document, options);
    if (!plan) return std::nullopt;
    gpu = *find_gpu(to_text(total));
    return lengths_of({document, options, *plan, model, gpu, 0.05});
  }

  bool fits(std::int64_t length) {
    IngestOptions here = options;
    here.overrides.push_back(with_length(length));
    const TrainingPlan other = *with_model_defaults(*ingest(document, here), model);
    return FitCheck(other, model).on(gpu, limit_of(gpu, 0.05)).fits;
  }

  Document document;
  IngestOptions options{};
  std::optional<TrainingPlan> plan{};
  Architecture model;
  Gpu gpu{};
};

TEST(LengthsOf, IsTheLongestThatFitsToWithinAPerCent) {
  Asked asked;
  for (const int gib : {4, 5, 6, 7}) {
    const auto lengths = asked.on(Bytes::gib(gib));
    ASSERT_TRUE(lengths) << gib;
    EXPECT_EQ(lengths->most, 1024);
    EXPECT_TRUE(lengths->stops);
    ASSERT_GT(lengths->largest, 0) << gib;
    ASSERT_LT(lengths->largest, 1024) << gib;
    EXPECT_TRUE(asked.fits(lengths->largest)) << gib;
    EXPECT_FALSE(asked.fits(lengths->largest + lengths->largest / 100 + 1)) << gib;
  }
}

TEST(PlanOn, IsOfTheLengthThatDecidesAllCards) {
  const Asked asked;
  const auto models = [&](const TrainingPlan&) -> const Result<Architecture>& {
    static const Result<Architecture> found = find_model("openai-community/gpt2");
    return found;
  };
  const auto length_on = [&](const std::vector<std::string>& cards) -> std::int64_t {
    std::vector<Gpu> gpus;
    for (const std::string& card : cards) gpus.push_back(*find_gpu(card));
    const Result<TrainingPlan> plan = plan_on(asked.document, asked.options, gpus, 0.05, models);
    return plan ? plan->batch.sequence_length.value : 0;
  };
  EXPECT_EQ(length_on({"80GiB", "40GiB"}), 1024);
  EXPECT_EQ(length_on({"1GiB"}), 1);
  EXPECT_EQ(length_on({"5GiB"}), 0);
  EXPECT_EQ(length_on({"80GiB", "1GiB"}), 0);
  EXPECT_EQ(length_on({}), 0);
}

TEST(LengthsOf, SaysWhereAllFitAndWhereNoneDoes) {
  EXPECT_TRUE(Asked().on(Bytes::gib(80))->any_fits());
  EXPECT_TRUE(Asked().on(Bytes::gib(1))->none_fits());
}

TEST(LengthsOf, ModelsWithoutATableOfPositionsTakeLongerRows) {
  const auto lengths = Asked("Qwen/Qwen3-0.6B").on(Bytes::gib(4000));
  ASSERT_TRUE(lengths);
  EXPECT_EQ(lengths->largest, lengths->most);
  EXPECT_FALSE(lengths->any_fits());
}

TEST(LengthsOf, IsNotAskedWhereMoreIsOpenOrNothingIs) {
  EXPECT_FALSE(Asked("openai-community/gpt2", "sequence_length: 8\n").on(Bytes::gib(4)));
  EXPECT_FALSE(Asked("openai-community/gpt2", "adapter: dora\n").on(Bytes::gib(4)));
  EXPECT_FALSE(Asked("openai-community/gpt2", "unmodelled: [a feature]\n").on(Bytes::gib(4)));
}

TEST(LengthPoints, EndWithTheLongestThatTheModelTakes) {
  Asked asked;
  ASSERT_TRUE(asked.on(Bytes::gib(5)));
  const auto points = length_points({asked.document, asked.options, *asked.plan, asked.model, asked.gpu, 0.05});
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points.front().length, 512);
  EXPECT_EQ(points.back().length, 1024);
  EXPECT_LT(points.front().needed, points.back().needed);
}

}  // namespace
}  // namespace oomplan
