// Which layers an architecture has, by rule, list and segment.
#include "tiny_architecture.hpp"

namespace oomplan {
namespace {

/// The kinds of the first segment's layers as letters, each kind's own ops after it.
std::string kinds(const std::string& rules, const std::string& more = "", const std::string& layers = "6") {
  std::string file = with("layers: 3\n", "layers: " + layers + "\nkinds:\n" + rules);
  const std::size_t mlp = file.find("  - {op: mlp");
  file.insert(mlp, "  - {op: near, only: sliding}\n  - {op: sparse, only: experts}\n");
  const Result<Architecture> out =
      read(R"({"model_type": "tiny", "width": 64, "heads": 4, "window": 512)" + more + "}", file);
  if (!out) return out.errors()[0].message;
  const Segment& segment = out->body.front();
  std::string text;
  for (const std::uint8_t kind : segment.layers) {
    std::string ops;
    for (const OpSpec& op : segment.kinds[kind]) ops += op.op == "near" ? "s" : op.op == "sparse" ? "e" : "";
    text += ops.empty() ? "-" : "(" + ops + ")";
  }
  return text;
}

TEST(ArchitectureFile, KindsOfLayersByRule) {
  EXPECT_EQ(kinds("  a: [{pattern: [sliding, full]}]\n"), "(s)-(s)-(s)-");
  EXPECT_EQ(kinds("  a: [{every: 3, is: full}, {is: sliding}]\n"), "(s)(s)-(s)(s)-");
  EXPECT_EQ(kinds("  a: [{period: 3, is: full}, {is: sliding}]\n"), "-(s)(s)-(s)(s)");
  EXPECT_EQ(kinds("  a: [{first: 2, is: dense}, {is: experts}]\n"), "--(e)(e)(e)(e)");
  EXPECT_EQ(kinds("  a: [{from: 4, is: sliding}, {is: full}]\n"), "----(s)(s)");
  EXPECT_EQ(kinds("  a: [{listed: dense_layers, is: dense}, {is: experts}]\n", R"(, "dense_layers": [0, 4])"),
            "-(e)(e)(e)-(e)");
  EXPECT_EQ(kinds("  a: [{unless: $bias, is: full}, {is: sliding}]\n"), "------");
  EXPECT_EQ(kinds("  a: [{if: $window, is: sliding}, {is: full}]\n"), "(s)(s)(s)(s)(s)(s)");
}

TEST(ArchitectureFile, ARuleForANumberHoldsWhereItIsNotZero) {
  EXPECT_EQ(kinds("  a: [{if: $experts, is: experts}, {is: full}]\n"), "------");
  EXPECT_EQ(kinds("  a: [{if: $experts, is: experts}, {is: full}]\n", R"(, "experts": 2)"), "(e)(e)(e)(e)(e)(e)");
}

TEST(ArchitectureFile, TheLastLayerOfEachKindBeforeANumber) {
  const std::string other = "  a: [{pattern: [near, near, far]}]\n";
  EXPECT_EQ(kinds(other + "  b: [{last: a, before: 5, is: experts}, {is: full}]\n"), "--(e)-(e)-");
  EXPECT_EQ(kinds("  b: [{last: a, before: 5, is: experts}, {is: full}]\n"), "\"a\" is no list of kinds above");
}

TEST(ArchitectureFile, AListOfLayersInOrder) {
  const std::string rules = "  a: [{listed: taken, in_order: true, is: experts}, {is: full}]\n";
  EXPECT_EQ(kinds(rules, R"(, "taken": [1, 4])"), "-(e)--(e)-");
  EXPECT_EQ(kinds(rules, R"(, "taken": [4, 1])"), "1 is not the number of a later layer of the 6");
  EXPECT_EQ(kinds(rules, R"(, "taken": [6])"), "6 is not the number of a later layer of the 6");
}

TEST(ArchitectureFile, AListThatBeginsAgain) {
  const std::string rules = "  a: [{key: turns, in_turn: true}, {pattern: [full]}]\n";
  EXPECT_EQ(kinds(rules, R"(, "turns": ["sliding", "sliding", "full"])"), "(s)(s)-(s)(s)-");
  EXPECT_EQ(kinds(rules, R"(, "turns": ["sliding", "sliding", "experts", "full"])"), "(s)(s)(e)-(s)(s)");
  EXPECT_EQ(kinds(rules), "------");
}

TEST(ArchitectureFile, AnOpForLayersOfTwoKinds) {
  std::string file = with(
      "layers: 3\n", "layers: 4\nkinds:\n  a: [{pattern: [near, far]}]\n  b: [{first: 2, is: dense}, {is: rest}]\n");
  file.insert(file.find("  - {op: mlp"), "  - {op: both, only: [near, rest]}\n");
  const Result<Architecture> out = read(good, file);
  ASSERT_TRUE(out.ok()) << to_text(out.errors()[0]);
  std::vector<std::size_t> ops;
  for (const std::uint8_t kind : out->body[0].layers) ops.push_back(out->body[0].kinds[kind].size());
  EXPECT_EQ(ops, (std::vector<std::size_t>{2, 2, 3, 2}));
}

TEST(ArchitectureFile, StepsBesideALayer) {
  std::string file = with("layers: 3\n", "layers: 3\nkinds:\n  a: [{first: 1, is: first}, {is: rest}]\n");
  file.insert(file.find("tail:"), "before:\n  - {op: take}\nafter:\n  - {op: add, only: first}\n");
  const Result<Architecture> out = read(good, file);
  ASSERT_TRUE(out.ok()) << to_text(out.errors()[0]);
  const Segment& segment = out->body[0];
  EXPECT_EQ(segment.before[segment.layers[2]].size(), 1U);
  EXPECT_EQ(segment.after[segment.layers[0]].front().op, "add");
  EXPECT_TRUE(segment.after[segment.layers[1]].empty());
}

TEST(ArchitectureFile, TheLengthOfAList) {
  const std::string file =
      with("  experts: {type: integer, default: 0}", "  experts: {type: length, required: true, minimum: 0}");
  const auto layers = [&](const std::string& list) {
    const Result<Architecture> out =
        read(R"({"model_type": "tiny", "width": 64, "heads": 4, "window": 512, "experts": )" + list + "}", file);
    return out ? std::to_string(std::get<std::int64_t>(
                     std::ranges::find(out->config, "experts", &std::pair<std::string, Attribute>::first)->second))
               : out.errors()[0].message;
  };
  EXPECT_EQ(layers("[5, 11, 17]"), "3");
  EXPECT_EQ(layers("[]"), "0");
  EXPECT_EQ(layers("3"), "\"experts\" must be a list, or a text of letters, not 3");
}

TEST(ArchitectureFile, KindsOfTwoThingsMeet) {
  EXPECT_EQ(kinds("  a: [{pattern: [sliding, full]}]\n  b: [{first: 3, is: dense}, {is: experts}]\n"),
            "(s)-(s)(e)(se)(e)");
}

TEST(ArchitectureFile, KindsAsTheConfigListsThem) {
  const std::string rules = "  a: [{key: layer_types}, {is: full}]\n";
  EXPECT_EQ(kinds(rules, R"(, "layer_types": ["full", "sliding", "full"])", "3"), "-(s)-");
  EXPECT_EQ(kinds(rules, R"(, "layer_types": null)", "3"), "---");
  EXPECT_EQ(kinds(rules, R"(, "layer_types": [])", "3"), "---");
  EXPECT_EQ(kinds(rules, R"(, "layer_types": ["full"])", "3"), "\"layer_types\" has 1 entries for 3 layers");
  EXPECT_EQ(kinds(rules, R"(, "layer_types": ["full", "linear", "full"])", "3"),
            "layers of kind \"linear\" are not known in this family");
  EXPECT_EQ(kinds("  a: [{key: flags, names: {1: sliding, 0: full}}]\n", R"(, "flags": [1, 0])", "2"), "(s)-");
}

TEST(ArchitectureFile, ALayerThatNoRuleKnowsIsAnError) {
  EXPECT_EQ(kinds("  a: [{first: 2, is: full}]\n"), "no rule says of which kind some layer is");
}

TEST(ArchitectureFile, ABodyOfSeveralSegments) {
  std::string file = with("layers: 3\nblock_module: layers\n", "");
  const std::size_t stem = file.find("stem:");
  file.replace(stem, file.find("tail:") - stem, R"(body:
  - {module: encoder, layers: 4, stem: [{op: embedding, rows: 100}], block: [{op: mlp}]}
  - {module: decoder, layers: $heads, stem: [], kinds: {a: [{every: 2, is: cross}, {is: own}]},
     block: [{op: mlp}, {op: cross, only: cross}]}
)");
  const Result<Architecture> out = read(good, file);
  ASSERT_TRUE(out.ok()) << to_text(out.errors()[0]);
  ASSERT_EQ(out->body.size(), 2U);
  EXPECT_EQ(out->layers, 8);
  EXPECT_EQ(out->body[1].module, "decoder");
  EXPECT_EQ(out->body[1].layers, (std::vector<std::uint8_t>{0, 1, 0, 1}));
  EXPECT_EQ(out->body[1].kinds[1].size(), 2U);
}

TEST(ArchitectureFile, HugeProductsSaturate) {
  const Result<Architecture> out = read(
      R"({"model_type": "tiny", "width": 16777216, "heads": 16777216, "window": 1, "kv_heads": 16777216, "head_dim": 16777216})",
      with("rows: 100", "rows: {product: [$width, $width, $width]}"));
  ASSERT_TRUE(out.ok()) << to_text(out.errors()[0]);
  EXPECT_EQ(attribute<std::int64_t>(out->body.front().stem[0], "rows"), INT64_MAX);
}

}  // namespace
}  // namespace oomplan
