// Which files a directory is.
#include "shards.hpp"

#include <gmock/gmock.h>

#include "temporary.hpp"

namespace oomplan::measure {
namespace {

using testing::ElementsAre;

std::vector<std::string> names_below(const Temporary& folder, const std::string& path) {
  std::vector<std::string> out;
  const auto found = shards_of({path}, 1 << 20);
  for (const Shard& shard : found ? *found : std::vector<Shard>{}) {
    out.push_back(std::filesystem::relative(shard.path, folder.path()).string());
  }
  return out;
}

TEST(Shards, WhatDescribesASavedDatasetIsNoData) {
  const Temporary folder;
  folder.file("dataset_dict.json", R"({"splits": ["test", "train"]})");
  for (const std::string split : {"test", "train"}) {
    folder.file(split + "/data-00000-of-00001.arrow", "");
    folder.file(split + "/dataset_info.json", "{}");
    folder.file(split + "/state.json", "{}");
  }
  EXPECT_THAT(names_below(folder, folder.path()),
              ElementsAre("test/data-00000-of-00001.arrow", "train/data-00000-of-00001.arrow"));
  EXPECT_THAT(names_below(folder, folder / "train/state.json"), ElementsAre("train/state.json"));
}

TEST(Shards, JsonOfTheseNamesIsDataWhereThereIsNoArrow) {
  const Temporary folder;
  for (const char* name : {"dataset_dict.json", "dataset_info.json", "state.json", "sub/a.jsonl"})
    folder.file(name, "{}");
  EXPECT_THAT(names_below(folder, folder.path()),
              ElementsAre("dataset_dict.json", "dataset_info.json", "state.json", "sub/a.jsonl"));
}

TEST(Shards, APatternMeansFilesInAllFoldersOnceAndFoldersByName) {
  const Temporary folder;
  for (const char* name : {"a/1.jsonl", "a/b/2.jsonl", "a/b/c/3.jsonl", "other/4.jsonl", "other/5.txt"})
    folder.file(name, "{}");
  std::filesystem::create_directory_symlink(folder.path(), folder / "a/b/loop");
  EXPECT_THAT(names_below(folder, folder / "a/**/*.jsonl"),
              ElementsAre("a/1.jsonl", "a/b/2.jsonl", "a/b/c/3.jsonl", "other/4.jsonl"));
  EXPECT_THAT(names_below(folder, folder / "oth*"), ElementsAre("other/4.jsonl", "other/5.txt"));
  EXPECT_THAT(shards_of({folder / "a/**"}, 200).errors().front().code, "measure/over-budget");
}

}  // namespace
}  // namespace oomplan::measure
