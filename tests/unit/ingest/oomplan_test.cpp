// The plain dialect.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "from_text.hpp"
#include "oomplan/plan/fact_table.hpp"
#include "project.hpp"

namespace oomplan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string least = "model: gpt2\nmicro_batch_size: 2\nsequence_length: 64\n";

TEST(Oomplan, ThreeKeysAreEnough) {
  const TrainingPlan plan = plan_from(least);
  EXPECT_EQ(plan.dialect, "oomplan");
  EXPECT_EQ(plan.framework, "transformers 5.23.0");
  EXPECT_THAT(plan.model.name, is_from("gpt2", "model at 1:8"));
  EXPECT_THAT(plan.batch.micro_batch_size, is_from(2, "micro_batch_size at 2:19"));
  EXPECT_THAT(plan.batch.sequence_length, is_from(64, "sequence_length at 3:18"));
  EXPECT_THAT(plan.warnings, IsEmpty());
  EXPECT_THAT(plan.unmodelled, IsEmpty());
}

TEST(Oomplan, DefaultsNameTheirSource) {
  const TrainingPlan plan = plan_from(least);
  const std::string arguments = "default of transformers 5.23.0: TrainingArguments";
  EXPECT_THAT(plan.batch.gradient_accumulation_steps, is_from(1, arguments));
  EXPECT_THAT(plan.batch.padding_mask, is_from(false, "assumed: all rows are of the same length"));
  EXPECT_THAT(plan.precision.weights_dtype,
              is_from(WeightsDType::checkpoint, "default of transformers 5.23.0: PreTrainedModel.from_pretrained"));
  EXPECT_THAT(plan.precision.autocast, is_from(Autocast::none, arguments));
  EXPECT_THAT(plan.adapter.rank, is_from(8, "default of peft 0.21.2: LoraConfig"));
  EXPECT_THAT(plan.quantization.compute_dtype,
              is_from(DType::fp32, "default of transformers 5.23.0: BitsAndBytesConfig"));
  EXPECT_THAT(plan.optimizer.name, is_from("adamw_fused", arguments));
  EXPECT_THAT(plan.optimizer.clip_gradients, is_from(true, arguments));
  EXPECT_THAT(plan.optimizer.set_grads_to_none, is_from(true, "default of torch 2.13.0: Module.zero_grad"));
}

TEST(Oomplan, OutputsGoToFp32WithAutocast) {
  EXPECT_FALSE(plan_from(least).precision.outputs_to_fp32.value);
  EXPECT_TRUE(plan_from(least + "autocast: bf16\n").precision.outputs_to_fp32.value);
  EXPECT_FALSE(plan_from(least + "autocast: bf16\noutputs_to_fp32: false\n").precision.outputs_to_fp32.value);
}

TEST(Oomplan, NeedsWhatNobodyCanGuess) {
  EXPECT_THAT(errors_from("model: gpt2\nautocast: bf16\n"),
              ElementsAre("c.yaml: ingest/missing-fact: micro_batch_size is not given "
                          "(add micro_batch_size: … or --set micro_batch_size=…)",
                          "c.yaml: ingest/missing-fact: sequence_length is not given "
                          "(add sequence_length: … or --set sequence_length=…)"));
}

TEST(Oomplan, SaysAllThatIsWrongAtOnce) {
  EXPECT_THAT(errors_from("model: [a]\nmicro_batch_size: two\nsequence_length: -1\nautocast: bf17\nlora_dropout: 1\n"),
              ElementsAre("c.yaml:1:8: ingest/bad-value: model: expected a text, found a list",
                          "c.yaml:2:19: ingest/bad-value: micro_batch_size: expected a positive integer, found "
                          "\"two\"; did you mean 2?",
                          "c.yaml:3:18: ingest/bad-value: sequence_length: expected a positive integer, found -1",
                          "c.yaml:4:11: ingest/bad-value: autocast: expected one of none, bf16, fp16, found "
                          "\"bf17\"; did you mean bf16?",
                          "c.yaml:5:15: ingest/bad-value: lora_dropout: expected a number from 0 up to, not "
                          "including, 1, found 1"));
}

TEST(Oomplan, RefusesAbsurdSizes) {
  for (const std::string value : {"0", "-1", "1e30", "99999999999999999999", "2.5", "[2]", "{}", "true", ".inf"}) {
    const auto errors = errors_from("model: a\nsequence_length: 1\nmicro_batch_size: " + value + "\n");
    EXPECT_THAT(errors, ElementsAre(HasSubstr("micro_batch_size: expected a positive integer, found"))) << value;
  }
}

