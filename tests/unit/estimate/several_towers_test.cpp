// Families of several towers, each of which has its own count in a row.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plans.hpp"

namespace oomplan {
namespace {

using example::Keys;
using ::testing::HasSubstr;

Keys omni() {
  return {{"model_type", "\"qwen2_5_omni_thinker\""},
          {"text_config",
           R"({"hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 2, "num_attention_heads": 4,
               "num_key_value_heads": 2, "vocab_size": 1000, "max_window_layers": 2})"},
          {"vision_config",
           R"({"hidden_size": 64, "intermediate_size": 128, "depth": 2, "num_heads": 4, "fullatt_block_indexes": [1],
               "out_hidden_size": 256})"},
          {"audio_config",
           R"({"d_model": 64, "encoder_ffn_dim": 128, "encoder_layers": 2, "encoder_attention_heads": 4,
               "output_dim": 256})"}};
}

Keys phi4() {
  return {{"model_type", "\"phi4_multimodal\""},
          {"hidden_size", "256"},
          {"intermediate_size", "512"},
          {"num_hidden_layers", "2"},
          {"num_attention_heads", "4"},
          {"num_key_value_heads", "2"},
          {"vocab_size", "1000"},
          {"vision_config",
           R"({"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 3, "num_attention_heads": 4})"},
          {"audio_config",
           R"({"hidden_size": 64, "intermediate_size": 128, "num_blocks": 2, "num_attention_heads": 4,
               "ext_pw_out_channel": 64, "depthwise_separable_out_channel": 64, "nemo_conv_channels": 16})"}};
}

Keys qwen3() {
  return {{"model_type", "\"qwen3_omni_moe_thinker\""},
          {"text_config",
           R"({"hidden_size": 256, "moe_intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
               "num_key_value_heads": 2, "head_dim": 64, "num_experts": 4, "num_experts_per_tok": 2,
               "vocab_size": 1000})"},
          {"vision_config",
           R"({"hidden_size": 64, "intermediate_size": 128, "depth": 2, "num_heads": 4,
               "deepstack_visual_indexes": [0], "out_hidden_size": 256})"},
          {"audio_config",
           R"({"d_model": 64, "encoder_ffn_dim": 128, "encoder_layers": 2, "encoder_attention_heads": 4,
               "downsample_hidden_size": 16, "output_dim": 256})"}};
}

TrainingPlan rows(std::int64_t images, std::int64_t clips, std::int64_t tokens = 2048) {
  TrainingPlan p = example::plan(1, tokens);
  p.images.count.value = images;
  p.images.height.value = p.images.width.value = 448;
  p.images.clips.value = clips;
  p.images.clip_milliseconds.value = 10'000;
  return p;
}

std::string refusal(const TrainingPlan& p, const Keys& model) {
  const auto footprint = estimate(p, example::architecture(model));
  return footprint ? "" : footprint.errors().front().message;
}

std::int64_t peak(const TrainingPlan& p, const Keys& model) {
  return example::played(p, example::architecture(model)).peak.total.count();
}

void expect_each_played(const Keys& model) {
  const std::int64_t text = peak(rows(0, 0), model);
  const std::int64_t images = peak(rows(1, 0), model);
  const std::int64_t sounds = peak(rows(0, 1), model);
  EXPECT_GT(images, text);
  EXPECT_GT(sounds, text);
  EXPECT_GT(peak(rows(1, 1), model), std::max(images, sounds));
}

TEST(SeveralTowers, EachIsPlayedWhereRowsHaveSomethingForIt) {
  expect_each_played(omni());
  expect_each_played(qwen3());
  expect_each_played(phi4());
}

TEST(SeveralTowers, NothingIsTakenForNone) {
  EXPECT_THAT(refusal(rows(0, unknown_images), omni()),
              HasSubstr("hears sounds, and nothing says whether the rows have any"));
  EXPECT_THAT(refusal(rows(unknown_images, 0), omni()),
              HasSubstr("sees images, and nothing says whether the rows have any"));
  TrainingPlan p = rows(0, 1);
  p.images.clip_milliseconds.value = 0;
  EXPECT_THAT(refusal(p, omni()), HasSubstr("the length of its sounds decides what it holds, and is not known"));
}

TEST(SeveralTowers, ARowHasRoomForBoth) {
  // 1,000 frames, halved twice; 16 x 16 squares.
  EXPECT_EQ(refusal(rows(1, 1, 506), omni()), "");
  EXPECT_EQ(refusal(rows(1, 1, 505), omni()), "the images and sounds of a row are 506 tokens, and the row has 505");
}

TEST(SeveralTowers, Qwen3CountsTheTokensOfEachSecondByItself) {
  // 1,000 frames, of which each 100 are 13; 14 x 14 squares.
  EXPECT_EQ(refusal(rows(1, 1, 326), qwen3()), "");
  EXPECT_EQ(refusal(rows(1, 1, 325), qwen3()), "the images and sounds of a row are 326 tokens, and the row has 325");
  TrainingPlan p = rows(0, 1, 133);
  p.images.clip_milliseconds.value = 10'190;
  EXPECT_EQ(refusal(p, qwen3()), "");
  p.images.clip_milliseconds.value = 10'250;
  EXPECT_EQ(refusal(p, qwen3()), "the images and sounds of a row are 134 tokens, and the row has 133");
}

TEST(SeveralTowers, PicturesOfPhi4AreCutAsItsProcessorDoes) {
  TrainingPlan p = rows(1, 0, 500);
  EXPECT_EQ(refusal(p, phi4()), "the images of a row are 545 tokens, and the row has 500");
  p.images.height.value = 720;
  p.images.width.value = 1280;
  EXPECT_EQ(refusal(p, phi4()), "the images of a row are 1596 tokens, and the row has 500");
  p.images.height.value = 4;
  EXPECT_THAT(refusal(p, phi4()), HasSubstr("a picture of so thin a shape, at which its processor stops,"));
}

TEST(SeveralTowers, TilesThatPhi4DoesNotMakeOfAPictureAreRefused) {
  TrainingPlan p = rows(1, 0);
  p.images.tiles.value = 2;  // A crop and the whole.
  EXPECT_EQ(refusal(p, phi4()), "");
  p.images.tiles.value = 5;
  EXPECT_THAT(
      refusal(p, phi4()),
      HasSubstr("a picture of 5 tiles (image_tiles), of whose size its processor makes 2, is not modelled yet"));
}

TEST(SeveralTowers, ARowOfPhi4HasRoomForBoth) {
  // 998 whole windows of 25 ms, halved three times; 545 of the picture.
  EXPECT_EQ(refusal(rows(1, 1, 670), phi4()), "");
  EXPECT_EQ(refusal(rows(1, 1, 669), phi4()), "the images and sounds of a row are 670 tokens, and the row has 669");
}

TEST(SeveralTowers, SoundsThatPhi4CutsAreNotPlayed) {
  TrainingPlan p = rows(0, 1);
  p.images.clip_milliseconds.value = 40'000;
  EXPECT_EQ(refusal(p, phi4()), "");
  p.images.clip_milliseconds.value = 41'000;
  EXPECT_THAT(refusal(p, phi4()), HasSubstr("sounds of more than 40 seconds"));
  EXPECT_THAT(refusal(rows(0, unknown_images), phi4()),
              HasSubstr("hears sounds, and nothing says whether the rows have any"));
}

}  // namespace
}  // namespace oomplan
