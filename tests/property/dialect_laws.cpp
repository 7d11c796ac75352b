// One run said in two dialects needs the same: each config of examples/, written in every dialect that can say all of
// it.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "oomplan/catalog/catalog.hpp"
#include "oomplan/estimate/estimate.hpp"
#include "oomplan/ingest/ingest.hpp"
#include "oomplan/read/document.hpp"
#include "project.hpp"

namespace oomplan {
namespace {

namespace fs = std::filesystem;

bool say_the_same(const TrainingPlan& one, const TrainingPlan& other) {
  for (const std::string_view name : fact_names())
    if (fact_of(one, name) != fact_of(other, name)) return false;
  return true;
}

Result<TrainingPlan> read_back(const std::string& text, std::string_view dialect) {
  const Result<Document> document = parse_document(text, "written.yml", Syntax::yaml);
  if (!document) return document.errors();
  return ingest(*document, {.dialect = std::string(dialect)});
}

Bytes peak_of(const TrainingPlan& plan) {
  const Result<Architecture> model = find_model(plan.model.name.value, {});
  const Result<TrainingPlan> whole = with_model_defaults(plan, *model);
  return estimate(*whole, *model, Detail::peaks)->peak.tensors();
}

TEST(Dialects, OneRunNeedsTheSameInEach) {
  int configs = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(project_folder()) / "examples")) {
    const std::string ending = entry.path().extension().string();
    if (ending != ".yml" && ending != ".yaml") continue;
    const Result<Document> document = read_document(entry.path().string());
    ASSERT_TRUE(document) << entry.path();
    const Result<TrainingPlan> plan = ingest(*document);
    ASSERT_TRUE(plan) << entry.path() << ": " << to_text(plan.errors().front());
    ++configs;
    for (const std::string_view dialect : dialects()) {
      const Result<TrainingPlan> back = read_back(write_plan(*plan, dialect), dialect);
      const bool whole = back && say_the_same(*plan, *back);
      EXPECT_TRUE(whole || (dialect != "oomplan" && dialect != plan->dialect)) << entry.path() << " as " << dialect;
      if (whole) {
        EXPECT_EQ(peak_of(*plan), peak_of(*back)) << entry.path() << " as " << dialect;
      }
    }
  }
  EXPECT_GE(configs, 3);
}

}  // namespace
}  // namespace oomplan
