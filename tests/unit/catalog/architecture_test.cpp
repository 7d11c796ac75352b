#include <gmock/gmock.h>

#include "tiny_architecture.hpp"

namespace oomplan {
namespace {

TEST(ArchitectureFile, NamesDefaultsQuotientsAndProducts) {
  const Result<Architecture> out = read(good);
  ASSERT_TRUE(out.ok()) << to_text(out.errors()[0]);
  EXPECT_EQ(out->name, "tiny");
  EXPECT_EQ(out->source, "config.json");
  EXPECT_EQ(out->layers, 3);
  EXPECT_TRUE(out->tied_embeddings);
  EXPECT_EQ(out->max_positions, 512);
  EXPECT_EQ(out->checkpoint_dtype, DType::fp32);
  EXPECT_FALSE(out->names_dtype);
  ASSERT_EQ(out->body.front().stem.size(), 1U);
  EXPECT_EQ(out->body.front().stem[0].module, "wte");
  EXPECT_EQ(attribute<std::int64_t>(out->body.front().stem[0], "rows"), 100);
  ASSERT_EQ(out->body.front().kinds.front().size(), 2U);
  EXPECT_EQ(attribute<std::int64_t>(out->body.front().kinds.front()[0], "window"), 512);
  EXPECT_EQ(attribute<double>(out->body.front().kinds.front()[0], "dropout"), 0.1);
  EXPECT_FALSE(attribute<bool>(out->body.front().kinds.front()[0], "bias"));
  EXPECT_EQ(out->body.front().kinds.front()[1].module, "");
  EXPECT_EQ(attribute<std::int64_t>(out->body.front().kinds.front()[1], "inner"), 256);
  EXPECT_EQ(attribute<std::int64_t>(out->body.front().kinds.front()[1], "kv"), 64);
  EXPECT_EQ(attribute<std::string>(out->body.front().kinds.front()[1], "act"), "gelu");
  EXPECT_EQ(attribute<std::string>(out->body.front().kinds.front()[1], "approximate"), "tanh");
  EXPECT_TRUE(out->tail.empty());
}

TEST(ArchitectureFile, AnAbsentValueLeavesTheAttributeOut) {
  const Result<Architecture> out =
      read(R"({"model_type": "tiny", "n_embd": 64, "heads": 4})", with("max_positions: $window", "max_positions: 0"));
  ASSERT_TRUE(out.ok()) << to_text(out.errors()[0]);
  EXPECT_EQ(out->body.front().kinds.front()[0].find("window"), nullptr);
  EXPECT_EQ(attribute<std::int64_t>(out->body.front().kinds.front()[0], "width"), 64);
  for (const auto& [key, value] : out->config) EXPECT_NE(key, "window");
}

TEST(ArchitectureFile, AnItemOfAListIsAKey) {
  const std::string file = with("inner: {type: integer, default: {product: [4, $width]}}",
                                "inner: {type: integer, default: 5, aliases: [sizes], item: 1}");
  const auto inner = [&](const std::string& sizes) {
    const Result<Architecture> out =
        read(R"({"model_type": "tiny", "width": 64, "heads": 4, "window": 1)" + sizes + "}", file);
    return out ? attribute<std::int64_t>(out->body.front().kinds.front()[1], "inner") : -1;
  };
  EXPECT_EQ(inner(", \"sizes\": [3, 7]"), 7);
  EXPECT_EQ(inner(""), 5);
  EXPECT_EQ(inner(", \"sizes\": [3]"), -1);
}

TEST(ArchitectureFile, AKeyMayStandInAMappingOfAMapping) {
  const std::string file = with("inner: {type: integer, default: {product: [4, $width]}}",
                                "inner: {type: integer, default: 5, aliases: [whole.part.inner]}");
  const auto inner = [&](const std::string& whole) {
    const Result<Architecture> out =
        read(R"({"model_type": "tiny", "width": 64, "heads": 4, "window": 1)" + whole + "}", file);
    return out ? attribute<std::int64_t>(out->body.front().kinds.front()[1], "inner") : -1;
  };
  EXPECT_EQ(inner(R"(, "whole": {"part": {"inner": 7}})"), 7);
  EXPECT_EQ(inner(R"(, "whole": {"part": 7})"), 5);
  EXPECT_EQ(inner(R"(, "whole": 7)"), 5);
}

TEST(ArchitectureFile, ADefaultHasTheTypeOfItsKey) {
  const Result<Architecture> out = read(good, with("default: 0.1", "default: 0"));
  ASSERT_TRUE(out.ok()) << to_text(out.errors()[0]);
  EXPECT_EQ(attribute<double>(out->body.front().kinds.front()[0], "dropout"), 0.0);
}

TEST(ArchitectureFile, AFileServesTheTypesThatItLists) {
  const Result<Architecture> out = read(R"({"model_type": "tiny_two", "width": 64, "heads": 4, "window": 1})");
  ASSERT_TRUE(out.ok()) << to_text(out.errors()[0]);
  EXPECT_EQ(out->name, "tiny");
  EXPECT_EQ(out->model_type, "tiny_two");
}

TEST(ArchitectureFile, TheCheckpointsTypeUnderEitherKey) {
  EXPECT_EQ(read(R"({"model_type": "tiny", "width": 8, "heads": 4, "window": 1, "torch_dtype": "bfloat16"})")
                ->checkpoint_dtype,
            DType::bf16);
  EXPECT_EQ(read(R"({"model_type": "tiny", "width": 8, "heads": 4, "window": 1, "dtype": "float16",
"torch_dtype": "bfloat16"})")
                ->checkpoint_dtype,
            DType::fp16);
  EXPECT_EQ(errors(R"({"model_type": "tiny", "width": 8, "heads": 4, "window": 1, "dtype": "int8"})"),
            "config.json:1:70: error: \"int8\" is not a type that weights are trained in [catalog/bad-value]\n"
            "    {\"model_type\": \"tiny\", \"width\": 8, \"heads\": 4, \"window\": 1, \"dtype\": \"int8\"}\n"
            "                                                                         ^\n"
            "hint: known: float32, bfloat16 and float16.\n");
}

TEST(ArchitectureFile, EachMissingKeyIsNamedAndNothingThatFollowsFromIt) {
  EXPECT_EQ(errors(R"({"model_type": "tiny", "width": null})"),
            "config.json: error: \"width\" is missing [catalog/missing-key]\n"
            "config.json: error: \"heads\" is missing [catalog/missing-key]\n");
  EXPECT_EQ(errors("{}"), "config.json: error: \"model_type\" is missing [catalog/missing-key]\n");
}

TEST(ArchitectureFile, AnUnknownTypeIsAnErrorWithTheNearestOne) {
  EXPECT_EQ(read(R"({"model_type": "gemma9"})", std::string(tiny)).errors()[0].code, "catalog/unknown-architecture");
  const std::string text = errors(R"({"model_type": "gemma9"})");
  EXPECT_EQ(text.substr(0, text.find("hint")),
            "config.json:1:16: error: model_type \"gemma9\" is not an architecture that is known "
            "[catalog/unknown-architecture]\n    {\"model_type\": \"gemma9\"}\n                   ^\n");
  EXPECT_NE(text.find("hint: did you mean gemma? oomplan models --families lists those that are known"),
            std::string::npos)
      << text;
}

TEST(ArchitectureFile, AKeyMayHaveAMostOfItsOwn) {
  const std::string file =
      with("experts: {type: integer, default: 0}", "experts: {type: integer, default: 1, maximum: 1}");
  EXPECT_TRUE(read(R"({"model_type": "tiny", "width": 64, "heads": 4, "window": 512, "experts": 1})", file).ok());
  EXPECT_NE(errors(R"({"model_type": "tiny", "width": 64, "heads": 4, "window": 512, "experts": 2})", file)
                .find("\"experts\" must be a whole number from 1 to 1, not 2"),
            std::string::npos);
}

TEST(ArchitectureFile, WordsAreInOrderHoweverTheConfigHasThem) {
  const std::string file = with("act: {type: string, default: gelu}", "act: {type: words, default: \"\"}");
  const auto words = [&](const std::string& value) {
    const auto out =
        read(R"({"model_type": "tiny", "width": 64, "heads": 4, "window": 512, "act": )" + value + "}", file);
    return out ? attribute<std::string>(out->body[0].kinds[0][1], "act") : "refused";
  };
  EXPECT_EQ(words(R"(["p2c", "c2p"])"), "c2p|p2c");
  EXPECT_EQ(words("\"p2c|c2p\""), "c2p|p2c");
  EXPECT_EQ(words("null"), "");
  EXPECT_EQ(words("3"), "refused");
}

TEST(ArchitectureFile, LabelsAreWhatTheConfigCountsOrNames) {
  const auto labels = [](const std::string& more) {
    const auto out = read(R"({"model_type": "tiny", "width": 64, "heads": 4, "window": 512)" + more + "}");
    return out ? out->labels : -1;
  };
  EXPECT_EQ(labels(""), 2);
  EXPECT_EQ(labels(R"(, "num_labels": 7)"), 7);
  EXPECT_EQ(labels(R"(, "id2label": {"0": "a", "1": "b", "2": "c"})"), 3);
}

TEST(ArchitectureFile, GroupsDecodersAndOtherHeads) {
  const auto out =
      read(good, with("layers: 3\n", "layers: 3\ngroups: 1\nheads:\n  token_classification: {op: tags}\n"));
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(out->body[0].groups, 1);
  EXPECT_FALSE(out->body[0].decodes);
  ASSERT_EQ(out->heads.size(), 1U);
  EXPECT_EQ(out->heads[0].first, Task::token_classification);
  EXPECT_EQ(out->heads[0].second.op, "tags");
}

TEST(ArchitectureFile, ValuesOfTheWrongKindOrSize) {
  const auto message = [](const std::string& key, const std::string& value) {
    const Result<Architecture> out =
        read(R"({"model_type": "tiny", "width": 64, "heads": 4, "window": 512, ")" + key + "\": " + value + "}");
    return out.ok() ? std::string("no error") : out.errors()[0].code + ": " + out.errors()[0].message;
  };
  const std::string bad = "catalog/bad-value: ";
  EXPECT_EQ(message("inner", "-1"), bad + "\"inner\" must be a whole number from 1 to 16,777,216, not -1");
  EXPECT_EQ(message("inner", "0"), bad + "\"inner\" must be a whole number from 1 to 16,777,216, not 0");
  EXPECT_EQ(message("inner", "16777217"), bad + "\"inner\" must be a whole number from 1 to 16,777,216, not 16777217");
  EXPECT_EQ(message("inner", "9999999999999999999999"),
            bad + "\"inner\" must be a whole number from 1 to 16,777,216, not 9999999999999999999999");
  EXPECT_EQ(message("inner", "1.5"), bad + "\"inner\" must be a whole number from 1 to 16,777,216, not 1.5");
  EXPECT_EQ(message("inner", "[1]"), bad + "\"inner\" must be a whole number from 1 to 16,777,216, not a list");
  EXPECT_EQ(message("inner", "{}"), bad + "\"inner\" must be a whole number from 1 to 16,777,216, not a mapping");
  EXPECT_EQ(message("inner", "true"), bad + "\"inner\" must be a whole number from 1 to 16,777,216, not true");
  EXPECT_EQ(message("experts", "0"), "no error");
  EXPECT_EQ(message("experts", "-1"), bad + "\"experts\" must be a whole number from 0 to 16,777,216, not -1");
  EXPECT_EQ(message("dropout", "-0.5"), bad + "\"dropout\" must be a number of at least 0, not -0.5");
  EXPECT_EQ(message("bias", "\"maybe\""), bad + "\"bias\" must be true or false, not \"maybe\"");
  EXPECT_EQ(message("inner", "\"1000\""), bad + "\"inner\" must be a whole number from 1 to 16,777,216, not \"1000\"");
  EXPECT_EQ(message("dropout", "\"0.1\""), bad + "\"dropout\" must be a number of at least 0, not \"0.1\"");
  EXPECT_EQ(message("bias", "\"true\""), bad + "\"bias\" must be true or false, not \"true\"");
  EXPECT_EQ(message("act", "7"), bad + "\"act\" must be text, not 7");
}

