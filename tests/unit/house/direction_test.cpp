// The direction of includes: over the tree as it is, and over lines that break each rule.
#include "direction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "project.hpp"

namespace oomplan::house {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::filesystem::path root = project_folder();

std::string text_of(const std::filesystem::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<std::string> sources_below(const std::filesystem::path& folder) {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const auto extension = entry.path().extension();
    if (extension == ".cpp" || extension == ".hpp") out.push_back(entry.path().lexically_relative(folder).string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

TEST(Direction, HoldsInEveryStage) {
  const std::vector<std::string> files = sources_below(root / "src");
  ASSERT_GT(files.size(), 20U);
  for (const std::string& file : files) {
    EXPECT_THAT(violations(file, text_of(root / "src" / file), files), IsEmpty());
  }
}

TEST(Direction, HoldsInThePythonModule) {
  const std::vector<std::string> files = sources_below(root / "python");
  ASSERT_GT(files.size(), 8U);
  for (const std::string& file : files) {
    EXPECT_THAT(violations(file, text_of(root / "python" / file), files), IsEmpty());
  }
}

TEST(Direction, HoldsInEveryPublicHeader) {
  const std::vector<std::string> files = sources_below(root / "include" / "oomplan");
  ASSERT_GT(files.size(), 8U);
  for (const std::string& file : files) {
    EXPECT_THAT(header_violations(file, text_of(root / "include" / "oomplan" / file)), IsEmpty());
  }
}

TEST(DirectionRule, AStageLooksOnlyDown) {
  EXPECT_THAT(violations("core/a.cpp", "#include \"oomplan/read/document.hpp\"\n"),
              ElementsAre("core/a.cpp may not include oomplan/read/document.hpp: it is of stage read"));
  EXPECT_THAT(violations("read/a.cpp", "#include <string>\n\n  #  include \"oomplan/ingest/ingest.hpp\"  // why\n"),
              ElementsAre("read/a.cpp may not include oomplan/ingest/ingest.hpp: it is of stage ingest"));
  EXPECT_THAT(violations("estimate/ops/a.cpp", "#include \"oomplan/ingest/ingest.hpp\""),
              ElementsAre("estimate/ops/a.cpp may not include oomplan/ingest/ingest.hpp: it is of stage ingest"));
  EXPECT_THAT(violations("main.cpp", "#include \"oomplan/ingest/ingest.hpp\""),
              ElementsAre("main.cpp may not include oomplan/ingest/ingest.hpp: it is of stage ingest"));
  EXPECT_THAT(
      violations("ingest/a.cpp", "#include \"oomplan/read/document.hpp\"\n#include \"oomplan/plan/plan.hpp\"\n"),
      IsEmpty());
  EXPECT_THAT(violations("main.cpp", "#include \"oomplan/cli/cli.hpp\""), IsEmpty());
}

TEST(DirectionRule, ALibraryStaysInItsStage) {
  EXPECT_THAT(violations("ingest/a.cpp", "#include <nlohmann/json.hpp>\n#include <fmt/format.h>\n"),
              ElementsAre("ingest/a.cpp may not include nlohmann/json.hpp: only other stages use that",
                          "ingest/a.cpp may not include fmt/format.h: only other stages use that"));
  EXPECT_THAT(violations("core/a.cpp", "#include <boost/any.hpp>\n"),
              ElementsAre("core/a.cpp may not include boost/any.hpp: this library is no stage's"));
  EXPECT_THAT(violations("read/a.cpp", "#include <zstd.h>\n#include <nlohmann/json.hpp>\n"), IsEmpty());
}

TEST(DirectionRule, TheWorldIsForThoseAtItsEdge) {
  EXPECT_THAT(violations("estimate/a.cpp", "#include <chrono>\n#include <map>\n#include <fstream>\n"),
              ElementsAre("estimate/a.cpp may not include chrono: only other stages use that",
                          "estimate/a.cpp may not include fstream: only other stages use that"));
  EXPECT_THAT(violations("report/a.cpp", "#include <unistd.h>\n"),
              ElementsAre("report/a.cpp may not include unistd.h: only other stages use that"));
  EXPECT_THAT(violations("read/a.cpp", "#include <unistd.h>\n#include <sys/stat.h>\n"), IsEmpty());
}

TEST(DirectionRule, NoStageReachesIntoAnother) {
  const std::vector<std::string> files{"read/tape.hpp", "ingest/rows.hpp", "ingest/dialects/a.cpp"};
  EXPECT_THAT(violations("ingest/a.cpp", "#include \"../read/tape.hpp\"", files),
              ElementsAre("ingest/a.cpp may not include ../read/tape.hpp: it is in another stage's folder"));
  EXPECT_THAT(violations("ingest/a.cpp", "#include \"tape.hpp\"", files),
              ElementsAre("ingest/a.cpp may not include tape.hpp: there is no such file"));
  EXPECT_THAT(violations("ingest/dialects/a.cpp", "#include \"rows.hpp\"\n#include \"../rows.hpp\"\n", files),
              IsEmpty());
}

TEST(DirectionRule, NobodyLooksSideways) {
  const std::vector<std::string> files{"ingest/dialects/axolotl.hpp", "ingest/dialects/hf.cpp"};
  EXPECT_THAT(violations("ingest/dialects/hf.cpp", "#include \"axolotl.hpp\"", files),
              ElementsAre("ingest/dialects/hf.cpp may not include axolotl.hpp: it is its neighbour"));
  EXPECT_THAT(violations("ingest/dialects/axolotl.cpp", "#include \"dialects/axolotl.hpp\"", files), IsEmpty());
}

TEST(DirectionRule, WhatIsNewMustSayWhereItBelongs) {
  EXPECT_THAT(violations("utils/a.cpp", ""), ElementsAre("src/utils is no stage of the design"));
  EXPECT_THAT(
      violations("cli/a.cpp", "#include \"oomplan/manager.hpp\""),
      ElementsAre("cli/a.cpp may not include oomplan/manager.hpp: include/oomplan has a folder for each stage"));
  EXPECT_THAT(header_violations("manager.hpp", ""), ElementsAre("manager.hpp is in no folder of a stage"));
  EXPECT_THAT(header_violations("utils/manager.hpp", ""), ElementsAre("utils/manager.hpp is in no folder of a stage"));
}

TEST(DirectionRule, APublicHeaderShowsNoLibraryAndAValueNoStage) {
  EXPECT_THAT(header_violations("estimate/estimate.hpp", "#include <fmt/format.h>\n"),
              ElementsAre("estimate/estimate.hpp may not include fmt/format.h: no library is public"));
  EXPECT_THAT(header_violations("plan/plan.hpp", "#include \"oomplan/read/document.hpp\"\n"),
              ElementsAre("plan/plan.hpp may not include oomplan/read/document.hpp: it is of stage read"));
  EXPECT_THAT(header_violations("catalog/catalog.hpp", "#include <map>\n#include \"oomplan/read/document.hpp\"\n"),
              IsEmpty());
}

}  // namespace
}  // namespace oomplan::house
