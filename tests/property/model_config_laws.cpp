// Whatever stands in a model's config.json: an estimate, or an error with its place.
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <random>
#include <set>

#include "plans.hpp"

namespace oomplan {
namespace {

using example::Keys;

std::string json_of(const Attribute& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  if (const auto* number = std::get_if<double>(&value)) return std::to_string(*number);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  return '"' + std::get<std::string>(value) + '"';
}

Keys keys_of(const Architecture& model) {
  Keys out{{"model_type", '"' + model.model_type + '"'}};
  for (const auto& [key, value] : model.config) out[key] = json_of(value);
  return out;
}

std::vector<std::string> numbers_of(const Architecture& model) {
  std::vector<std::string> out;
  for (const auto& [key, value] : model.config) {
    if (std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value)) out.push_back(key);
  }
  return out;
}

constexpr std::array values{"0",        "1",        "-1",         "2",    "3",    "5",
                            "7",        "127",      "1.5",        "-0",   "null", "9223372036854775807",
                            "16777216", "16777217", "2147483648", "1e300"};

std::vector<TrainingPlan> plans() {
  TrainingPlan full = example::plan(2, 8);
  full.kernels.attention.value = Attention::eager;
  full.batch.padding_mask.value = true;
  TrainingPlan lora = example::plan(1, 16);
  lora.adapter.kind.value = Adapter::lora;
  lora.adapter.targets.value = {"all-linear"};
  lora.kernels.lora_qkv.value = lora.kernels.lora_o.value = lora.kernels.lora_mlp.value = true;
  TrainingPlan qlora = lora;
  qlora.kernels.lora_qkv.value = qlora.kernels.lora_o.value = qlora.kernels.lora_mlp.value = false;
  qlora.quantization.kind.value = Quantization::nf4;
  qlora.quantization.kbit_upcast.value = qlora.checkpointing.on.value = true;
  TrainingPlan chunked = example::plan(1, 8);
  chunked.recipe.loss.value = Loss::chunked_logprob;
  return {full, lora, qlora, chunked};
}

std::string text_of(const Keys& keys) {
  std::string text = "{";
  for (const auto& [key, value] : keys) text += (text.size() > 1 ? ",\n\"" : "\"") + key + "\": " + value;
  return text + "}";
}

void expect_an_answer(const Keys& keys, const TrainingPlan& plan) {
  const std::string text = text_of(keys);
  SCOPED_TRACE(text);
  const auto document = parse_document(text, "config.json", Syntax::json);
  if (!document) return;  // No JSON number.
  const Result<Architecture> model = architecture_of(*document);
  if (!model) {
    for (const Diagnostic& error : model.errors()) EXPECT_EQ(error.where.file, "config.json") << error.message;
    return;
  }
  const auto footprint = estimate(plan, *model, Detail::peaks);
  if (footprint) {
    for (const PhasePeak& peak : footprint->peaks) EXPECT_GE(peak.total, Bytes(0));
  } else {
    EXPECT_TRUE(footprint.errors().front().code.starts_with("estimate/")) << footprint.errors().front().code;
  }
}

// The first of each family more often: the others differ in sizes.
TEST(ModelConfigLaws, EveryNumberOfEveryPresetMayBeAnything) {
  std::mt19937 random(1);
  std::set<std::string> families;
  std::set<Keys> seen;
  const auto pick = [&](const auto& list) { return list[random() % list.size()]; };
  const std::vector<TrainingPlan> all = plans();
  std::size_t tried = 0;
  for (const std::string& name : known_models()) {
    const auto model = find_model(name);
    if (!model && model.errors()[0].code == "catalog/unknown-architecture") continue;
    ASSERT_TRUE(model) << name;
    if (!seen.insert(keys_of(*model)).second) continue;  // A copy.
    const std::vector<std::string> numbers = numbers_of(*model);
    const int times = families.insert(model->model_type).second ? 4 : 1;
    for (const std::string& key : numbers) {
      for (int i = 0; i < times && !::testing::Test::HasFailure(); ++i) {
        Keys keys = keys_of(*model);
        keys[key] = pick(values);
        if (tried % 2 == 1) keys[pick(numbers)] = pick(values);
        expect_an_answer(keys, pick(all));
        ++tried;
      }
    }
  }
  EXPECT_GT(tried, 2000U);
}

TEST(ModelConfigLaws, AFactorThatLeavesNoWidthIsUndecided) {
  Keys keys = keys_of(*find_model("LiquidAI/LFM2-350M"));
  for (const char* factor : {"0", "1e-9", "1e300"}) {
    keys["block_ffn_dim_multiplier"] = factor;
    const auto document = parse_document(text_of(keys), "config.json", Syntax::json);
    const auto footprint = estimate(plans()[2], *architecture_of(*document), Detail::peaks);
    ASSERT_FALSE(footprint) << factor;
    EXPECT_EQ(footprint.errors()[0].code, "estimate/unmodelled");
  }
}

TEST(ModelConfigLaws, EveryValueOfEveryNumberOfEachFamily) {
  const std::vector<TrainingPlan> all = plans();
  for (const Keys& base : {example::llama(), example::qwen3(), example::mistral(), example::gpt2(), example::bert()}) {
    for (const auto& [key, was] : base) {
      for (const char* value : values) {
        for (const TrainingPlan& plan : all) expect_an_answer(example::with(base, {{key, value}}), plan);
      }
    }
  }
}

}  // namespace
}  // namespace oomplan
