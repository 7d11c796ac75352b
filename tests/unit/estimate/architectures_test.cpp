// Every model that the catalog describes has the parameters that it is known to have.
#include <gtest/gtest.h>

#include <filesystem>

#include "every_run.hpp"
#include "plans.hpp"
#include "project.hpp"

namespace oomplan {
namespace {

using estimator::by_litgpt;

std::int64_t parameters_of(const Architecture& model) {
  TrainingPlan plan = example::plan(1, 1);
  if (!model.no_sdpa.empty()) plan.kernels.attention.value = Attention::eager;
  if (model.model_type.starts_with("litgpt")) by_litgpt(plan);
  if (model.model_type == "FluxTransformer2DModel") plan.images.height.value = plan.images.width.value = 64;
  if (!model.packed.empty()) plan.quantization.dequantized.value = Dequantized::on_host;
  return example::played(plan, model).parameters;
}

TEST(Architectures, CountTheParametersThatTheirFilesExpect) {
  const std::set<std::string> parts{"gemma3n_text",      "gemma4_text",   "glm4v_text",       "mllama_text_model",
                                    "ministral3",        "qwen2_vl_text", "qwen3_5_moe_text", "qwen3_5_text",
                                    "qwen3_vl_moe_text", "qwen3_vl_text"};
  int checked = 0;
  for (const auto& file : std::filesystem::directory_iterator(project_folder() + "/models/architectures")) {
    const auto document = read_document(file.path().string());
    ASSERT_TRUE(document.ok()) << file.path();
    const Node* expect = document->root.find("expect");
    if (parts.contains(file.path().stem())) continue;  // Counted with the model that it is a part of.
    ASSERT_NE(expect, nullptr) << file.path() << " names no model by which it can be checked";
    for (const Entry& entry : expect->entries) {
      const auto model = find_model(entry.key);
      ASSERT_TRUE(model.ok()) << entry.key;
      EXPECT_EQ(model->name, file.path().stem()) << entry.key;
      EXPECT_EQ(parameters_of(*model), entry.value.as_integer()) << entry.key;
      ++checked;
    }
  }
  EXPECT_GE(checked, 7);
}

TEST(Architectures, CountTheParametersThatThePresetsState) {
  int checked = 0;
  for (const std::string& id : known_models()) {
    const auto model = find_model(id);
    if (!model && model.errors()[0].code == "catalog/unknown-architecture") continue;
    ASSERT_TRUE(model.ok()) << id;
    if (model->parameters == 0 || !model->not_played.empty()) continue;  // Of quantised weights nothing is counted.
    EXPECT_EQ(parameters_of(*model), model->parameters) << id;
    ++checked;
  }
  EXPECT_GE(checked, 40);
}

}  // namespace
}  // namespace oomplan
