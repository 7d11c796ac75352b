// Models that bitsandbytes quantized before their checkpoint was saved.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "from_text.hpp"
#include "oomplan/catalog/architecture.hpp"

namespace oomplan {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string trl = "model_name_or_path: m\nuse_peft: true\ndtype: bfloat16\nmax_length: 64\noutput_dir: o\n";

Architecture model_with(const QuantizedCheckpoint& quantized, const std::string& source = "m/config.json") {
  Architecture out;
  out.model_type = "llama";
  out.source = source;
  out.checkpoint_dtype = DType::bf16;
  out.quantized = quantized;
  return out;
}

const QuantizedCheckpoint nf4{.nested = true, .compute = DType::bf16};

Result<TrainingPlan> planned(const std::string& lines, const Architecture& model, const std::string& trainer = "sft") {
  IngestOptions options;
  options.trainer = trainer;
  return with_model_defaults(plan_from(lines, options), model);
}

TEST(QuantizedCheckpoint, CountsOverWhatTheConfigAsksFor) {
  const TrainingPlan plan = *planned(trl + "load_in_4bit: true\nbnb_4bit_quant_type: fp4\n", model_with(nf4));
  EXPECT_EQ(plan.quantization.kind.value, Quantization::nf4);
  EXPECT_EQ(plan.quantization.kind.origin.kind, Origin::Kind::model);
  EXPECT_TRUE(plan.quantization.double_quantization.value);
  EXPECT_EQ(plan.quantization.compute_dtype.value, DType::bf16);
  const TrainingPlan unasked = *planned(trl, model_with(nf4));
  EXPECT_EQ(unasked.quantization, plan.quantization);
  EXPECT_EQ(unasked.adapter.dtype.value, AdapterDType::bf16) << "as beside a base that TRL quantizes itself";
}

// Keys of the framework's count nothing, however they are said; a fact by its name does.
TEST(QuantizedCheckpoint, CountsOverWhatTheCommandLineAsksFor) {
  const auto with = [](std::vector<std::string> overrides) {
    IngestOptions options;
    options.trainer = "sft";
    options.overrides = std::move(overrides);
    return *with_model_defaults(plan_from(trl, options), model_with(nf4));
  };
  EXPECT_EQ(with({"load_in_8bit=true"}).quantization.kind.value, Quantization::nf4);
  EXPECT_EQ(with({"dtype=float32"}).quantization.compute_dtype.value, DType::bf16);
  EXPECT_EQ(with({"plan.quantization_compute_dtype=fp32"}).quantization.compute_dtype.value, DType::fp32);
}

TEST(QuantizedCheckpoint, IsUndecidedWhereNobodyRanIt) {
  const auto features = [](const Architecture& model, const std::string& trainer) {
    std::vector<std::string> out;
    const std::string task = trainer == "reward" ? "lora_task_type: SEQ_CLS\n" : "";
    const Result<TrainingPlan> plan = planned(trl + task, model, trainer);
    for (const Unmodelled& one : plan->unmodelled) out.push_back(one.feature);
    return out;
  };
  Architecture unnamed = model_with(nf4);
  unnamed.names_dtype = false;
  EXPECT_THAT(features(unnamed, "sft"), Contains(HasSubstr("names no type of the others")));
  Architecture experts = model_with(nf4);
  experts.body.push_back({.kinds = {{OpSpec{.op = "sparse_moe"}}}});
  EXPECT_THAT(features(experts, "sft"), Contains(HasSubstr("of a mixture of experts")));
  QuantizedCheckpoint listed = nf4;
  listed.skipped = {"lm_head"};
  EXPECT_THAT(features(model_with(listed), "reward"), Contains(HasSubstr("a head of scores too")));
  EXPECT_THAT(features(model_with(listed), "sft"), IsEmpty());
}

TEST(QuantizedCheckpoint, KeepsTheModulesThatItsListNames) {
  QuantizedCheckpoint some = nf4;
  some.skipped = {"lm_head", "model.layers.1.mlp"};
  EXPECT_THAT(planned(trl, model_with(some))->quantization.skipped.value, ElementsAre("lm_head", "model.layers.1.mlp"));
  QuantizedCheckpoint none = nf4;
  none.skipped.emplace();
  EXPECT_THAT(planned(trl, model_with(none))->unmodelled,
              Contains(testing::Field(&Unmodelled::feature, HasSubstr("the head too"))));
}

// Since 5.21 every weight that is not quantized keeps the checkpoint's type; before, it was cast.
TEST(QuantizedCheckpoint, KeepsTheTypeOfItsOtherWeights) {
  const std::string fp32 = "model_name_or_path: m\nuse_peft: true\ndtype: float32\nmax_length: 64\noutput_dir: o\n";
  EXPECT_EQ(planned(fp32, model_with(nf4))->precision.weights_dtype.value, WeightsDType::checkpoint);
  IngestOptions older;
  older.trainer = "sft";
  older.versions = {{.package = "transformers", .version = "5.17.0"}};
  const TrainingPlan cast = *with_model_defaults(plan_from(fp32, older), model_with(nf4));
  EXPECT_THAT(cast.unmodelled, Contains(testing::Field(&Unmodelled::key, "float32")).Times(0));
  EXPECT_THAT(cast.unmodelled,
              Contains(testing::Field(&Unmodelled::feature, HasSubstr("another type than the checkpoint's"))));
}

TEST(QuantizedCheckpoint, IsRefusedOrLeftWhereTheTrainerDoesNotTakeIt) {
  const auto whole =
      planned("model_name_or_path: m\ndtype: bfloat16\nmax_length: 64\noutput_dir: o\n", model_with(nf4));
  ASSERT_FALSE(whole.ok());
  EXPECT_EQ(whole.errors().front().code, "ingest/conflict");
  const auto script =
      planned("model_name_or_path: m\nuse_peft: true\nlora_r: 8\ndtype: bfloat16\nblock_size: 64\noutput_dir: o\n",
              model_with(nf4), "trainer");
  ASSERT_FALSE(script.ok());
  EXPECT_EQ(script.errors().front().code, "ingest/missing-fact") << "kbit_upcast is the script's own";
  const TrainingPlan shared =
      *with_model_defaults(plan_with(trl, {"plan.sharding=fsdp2", "plan.world_size=2"}), model_with(nf4));
  EXPECT_THAT(shared.unmodelled,
              Contains(testing::Field(&Unmodelled::feature, HasSubstr("of a model that ranks share"))));
}

// Of a hub id nobody saw more than the name.
TEST(QuantizedCheckpoint, IsTakenForUnslothsByItsName) {
  const auto of = [](const std::string& id) { return *planned(trl, model_with({.seen = false}, id)); };
  const TrainingPlan plain = of("unsloth/Meta-Llama-3.1-8B-bnb-4bit");
  EXPECT_EQ(plain.quantization.kind.value, Quantization::nf4);
  EXPECT_EQ(plain.quantization.kind.origin.kind, Origin::Kind::assumed);
  EXPECT_TRUE(plain.quantization.double_quantization.value);
  EXPECT_THAT(plain.quantization.skipped.value, IsEmpty());
  const TrainingPlan chosen = of("unsloth/Llama-3.2-1B-Instruct-unsloth-bnb-4bit");
  EXPECT_THAT(chosen.quantization.skipped.value, ElementsAre("lm_head", "model.layers"));
  EXPECT_EQ(chosen.quantization.skipped.origin.kind, Origin::Kind::assumed);
  EXPECT_THAT(of("unsloth/Qwen3-32B-unsloth-bnb-4bit").quantization.skipped.value,
              ElementsAre("lm_head", "model.layers"))
      << "which Unsloth's own loader alone replaces";
  const TrainingPlan others = of("CohereForAI/c4ai-command-r-v01-4bit");
  EXPECT_THAT(others.unmodelled,
              Contains(testing::Field(&Unmodelled::feature, "weights quantized in the checkpoint (bitsandbytes)")));
}

TEST(QuantizedCheckpoint, WantsAxolotlsOwnKeysToo) {
  const std::string lines =
      "base_model: m\nmicro_batch_size: 1\ngradient_accumulation_steps: 1\nsequence_len: 64\nlora_target_linear: true\n"
      "lora_r: 8\nlora_alpha: 8\nbf16: true\noptimizer: adamw_torch\nlearning_rate: 1e-4\n"
      "datasets: [{path: d, type: alpaca}]\n";
  const auto features = [&](const std::string& more) {
    std::vector<std::string> out;
    const Result<TrainingPlan> plan = planned(lines + more, model_with(nf4), "");
    for (const Unmodelled& one : plan->unmodelled) out.push_back(one.feature);
    return out;
  };
  EXPECT_THAT(features("adapter: qlora\nload_in_4bit: true\n"), IsEmpty());
  EXPECT_THAT(features("adapter: lora\n"), Contains("a checkpoint quantized in 4 bits without adapter: qlora"));
}

}  // namespace
}  // namespace oomplan
