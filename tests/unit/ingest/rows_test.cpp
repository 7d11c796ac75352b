// Each row of each dialect, read and written by itself.
#include <random>

#include "dialect.hpp"
#include "dialects/axolotl/keys.hpp"
#include "dialects/hf/keys.hpp"
#include "from_text.hpp"

namespace oomplan::ingestion {
namespace {

// Values of every type; a row takes those that are of its own.
const std::vector<std::string> values{"true",
                                      "false",
                                      "1",
                                      "2",
                                      "4096",
                                      "0.5",
                                      "0",
                                      "auto",
                                      "a/b",
                                      "[a, b]",
                                      "bfloat16",
                                      "fp32",
                                      "bf16",
                                      "sgd",
                                      "eager",
                                      "nf4",
                                      "lora",
                                      "wrapped",
                                      "sft",
                                      "sdpa",
                                      "fp4",
                                      "none",
                                      "bfd",
                                      "fp16",
                                      "float32",
                                      "chunked_logprob",
                                      "full_logits",
                                      "checkpoint",
                                      "as_base",
                                      "torch_linear",
                                      "[512, 64]",
                                      "spawn",
                                      "mapped",
                                      "int32",
                                      "{PYTORCH_ALLOC_CONF: 'expandable_segments:True', HF_HOME: /tmp}"};

template <class Args>
void expect_round_trip(const Row<Args>& row) {
  int taken = 0;
  for (const std::string& value : values) {
    Args args{};
    const Document document = yaml("key: " + value + "\n");
    if (!row.read(*document.root.find("key"), default_of("a test"), args)) continue;
    ++taken;
    if (row.write == nullptr) continue;
    const auto written = row.write(args);
    ASSERT_TRUE(written.has_value()) << row.key;
    Args again{};
    const Document rewritten = yaml("key: " + *written + "\n");
    ASSERT_TRUE(row.read(*rewritten.root.find("key"), default_of("a test"), again)) << row.key << ": " << *written;
    EXPECT_EQ(row.write(again), written) << row.key;
  }
  EXPECT_GT(taken, 0) << row.key << " takes none of the values tried";
}

template <class Args>
void expect_round_trips(std::span<const Row<Args>> rows) {
  for (const Row<Args>& row : rows) expect_round_trip(row);
}

TEST(Rows, OfHfReadWhatTheyWrite) { expect_round_trips(hf::table().rows); }
TEST(Rows, OfAxolotlReadWhatTheyWrite) { expect_round_trips(axolotl::table().rows); }

template <class Args>
std::vector<std::string> repeated(const Table<Args>& table) {
  std::vector<std::string_view> keys;
  for (const KeyLine& line : table.file->no_effect) keys.push_back(line.what);
  for (const auto& row : table.rows) keys.push_back(row.key);
  std::ranges::sort(keys);
  std::vector<std::string> out;
  for (std::size_t i = 1; i < keys.size(); ++i) {
    if (keys[i] == keys[i - 1]) out.emplace_back(keys[i]);
  }
  return out;
}

TEST(Rows, AKeyHasOneMeaning) {
  EXPECT_THAT(repeated(axolotl::table()), testing::IsEmpty());
  EXPECT_THAT(repeated(hf::table()), testing::IsEmpty());
}

TEST(Text, IsQuotedWhereYamlWouldMistakeIt) {
  EXPECT_EQ(yaml_text("meta-llama/Llama-3.1-8B"), "meta-llama/Llama-3.1-8B");
  EXPECT_EQ(yaml_text("Yes"), "\"Yes\"");
  EXPECT_EQ(yaml_text("1e3"), "\"1e3\"");
  EXPECT_EQ(yaml_text("a: b"), "\"a: b\"");
  EXPECT_EQ(yaml_text("\t\"\\"), "\"\\x09\\\"\\\\\"");
  EXPECT_EQ(yaml_text(""), "\"\"");
}

}  // namespace
}  // namespace oomplan::ingestion
