// A setting is one however it is written: as an option, in YAML, JSON, a repr, an environment, a table.
#include "setting.hpp"

#include <gtest/gtest.h>

#include <string_view>

namespace oomplan::diagnose {
namespace {

bool sets(std::string_view line, std::string_view setting) { return SettingsLine(line).sets(setting); }

TEST(Setting, IsSetInEveryNotation) {
  for (const char* line :
       {"micro_batch_size: 1", "micro_batch_size=1, epochs=3)", "--micro-batch-size 1 \\", "\"micro_batch_size\": 1,",
        "{'micro_batch_size': 1}", "  micro_batch_size ................................ 1", "--Micro_Batch_Size=1",
        "actor.micro_batch_size=1", "a=8, micro_batch_size = 1."})
    EXPECT_TRUE(sets(line, "micro_batch_size 1")) << line;
}

TEST(Setting, HasThatNameAndThatValue) {
  for (const char* line : {"micro_batch_size: 16", "micro_batch_size: 1.5", "eval_micro_batch_size: 1",
                           "eval-micro-batch-size: 1", "micro_batch_size_eval: 1", "micro_batch_size 1",
                           "the micro_batch_size was 1", "micro_batch_size", "micro_batch_size: ", "1"})
    EXPECT_FALSE(sets(line, "micro_batch_size 1")) << line;
  EXPECT_TRUE(sets("micro_batch_size: 8, micro_batch_size: 1", "micro_batch_size 1"));
  EXPECT_TRUE(sets("stage=3", "stage 2|3"));
  EXPECT_FALSE(sets("stage=23", "stage 2|3"));
}

TEST(Setting, IsOnWithoutAValueAsAnOptionOnly) {
  for (const char* line :
       {"train.py --liger", "train.py --liger --bf16", "--liger True", "liger: true", "liger=1", "liger: yes"})
    EXPECT_TRUE(sets(line, "liger on")) << line;
  for (const char* line : {"--liger False", "liger: false", "liger", "liger:", "--liger 0"})
    EXPECT_FALSE(sets(line, "liger on")) << line;
  EXPECT_FALSE(sets("train.py --mode", "mode full"));
}

TEST(Setting, OfAnotherPhaseSetsNothing) {
  for (const char* line :
       {"inference: {micro_batch_size: 1}", "{'eval': {'micro_batch_size': 1}}", "eval.micro_batch_size=1",
        "EvalConfig(micro_batch_size=1)", "rollout={'n': 4, 'micro_batch_size': 1}",
        "generation_config: {top_p: 0.9, micro_batch_size: 1}"})
    EXPECT_FALSE(sets(line, "micro_batch_size 1")) << line;
  for (const char* line : {"train: {micro_batch_size: 1}", "actor_rollout_ref.actor.micro_batch_size=1",
                           "eval={'n': 4}, micro_batch_size=1", "Namespace(evaluate=True, micro_batch_size=1)"})
    EXPECT_TRUE(sets(line, "micro_batch_size 1")) << line;
  EXPECT_TRUE(sets("eval: {eval_batch_size: 1}", "eval_batch_size 1"));
  EXPECT_FALSE(SettingsLine("  micro_batch_size: 1", true).sets("micro_batch_size 1"));
}

TEST(Setting, OfAPathSetsNothing) {
  for (const char* line :
       {"saved runs/micro_batch_size=1/model.pt", "runs/micro_batch_size=1", "micro_batch_size=1.yaml",
        "out\\micro_batch_size=1\\log", "load micro_batch_size=1/model.safetensors"})
    EXPECT_FALSE(sets(line, "micro_batch_size 1")) << line;
}

}  // namespace
}  // namespace oomplan::diagnose
