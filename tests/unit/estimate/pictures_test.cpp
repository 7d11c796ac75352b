// Families that see: how many tokens and tiles a picture is, and what networks of pictures have of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plans.hpp"

namespace oomplan {
namespace {

using example::Keys;
using ::testing::HasSubstr;

constexpr std::int64_t length = 2048;

/// Tiles of 28 pixels, which are 2 x 2 patches; CLIP's width is 64.
Keys llava_next(const Keys& changes = {}) {
  return example::with(
      {{"model_type", "\"llava_next\""},
       {"image_grid_pinpoints", "[[28, 56], [56, 28], [56, 56]]"},
       {"text_config",
        R"({"model_type": "llama", "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 2,
            "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 1000})"},
       {"vision_config",
        R"({"model_type": "clip_vision_model", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 3,
            "num_attention_heads": 4, "image_size": 28, "patch_size": 14})"}},
      changes);
}

Keys vip_llava() {
  return example::with(llava_next({{"model_type", "\"vipllava\""}}), {{"vision_feature_layers", "[-2, 1, -1]"}});
}

TrainingPlan seeing(std::int64_t height, std::int64_t columns, std::int64_t tokens = length) {
  TrainingPlan p = example::plan(1, tokens);
  p.images.count.value = 1;
  p.images.tiles.value = 1;
  p.images.height.value = height;
  p.images.width.value = columns;
  return p;
}

TrainingPlan of_pictures(std::int64_t height, std::int64_t columns) {
  TrainingPlan p = seeing(height, columns, 1);
  p.images.count.value = 0;
  p.batch.micro_batch_size.value = 2;
  return p;
}

std::string refusal(const TrainingPlan& p, const Keys& model) {
  const auto footprint = estimate(p, example::architecture(model));
  return footprint ? "" : footprint.errors().front().message;
}

std::int64_t peak(const TrainingPlan& p, const Keys& model) {
  return example::played(p, example::architecture(model)).peak.total.count();
}

std::int64_t parameters(const TrainingPlan& p, const Keys& model) {
  return example::played(p, example::architecture(model)).parameters;
}

Keys swin(const Keys& changes = {}) {
  return example::with({{"model_type", "\"swin\""}, {"num_labels", "1000"}}, changes);
}

Keys segformer() { return {{"model_type", "\"segformer\""}, {"num_labels", "150"}}; }

// 2 x 2 patches of the whole, and of four tiles 4 x 4, each row of which has a token behind it.
TEST(LlavaNext, APictureIsItselfAndItsTilesInRows) {
  EXPECT_EQ(refusal(seeing(50, 50, 24), llava_next()), "");
  EXPECT_EQ(refusal(seeing(50, 50, 23), llava_next()), "the images of a row are 24 tokens, and the row has 23");
}

// Tiles of 4 x 4 patches, two of them. A picture four times as wide as high leaves half of the rows, one as high half
// of the columns; a token stands behind each row.
TEST(LlavaNext, WhatAPictureDoesNotFillIsCutOff) {
  Keys model = llava_next({{"image_grid_pinpoints", "[[56, 112], [112, 56]]"}});
  model["vision_config"].replace(model["vision_config"].find("\"image_size\": 28"), 16, "\"image_size\": 56");
  EXPECT_THAT(refusal(seeing(56, 112, 1), model), HasSubstr("are 52 tokens"));
  EXPECT_THAT(refusal(seeing(56, 224, 1), model), HasSubstr("are 34 tokens"));
  EXPECT_THAT(refusal(seeing(224, 56, 1), model), HasSubstr("are 40 tokens"));
  EXPECT_THAT(refusal(seeing(56, 5600, 1), model), HasSubstr("so thin a shape"));
}

TEST(LlavaNext, TilesComeOfTheSize) {
  EXPECT_LT(peak(seeing(28, 56), llava_next()), peak(seeing(56, 56), llava_next()));
  EXPECT_EQ(peak(seeing(50, 50), llava_next()), peak(seeing(56, 56), llava_next()));
}

TEST(LlavaNext, WithoutASizeNothingIsSaid) {
  EXPECT_THAT(refusal(seeing(0, 0), llava_next()), HasSubstr("the size of its images decides what it holds"));
}

TEST(LlavaNext, TilesAreNotSaidBesideTheSize) {
  TrainingPlan p = seeing(56, 56);
  p.images.tiles.value = 5;
  EXPECT_THAT(refusal(p, llava_next()), HasSubstr("how many tiles"));
}

// The norm and the first layer of the projector are as wide as all states that are taken.
TEST(VipLlava, TakesSeveralHiddenStates) {
  const std::int64_t more = parameters(seeing(28, 28), vip_llava()) - parameters(seeing(28, 56), llava_next());
  EXPECT_EQ(more, 2 * 192 + 2 * 64 * 256 - 256);
}

TEST(Swin, HasAsManyParametersAsPublished) { EXPECT_EQ(parameters(of_pictures(224, 224), swin()), 28'288'354); }

TEST(Swin, APictureOfFewerPatchesThanAWindowIsRefused) {
  EXPECT_THAT(refusal(of_pictures(128, 128), swin()), HasSubstr("fewer patches than a window"));
}

TEST(Swin, ItsCheckpointsAreNotPlayed) {
  TrainingPlan p = of_pictures(224, 224);
  p.checkpointing.on.value = true;
  EXPECT_THAT(refusal(p, swin()), HasSubstr("gradient checkpointing of swin is not modelled"));
}

// Windows of 7 patches: what does not fill one is padded in each layer of all stages.
TEST(Swin, AWindowThatIsNotFullCountsWhole) {
  EXPECT_GT(peak(of_pictures(228, 228), swin()), peak(of_pictures(224, 224), swin()));
}

Keys swin2(const Keys& changes = {}) {
  return example::with(
      {{"model_type", "\"swinv2\""}, {"num_labels", "1000"}, {"image_size", "256"}, {"window_size", "8"}}, changes);
}

TrainingPlan written_out(std::int64_t height, std::int64_t columns) {
  TrainingPlan p = of_pictures(height, columns);
  p.kernels.attention.value = Attention::eager;
  return p;
}

TEST(Swin2, HasAsManyParametersAsPublished) { EXPECT_EQ(parameters(written_out(256, 256), swin2()), 28'347'154); }

// A window is no larger than the last stage's 8 x 8 patches, so that its table of distances is the same.
TEST(Swin2, AWindowIsNoLargerThanTheConfigsPicture) {
  EXPECT_EQ(parameters(written_out(256, 256), swin2({{"window_size", "16"}})), 28'347'154);
  EXPECT_EQ(refusal(written_out(128, 128), swin2({{"window_size", "16"}})), "");
}

TEST(Swin2, ItsAttentionIsAlwaysWrittenOut) {
  EXPECT_THAT(refusal(of_pictures(256, 256), swin2()), HasSubstr("kernels of attention other than eager"));
}

Keys paddle_ocr() {
  return {{"model_type", "\"paddleocr_vl\""},
          {"text_config",
           R"({"model_type": "paddleocr_vl_text", "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 2,
               "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 64, "vocab_size": 1000})"},
          {"vision_config",
           R"({"model_type": "paddleocr_vl_vision", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2,
               "num_attention_heads": 4, "image_size": 56, "patch_size": 14})"}};
}

// Squares of 2 x 2 patches of 14 pixels.
TEST(PaddleOcr, ATokenIsASquareOfPatches) {
  EXPECT_EQ(refusal(seeing(392, 420, 210), paddle_ocr()), "");
  EXPECT_THAT(refusal(seeing(392, 420, 209), paddle_ocr()), HasSubstr("are 210 tokens"));
  EXPECT_THAT(refusal(seeing(400, 410, 209), paddle_ocr()), HasSubstr("are 210 tokens"));  // Resized to it.
  EXPECT_THAT(refusal(seeing(27, 420), paddle_ocr()), HasSubstr("fewer than 28 pixels a side"));
}

TEST(PaddleOcr, DropoutInItsTowerIsNotPlayed) {
  Keys model = paddle_ocr();
  std::string& vision = model["vision_config"];
  vision.insert(vision.find("\"image_size\""), "\"attention_dropout\": 0.1, ");
  EXPECT_THAT(refusal(seeing(56, 56), model), HasSubstr("dropout in a tower's attention"));
}

Keys gemma4_unified(const std::string& attends = "\"vision\"") {
  return {
      {"model_type", "\"gemma4_unified\""},
      {"text_config",
       R"({"model_type": "gemma4_unified_text", "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 2,
               "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 64, "global_head_dim": 64,
               "vocab_size": 1000, "layer_types": ["sliding_attention", "full_attention"],
               "use_bidirectional_attention": )" +
           attends + "}"},
      {"vision_config",
       R"({"model_type": "gemma4_unified_vision", "mm_embed_dim": 64, "mm_posemb_size": 10, "output_proj_dims": 64})"}};
}

// Squares of 3 x 3 patches of 16 pixels, of which a picture has 280 at most.
TEST(Gemma4Unified, ATokenIsASquareOfPatches) {
  EXPECT_THAT(refusal(seeing(48 * 13, 48 * 20, 259), gemma4_unified()), HasSubstr("are 260 tokens"));
  EXPECT_THAT(refusal(seeing(96, 144, 259), gemma4_unified()), HasSubstr("are 260 tokens"));  // Filled up.
}

// transformers builds no tower without its config, where that is optional.
TEST(Gemma4Unified, WithoutATowerItIsUndecided) {
  Keys model = gemma4_unified();
  EXPECT_THAT(example::architecture(model).not_played, ::testing::IsEmpty());
  model["vision_config"] = "null";
  EXPECT_THAT(example::architecture(model).not_played, ::testing::Contains(HasSubstr("no vision_config")));
  model.erase("vision_config");
  EXPECT_THAT(example::architecture(model).not_played, ::testing::Contains(HasSubstr("no vision_config")));
}

TEST(Gemma4Unified, APictureIsFilledUp) {
  EXPECT_LT(peak(seeing(96, 144, 512), gemma4_unified()) * 100,
            peak(seeing(48 * 14, 48 * 20, 512), gemma4_unified()) * 101);
}

Keys siglip2() {
  const std::string sizes = R"("hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2,
                               "num_attention_heads": 4)";
  return {{"model_type", "\"siglip2\""},
          {"text_config", "{\"vocab_size\": 1000, " + sizes + "}"},
          {"vision_config", "{" + sizes + "}"}};
}

