// The patch: bytes that stay, keys that change, and a diff that applies.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "../estimate/plans.hpp"
#include "change.hpp"
#include "oomplan/advise/advise.hpp"
#include "oomplan/ingest/ingest.hpp"

namespace oomplan::advise {
namespace {

Document document(const std::string& text, Syntax syntax = Syntax::yaml) {
  auto out = parse_document(text, syntax == Syntax::json ? "c.json" : "c.yml", syntax);
  EXPECT_TRUE(out.ok()) << text;
  return out ? *out : Document{};
}

std::string with(const std::string& text, const std::vector<KeyChange>& keys, Syntax syntax = Syntax::yaml) {
  const auto out = patched(document(text, syntax), keys);
  return out ? *out : "refused: " + out.errors().front().message;
}

/// As `patch` does it, without looking for a place.
std::string applied(const std::string& before, const std::string& diff) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < before.size();) {
    const std::size_t end = std::min(before.find('\n', at), before.size() - 1) + 1;
    lines.push_back(before.substr(at, end - at));
    at = end;
  }
  std::string out;
  std::size_t next = 0;
  bool dropped = false;
  std::istringstream rows(diff);
  for (std::string row; std::getline(rows, row);) {
    if (row.starts_with("--- ") || row.starts_with("+++ ")) continue;
    if (row.starts_with("@@ -")) {
      const std::size_t from = std::stoul(row.substr(4));
      while (next + 1 < from) out += lines[next++];
    } else if (row.starts_with("\\")) {
      if (!dropped) out.pop_back();
    } else if (row.starts_with("+")) {
      out += row.substr(1) + "\n";
    } else if (row.starts_with("-")) {
      ++next;
      dropped = true;
      continue;
    } else {
      EXPECT_EQ(lines[next].substr(0, lines[next].find('\n')), row.substr(1));
      out += lines[next++];
      if (!out.ends_with('\n')) out += '\n';
    }
    dropped = false;
  }
  while (next < lines.size()) out += lines[next++];
  return out;
}

TEST(Patch, ChangesAValueAndNothingElse) {
  EXPECT_EQ(with("a: 1\nb: 22   # why\nc: 3", {{"b", "4"}}), "a: 1\nb: 4   # why\nc: 3");
  EXPECT_EQ(with("a: 'x # y'  # z\r\nb: 1\r\n", {{"a", "w"}}), "a: w  # z\r\nb: 1\r\n");
  EXPECT_EQ(with("m: {b: 2, c: 3}\n", {{"m.b", "4"}}), "m: {b: 4, c: 3}\n");
  EXPECT_EQ(with("m:\n  b: 2\nc: 3\n", {{"m.b", "4"}}), "m:\n  b: 4\nc: 3\n");
  EXPECT_EQ(with("t: [q, \"]\"]  # two\n", {{"t", "all-linear"}}), "t: all-linear  # two\n");
}

TEST(Patch, AddsAKeyBesideItsSibling) {
  EXPECT_EQ(with("a: 1\nb: 2\n\nc:\n  - d\n", {{"a", "5"}, {"n", "6"}}), "a: 5\nn: 6\nb: 2\n\nc:\n  - d\n");
  EXPECT_EQ(with("a: 1\r\nb: 2", {{"n", "6"}}), "a: 1\r\nb: 2\r\nn: 6");
  EXPECT_EQ(with("a: 1\nb:\n  2  # two\n", {{"n", "6"}}), "a: 1\nb:\n  2  # two\nn: 6\n");
  EXPECT_EQ(with("{\n  \"a\": 1\n}\n", {{"n", "true"}, {"o", "x"}}, Syntax::json),
            "{\n  \"n\": true,\n  \"o\": \"x\",\n  \"a\": 1\n}\n");
}

TEST(Patch, FillsAnEmptyValue) {
  EXPECT_EQ(with("adapter:\nb: 2\n", {{"adapter", "lora"}}), "adapter: lora\nb: 2\n");
  EXPECT_EQ(with("b: 2\nadapter:   # none yet\n", {{"adapter", "lora"}}), "b: 2\nadapter: lora   # none yet\n");
  EXPECT_EQ(with("b: 2\r\nadapter:\r\n", {{"adapter", "lora"}}), "b: 2\r\nadapter: lora\r\n");
  EXPECT_EQ(with("b: 2\nadapter:", {{"adapter", "lora"}}), "b: 2\nadapter: lora");
  EXPECT_EQ(with("adapter: ~\nb: null\n", {{"adapter", "lora"}, {"b", "3"}}), "adapter: lora\nb: 3\n");
  EXPECT_EQ(with("m:\n  adapter:\n  c: 1\n", {{"m.adapter", "lora"}}), "m:\n  adapter: lora\n  c: 1\n");
  EXPECT_EQ(with("{adapter:, b: 2}\n", {{"adapter", "lora"}}), "{adapter: lora, b: 2}\n");
}

