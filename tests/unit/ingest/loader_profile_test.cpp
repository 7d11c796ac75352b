#include "from_text.hpp"

namespace oomplan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string profile(const std::string& read, const std::string& sizes, const std::string& speed = "100.5") {
  return R"({"schema": "oomplan/profile/1", "verdict": "answered",
"read": {)" +
         read + R"(},
"row_bytes": {)" +
         sizes + R"(},
"rows_per_second": )" +
         speed + "}";
}

const std::string read = R"("rows": 3, "file_bytes": 20, "decoded_bytes": 30)";
const std::string sizes = R"("mean": 10.0, "p50": 9, "p99": 12, "longest": 12)";

Result<LoaderProfile> from(const std::string& text) { return read_loader_profile(yaml(text, Syntax::json)); }

std::string refused(const std::string& text) {
  const auto result = from(text);
  return result ? "" : said(result.errors().front());
}

TEST(LoaderProfile, IsWhatMeasureWrites) {
  const auto out = from(profile(read, sizes));
  ASSERT_TRUE(out.ok()) << said(out.errors().front());
  EXPECT_EQ(out->rows, 3);
  EXPECT_EQ(out->decoded, Bytes(30));
  EXPECT_EQ(out->mean_row, 10);
  EXPECT_EQ(out->longest_row, Bytes(12));
  EXPECT_EQ(out->rows_per_second, 100.5);
}

TEST(LoaderProfile, OfAnotherSchemaIsNone) {
  EXPECT_THAT(refused("{}"), HasSubstr("c.yaml:1:1: ingest/bad-profile: expected a profile of the schema"));
  EXPECT_THAT(refused("[1]"), HasSubstr("expected a profile of the schema"));
  EXPECT_THAT(refused(R"({"schema": "oomplan/profile/2"})"), HasSubstr("c.yaml:1:12: ingest/bad-profile"));
}

TEST(LoaderProfile, OfAFailureSaysNothing) {
  EXPECT_THAT(refused(R"({"schema": "oomplan/profile/1", "verdict": "invalid"})"), HasSubstr("measurement failed"));
  EXPECT_THAT(refused(R"({"schema": "oomplan/profile/1"})"), HasSubstr("measurement failed"));
}

TEST(LoaderProfile, OfACommandKnowsNoRows) {
  EXPECT_THAT(refused(R"({"schema": "oomplan/profile/1", "verdict": "answered", "memory": {}})"),
              HasSubstr("of a command, not of a dataset"));
}

const std::string loader = R"("loader": {"rows_per_second": 12.5, "workers": 2})";

TEST(LoaderProfile, OfALoaderAloneKnowsItsRateAndNoRows) {
  const auto out = from(R"({"schema": "oomplan/profile/1", "verdict": "answered", )" + loader + "}");
  ASSERT_TRUE(out.ok()) << said(out.errors().front());
  EXPECT_EQ(out->rows, std::nullopt);
  EXPECT_EQ(out->mean_row, std::nullopt);
  EXPECT_EQ(out->loader->rows_per_second, 12.5);
  EXPECT_EQ(out->loader->workers, 2);
}

TEST(LoaderProfile, OfALoaderMayHaveItsDatasetToo) {
  const std::string dataset = profile(read, sizes);
  const auto out = from(dataset.substr(0, dataset.size() - 1) + ", " + loader + "}");
  ASSERT_TRUE(out.ok()) << said(out.errors().front());
  EXPECT_EQ(out->rows, 3);
  EXPECT_TRUE(out->loader.has_value());
}

TEST(LoaderProfile, OfALoaderIsChecked) {
  const std::string head = R"({"schema": "oomplan/profile/1", "verdict": "answered", "loader": )";
  EXPECT_THAT(refused(head + "5}"), HasSubstr("expected the mapping \"loader\" here"));
  EXPECT_THAT(refused(head + R"({"workers": 2}})"), HasSubstr("rows_per_second is missing"));
  EXPECT_THAT(refused(head + R"({"rows_per_second": 1, "workers": -1}})"), HasSubstr("workers: expected a number, 0"));
  EXPECT_EQ(from(head + R"({"rows_per_second": 1, "workers": null}})")->loader->workers, std::nullopt);
}

TEST(LoaderProfile, PointsAtWhatIsOutOfRange) {
  EXPECT_EQ(refused(profile(R"("rows": -1, "file_bytes": 0, "decoded_bytes": 0)", sizes)),
            "c.yaml:2:18: ingest/bad-profile: rows: expected a number above 0, found -1");
  EXPECT_THAT(refused(profile(R"("rows": 0, "file_bytes": 0, "decoded_bytes": 0)", sizes)), HasSubstr("found 0"));
  EXPECT_THAT(refused(profile(R"("rows": [1], "file_bytes": 0, "decoded_bytes": 0)", sizes)), HasSubstr("a list"));
  EXPECT_THAT(refused(profile(read, R"("mean": 1e300, "longest": 12)")), HasSubstr("longer than the longest"));
  EXPECT_THAT(refused(profile(read, sizes, "0")), HasSubstr("rows_per_second: expected a number above 0"));
}

