#include "versions.hpp"

#include "from_text.hpp"
#include "oomplan/read/requirements.hpp"

namespace oomplan::ingestion {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

NamedVersion named(const std::string& package, const std::string& version) { return {package, version, {}, true}; }

TEST(Versions, TheNearestIsOfTheSameMajorVersion) {
  const std::vector<std::string> known{"5.6.0", "5.14.1", "5.23.0"};
  EXPECT_EQ(nearest_version("5.14.1", known), "5.14.1");
  EXPECT_EQ(nearest_version("5.14", known), "5.14.1");
  EXPECT_EQ(nearest_version("5.14.9", known), "5.14.1");
  EXPECT_EQ(nearest_version("5.10.0", known), "5.14.1") << "of two as near, the newer";
  EXPECT_EQ(nearest_version("5.99.0", known), "5.23.0");
  EXPECT_EQ(nearest_version("5.23.0.dev0", known), "5.23.0");
  EXPECT_EQ(nearest_version("4.57.1", known), std::nullopt);
  EXPECT_EQ(nearest_version("main", known), std::nullopt);
}

TEST(Versions, ALocalPartIsNone) {
  EXPECT_TRUE(is_version("2.13.0+cu130", "2.13.0"));
  EXPECT_TRUE(is_version("2.13", "2.13.0"));
  EXPECT_FALSE(is_version("2.12.0", "2.13.0"));
  EXPECT_FALSE(is_version("", "2.13.0"));
}

// Two layers of one package side by side: each gives its own defaults, and the one that is not chosen what the other
// lacks.
TEST(Versions, ALayerOfAnotherVersionGoesInFront) {
  const auto at = [](const std::string& version, const std::string& value) {
    StackLayer::Default one{"sequence_length", *yaml("v: " + value + "\n").root.find("v"), "Config", "", false};
    return StackLayer{.name = "a-" + version, .package = "a", .version = version, .defaults = {one}};
  };
  StackLayer newer = at("2.1.0", "1024");
  newer.defaults.push_back({"micro_batch_size", *yaml("v: 8\n").root.find("v"), "Config", "", false});
  const Stack alone({newer});
  const Stack both({at("2.0.0", "512"), newer});
  EXPECT_EQ(alone.plan().batch.sequence_length.value, 1024);
  EXPECT_EQ(both.plan().batch.sequence_length.value, 512);
  EXPECT_EQ(both.plan().batch.sequence_length.origin.source, "a 2.0.0: Config");
  EXPECT_EQ(both.plan().batch.micro_batch_size.origin.source, "a 2.1.0: Config");
  EXPECT_EQ(both.name_of("a"), "a 2.0.0");
}

TEST(Versions, AStackIsMadeOfThem) {
  const std::vector<NamedVersion> wanted{named("transformers", "5.14.1")};
  const ChosenVersions chosen(wanted);
  const Stack& stack = stack_of("trl-1.16");
  EXPECT_EQ(stack.name_of("transformers"), "transformers 5.14.1");
  EXPECT_EQ(stack.plan().kernels.attention.origin.source, "transformers 5.14.1: PreTrainedModel.from_pretrained");
  EXPECT_EQ(stack.plan().recipe.outputs_kept.origin.source, "trl 1.16.0: SFTTrainer.compute_loss");
}

TEST(Versions, ThereIsNoneOfThemAfterwards) {
  {
    const std::vector<NamedVersion> wanted{named("transformers", "5.14.1")};
    const ChosenVersions chosen(wanted);
    EXPECT_EQ(stack_of("trl-1.16").name_of("transformers"), "transformers 5.14.1");
  }
  EXPECT_EQ(stack_of("trl-1.16").name_of("transformers"), "transformers 5.23.0");
}

std::vector<std::string> warnings_with(std::vector<NamedVersion> versions) {
  IngestOptions options;
  options.versions = std::move(versions);
  std::vector<std::string> out;
  for (const Diagnostic& one : plan_from("model_name_or_path: a/b\nmax_length: 8\n", options).warnings)
    out.push_back(one.code + ": " + one.message);
  return out;
}

TEST(Versions, OneThatIsNotThereIsWarnedOf) {
  EXPECT_THAT(warnings_with({named("trl", "1.16.0")}), IsEmpty());
  EXPECT_THAT(warnings_with({named("trl", "1.14.0")}),
              ElementsAre(HasSubstr("ingest/nearest-version: trl==1.14.0: its defaults are not known; those of trl "
                                    "1.16.0 are taken")));
  EXPECT_THAT(warnings_with({named("axolotl", "0.18.0")}), ElementsAre(HasSubstr("ingest/unused-version")));
  EXPECT_THAT(warnings_with({{"numpy", "2.0", {}, false}}), IsEmpty());
}

TEST(Versions, AnotherMajorVersionIsAGap) {
  IngestOptions options;
  options.versions = {named("transformers", "4.57.1")};
  const TrainingPlan plan = plan_from("model_name_or_path: a/b\nmax_length: 8\n", options);
  ASSERT_EQ(plan.unmodelled.size(), 1U);
  EXPECT_EQ(plan.unmodelled.front().key, "transformers==4.57.1");
}

TEST(Versions, ARequirementsFilePinsWhatHasTwoEqualSigns) {
  const auto pins = pins_of_requirements(
      "# trl==0.1\n  TRL[peft] == 1.16.0 ; python_version > '3.9'\npeft>=0.18\nflash_attn===2.8.3 \\\n"
      "  --hash=sha256:a==b\n-r other.txt\n==1.0\na==\n",
      "r.txt");
  EXPECT_THAT(pins, ElementsAre(Pin{"flash-attn", "2.8.3", {"r.txt", 4, 1}}, Pin{"trl", "1.16.0", {"r.txt", 2, 3}}));
}

// A marker may hold nowhere near: a pin without one counts before it.
TEST(Versions, APinWithAMarkerComesLast) {
  const auto pins = pins_of_requirements("trl==1.0.0 ; python_version < '3.9'\ntrl==1.16.0\n", "r.txt");
  ASSERT_EQ(pins.size(), 2U);
  EXPECT_EQ(pins.front().version, "1.16.0");
}

TEST(Versions, NumbersOfNoVersionAreNone) {
  EXPECT_TRUE(nearest_version("1.-9223372036854775808", {"1.16.0"}));
  EXPECT_FALSE(nearest_version("-1", {"1.16.0"}));
}

}  // namespace
}  // namespace oomplan::ingestion