TEST(ArchitectureFile, AQuotientMustDivide) {
  EXPECT_EQ(errors(R"({"model_type": "tiny", "width": 64, "heads": 5})"),
            "config.json:1:33: error: \"width\" (64) is not a multiple of \"heads\" (5) [catalog/bad-value]\n"
            "    {\"model_type\": \"tiny\", \"width\": 64, \"heads\": 5}\n"
            "                                    ^\n");
}

TEST(ArchitectureFile, ADivisorMustDivide) {
  EXPECT_TRUE(read(R"({"model_type": "tiny", "width": 64, "heads": 4, "window": 1, "kv_heads": 2})").ok());
  EXPECT_EQ(errors(R"({"model_type": "tiny", "width": 64, "heads": 4, "kv_heads": 3})"),
            "config.json:1:61: error: \"kv_heads\" (3) does not divide \"heads\" (4) [catalog/bad-value]\n"
            "    {\"model_type\": \"tiny\", \"width\": 64, \"heads\": 4, \"kv_heads\": 3}\n"
            "                                                                ^\n");
  const std::string by_default = errors(R"({"model_type": "tiny", "width": 64, "heads": 4})",
                                        with("default: $heads, divides", "default: 3, divides"));
  EXPECT_EQ(by_default.substr(0, by_default.find('[')),
            "config.json:1:46: error: \"kv_heads\" (3) does not divide \"heads\" (4) ");
}

