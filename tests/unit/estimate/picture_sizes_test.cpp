// What processors make of pictures, beside what transformers' own code said (scripts/picture_sizes.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "pictures.hpp"
#include "plans.hpp"
#include "project.hpp"

namespace oomplan {
namespace {

using ::testing::HasSubstr;

struct Line {
  OpSpec rule{};
  estimator::Images picture{};
  std::string made{};
};

Line line_of(const std::string& text) {
  Line out;
  std::istringstream words(text);
  words >> out.rule.op;
  for (std::string word; words >> word && word != ":";) {
    const std::size_t at = word.find('=');
    out.rule.attributes.emplace_back(word.substr(0, at), std::stoll(word.substr(at + 1)));
  }
  out.picture = {.count = 1, .tiles = 0};
  std::string colon;
  words >> out.picture.height >> out.picture.width >> colon >> std::ws;
  std::getline(words, out.made);
  return out;
}

std::string made_by(const OpSpec& rule, estimator::Images picture) {
  if (estimator::hand_over(rule, "a model", picture)) return "no";
  if (picture.tiles > 0) return std::to_string(picture.tiles);
  return std::to_string(picture.height) + " " + std::to_string(picture.width);
}

TEST(PictureSizes, AreThoseOfTheProcessors) {
  std::ifstream file(project_folder() + "/tests/data/pictures/sizes.txt");
  int lines = 0;
  for (std::string text; std::getline(file, text); ++lines) {
    const Line line = line_of(text);
    EXPECT_EQ(made_by(line.rule, line.picture), line.made) << text;
  }
  EXPECT_EQ(lines, 2400);
}

// What comes of a picture is left as it is, but where the processor fills whatever it is given.
TEST(PictureSizes, OfWhatAProcessorMadeAreTheSame) {
  std::ifstream file(project_folder() + "/tests/data/pictures/sizes.txt");
  for (std::string text; std::getline(file, text);) {
    Line line = line_of(text);
    const bool fills = line.rule.op == "filled";
    if (fills || estimator::hand_over(line.rule, "", line.picture) || line.picture.tiles > 0) continue;
    EXPECT_EQ(made_by(line.rule, line.picture), line.made) << text;
  }
}

example::Keys internvl() {
  return {{"model_type", "\"internvl\""},
          {"text_config", R"({"model_type": "qwen2", "hidden_size": 256, "num_hidden_layers": 2,
                              "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 512,
                              "vocab_size": 1000})"},
          {"vision_config", R"({"hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2,
                                "intermediate_size": 256, "image_size": 112, "patch_size": 14})"}};
}

std::string answer(std::int64_t height, std::int64_t width, std::int64_t tiles = 0) {
  TrainingPlan p = example::plan(1, 512);
  p.images.count.value = 1;
  p.images.height.value = height;
  p.images.width.value = width;
  p.images.tiles.value = tiles;
  const auto out = estimate(p, example::architecture(internvl()));
  return out ? std::to_string(out->peak.total.count()) : out.errors().front().message;
}

TEST(PictureSizes, DecideHowManyTilesThereAre) {
  EXPECT_EQ(answer(112, 112), answer(0, 0, 1));
  EXPECT_EQ(answer(300, 450), answer(0, 0, 7));
  EXPECT_EQ(answer(300, 450, 3), answer(0, 0, 3));  // As somebody says.
  EXPECT_THAT(answer(0, 0), HasSubstr("the size of its images decides"));
}

}  // namespace
}  // namespace oomplan
