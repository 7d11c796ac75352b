// How versions of TRL's SFT join and pad rows: trainer/sft_config.py and sft_trainer.py of each.
#include "from_text.hpp"

namespace oomplan {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string sft = "trainer: sft\nmodel_name_or_path: a/b\nper_device_train_batch_size: 4\nmax_length: 128\n";

IngestOptions under(const std::string& trl) {
  IngestOptions options;
  options.versions = {{"trl", trl, {}, true}};
  return options;
}

std::string packed(const std::string& strategy) { return sft + "packing: true\npacking_strategy: " + strategy + "\n"; }

TEST(HfPacking, AStrategyIsOneOfItsVersions) {
  struct Case {
    std::string trl{}, strategy{}, expected{};
  };
  const std::vector<Case> refused{{"0.28.0", "bfd-requeue", "one of bfd, wrapped in trl 0.28.0"},
                                  {"0.28.0", "bfd_split", "one of bfd, wrapped in trl 0.28.0"},
                                  {"0.29.1", "bfd_split", "one of bfd, bfd-requeue, wrapped in trl 0.29.1"},
                                  {"0.19.1", "bfd", "one of ffd, wrapped in trl 0.19.1"},
                                  {"1.16.0", "ffd", "one of bfd, bfd_split, wrapped in trl 1.16.0"}};
  for (const Case& one : refused) {
    EXPECT_THAT(errors_from(packed(one.strategy), under(one.trl)),
                Contains("c.yaml:6:19: ingest/bad-value: packing_strategy: expected " + one.expected + ", found \"" +
                         one.strategy + "\""));
  }
  EXPECT_THAT(features(plan_from(packed("ffd"), under("0.19.1"))), Contains("packing: trl 0.19.1's packing"));
  EXPECT_THAT(errors_from(packed("bfd-requeue"), under("0.29.0")), IsEmpty());
  const std::string off = sft + "packing: false\npacking_strategy: bfd-requeue\n";
  EXPECT_THAT(errors_from(off, under("0.28.0")), IsEmpty()) << "nobody looks at it";
  EXPECT_THAT(errors_from(packed("best"), under("0.28.0")), ElementsAre(HasSubstr("bfd-requeue (0.29)")));
}

// Its trainer joins rows of bfd alone; those of bfd-requeue go through the collator of other rows.
TEST(HfPacking, RequeuedRowsOf029ArePadded) {
  const TrainingPlan padded = plan_from(packed("bfd-requeue"), under("0.29.1"));
  EXPECT_EQ(padded.batch.micro_batch_size.value, 4);
  EXPECT_EQ(padded.batch.sequence_length.value, 128);
  EXPECT_TRUE(padded.batch.padding_mask.value);
  EXPECT_EQ(plan_from(packed("bfd"), under("0.29.1")).batch.sequence_length.value, 512);
  const TrainingPlan joined = plan_from(packed("bfd-requeue") + "padding_free: true\n", under("0.29.1"));
  EXPECT_EQ(joined.batch.micro_batch_size.value, 1);
  EXPECT_EQ(joined.batch.sequence_length.value, 512);
}

TEST(HfPacking, LaterItIsAnotherNameOfBfdSplit) {
  for (const std::string version : {"1.0.0", "1.16.0"}) {
    const TrainingPlan plan = plan_from(packed("bfd-requeue"), under(version));
    EXPECT_EQ(plan.batch.sequence_length.value, 512) << version;
    EXPECT_THAT(said(plan.warnings), Contains(HasSubstr("bfd-requeue is now called bfd_split"))) << version;
  }
  EXPECT_THAT(said(plan_from(packed("bfd_split")).warnings), Not(Contains(HasSubstr("renamed"))));
}

TEST(HfPacking, RowsWithoutPaddingBesideALimitRunBefore10) {
  const std::string free = sft + "padding_free: true\n";
  for (const std::string version : {"1.0.0", "1.5.1", "1.16.0"}) {
    EXPECT_THAT(errors_from(free, under(version)), ElementsAre(HasSubstr("refuses padding_free without packing")));
  }
  for (const std::string version : {"0.24.0", "0.28.0", "0.29.1"}) {
    const TrainingPlan plan = plan_from(free, under(version));
    const TrainingPlan bins = plan_from(packed("bfd"), under(version));
    EXPECT_EQ(plan.batch.micro_batch_size.value, 1) << version;
    EXPECT_EQ(plan.batch.sequence_length.value, 512) << version;
    EXPECT_EQ(plan.batch.padding_mask.value, bins.batch.padding_mask.value) << version;
    EXPECT_EQ(plan.batch.mask_sent.value, bins.batch.mask_sent.value) << version;
    EXPECT_THAT(features(plan), IsEmpty()) << version;
  }
  for (const std::string version : {"0.16.1", "0.18.2", "0.19.1", "0.21.0"}) {
    EXPECT_THAT(features(plan_from(free, under(version))),
                Contains("padding_free: trl " + version + "'s rows without padding"));
  }
}

// DataCollatorForLanguageModeling(return_position_ids=use_flash_attention).
TEST(HfPacking, JoinedRowsWereKeptApartUnderFlashAttentionOnly) {
  for (const std::string& keys : {packed("bfd"), sft + "padding_free: true\n"}) {
    for (const std::string version : {"0.22.2", "0.23.0"}) {
      const TrainingPlan plan = plan_from(keys, under(version));
      EXPECT_EQ(plan.batch.sequence_length.value, 512);
      EXPECT_FALSE(plan.batch.padding_mask.value) << version;
      EXPECT_TRUE(plan.batch.mask_sent.value) << version;
    }
    EXPECT_TRUE(plan_from(keys, under("0.23.1")).batch.padding_mask.value);
    EXPECT_TRUE(plan_from(keys + "pad_to_multiple_of: 64\n", under("0.22.2")).batch.padding_mask.value);
    const TrainingPlan flash = plan_from(keys + "attn_implementation: flash_attention_2\n", under("0.22.2"));
    EXPECT_FALSE(flash.batch.padding_mask.value);
    EXPECT_FALSE(flash.batch.mask_sent.value);
  }
}

TEST(HfPacking, PairsWithoutPaddingAreAGapOfThoseThatJoinThem) {
  const std::string dpo = "trainer: dpo\nmodel_name_or_path: a/b\nmax_length: 128\npadding_free: true\n";
  EXPECT_THAT(features(plan_from(dpo, under("0.28.0"))), Contains("padding_free: trl 0.28.0's rows without padding"));
  EXPECT_THAT(features(plan_from(dpo)), IsEmpty());
}

}  // namespace
}  // namespace oomplan