TEST(ArchitectureFile, AMultipleMustBeOne) {
  const std::string file = with("default: $heads, divides: $heads", "default: 2, multiple_of: 2");
  EXPECT_TRUE(read(R"({"model_type": "tiny", "width": 64, "heads": 4, "window": 1, "kv_heads": 6})", file).ok());
  const std::string text = errors(R"({"model_type": "tiny", "width": 64, "heads": 4, "kv_heads": 3})", file);
  EXPECT_EQ(text.substr(0, text.find('[')), "config.json:1:61: error: \"kv_heads\" (3) is not a multiple of 2 ");
}

TEST(ArchitectureFile, TooManyLayersAreRefusedAtTheirKey) {
  const std::string text = errors(R"({"model_type": "tiny", "width": 16777216, "heads": 4, "window": 1})",
                                  with("layers: 3", "layers: $width"));
  EXPECT_EQ(text.substr(0, text.find("\n")),
            "config.json:1:33: error: a model has from 0 to 10,000 layers, not 16777216 [catalog/bad-value]");
}

TEST(ArchitectureFile, AConfigThatIsNoMapping) {
  EXPECT_EQ(errors("[1, 2]"),
            "config.json: error: a model's config is a mapping of keys, which this is not [catalog/bad-value]\n");
}

struct Broken {
  std::string_view from;
  std::string_view to;
  std::string_view message;
};