// 16 x 16 patches of 16 pixels are all that there is room for; with fewer there is a mask of a byte for each pair.
TEST(Siglip2, APictureOfFewerPatchesThanThereIsRoomForHasAMask) {
  TrainingPlan whole = of_pictures(256, 256);
  TrainingPlan padded = of_pictures(256, 240);
  whole.batch.sequence_length.value = padded.batch.sequence_length.value = 32;
  EXPECT_GT(peak(padded, siglip2()), peak(whole, siglip2()) + 2 * 256 * 256);
  EXPECT_THAT(refusal(of_pictures(256, 272), siglip2()), HasSubstr("no image of 256 x 272 pixels"));
  EXPECT_THAT(refusal(of_pictures(0, 0), siglip2()), HasSubstr("the size of its images decides"));
}

Keys paligemma2() {
  return {{"model_type", "\"paligemma\""},
          {"projection_dim", "256"},
          {"text_config",
           R"({"model_type": "gemma2", "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 2,
               "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 64, "vocab_size": 1000})"},
          {"vision_config",
           R"({"model_type": "siglip_vision_model", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2,
               "num_attention_heads": 4, "image_size": 448, "patch_size": 14, "vision_use_head": false})"}};
}

// Its language model has no sdpa: where nobody asks for eager attention, only that one has it.
TEST(PaliGemma2, ItsTowerHasSdpaUnlessEagerIsAskedFor) {
  TrainingPlan p = seeing(448, 448);
  p.kernels.attention.value = Attention::eager;
  p.kernels.attention.origin.kind = Origin::Kind::config;
  const std::int64_t asked = peak(p, paligemma2());
  p.kernels.attention.origin.kind = Origin::Kind::framework_default;
  EXPECT_LT(peak(p, paligemma2()), asked);
}