TEST(Patch, ChangesAValueOnTheNextLine) {
  EXPECT_EQ(with("a:\n  4\nb: 2\n", {{"a", "2"}}), "a:\n  2\nb: 2\n");
  EXPECT_EQ(with("a:\n  # rows\n  4  # four\nb: 2\n", {{"a", "2"}}), "a:\n  # rows\n  2  # four\nb: 2\n");
  EXPECT_EQ(with("a:\n  [q, v]\nb: 2\n", {{"a", "all-linear"}}), "a:\n  all-linear\nb: 2\n");
  EXPECT_EQ(with("{\"a\":\n  4, \"b\": 2}", {{"a", "2"}}, Syntax::json), "{\"a\":\n  2, \"b\": 2}");
}

TEST(Patch, ChangesAndAddsKeysInBraces) {
  EXPECT_EQ(with("{a: 4, b: x}\n", {{"a", "2"}, {"n", "y"}}), "{n: y, a: 2, b: x}\n");
  EXPECT_EQ(with("{\n  a: 4,\n  b: x\n}\n", {{"a", "2"}, {"n", "y"}}), "{\n  n: y,\n  a: 2,\n  b: x\n}\n");
  EXPECT_EQ(with("m: {\n  b: 2,\n  c: 3 }\n", {{"m.b", "4"}, {"m.c", "5"}}), "m: {\n  b: 4,\n  c: 5 }\n");
  EXPECT_EQ(with("{a: x}\n", {{"a", "k:1,l:2"}}), "{a: \"k:1,l:2\"}\n");
  EXPECT_EQ(with("{a: x}\n", {{"a", "[q, v]"}}), "{a: [q, v]}\n");
  EXPECT_EQ(with("{\"a\": 1, \"b\": 2}", {{"n", "2"}}, Syntax::json), "{\"a\": 1, \"n\": 2, \"b\": 2}");
  EXPECT_EQ(with("{\"m\": {\"a\": 1}}", {{"m.a", "x"}}, Syntax::json), "{\"m\": {\"a\": \"x\"}}");
}

TEST(Patch, ChangesAndAddsKeysOfToml) {
  const std::string text =
      "[job]\nfolder = \"./out\"  # here\n\n[training]\nrows=1#one\nsteps = 10\n[training.sub]\nx = 1\n";
  EXPECT_EQ(with(text, {{"training.rows", "2"}, {"job.folder", "a\\b"}}, Syntax::toml),
            "[job]\nfolder = \"a\\\\b\"  # here\n\n[training]\nrows=2#one\nsteps = 10\n[training.sub]\nx = 1\n");
  EXPECT_EQ(
      with(text, {{"training.dtype", "bfloat16"}, {"training.compile", "false"}}, Syntax::toml),
      "[job]\nfolder = \"./out\"  # here\n\n[training]\nrows=1#one\nsteps = 10\ndtype = \"bfloat16\"\ncompile = false\n"
      "[training.sub]\nx = 1\n");
  EXPECT_EQ(with("[a]\r\nb = 1", {{"c.d", "[x, y]"}, {"e.f", "2.5"}, {"c.g", "h"}}, Syntax::toml),
            "[a]\r\nb = 1\r\n\r\n[c]\r\nd = [\"x\", \"y\"]\r\ng = \"h\"\r\n\r\n[e]\r\nf = 2.5\r\n");
  EXPECT_EQ(with("[a]  # empty\n[b]\nc = 1\n", {{"a.d", "true"}}, Syntax::toml),
            "[a]  # empty\nd = true\n[b]\nc = 1\n");
  EXPECT_EQ(with("\"a\" = [1,\n  2]\nt = {b = 1, c = 2}\n", {{"a", "3"}, {"t.b", "x"}, {"n", "4"}}, Syntax::toml),
            "\"a\" = 3\nn = 4\nt = {b = \"x\", c = 2}\n");
}