class BrokenArchitecture : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenArchitecture, IsRefused) {
  const Result<Architecture> out = read(good, with(GetParam().from, GetParam().to));
  ASSERT_FALSE(out.ok());
  EXPECT_EQ(out.errors()[0].message, GetParam().message);
  EXPECT_EQ(out.errors()[0].code, "catalog/bad-file");
  EXPECT_EQ(out.errors()[0].where.file, "tiny.yaml");
}

INSTANTIATE_TEST_SUITE_P(
    , BrokenArchitecture,
    ::testing::Values(
        Broken{"task: causal_lm", "task: chess",
               "\"task\" must be causal_lm, masked_lm, sequence_to_sequence, classification, segmentation, ctc, "
               "contrastive or denoising, not \"chess\""},
        Broken{"task: causal_lm", "tusk: causal_lm", "unknown key \"tusk\""},
        Broken{"source: a test", "source: a test\nextra: 1", "unknown key \"extra\""},
        Broken{"layers: 3", "layers: $nothing", "\"$nothing\" is not declared under \"config\" above"},
        Broken{"layers: 3", "layers: many", "\"layers\" must be a whole number"},
        Broken{"layers: 3", "layers: 10001", "a model has from 0 to 10,000 layers, not 10001"},
        Broken{"layers: 3", "layers: -1", "a model has from 0 to 10,000 layers, not -1"},
        Broken{"layers: 3\n", "", "\"layers\" is missing"},
        Broken{"layers: 3", "groups: 0\nlayers: 3", "\"groups\" must be a whole number from 1 on"},
        Broken{"layers: 3", "heads: {chess: {op: x}}\nlayers: 3", "\"chess\" is no task"},
        Broken{"tied_embeddings: true", "tied_embeddings: 1.5", "\"tied_embeddings\" must be true or false"},
        Broken{"tail: []", "tail: 3", "\"tail\" must be a list of ops, not 3"},
        Broken{"op: embedding, ", "", "\"op\" is missing"},
        Broken{"rows: 100", "rows: [1, 2]", "expected a value, not a list"},
        Broken{"rows: 100", "rows: {sum: [1, 2]}",
               "expected {quotient: [a, b]}, {product: [a, b]}, {difference: [a, b]} or {part: [a, b]}"},
        Broken{"rows: 100", "rows: {quotient: [1, 2, 3]}", "a quotient has two operands"},
        Broken{"rows: 100", "rows: {difference: [10, 2, 3]}", "a difference has two operands"},
        Broken{"rows: 100", "rows: {difference: [10]}", "a difference has two operands"},
        Broken{"divides: $heads", "divides: 4", "\"divides\" names a key declared above (\"$heads\")"},
        Broken{"divides: $heads", "multiple_of: 0", "\"multiple_of\" must be a whole number from 1 on"},
        Broken{"rows: 100", "rows: {product: []}", "expected operands here"},
        Broken{"rows: 100", "rows: {product: [$act, 2]}", "\"$act\" is not a whole number here"},
        Broken{"{type: boolean, default: false}", "{type: boolean}", "\"bias\" is neither required nor has a default"},
        Broken{"{type: boolean, default: false}", "{type: colour, default: false}",
               "\"bias\" must be declared as {type: integer, number, boolean, string, words, length, numbers, "
               "sizes, counts or names, required: true or "
               "default: …, "
               "aliases: […], minimum: …, optional: true, divides: …, multiple_of: …, square: true, alike: true, item: "
               "0}"},
        Broken{"{type: boolean, default: false}", "boolean",
               "\"bias\" must be declared as {type: integer, number, boolean, string, words, length, numbers, "
               "sizes, counts or names, required: true or "
               "default: …, "
               "aliases: […], minimum: …, optional: true, divides: …, multiple_of: …, square: true, alike: true, item: "
               "0}"},
        Broken{"default: gelu", "default: [1]", "the default of \"act\" must be text, not a list"},
        Broken{"some/model: 1000", "some/model: many", "\"some/model\" must be a whole number above 0, not \"many\""},
        Broken{"expect:\n  some/model: 1000", "expect: 1", "expected keys and values here, not 1"}));

