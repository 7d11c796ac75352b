#include "codes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "project.hpp"

namespace oomplan::cli {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Every diagnostic code that the sources write as a literal.
std::set<std::string> codes_in_sources() {
  const std::regex literal(
      "\"((?:core|read|ingest|catalog|estimate|diagnose|advise|calibrate|measure|survey|watch|cli)/[a-z-]+)\"");
  std::set<std::string> codes;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(project_folder()) / "src")) {
    if (entry.path().extension() != ".cpp" || entry.path().filename() == "codes.cpp") continue;
    const std::string text = content(entry.path());
    for (std::sregex_iterator it(text.begin(), text.end(), literal); it != std::sregex_iterator(); ++it) {
      codes.insert((*it)[1].str());
    }
  }
  return codes;
}

TEST(Codes, EveryCodeIsExplainedAndNoneBeyond) {
  std::set<std::string> used = codes_in_sources();
  for (const CodeRow& row : code_rows())
    EXPECT_EQ(used.erase(std::string(row.code)), 1U) << row.code << " is never used";
  EXPECT_THAT(used, ::testing::IsEmpty()) << "used, and not explained";
}

TEST(Codes, AreSortedForTheSearch) {
  EXPECT_TRUE(std::ranges::is_sorted(code_rows(), {}, &CodeRow::code));
  for (const CodeRow& row : code_rows()) EXPECT_EQ(find_code(row.code), &row);
  EXPECT_EQ(find_code("read/nothing"), nullptr);
}

TEST(Codes, StandInTheManual) {
  const std::string manual = content(fs::path(project_folder()) / "docs/manual.md");
  for (const CodeRow& row : code_rows()) EXPECT_THAT(manual, ::testing::HasSubstr("`" + std::string(row.code) + "`"));
}

TEST(Codes, TheErrorToMendFirstDecides) {
  const auto error = [](std::string code) { return Diagnostic{.code = std::move(code)}; };
  EXPECT_EQ(verdict_of({}), Verdict::answered);
  EXPECT_EQ(verdict_of({error("estimate/unmodelled")}), Verdict::undecided);
  EXPECT_EQ(verdict_of({error("estimate/unmodelled"), error("ingest/bad-value")}), Verdict::invalid);
  EXPECT_EQ(verdict_of({error("catalog/unknown-gpu"), error("ingest/bad-value")}), Verdict::usage);
  EXPECT_EQ(verdict_of({{.severity = Severity::warning, .code = "ingest/unknown-key"}}), Verdict::answered);
}

}  // namespace
}  // namespace oomplan::cli
