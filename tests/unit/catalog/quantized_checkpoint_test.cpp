// What a config.json says of weights that bitsandbytes quantized.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "oomplan/catalog/catalog.hpp"

namespace oomplan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Architecture model_with(const std::string& quantization) {
  const std::string config =
      R"({"model_type": "llama", "vocab_size": 1000, "hidden_size": 64, "intermediate_size": 128, "dtype": "bfloat16",
          "num_hidden_layers": 2, "num_attention_heads": 4, "quantization_config": )";
  return architecture_of(*parse_document(config + quantization + "}", "m/config.json", Syntax::json)).value();
}

const std::string nf4 = R"({"quant_method": "bitsandbytes", "load_in_4bit": true, "bnb_4bit_quant_type": "nf4",
                            "bnb_4bit_use_double_quant": true, "bnb_4bit_compute_dtype": "bfloat16"})";

TEST(QuantizedCheckpoint, ReadsWhatBitsAndBytesConfigWrites) {
  const QuantizedCheckpoint four = *model_with(nf4).quantized;
  EXPECT_TRUE(four.seen && four.nested);
  EXPECT_EQ(four.bits, 4);
  EXPECT_EQ(four.kind, "nf4");
  EXPECT_EQ(four.compute, DType::bf16);
  EXPECT_FALSE(four.skipped.has_value());
  const QuantizedCheckpoint bare = *model_with(R"({"quant_method": "bitsandbytes", "load_in_4bit": true})").quantized;
  EXPECT_EQ(bare.kind, "fp4") << "BitsAndBytesConfig's own default";
  EXPECT_EQ(bare.compute, DType::fp32);
  EXPECT_FALSE(bare.nested);
  EXPECT_EQ(model_with(R"({"quant_method": "bitsandbytes", "load_in_8bit": true})").quantized->bits, 8);
  EXPECT_FALSE(model_with(R"({"quant_method": "bitsandbytes"})").quantized->seen);
}

TEST(QuantizedCheckpoint, LeavesUndecidedWhatItDoesNotRead) {
  const auto not_played = [](const std::string& more) {
    return model_with(R"({"quant_method": "bitsandbytes", )" + more + "}").not_played;
  };
  const std::string gap = "weights quantized in the checkpoint (bitsandbytes)";
  EXPECT_THAT(not_played(R"("load_in_4bit": true)"), IsEmpty());
  EXPECT_THAT(not_played(R"("load_in_4bit": true, "load_in_8bit": true)"), ElementsAre(gap));
  EXPECT_THAT(not_played(R"("load_in_4bit": false)"), ElementsAre(gap));
  EXPECT_THAT(not_played(R"("_load_in_4bit": true)"), ElementsAre(gap)) << "transformers does not read it";
  EXPECT_THAT(not_played(R"("load_in_4bit": "true")"), ElementsAre(gap));
  EXPECT_THAT(not_played(R"("load_in_8bit": true, "llm_int8_threshold": 6.0)"), IsEmpty());
  EXPECT_THAT(not_played(R"("load_in_8bit": true, "llm_int8_threshold": 0.0)"), ElementsAre(gap));
  EXPECT_THAT(not_played(R"("load_in_8bit": true, "llm_int8_threshold": 6)"), ElementsAre(gap));
  EXPECT_THAT(not_played(R"("load_in_8bit": true, "llm_int8_has_fp16_weight": true)"), ElementsAre(gap));
  EXPECT_THAT(not_played(R"("load_in_4bit": true, "bnb_4bit_quant_storage": "int4")"), ElementsAre(gap));
  EXPECT_THAT(not_played(R"("load_in_4bit": true, "llm_int8_skip_modules": ["lm_head", 1])"), ElementsAre(gap));
  EXPECT_THAT(not_played(R"("load_in_4bit": true, "bnb_4bit_quant_type": "nf5")"), ElementsAre(gap));
  EXPECT_THAT(not_played(R"("load_in_4bit": true, "bnb_4bit_compute_dtype": "int8")"), ElementsAre(gap));
  EXPECT_THAT(not_played(R"("load_in_4bit": true, "llm_int8_skip_modules": "lm_head")"), ElementsAre(gap));
  EXPECT_THAT(not_played(R"("load_in_4bit": true, "llm_int8_skip_modules": [[]])"), ElementsAre(gap));
}

TEST(QuantizedCheckpoint, AMethodWithoutANameIsNotPlayed) {
  for (const std::string method : {"null", R"(["bitsandbytes"])"}) {
    EXPECT_THAT(model_with(R"({"load_in_4bit": true, "quant_method": )" + method + "}").not_played,
                ElementsAre("weights quantized in the checkpoint"));
  }
}

// Of a model that sees images too: the whole's config.json has it.
TEST(QuantizedCheckpoint, IsOfTheWholeModel) {
  EXPECT_FALSE(find_model("unsloth/Qwen2-VL-7B-bnb-4bit")->quantized->seen);
}

}  // namespace
}  // namespace oomplan