TEST(Patch, RefusesTomlThatItCannotChangeInPlace) {
  EXPECT_TRUE(with("a = \"\"\"\nx\"\"\"\n", {{"a", "2"}}, Syntax::toml).starts_with("refused"));
  EXPECT_TRUE(with("[a.b]\nc = 1\n", {{"a.d", "2"}}, Syntax::toml).starts_with("refused"));
  EXPECT_TRUE(with("a.b = 1\n", {{"a.c", "2"}}, Syntax::toml).starts_with("refused"));
  EXPECT_TRUE(with("t = {b = 1}\n", {{"t.c", "2"}}, Syntax::toml).starts_with("refused"));
}

TEST(Patch, RefusesWhatItCannotChangeInPlace) {
  EXPECT_TRUE(with("t:\n  - q\n  - v\n", {{"t", "all-linear"}}).starts_with("refused"));
  EXPECT_TRUE(with("a: &x 1\nb: *x\n", {{"b", "2"}}).starts_with("refused"));
  EXPECT_TRUE(with("a: |\n  long\n", {{"a", "2"}}).starts_with("refused"));
  EXPECT_TRUE(with("x: &x\nb: *x\n", {{"b", "2"}}).starts_with("refused"));
  EXPECT_TRUE(with("x: &x 1\nb:\n  *x\n", {{"b", "2"}}).starts_with("refused"));
  EXPECT_TRUE(with("a: !!int 4\n", {{"a", "2"}}).starts_with("refused"));
  EXPECT_TRUE(with("{a: {b: 1}}\n", {{"n", "2"}}).starts_with("refused"));
}

TEST(Diff, Applies) {
  const std::string before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16";
  const std::vector<std::string> afters{"1\n2\nx\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16", "0\n" + before,
                                        before + "\n17\n", "2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\ny\nz\n13\n14\n15\n16"};
  for (const std::string& after : afters) {
    EXPECT_EQ(applied(before, unified_diff("f", before, after)), after);
  }
  EXPECT_EQ(unified_diff("f", before, before), "");
}

// Plans in every dialect: what the patch says is what was judged.
TEST(Patch, ReadsAsThePlanThatWasJudged) {
  const Ladder ladder = *Ladder::load();
  const Architecture model = example::architecture(example::llama());
  int patches = 0;
  for (const char* text :
       {"model: m\nmicro_batch_size: 6\nsequence_length: 512\nweights_dtype: fp32\nattention: eager\n",
        "base_model: m\nmicro_batch_size: 6\ngradient_accumulation_steps: 1\nsequence_len: 512\nbf16: true\n",
        "base_model: m\nmicro_batch_size: 4\ngradient_accumulation_steps: 1\nsequence_len: 512\nsample_packing: true\n"
        "attn_implementation: flash_attention_2\nadapter: lora\nlora_r: 8\nlora_target_linear: true\n",
        "model_name_or_path: m\nmax_length: 512\nper_device_train_batch_size: 6\ndtype: bfloat16\n",
        "model_name_or_path: m\nmax_length: 512\nuse_peft: true\nlora_dropout: 0.1\nattn_implementation: eager\n"}) {
    for (int percent = 20; percent < 100; percent += 15) {
      const Document config = document(text);
      auto plan = ingest(config);
      ASSERT_TRUE(plan.ok()) << to_text(plan.errors().front());
      plan = with_model_defaults(*plan, model);
      AdviceQuestion question{.plan = *plan, .architecture = model, .document = &config, .most_sets = 300};
      question.gpu = {.name = "card", .compute_capability = "9.0"};
      const Footprint footprint = example::played(*plan, model);
      question.gpu.total = Bytes(footprint.peak.total.count() / 100 * percent);
      const auto advice = find_advice(question, ladder);
      if (!advice || !advice->found || advice->patch.empty()) continue;
      ++patches;
      auto again = ingest(document(applied(text, advice->patch)));
      ASSERT_TRUE(again.ok()) << advice->patch;
      again = with_model_defaults(*again, model);
      for (const Changed& change : advice->changes)
        EXPECT_EQ(fact_of(*again, change.fact), change.after) << advice->patch;
    }
  }
  EXPECT_GT(patches, 10);
}

}  // namespace
TEST(LineEdits, SayWhichLinesOthersTakeThePlaceOf) {
  const std::vector<LineEdit> edits = line_edits("a\nb\nc\n", "a\nx\ny\nc\nd\n");
  ASSERT_EQ(edits.size(), 2U);
  EXPECT_EQ(edits[0].from, 1U);
  EXPECT_EQ(edits[0].dropped, 1U);
  EXPECT_EQ(edits[0].added, "x\ny\n");
  EXPECT_EQ(edits[1].from, 3U);
  EXPECT_EQ(edits[1].dropped, 0U);
  EXPECT_EQ(edits[1].added, "d\n");
}

}  // namespace oomplan::advise
