// Axolotl's dialect where the model sees images.
#include "from_text.hpp"

namespace oomplan {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::string full = "base_model: a/b\nmicro_batch_size: 2\ngradient_accumulation_steps: 4\n";

TEST(Axolotl, ImagesAndTheRowsThatHoldThemAreTheDatas) {
  const std::string sees = full + "flash_attention: true\nprocessor_type: AutoProcessor\nskip_prepare_dataset: true\n";
  EXPECT_THAT(errors_from(sees),
              ElementsAre(HasSubstr("ingest/missing-fact: processor_type: the data decide how many images a row has"),
                          HasSubstr("ingest/missing-fact: processor_type: nothing cuts rows to sequence_len")));
  const auto plan_of = [&](const std::string& lines) {
    return plan_with(sees + lines, {"images=2", "sequence_length=900"});
  };
  const TrainingPlan plan = plan_of("sequence_len: 2048\n");
  EXPECT_THAT(features(plan), IsEmpty());
  EXPECT_EQ(plan.images.count.value, 2);
  EXPECT_EQ(plan.batch.sequence_length.value, 900);  // Not raised to a multiple: the collator has none.
  EXPECT_TRUE(plan.images.token_types.value);
  EXPECT_TRUE(plan.batch.padding_mask.value);
  const std::string alone =
      "base_model: a/b\nmicro_batch_size: 1\ngradient_accumulation_steps: 4\n"
      "processor_type: AutoProcessor\nskip_prepare_dataset: true\n";
  EXPECT_FALSE(plan_with(alone, {"images=2", "sequence_length=900"}).batch.padding_mask.value);
}

TEST(Axolotl, RowsOfImagesThatAreNotCollatedFromConversationsAreNotPlayed) {
  const auto one = [](const std::string& lines) {
    return features(plan_with(full + "flash_attention: true\nprocessor_type: AutoProcessor\n" + lines,
                              {"images=1", "sequence_length=900"}));
  };
  EXPECT_THAT(one(""), ElementsAre("processor_type: rows of images that are tokenized before the run"));
  EXPECT_THAT(one("skip_prepare_dataset: true\nsample_packing: true\n"),
              ElementsAre("processor_type: packed rows of images"));
  EXPECT_THAT(one("skip_prepare_dataset: true\nrl: dpo\n"), Contains("processor_type: preference training on images"));
}

TEST(Axolotl, FrozenTowersAreNamed) {
  const auto frozen = [](const std::string& line) { return plan_from(full + line).recipe.frozen.value; };
  EXPECT_THAT(frozen("freeze_mm_modules: true\n"), AllOf(Contains("vision_tower"), Contains("visual"), SizeIs(9)));
  EXPECT_THAT(frozen("freeze_mm_modules: false\n"), IsEmpty());
}

}  // namespace
}  // namespace oomplan