TEST(LoaderProfile, SaysWhatIsMissing) {
  EXPECT_THAT(refused(profile(R"("file_bytes": 0, "decoded_bytes": 0)", sizes)), HasSubstr("rows is missing"));
  EXPECT_THAT(refused(R"({"schema": "oomplan/profile/1", "verdict": "answered", "read": 5})"),
              HasSubstr("expected the mapping \"read\" here"));
}

TEST(LoaderProfile, HoldsHugeFiguresAtTheEndOfTheRange) {
  const auto out = from(profile(R"("rows": 1e30, "file_bytes": 1e40, "decoded_bytes": 1e200)", sizes));
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(out->rows, Bytes::max().count());
}

// ---- The keys ------------------------------------------------------------------------------------------------------

const std::string plain = "model: m\nmicro_batch_size: 2\nsequence_length: 8\n";

TEST(LoaderKeys, OfThePlainConfig) {
  const LoaderPlan loader = plan_from(plain + "loader_workers: 4\nloader_rows_as: list\nloader_start: spawn\n").loader;
  EXPECT_THAT(loader.workers, is_from(4, "loader_workers at 4:17"));
  EXPECT_EQ(loader.rows_as.value, RowsAs::list);
  EXPECT_EQ(loader.start.value, WorkerStart::spawn);
  EXPECT_THAT(loader.prefetch, is_from(2, "default of torch 2.13.0: DataLoader"));
}

TEST(LoaderKeys, AreCheckedByThePlainConfig) {
  EXPECT_THAT(errors_from(plain + "loader_start: thread\n"),
              ElementsAre(HasSubstr("expected one of fork, spawn, forkserver")));
  EXPECT_THAT(errors_from(plain + "loader_workers: -1\n"), ElementsAre(HasSubstr("an integer, 0 or more")));
}

TEST(LoaderKeys, OfTrl) {
  const LoaderPlan loader = plan_from(
                                "model_name_or_path: m\nmax_length: 64\ndataloader_num_workers: 3\n"
                                "dataloader_prefetch_factor: 5\ndataloader_pin_memory: false\n"
                                "dataloader_persistent_workers: true\ndataset_num_proc: 6\n"
                                "dataloader_multiprocessing_context: spawn\n")
                                .loader;
  EXPECT_EQ(loader.workers.value, 3);
  EXPECT_EQ(loader.prefetch.value, 5);
  EXPECT_FALSE(loader.pin_memory.value);
  EXPECT_TRUE(loader.persistent.value);
  EXPECT_EQ(loader.map_processes.value, 6);
  EXPECT_EQ(loader.start.value, WorkerStart::spawn);
  EXPECT_EQ(loader.rows_as.value, RowsAs::mapped);
  EXPECT_TRUE(loader.padded.value);
}

TEST(LoaderKeys, ATrainersDefaultIsNoWorkersAndPinnedMemory) {
  const LoaderPlan loader = plan_from("model_name_or_path: m\nmax_length: 64\n").loader;
  EXPECT_THAT(loader.workers, is_from(0, "default of transformers 5.23.0: TrainingArguments"));
  EXPECT_TRUE(loader.pin_memory.value);
}

TEST(LoaderKeys, OfStreams) {
  EXPECT_EQ(plan_from("model_name_or_path: m\nmax_length: 64\ndataset_streaming: true\n").loader.rows_as.value,
            RowsAs::stream);
}

const std::string axolotl = "base_model: m\nmicro_batch_size: 2\ngradient_accumulation_steps: 1\n";

TEST(LoaderKeys, AxolotlSaysAllThreeWhereTheConfigSaysNone) {
  const LoaderPlan loader = plan_from(axolotl).loader;
  EXPECT_EQ(loader.workers.value, 1);
  EXPECT_THAT(loader.prefetch, is_from(256, "default of axolotl 0.18.0: default_dataloader_opts"));
  EXPECT_EQ(plan_from(axolotl + "dataloader_pin_memory: true\n").loader.workers.value, 0);
}

TEST(LoaderKeys, AxolotlGivesEachRankAsManyWorkersAsThereAreRanks) {
  EXPECT_EQ(plan_with(axolotl, {"ranks=8"}).loader.workers.value, 8);
  EXPECT_EQ(plan_with(axolotl + "dataloader_num_workers: 3\n", {"ranks=8"}).loader.workers.value, 3);
}

TEST(LoaderKeys, PaddedAndPackedRowsAreAsLongAsTheSequence) {
  EXPECT_TRUE(plan_from(plain + "padding_mask: true\n").loader.padded.value);
  EXPECT_TRUE(plan_with(plain, {"loader_packed=true"}).loader.padded.value);
  EXPECT_FALSE(plan_from(plain).loader.padded.value);
  EXPECT_FALSE(plan_from(plain + "padding_mask: true\nloader_padded: false\n").loader.padded.value);
}

TEST(LoaderKeys, OfAxolotl) {
  const LoaderPlan loader =
      plan_from(axolotl + "dataset_processes: 7\nstreaming: true\nmax_steps: 9\nsample_packing: true\n").loader;
  EXPECT_EQ(loader.map_processes.value, 7);
  EXPECT_EQ(loader.rows_as.value, RowsAs::stream);
  EXPECT_EQ(loader.shuffle_buffer.value, 10'000);
  EXPECT_TRUE(loader.packed.value);
  EXPECT_EQ(loader.columns.value, 4);
}

}  // namespace
}  // namespace oomplan