TEST(ArchitectureFile, AHugeFileIsRefusedByTheReadersBudget) {
  std::string text(tiny);
  for (int i = 0; i < 200'000; ++i) text += "  a" + std::to_string(i) + ": 1\n";
  const Result<Architecture> out = read(good, std::move(text));
  ASSERT_FALSE(out.ok());
  EXPECT_EQ(out.errors()[0].code, "read/too-many-nodes");
}

TEST(ArchitectureFile, NamesWhatAConfigSwitchesOnAndNoOpPlays) {
  const std::string file = with("layers: 3", "not_played: {cross: cross attention}\nlayers: 3");
  const auto features = [&](const std::string& more) {
    const Result<Architecture> out =
        read(R"({"model_type": "tiny", "width": 64, "heads": 4, "window": 512)" + more + "}", file);
    EXPECT_TRUE(out.ok()) << to_text(out.errors()[0]);
    return out ? out->not_played : std::vector<std::string>{};
  };
  EXPECT_EQ(features(""), std::vector<std::string>{});
  EXPECT_EQ(features(R"(, "cross": false, "quantization_config": null)"), std::vector<std::string>{});
  EXPECT_EQ(features(R"(, "cross": true)"), std::vector<std::string>{"cross attention"});
  EXPECT_EQ(features(R"(, "quantization_config": {"quant_method": "gptq"})"),
            std::vector<std::string>{"weights quantized in the checkpoint (gptq)"});
}

TEST(ArchitectureFile, SaysOfEachPartWhetherLigerHasIt) {
  const std::string config = R"({"model_type": "tiny", "width": 64, "heads": 4, "window": 512})";
  const auto parts = [&](const std::string& text) {
    const Result<Architecture> out = read(config, with("layers: 3", "liger: " + text + "\nlayers: 3"));
    EXPECT_TRUE(out.ok()) << to_text(out.errors()[0]);
    return out ? out->liger : LigerParts{};
  };
  using Norm = LigerParts::Norm;
  EXPECT_EQ(read(config, std::string(tiny))->liger, LigerParts{});
  EXPECT_EQ(parts("true"),
            (LigerParts{.rms_norm = Norm::in_place, .rope = true, .glu = true, .layer_norm = false, .loss = true}));
  EXPECT_EQ(parts("false"),
            (LigerParts{.rms_norm = Norm::none, .rope = false, .glu = false, .layer_norm = false, .loss = false}));
  EXPECT_EQ(parts("{rms_norm: copied, rope: true}"), (LigerParts{.rms_norm = Norm::copied, .rope = true}));
  EXPECT_THAT(errors(config, with("layers: 3", "liger: {ropes: true}\nlayers: 3")),
              testing::HasSubstr("\"liger\" has rms_norm"));
}

TEST(ArchitectureFile, DifferencesAndSwitchedOffKeys) {
  const std::string file = with("{type: integer, default: null}", "{type: integer, default: 4096, optional: true}");
  const auto has_window = [&](const std::string& window) {
    const std::string fixed = std::string(file).replace(file.find("max_positions: $window"), 22, "max_positions: 0");
    const Result<Architecture> out = read(R"({"model_type": "tiny", "width": 64, "heads": 4)" + window + "}", fixed);
    return out.ok() && out->body.front().kinds.front()[0].find("window") != nullptr;
  };
  EXPECT_TRUE(has_window(""));
  EXPECT_FALSE(has_window(R"(, "window": null)"));
  const Result<Architecture> less =
      read(good, with("max_positions: $window", "max_positions: {difference: [$window, 2]}"));
  EXPECT_EQ(less->max_positions, 510);
}

}  // namespace
}  // namespace oomplan
