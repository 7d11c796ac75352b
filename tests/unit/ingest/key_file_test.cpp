#include "key_file.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "condition.hpp"
#include "dialect.hpp"
#include "from_text.hpp"
#include "key_versions.hpp"
#include "project.hpp"
#include "versions.hpp"

namespace oomplan::ingestion {
namespace {

using testing::IsEmpty;

using Lines = std::vector<std::pair<std::string, std::string>>;

Lines lines_of(const std::vector<KeyLine>& section) {
  Lines out;
  for (const KeyLine& line : section) out.emplace_back(line.what, line.text);
  return out;
}

Lines lines_of(const Node* section) {
  Lines out;
  if (section == nullptr) return out;
  for (const Entry& entry : section->entries) out.emplace_back(entry.key, entry.value.text);
  return out;
}

class KeyFiles : public testing::TestWithParam<std::string> {
 protected:
  KeyFile file() const { return parse_key_file(text()); }
  std::string_view text() const {
    const auto files = embedded_files();
    return std::ranges::find(files, GetParam() + "/keys.yaml", &EmbeddedFile::path)->text;
  }
};

TEST_P(KeyFiles, AreReadByLinesAsYamlReadsThem) {
  const Document document = yaml(std::string(text()));
  EXPECT_EQ(lines_of(file().reasons), lines_of(document.root.find("reasons")));
  EXPECT_EQ(lines_of(file().no_effect), lines_of(document.root.find("no_effect")));
  EXPECT_EQ(lines_of(file().refused), lines_of(document.root.find("refused")));
  EXPECT_EQ(lines_of(file().unmodelled), lines_of(document.root.find("unmodelled")));
  EXPECT_EQ(lines_of(file().keys), lines_of(document.root.find("keys")));
  EXPECT_EQ(lines_of(file().others), lines_of(document.root.find("others")));
  EXPECT_EQ(lines_of(file().fixes), lines_of(document.root.find("fixes")));
  EXPECT_EQ(lines_of(file().until), lines_of(document.root.find("until")));
  EXPECT_EQ(lines_of(file().since), lines_of(document.root.find("since")));
  EXPECT_GT(file().no_effect.size() + file().unmodelled.size(), 10U);
}

TEST_P(KeyFiles, GiveEachKeyWithoutEffectItsReason) {
  const KeyFile keys = file();
  for (const KeyLine& line : keys.no_effect) {
    EXPECT_EQ(std::ranges::count(keys.reasons, line.text, &KeyLine::what), 1) << line.what << ": " << line.text;
  }
}

TEST_P(KeyFiles, NameCodecsAndFactsThatThereAre) {
  const KeyFile keys = file();
  const std::vector<Key> arguments = argument_keys(keys);
  ASSERT_EQ(arguments.size(), keys.keys.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    EXPECT_NE(arguments[i].codec, nullptr) << arguments[i].name;
    EXPECT_EQ(arguments[i].fact != nullptr, keys.keys[i].text.find("->") != std::string_view::npos)
        << arguments[i].name;
  }
}

// What a fact is read from can say it: a value of the codec is one of the fact's.
TEST_P(KeyFiles, GiveAFactValuesOfItsOwnType) {
  for (const Key& key : argument_keys(file())) {
    if (key.fact == nullptr) continue;
    TrainingPlan plan;
    EXPECT_TRUE(key.fact->set(key.fact->get(TrainingPlan()), {}, plan)) << key.name;
    for (const char* value : {"true", "1", "0.5", "a", "sdpa", "bfloat16", "spawn", "{PYTORCH_ALLOC_CONF: a}"}) {
      const Document document = yaml("key: " + std::string(value) + "\n");
      const auto read = key.codec->read(*document.root.find("key"));
      EXPECT_TRUE(!read || key.fact->set(*read, {}, plan)) << key.name << ": " << value;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Dialects, KeyFiles,
                         testing::Values("accelerate", "axolotl", "deepspeed", "deepspeed_plugin", "fsdp", "hf",
                                         "litgpt", "llamafactory", "llamafactory_v1", "torchtitan", "torchtune",
                                         "trainer", "unsloth"));

// ---- Against the frameworks' own argument classes (scripts/framework_keys.py writes them) --------------------------

using Names = std::set<std::string, std::less<>>;

Names fields_of(std::initializer_list<const char*> classes) {
  Names out;
  for (const char* name : classes) {
    std::ifstream file(project_folder() + "/tests/data/arguments/" + name + ".txt");
    EXPECT_TRUE(file.good()) << name;
    for (std::string line; std::getline(file, line);) out.insert(line);
  }
  return out;
}

Names axolotl_fields() { return fields_of({"axolotl-0.19.0.AxolotlInputConfig"}); }
Names plugin_fields() { return fields_of({"axolotl-0.19.0.plugins"}); }
Names llamafactory_fields() {
  return fields_of({"transformers-5.6.0.Seq2SeqTrainingArguments", "llamafactory-0.9.5.ModelArguments",
                    "llamafactory-0.9.5.DataArguments", "llamafactory-0.9.5.TrainingArguments",
                    "llamafactory-0.9.5.FinetuningArguments", "llamafactory-0.9.5.GeneratingArguments"});
}
Names second_trainer_fields() {
  return fields_of({"llamafactory-0.9.6.dev0.v1.ModelArguments", "llamafactory-0.9.6.dev0.v1.DataArguments",
                    "llamafactory-0.9.6.dev0.v1.TrainingArguments", "llamafactory-0.9.6.dev0.v1.SampleArguments"});
}
Names hf_fields() {
  return fields_of({"transformers-5.23.0.TrainingArguments", "trl-1.16.0.SFTConfig", "trl-1.16.0.ModelConfig",
                    "trl-1.16.0.ScriptArguments", "trl-1.16.0.DatasetMixtureConfig"});
}

std::string_view outer(std::string_view key) { return key.substr(0, key.find('.')); }

std::vector<std::string> not_in(const Names& fields, const std::vector<std::string_view>& known) {
  Names names;
  for (const std::string_view key : known) names.emplace(outer(key));
  std::vector<std::string> out;
  std::ranges::set_difference(fields, names, std::back_inserter(out));
  return out;
}

TEST(ArgumentClasses, HaveNoFieldThatTheDialectDoesNotKnow) {
  EXPECT_THAT(not_in(axolotl_fields(), find_dialect("axolotl")->keys()), IsEmpty());
  EXPECT_THAT(not_in(hf_fields(), find_dialect("hf")->keys()), IsEmpty());
  EXPECT_THAT(not_in(llamafactory_fields(), find_dialect("llamafactory")->keys()), IsEmpty());
  EXPECT_THAT(not_in(second_trainer_fields(), find_dialect("llamafactory_v1")->keys()), IsEmpty());
}

/// The classes of a version of TRL on one of transformers.
struct OldClasses {
  const char* trl = nullptr;
  const char* transformers = nullptr;
  bool mixes = true;  ///< It has DatasetMixtureConfig.
};

Names fields_of(const OldClasses& old) {
  const std::string trl = std::string("trl-") + old.trl;
  const std::string transformers = std::string("transformers-") + old.transformers;
  Names out = fields_of({(trl + ".SFTConfig").c_str(), (trl + ".ModelConfig").c_str(),
                         (trl + ".ScriptArguments").c_str(), (transformers + ".TrainingArguments").c_str()});
  if (old.mixes) out.merge(fields_of({(trl + ".DatasetMixtureConfig").c_str()}));
  return out;
}

// Each field of an old version is known and is that version's; each key that has versions is its field or not, as they
// say.
TEST(ArgumentClasses, HaveTheKeysOfTheirVersion) {
  const KeyFile& file = key_file("hf");
  for (const OldClasses& old :
       {OldClasses{"0.12.2", "4.46.3", false}, OldClasses{"0.14.0", "4.48.3", false},
        OldClasses{"0.18.2", "4.50.3", false}, OldClasses{"0.19.1", "4.53.3", false}, OldClasses{"0.24.0", "4.57.6"},
        OldClasses{"0.28.0", "4.57.6"}, OldClasses{"1.16.0", "5.23.0"}}) {
    const std::vector<NamedVersion> named{{"trl", old.trl, {}, true}, {"transformers", old.transformers, {}, true}};
    const ChosenVersions chosen(named);
    const Stack& stack = stack_of("trl-1.16");
    const Names fields = fields_of(old);
    EXPECT_THAT(not_in(fields, find_dialect("hf")->keys()), IsEmpty()) << old.trl;
    for (const std::string& field : fields) EXPECT_TRUE(has_key(file, stack, field)) << old.trl << ": " << field;
    for (const auto* lines : {&file.until, &file.since}) {
      for (const KeyLine& line : *lines)
        EXPECT_EQ(fields.contains(line.what), has_key(file, stack, line.what)) << old.trl << ": " << line.what;
    }
  }
}

TEST(ArgumentClasses, HaveTheKeysOfLlamaFactorysVersion) {
  const KeyFile& file = key_file("llamafactory");
  for (const std::string version : {"0.9.3", "0.9.4", "0.9.5"}) {
    const std::vector<NamedVersion> named{{"llamafactory", version, {}, true}};
    const ChosenVersions chosen(named);
    const Stack& stack = stack_of("llamafactory-0.9");
    const std::string of = "llamafactory-" + version + ".";
    const Names fields =
        fields_of({(of + "ModelArguments").c_str(), (of + "DataArguments").c_str(), (of + "TrainingArguments").c_str(),
                   (of + "FinetuningArguments").c_str(), (of + "GeneratingArguments").c_str()});
    EXPECT_THAT(not_in(fields, find_dialect("llamafactory")->keys()), IsEmpty()) << version;
    for (const std::string& field : fields) EXPECT_TRUE(has_key(file, stack, field)) << version << ": " << field;
    for (const auto* lines : {&file.until, &file.since}) {
      for (const KeyLine& line : *lines)
        EXPECT_EQ(fields.contains(line.what), has_key(file, stack, line.what)) << version << ": " << line.what;
    }
  }
}

TEST(ArgumentClasses, HaveTheKeysOfAxolotlsVersion) {
  const KeyFile& file = key_file("axolotl");
  for (const std::string version : {"0.16.1", "0.17.0", "0.18.0", "0.19.0"}) {
    const std::vector<NamedVersion> named{{"axolotl", version, {}, true}};
    const ChosenVersions chosen(named);
    const std::string of = "axolotl-" + version;
    const Names fields = fields_of({(of + ".AxolotlInputConfig").c_str(), (of + ".plugins").c_str()});
    for (const std::string& field : fields)
      EXPECT_TRUE(has_key(file, stack_of("axolotl-0.18"), field)) << version << ": " << field;
    for (const KeyLine& line : file.since)
      EXPECT_EQ(fields.contains(line.what), has_key(file, stack_of("axolotl-0.18"), line.what)) << version << line.what;
  }
}

// "dropped" and the fields are each other's opposite; so are "script" and the fields of Hugging Face's.
void expect_said_of(const KeyFile& file, const Names& fields, std::string_view outside, const Names& besides) {
  for (const KeyLine& line : file.no_effect) {
    if (besides.contains(line.what)) continue;
    EXPECT_EQ(fields.contains(outer(line.what)), line.text != outside) << line.what << ": " << line.text;
  }
}

TEST(ArgumentClasses, HaveTheKeysWithoutEffectThatAreNotDropped) {
  expect_said_of(key_file("axolotl"), axolotl_fields(), "dropped", {});
  Names besides{"config", "predict_with_generate"};  // the command line's own, and Seq2SeqTrainingArguments'
  for (const KeyLine& line : key_file("hf").until) besides.emplace(line.what);
  expect_said_of(key_file("hf"), hf_fields(), "script", besides);
}

TEST(ArgumentClasses, HaveTheKeysOfRules) {
  const Names fields = axolotl_fields();
  const Names plugins = plugin_fields();
  for (const KeyLine& rule : key_file("axolotl").unmodelled) {
    const std::string_view key = outer(subject_of(rule.what));
    EXPECT_TRUE(fields.contains(key) || plugins.contains(key)) << rule.what;
    const bool asks = rule.what.find("& plugins~") != std::string_view::npos || key == "nvfp4_merge_aware";
    EXPECT_EQ(asks, !fields.contains(key)) << rule.what;
  }
}

TEST(ArgumentClasses, HaveLostTheArgumentsThatAreGone) {
  const Names fields = hf_fields();
  int gone = 0;
  for (const KeyLine& rule : key_file("hf").refused) {
    if (rule.text.find("has no such argument") == std::string_view::npos) continue;
    ++gone;
    EXPECT_FALSE(fields.contains(subject_of(rule.what))) << rule.what;
  }
  for (const KeyLine& line : key_file("hf").until) {
    ++gone;
    EXPECT_FALSE(fields.contains(line.what)) << line.what;
  }
  EXPECT_GE(gone, 29);
}

// ---- Conditions ----------------------------------------------------------------------------------------------------

bool holds_for(std::string_view condition, const std::string& config) {
  const Document document = yaml(config);
  return holds(condition, inputs_of(document, document.root));
}

TEST(Condition, AsksForWhatPythonTakesForTrue) {
  for (const char* value : {"1", "0.5", "x", "'false'", "[0]", "{b: 0}", "true", "'0'"}) {
    EXPECT_TRUE(holds_for("a", std::string("a: ") + value)) << value;
  }
  for (const char* value : {"0", "0.0", "''", "[]", "{}", "false", "no", "~", ""}) {
    EXPECT_FALSE(holds_for("a", std::string("a: ") + value)) << value;
    EXPECT_TRUE(holds_for("!a", std::string("a: ") + value)) << value;
  }
  EXPECT_FALSE(holds_for("a", "b: 1"));
}

TEST(Condition, TellsNullFromAbsent) {
  EXPECT_TRUE(holds_for("a?", "a: 0"));
  EXPECT_FALSE(holds_for("a?", "a:"));
  EXPECT_TRUE(holds_for("a??", "a:"));
  EXPECT_FALSE(holds_for("a??", "b:"));
}

TEST(Condition, ComparesValues) {
  EXPECT_TRUE(holds_for("a=x|y", "a: y"));
  EXPECT_TRUE(holds_for("a=2", "a: 2.0"));
  EXPECT_FALSE(holds_for("a=2", "a: '2'") && holds_for("a=2", "a: 3"));
  EXPECT_TRUE(holds_for("a=true", "a: on"));
  EXPECT_FALSE(holds_for("a=true", "a: 'true '"));
  EXPECT_TRUE(holds_for("a!=x|y", "a: z"));
  EXPECT_FALSE(holds_for("a!=x|y", "a:"));
  EXPECT_FALSE(holds_for("a!=x|y", "a: x"));
  EXPECT_TRUE(holds_for("a!=@b", "{a: m, b: n}"));
  EXPECT_FALSE(holds_for("a!=@b", "{a: m, b: m}"));
  EXPECT_TRUE(holds_for("a>1", "a: 2"));
  EXPECT_TRUE(holds_for("a>1", "a: auto"));
  EXPECT_FALSE(holds_for("a>1", "a: 1"));
  EXPECT_TRUE(holds_for("a<=0", "a: -0.5"));
  EXPECT_FALSE(holds_for("a<=0", "a: 5"));
  EXPECT_TRUE(holds_for("a^=pissa", "a: pissa_niter_4"));
}

TEST(Condition, LooksIntoListsMappingsAndOtherKeys) {
  EXPECT_TRUE(holds_for("k~End", "k: [a.Begin, b.End]"));
  EXPECT_FALSE(holds_for("k~End", "k: [a.Begin]"));
  EXPECT_TRUE(holds_for("a.b.c=1", "a: {b: {c: 1}}"));
  EXPECT_FALSE(holds_for("a.b.c", "a: {b: 2}"));
  EXPECT_TRUE(holds_for("a & !b & c|d", "{a: 1, d: 1}"));
  EXPECT_FALSE(holds_for("a & !b & c|d", "{a: 1}"));
}

TEST(Condition, BeginsWithTheKeyItIsAbout) {
  EXPECT_EQ(subject_of("a.b? & c"), "a.b");
  EXPECT_EQ(subject_of("a|b=1"), "a");
  EXPECT_EQ(subject_of("a"), "a");
}

}  // namespace
}  // namespace oomplan::ingestion
