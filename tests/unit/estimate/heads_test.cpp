// Heads of other tasks, and models whose layers share weights.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plans.hpp"

namespace oomplan {
namespace {

using example::Keys;

constexpr std::int64_t batch = 4;
constexpr std::int64_t length = 128;
constexpr std::int64_t width = 256;

TrainingPlan plan(HeadKind head, std::int64_t labels = 0) {
  TrainingPlan p = example::plan(batch, length);
  p.model.head.value = head;
  p.model.labels.value = labels;
  return p;
}

Keys albert(const Keys& changes = {}) {
  return example::with({{"model_type", "\"albert\""},
                        {"hidden_size", "256"},
                        {"embedding_size", "64"},
                        {"intermediate_size", "512"},
                        {"num_attention_heads", "4"},
                        {"num_hidden_layers", "4"},
                        {"vocab_size", "1000"}},
                       changes);
}

Keys deberta(const Keys& changes = {}) {
  return example::with({{"model_type", "\"deberta-v2\""},
                        {"hidden_size", "256"},
                        {"intermediate_size", "512"},
                        {"num_attention_heads", "4"},
                        {"num_hidden_layers", "2"},
                        {"vocab_size", "1000"},
                        {"relative_attention", "true"},
                        {"position_buckets", "64"},
                        {"pos_att_type", "\"p2c|c2p\""}},
                       changes);
}

Footprint played(TrainingPlan p, const Keys& model) {
  const Architecture architecture = example::architecture(model);
  if (!architecture.no_sdpa.empty()) p.kernels.attention.value = Attention::eager;
  return example::played(p, architecture);
}

std::int64_t parameters(const TrainingPlan& p, const Keys& model) { return played(p, model).parameters; }

std::string refusal(const TrainingPlan& p, const Keys& model) {
  const auto out = estimate(p, example::architecture(model));
  return out.ok() ? "" : out.errors().front().code + ": " + out.errors().front().message;
}

TEST(Classifier, HasARowOfWeightsForEachLabel) {
  for (const HeadKind head : {HeadKind::sequence_classifier, HeadKind::token_classifier}) {
    const std::int64_t of_three = parameters(plan(head, 3), example::bert());
    EXPECT_EQ(parameters(plan(head, 10), example::bert()) - of_three, 7 * (width + 1));
  }
}

TEST(Classifier, TakesItsLabelsFromTheConfigWhereThePlanHasNone) {
  const TrainingPlan p = plan(HeadKind::token_classifier);
  const std::int64_t of_two = parameters(p, albert());
  EXPECT_EQ(parameters(p, albert({{"num_labels", "5"}})) - of_two, 3 * (width + 1));
  EXPECT_EQ(parameters(p, albert({{"id2label", R"({"0": "a", "1": "b", "2": "c"})"}})) - of_two, width + 1);
}

// GenericForTokenClassification has a bias, GenericForSequenceClassification none.
TEST(Classifier, OfACausalModelScoresEveryToken) {
  const std::int64_t of_rows = parameters(plan(HeadKind::sequence_classifier, 3), example::llama());
  EXPECT_EQ(parameters(plan(HeadKind::token_classifier, 3), example::llama()) - of_rows, 3);
}

TEST(Classifier, IsRefusedWhereTransformersHasNone) {
  const Keys opt{{"model_type", "\"opt\""},  {"hidden_size", "256"},       {"ffn_dim", "1024"},
                 {"num_hidden_layers", "2"}, {"num_attention_heads", "4"}, {"vocab_size", "1000"}};
  EXPECT_EQ(refusal(plan(HeadKind::sequence_classifier), opt), "");
  EXPECT_NE(refusal(plan(HeadKind::token_classifier), opt), "");
  EXPECT_NE(refusal(plan(HeadKind::image_classifier), opt), "");
  const Keys apertus = example::llama({{"model_type", "\"apertus\""}});
  EXPECT_EQ(refusal(plan(HeadKind::token_classifier), apertus), "");
  EXPECT_NE(refusal(plan(HeadKind::sequence_classifier), apertus), "");
}

TEST(Classifier, OfModernBertHasALayerAndANorm) {
  const Keys model = example::bert({{"model_type", "\"modernbert\""}, {"intermediate_size", "512"}});
  const TrainingPlan rows = plan(HeadKind::sequence_classifier, 3);
  const std::int64_t all = parameters(rows, model);
  EXPECT_EQ(parameters(rows, example::with(model, {{"classifier_bias", "true"}})) - all, width);
  EXPECT_EQ(parameters(rows, example::with(model, {{"num_labels", "4"}})), all);  // As the plan says.
  EXPECT_NE(refusal(rows, example::with(model, {{"classifier_pooling", "\"mean\""}})), "");
  EXPECT_EQ(refusal(plan(HeadKind::token_classifier), example::with(model, {{"classifier_pooling", "\"mean\""}})), "");
}

// Two columns beside a bias, whatever the model has of labels otherwise.
TEST(QuestionAnswering, HasAColumnForEachEndOfAnAnswer) {
  const TrainingPlan p = plan(HeadKind::question_answering);
  const std::int64_t of_tokens = parameters(plan(HeadKind::token_classifier, 2), example::bert());
  EXPECT_EQ(parameters(p, example::bert()), of_tokens);
  EXPECT_EQ(parameters(p, example::llama()), parameters(plan(HeadKind::token_classifier, 2), example::llama()));
  EXPECT_NE(refusal(plan(HeadKind::question_answering, 3), example::bert()), "");
  EXPECT_NE(refusal(p, example::bert({{"num_labels", "3"}})), "");
  EXPECT_NE(refusal(p, example::llama({{"model_type", "\"apertus\""}})), "");
}

TEST(QuestionAnswering, SendsBothEndsAndKeepsBothScores) {
  const Footprint spans = played(plan(HeadKind::question_answering), example::bert());
  const Footprint tokens = played(plan(HeadKind::token_classifier, 2), example::bert());
  const auto at_the_end = [](const Footprint& f, Bucket bucket) {
    return at(example::peak_of(f, Phase::backward, 1).by_bucket, bucket).count();
  };
  // Two numbers of 8 bytes for a row, each pair in 512, in place of one for each token.
  EXPECT_EQ(at_the_end(tokens, Bucket::inputs) - at_the_end(spans, Bucket::inputs), batch * length * 8 - 2 * 512);
}

TEST(QuestionAnswering, NamesParametersByTheWholesOwnPrefix) {
  TrainingPlan p = plan(HeadKind::question_answering);
  p.recipe.frozen.value = {"embed_tokens"};
  EXPECT_NE(refusal(p, example::llama()), "");
  EXPECT_EQ(refusal(p, example::mistral()), "");
}

TEST(MultipleChoice, PlaysAsManyTextsAsARowHas) {
  TrainingPlan four = plan(HeadKind::multiple_choice);
  four.model.choices.value = 4;
  TrainingPlan one = four;
  one.model.choices.value = 1;
  one.batch.micro_batch_size.value = 4 * batch;
  const Footprint f = played(four, example::bert());
  EXPECT_EQ(f.parameters, parameters(plan(HeadKind::sequence_classifier, 1), example::bert()));
  const auto activations = [](const Footprint& made) {
    return at(example::peak_of(made, Phase::backward, 1).by_bucket, Bucket::activations).count();
  };
  EXPECT_EQ(activations(f), activations(played(one, example::bert())));
}

TEST(MultipleChoice, IsUndecidedWhereNothingSaysOfHowManyTexts) {
  EXPECT_THAT(refusal(plan(HeadKind::multiple_choice), example::bert()), testing::HasSubstr("of how many texts"));
  TrainingPlan p = plan(HeadKind::multiple_choice);
  p.model.choices.value = 2;
  EXPECT_NE(refusal(p, example::llama()), "");
}

TEST(Classifier, IsNoModelOfPreferences) {
  TrainingPlan p = plan(HeadKind::sequence_classifier);
  p.recipe.kind.value = RecipeKind::dpo;
  EXPECT_NE(refusal(p, example::llama()), "");
}

TEST(Albert, HasTheWeightsOfOneLayerForAll) {
  const TrainingPlan p = plan(HeadKind::language_model);
  EXPECT_EQ(parameters(p, albert()), parameters(p, albert({{"num_hidden_layers", "12"}})));
  const std::int64_t layer = 4 * (width * width + width) + 2 * width * 512 + 512 + width + 4 * width;
  EXPECT_EQ(parameters(p, albert({{"num_hidden_groups", "2"}})) - parameters(p, albert()), layer);
}

TEST(Albert, KeepsWhatEachLayerMade) {
  const TrainingPlan p = plan(HeadKind::language_model);
  const auto activations = [&](const char* layers) {
    const Footprint f = played(p, albert({{"num_hidden_layers", layers}}));
    return at(example::peak_of(f, Phase::loss, 1).by_bucket, Bucket::activations).count();
  };
  EXPECT_EQ(activations("12") - activations("8"), activations("8") - activations("4"));
  EXPECT_GT(activations("8"), activations("4"));
}

TEST(Albert, IsNotCheckpointed) {
  TrainingPlan p = plan(HeadKind::language_model);
  p.checkpointing.on.value = true;
  EXPECT_NE(refusal(p, albert()), "");
}

TEST(Deberta, ProjectsDistancesByItsOwnWeightsUnlessToldToShareThem) {
  const TrainingPlan p = plan(HeadKind::language_model);
  const std::int64_t own = parameters(p, deberta());
  const std::int64_t projection = width * width + width;
  EXPECT_EQ(own - parameters(p, deberta({{"share_att_key", "true"}})), 2 * 2 * projection);
  EXPECT_EQ(own - parameters(p, deberta({{"pos_att_type", R"(["c2p"])"}})), 2 * projection);
  EXPECT_EQ(parameters(p, deberta({{"position_buckets", "32"}})) - own, -2 * 32 * width);
}

TEST(Deberta, WithReentrantCheckpointsIsRefusedWhereDistancesAreTrained) {
  TrainingPlan p = plan(HeadKind::language_model);
  p.checkpointing.on.value = p.checkpointing.reentrant.value = true;
  p.kernels.attention.value = Attention::eager;
  EXPECT_NE(refusal(p, deberta()), "");
}

}  // namespace
}  // namespace oomplan