TEST(Oomplan, TakesQuotedNumbers) {
  EXPECT_EQ(plan_from("model: a\nsequence_length: '16'\nmicro_batch_size: \"4\"\n").batch.micro_batch_size.value, 4);
}

TEST(Oomplan, WarnsOfUnknownKeysWithTheNearest) {
  const TrainingPlan plan = plan_from(least + "micro_bach_size: 3\nxyzzy: 1\n");
  EXPECT_THAT(said(plan.warnings),
              ElementsAre("c.yaml:4:1: ingest/unknown-key: unknown key \"micro_bach_size\", ignored "
                          "(did you mean micro_batch_size?)",
                          "c.yaml:5:1: ingest/unknown-key: unknown key \"xyzzy\", ignored"));
}

TEST(Oomplan, UnmodelledFeaturesComeBack) {
  const TrainingPlan plan = plan_from(least + "unmodelled: [FSDP, DeepSpeed]\n");
  EXPECT_THAT(features(plan), ElementsAre("unmodelled: FSDP", "unmodelled: DeepSpeed"));
  EXPECT_THAT(write_plan(plan, "oomplan"), HasSubstr("unmodelled: [FSDP, DeepSpeed]\n"));
}

TEST(Oomplan, TargetsByRegularExpressionsBesideOthersAreUnmodelled) {
  const std::string lora = least + "adapter: lora\nlora_targets: ";
  EXPECT_THAT(features(plan_from(lora + "['model.layers.[0-9]+.q_proj']\n")), IsEmpty());
  const TrainingPlan plan = plan_from(lora + "['model.layers.[0-9]+.q_proj', k_proj]\n");
  EXPECT_THAT(features(plan), ElementsAre("lora_targets: LoRA targets by a regular expression"));
}

TEST(Oomplan, QuantizedWeightsNeedAnAdapter) {
  EXPECT_THAT(errors_from(least + "quantization: nf4\n"),
              ElementsAre("c.yaml:4:15: ingest/conflict: quantized weights cannot be trained without an adapter: "
                          "transformers' Trainer refuses them"));
}

// ---- The manual ----------------------------------------------------------------------------------------------------

std::string type_of(const FactRow& row) {
  if (row.choices.empty() || row.choices.size() > 6) return std::string(row.expected);
  std::string out;
  for (const std::string_view choice : row.choices) out += (out.empty() ? "`" : ", `") + std::string(choice) + "`";
  return out;
}

std::string default_of(const FactRow& row) {
  if (("\n" + least).find("\n" + std::string(row.name) + ":") != std::string::npos) return "needed";
  const std::string value = row.write(plan_from(least));
  return value == "\"\"" ? "empty" : value == "[]" ? "none" : "`" + value + "`";
}

enum class Part { model, mesh, host };

Part part_of(const FactRow& row) { return row.of_host ? Part::host : row.of_mesh ? Part::mesh : Part::model; }

std::string table_of(Part part) {
  std::string out = "| key | type | default | meaning |\n| --- | --- | --- | --- |\n";
  for (const FactRow& row : facts()) {
    if (part_of(row) != part) continue;
    out += "| `" + std::string(row.name) + "` | " + type_of(row) + " | " + default_of(row) + " | " +
           std::string(row.about) + " |\n";
  }
  return out;
}

// Its tables are those of the table of facts. OOMPLAN_UPDATE=1 in the environment writes them there.
TEST(Oomplan, TheManualHasEveryFact) {
  const std::string path = project_folder() + "/docs/oomplan-yaml.md";
  std::ifstream in(path);
  std::string manual{std::istreambuf_iterator<char>(in), {}};
  std::size_t at = manual.find("## Keys");
  for (const Part part : {Part::model, Part::mesh, Part::host}) {
    const std::string table = table_of(part);
    at = manual.find("| key |", at);
    const std::size_t end = manual.find("\n\n", at) + 1;
    if (std::getenv("OOMPLAN_UPDATE") != nullptr) manual.replace(at, end - at, table);
    EXPECT_EQ(manual.substr(at, std::min(end - at, table.size())), table);
    at += table.size();
  }
  if (std::getenv("OOMPLAN_UPDATE") != nullptr) std::ofstream(path) << manual;
}

}  // namespace
}  // namespace oomplan