TEST(PaliGemma2, FeaturesOfAnotherWidthThanTheHiddenStatesAreUndecided) {
  for (const char* width : {"128", "512"}) {
    Keys model = paligemma2();
    model["projection_dim"] = width;
    EXPECT_THAT(refusal(seeing(448, 448), model), HasSubstr("than the hidden states")) << width;
  }
}

TEST(LlavaNext, ATokenOfTheClassMakesNoSquare) {
  EXPECT_THAT(refusal(seeing(56, 56), llava_next({{"vision_feature_select_strategy", "\"full\""}})),
              HasSubstr("features that make no square"));
}

TEST(Siglip2, AdaptersInItsPoolingHeadAreNotPlayed) {
  TrainingPlan p = of_pictures(256, 256);
  p.batch.sequence_length.value = 32;
  p.adapter.kind.value = Adapter::lora;
  EXPECT_EQ(refusal(p, siglip2()), "");
  p.adapter.targets.value = {"all-linear"};
  EXPECT_THAT(refusal(p, siglip2()), HasSubstr("adapters in torch.nn.MultiheadAttention"));
}

// peft adapts Conv2d as well.
TEST(Convolutions, AdaptersOnThemHaveARankThatTheirGroupsDivide) {
  TrainingPlan p = of_pictures(224, 224);
  p.adapter.kind.value = Adapter::lora;
  p.adapter.targets.value = {"convolution"};
  const auto refusal_of = [&](const std::string& type, std::int64_t rank) {
    p.adapter.rank.value = rank;
    return refusal(p, {{"model_type", '"' + type + '"'}});
  };
  EXPECT_EQ(refusal_of("resnet", 8), "");
  p.adapter.targets.value = {"dwconv"};
  EXPECT_THAT(refusal_of("convnext", 8), HasSubstr("peft refuses LoRA of rank 8 on a convolution of 96 groups"));
}

