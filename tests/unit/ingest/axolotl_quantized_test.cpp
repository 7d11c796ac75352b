// Axolotl's dialect where weights are quantized.
#include "from_text.hpp"

namespace oomplan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string full = "base_model: a/b\nmicro_batch_size: 2\ngradient_accumulation_steps: 4\n";
const std::string off = "lora_qkv_kernel: false\nlora_o_kernel: false\nlora_mlp_kernel: false\n";
const std::string qlora = full + "adapter: qlora\nload_in_4bit: true\nlora_r: 16\nlora_target_linear: true\n" + off;

TEST(Axolotl, Qlora) {
  const TrainingPlan plan = plan_from(qlora);
  EXPECT_THAT(plan.quantization.kind, is_from(Quantization::nf4, "adapter at 4:10"));
  EXPECT_THAT(plan.quantization.double_quantization, is_from(true, "default of axolotl 0.18.0: ModelLoader"));
  EXPECT_THAT(plan.quantization.compute_dtype, is_from(DType::bf16, "default of axolotl 0.18.0: ModelLoader"));
  EXPECT_THAT(plan.adapter.targets, is_from(std::vector<std::string>{"all-linear"}, "lora_target_linear at 7:21"));
  EXPECT_THAT(plan.adapter.dropout, is_from(0.0, "default of axolotl 0.18.0: AxolotlInputConfig"));
  EXPECT_THAT(plan.adapter.dtype,
              is_from(AdapterDType::fp32, "default of peft 0.19.1: get_peft_model(autocast_adapter_dtype=True)"));
  EXPECT_THAT(plan.quantization.kbit_upcast,
              is_from(false, "default of axolotl 0.18.0: ModelLoader casts norms, embeddings and head back"));
  EXPECT_FALSE(plan.precision.fp32_norms.value);
  EXPECT_THAT(features(plan), IsEmpty());
}

TEST(Axolotl, BitsAndBytesArguments) {
  const TrainingPlan plan = plan_from(qlora +
                                      "bnb_config_kwargs: {bnb_4bit_use_double_quant: false, "
                                      "bnb_4bit_quant_type: fp4, bnb_4bit_compute_dtype: float16}\n");
  EXPECT_EQ(plan.quantization.kind.value, Quantization::fp4);
  EXPECT_FALSE(plan.quantization.double_quantization.value);
  EXPECT_EQ(plan.quantization.compute_dtype.value, DType::fp16);
}

TEST(Axolotl, ReadsWeightsOf8Bits) {
  const std::string eight = full + "adapter: lora\nlora_r: 8\nlora_target_linear: true\nload_in_8bit: true\n" + off;
  EXPECT_EQ(plan_from(eight).quantization.kind.value, Quantization::int8);
  EXPECT_THAT(features(plan_from(eight)), IsEmpty());
  // Without bf16 and fp16 the weights are fp16 all the same, and nothing is cast (resolve_dtype).
  const TrainingPlan half = plan_from(eight + "bf16: false\n");
  EXPECT_EQ(half.precision.weights_dtype.value, WeightsDType::fp16);
  EXPECT_EQ(half.precision.autocast.value, Autocast::none);
}

TEST(Axolotl, RefusesWeightsOf8BitsWithWhatAxolotlRefuses) {
  const std::string eight = "lora_r: 8\nlora_target_linear: true\nload_in_8bit: true\nflash_attention: true\n";
  EXPECT_THAT(errors_from(full + "adapter: qlora\nload_in_4bit: true\n" + eight),
              ElementsAre(HasSubstr("axolotl refuses load_in_8bit with adapter: qlora")));
  EXPECT_THAT(errors_from(full + "flash_attention: true\nload_in_8bit: true\n"),
              ElementsAre(HasSubstr("load_in_8bit needs adapter: lora")));
  EXPECT_THAT(errors_from(full + "adapter: lora\nlora_o_kernel: true\n" + eight),
              ElementsAre(HasSubstr("axolotl refuses load_in_8bit with lora_o_kernel")));
}

}  // namespace
}  // namespace oomplan
