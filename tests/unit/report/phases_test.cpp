// The table of phases, and what is written down of it elsewhere.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "oomplan/plan/phase.hpp"
#include "project.hpp"

namespace oomplan {
namespace {

std::string content(const std::string& name) {
  std::ifstream in(project_folder() + "/docs/" + name);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Phases, SchemaAndManualNameThemInOrder) {
  std::string list;
  std::size_t row = 0;
  const std::string manual = content("manual.md");
  for (const std::string_view name : phase_names) {
    list += (list.empty() ? "\"" : ", \"") + std::string(name) + "\"";
    const std::size_t at = manual.find("\n| `" + std::string(name) + "` |", row);
    ASSERT_NE(at, std::string::npos) << name;
    row = at;
  }
  EXPECT_NE(content("estimate.schema.json").find("\"phase\": {\"enum\": [" + list + "]}"), std::string::npos);
}

TEST(Phases, AMarkCarriesPhaseAndStep) {
  for (const PhaseOfStep at : {PhaseOfStep{Phase::load, 0}, PhaseOfStep{Phase::reference, 0},
                               PhaseOfStep{Phase::evaluation, 1}, PhaseOfStep{Phase::backward, 70'000}}) {
    EXPECT_EQ(PhaseOfStep::of(at.code()), at);
  }
  EXPECT_NE((PhaseOfStep{Phase::load, 1}.code()), (PhaseOfStep{Phase::evaluation, 0}.code()));
}

}  // namespace
}  // namespace oomplan