TEST(Media, OfRowsThatAreOneThemselvesAreNoMore) {
  TrainingPlan p = of_pictures(224, 224);
  const Keys resnet{{"model_type", "\"resnet\""}};
  p.images.count.value = 1;
  EXPECT_EQ(refusal(p, resnet), "");
  p.images.count.value = 2;
  EXPECT_THAT(refusal(p, resnet), HasSubstr("images in each row of resnet, whose rows are pictures"));
  p.images.count.value = 1;
  p.batch.sequence_length.value = 16000;
  const Keys hubert{{"model_type", "\"hubert\""}};
  EXPECT_THAT(refusal(p, hubert), HasSubstr("images in each row of hubert, whose rows are sound"));
  p.images.count.value = 0;
  EXPECT_EQ(refusal(p, hubert), "");
}

TEST(Segformer, LabelsPixelsUnlessToldOfPictures) {
  TrainingPlan p = of_pictures(512, 512);
  EXPECT_EQ(parameters(p, segformer()), 3'752'694);
  p.model.head.value = HeadKind::image_classifier;
  EXPECT_EQ(parameters(p, segformer()), 3'576'392 - 850 * 257);
  p.model.head.value = HeadKind::sequence_classifier;  // Which transformers has none of.
  EXPECT_NE(refusal(p, segformer()), "");
}

// The logits of all pixels, in fp32 where the loss is made: resized, their log-softmax and its two gradients.
TEST(Segformer, AReductionWiderThanItsGridIsUndecided) {
  const auto reduced = [](const char* ratios) {
    Keys model = segformer();
    model["sr_ratios"] = ratios;
    return refusal(of_pictures(256, 256), model);
  };
  EXPECT_EQ(reduced("[8, 4, 2, 8]"), "");  // Of 8 patches a side.
  EXPECT_THAT(reduced("[8, 4, 2, 9]"), HasSubstr("sr_ratio"));
}

TEST(Segformer, ItsLossIsOfThePicturesOwnSize) {
  const std::int64_t less = peak(of_pictures(256, 256), segformer());
  const std::int64_t more = peak(of_pictures(512, 512), segformer());
  constexpr std::int64_t pixels = 2 * 150 * (512 * 512 - 256 * 256);
  EXPECT_GT(more - less, 3 * 2 * pixels);
}

TEST(Segformer, AnotherHeadOfACheckpointIsAskedAbout) {
  Keys model = segformer();
  model["architectures"] = "[\"SegformerForImageClassification\"]";
  EXPECT_THAT(refusal(of_pictures(224, 224), model), HasSubstr("is not the one that the config asks for"));
  model["architectures"] = "[\"SegformerForSemanticSegmentation\"]";
  EXPECT_EQ(refusal(of_pictures(224, 224), model), "");
}

}  // namespace
}  // namespace oomplan
