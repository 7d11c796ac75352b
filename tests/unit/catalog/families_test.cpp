// models/architectures beside what transformers' models say of themselves (scripts/framework_keys.py writes it).
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

#include "oomplan/catalog/catalog.hpp"
#include "project.hpp"

namespace oomplan {
namespace {

std::set<std::string> transformers_lines() {
  std::ifstream file(project_folder() + "/tests/data/arguments/transformers-5.23.0.models.txt");
  std::set<std::string> out;
  for (std::string line; std::getline(file, line);) out.insert(line);
  return out;
}

TEST(Families, HaveSdpaAndLossesOfRoutersWhereTransformersHasThem) {
  const std::set<std::string> lines = transformers_lines();
  std::set<std::string> seen;
  for (const std::string& id : known_models()) {
    const Result<Architecture> model = find_model(id);
    if (!model) {
      ASSERT_EQ(model.errors()[0].code, "catalog/unknown-architecture") << id;
      continue;
    }
    if (!model->not_played.empty() || !seen.insert(model->model_type).second) continue;
    EXPECT_EQ(!model->no_sdpa.empty(), lines.contains(model->model_type + " no_sdpa")) << model->model_type;
    // Of a model of parts the language model's config says it, which trainers ask.
    const auto has = [&](const std::string& key) {
      return lines.contains(model->model_type + key) || lines.contains(model->model_type + "_text" + key);
    };
    EXPECT_EQ(model->router_logits, has(" output_router_logits")) << model->model_type;
    EXPECT_EQ(model->router_loss != 0, has(" router_aux_loss_coef")) << model->model_type;
  }
  EXPECT_GE(seen.size(), 25U);
}

TEST(Families, SayWhereTransformersHasNoSdpa) {
  EXPECT_EQ(find_model("google/gemma-2-2b")->no_sdpa,
            "transformers 5.23.0: Gemma2PreTrainedModel._supports_sdpa = False");
  EXPECT_TRUE(find_model("mistralai/Mixtral-8x7B-v0.1")->router_logits);
}

TEST(Families, SayWhetherUnslothsLayersArePlayed) {
  EXPECT_TRUE(find_model("meta-llama/Llama-3.2-1B")->unsloth);
  EXPECT_TRUE(find_model("mistralai/Mistral-7B-v0.3")->unsloth);
  EXPECT_TRUE(find_model("google/gemma-2-2b")->unsloth);
  EXPECT_FALSE(find_model("google/gemma-3-1b-it")->unsloth);
}

TEST(Families, SayWhatTheyCannotBecome) {
  const auto has = [](const std::string& id) {
    const Architecture model = *find_model(id);
    return std::pair(model.cut_cross_entropy, model.sequence_classifier);
  };
  EXPECT_EQ(has("meta-llama/Llama-3.2-1B"), std::pair(true, true));
  EXPECT_EQ(has("openai-community/gpt2"), std::pair(false, true));
  EXPECT_EQ(has("microsoft/phi-2"), std::pair(false, true));
  EXPECT_EQ(has("CohereForAI/c4ai-command-r-v01"), std::pair(true, false));
}

}  // namespace
}  // namespace oomplan
