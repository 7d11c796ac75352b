// Encoder-decoders: what hangs on the rows' length, and what on the labels'.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plans.hpp"

namespace oomplan {
namespace {

using example::Keys;

constexpr std::int64_t batch = 4;
constexpr std::int64_t length = 256;
constexpr std::int64_t width = 256;

Keys t5(const Keys& changes = {}) {
  return example::with({{"model_type", "\"t5\""},
                        {"d_model", "256"},
                        {"d_ff", "512"},
                        {"num_heads", "4"},
                        {"num_layers", "3"},
                        {"vocab_size", "1000"}},
                       changes);
}

Keys bart(const Keys& changes = {}) {
  return example::with({{"model_type", "\"bart\""},
                        {"d_model", "256"},
                        {"encoder_layers", "3"},
                        {"decoder_layers", "3"},
                        {"encoder_ffn_dim", "512"},
                        {"decoder_ffn_dim", "512"},
                        {"encoder_attention_heads", "4"},
                        {"decoder_attention_heads", "4"},
                        {"vocab_size", "1000"}},
                       changes);
}

TrainingPlan plan(std::int64_t target, Attention attention = Attention::sdpa) {
  TrainingPlan p = example::plan(batch, length);
  p.batch.target_length.value = target;
  p.kernels.attention.value = attention;
  return p;
}

Footprint played(const TrainingPlan& p, const Keys& model) { return example::played(p, example::architecture(model)); }

std::int64_t in_the_loss(const TrainingPlan& p, const Keys& model, Bucket bucket) {
  return at(example::peak_of(played(p, model), Phase::loss, 1).by_bucket, bucket).count();
}

std::string refusal(const TrainingPlan& p, const Keys& model) {
  const auto out = estimate(p, example::architecture(model));
  return out.ok() ? "" : out.errors().front().code + ": " + out.errors().front().message;
}

TEST(EncoderDecoder, EachBlockOfUmt5HasABiasOfItsOwn) {
  const std::int64_t of_t5 = played(plan(128), t5()).parameters;
  EXPECT_EQ(played(plan(128), t5({{"model_type", "\"umt5\""}, {"feed_forward_proj", "\"relu\""}})).parameters - of_t5,
            4 * 32 * 4);
}

TEST(EncoderDecoder, LongT5SeesTheBlocksAroundAToken) {
  for (const char* attention : {"\"local\"", "\"transient-global\""}) {
    const Keys model =
        t5({{"model_type", "\"longt5\""}, {"local_radius", "31"}, {"encoder_attention_type", attention}});
    const auto scores = [&](std::int64_t rows) {
      TrainingPlan p = plan(64, Attention::eager);
      p.batch.sequence_length.value = rows;
      return in_the_loss(p, model, Bucket::attention_scores);
    };
    const bool linear = scores(768) - scores(512) == scores(512) - scores(256);
    EXPECT_EQ(linear, attention == std::string("\"local\""));  // Fixed blocks are as many as a row is long.
  }
}

TEST(EncoderDecoder, LongT5HasNoFixedBlockInAShortRow) {
  TrainingPlan p = plan(64, Attention::eager);
  p.batch.sequence_length.value = 15;
  const Keys model = t5({{"model_type", "\"longt5\""}, {"encoder_attention_type", "\"transient-global\""}});
  EXPECT_NE(refusal(p, model).find("fixed block"), std::string::npos);
  EXPECT_EQ(refusal(p, t5({{"model_type", "\"longt5\""}})), "");
}

TEST(EncoderDecoder, MarianMayHaveTwoEmbeddingsAndLeaveLayersOut) {
  const Keys model = bart({{"model_type", "\"marian\""}});
  EXPECT_EQ(refusal(plan(128), model), "");
  EXPECT_NE(refusal(plan(128), example::with(model, {{"share_encoder_decoder_embeddings", "false"}})), "");
  EXPECT_EQ(example::architecture(example::with(model, {{"encoder_layerdrop", "0.1"}})).not_played.size(), 1);
}

TEST(EncoderDecoder, LogitsAreAsManyAsLabels) {
  for (const Keys& model : {t5(), bart()}) {
    const std::int64_t of_128 = in_the_loss(plan(128), model, Bucket::logits_and_loss);
    const std::int64_t of_64 = in_the_loss(plan(64), model, Bucket::logits_and_loss);
    EXPECT_NEAR(static_cast<double>(of_128), 2.0 * static_cast<double>(of_64), 4096);
  }
}

TEST(EncoderDecoder, LabelsAreAsLongAsRowsWhereNothingIsSaid) {
  for (const Keys& model : {t5(), bart()})
    EXPECT_EQ(played(plan(0), model).peak.total, played(plan(length), model).peak.total);
}

TEST(EncoderDecoder, EmbedsRowsAndLabelsByOneMatrix) {
  for (const Keys& model : {t5(), bart()}) {
    const Keys wider = example::with(model, {{"vocab_size", "1100"}});
    EXPECT_EQ(played(plan(8), wider).parameters - played(plan(8), model).parameters, 100 * width);
  }
}

TEST(EncoderDecoder, LabelsHavePositionsToo) {
  EXPECT_EQ(refusal(plan(300), bart({{"max_position_embeddings", "300"}})), "");
  EXPECT_NE(refusal(plan(301), bart({{"max_position_embeddings", "300"}})), "");
}

TEST(EncoderDecoder, InFp16IsUndecided) {
  TrainingPlan p = plan(8);
  p.precision.weights_dtype.value = WeightsDType::fp16;
  EXPECT_NE(refusal(p, bart()), "");
}

TEST(T5, HasABiasByDistanceInTheFirstBlockOfEachStackAlone) {
  const std::int64_t more = played(plan(8), t5({{"relative_attention_num_buckets", "64"}})).parameters;
  EXPECT_EQ(more - played(plan(8), t5()).parameters, 2 * 32 * 4);
}

TEST(T5, LeavesNoAttentionToFlash) {
  EXPECT_THAT(played(plan(64), t5()).attention_kernels, ::testing::ElementsAre("efficient"));
}

std::int64_t weights(const TrainingPlan& p, const Keys& model) {
  return at(example::peak_of(played(p, model), Phase::forward, 1).by_bucket, Bucket::weights).count();
}

constexpr std::int64_t of_wo = 2 * 3 * width * 512;  // The parameters of six layers.

// _keep_in_fp32_modules.
TEST(T5, KeepsTheLastLayerOfItsMlpOutOfWhatIsQuantized) {
  TrainingPlan p = plan(8);
  p.adapter.kind.value = Adapter::lora;
  p.adapter.rank.value = 8;
  p.adapter.targets.value = {"q"};
  p.quantization.kind.value = Quantization::int8;
  const Keys longt5 = t5({{"model_type", "\"longt5\""}});
  EXPECT_EQ(weights(p, t5()) - weights(p, longt5), of_wo - 6 * width * 4);  // In 16 bits, and without scales of rows.
  p.quantization.kind.value = Quantization::nf4;
  EXPECT_EQ(refusal(p, t5()), "");
  EXPECT_NE(refusal(p, longt5), "");
}

TEST(Pegasus, TrainsNoPositions) {
  const Keys model = example::with(bart(), {{"model_type", "\"pegasus\""}, {"max_position_embeddings", "512"}});
  const Footprint f = played(plan(8), model);
  EXPECT_EQ(f.parameters - f.trainable_parameters, 2 * 512 * width);
}

TEST(Whisper, HearsClipsHoweverLongLabelsAre) {
  const Keys model = example::with(bart(), {{"model_type", "\"whisper\""},
                                            {"num_mel_bins", "16"},
                                            {"max_source_positions", "300"},
                                            {"max_target_positions", "256"}});
  const Footprint f = played(plan(64), model);
  EXPECT_EQ(f.parameters - f.trainable_parameters, 300 * width);
  EXPECT_NEAR(
      static_cast<double>(in_the_loss(plan(128), model, Bucket::inputs) - in_the_loss(plan(64), model, Bucket::inputs)),
      64.0 * batch * 8, 1024);  // Labels alone.
  EXPECT_NE(refusal(plan(257), model), "");
}

TEST(M2m, HasNoPositionsAmongItsParameters) {
  const Keys model = example::with(bart(), {{"model_type", "\"m2m_100\""}});
  const Keys longer = example::with(model, {{"max_position_embeddings", "2048"}});
  EXPECT_EQ(played(plan(8), longer).parameters, played(plan(8), model).parameters);
}

}  // namespace
}  // namespace oomplan
