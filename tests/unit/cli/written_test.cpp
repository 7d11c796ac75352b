#include "written.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "applied.hpp"
#include "oomplan/read/document.hpp"

namespace oomplan::cli {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  Files() : folder_(fs::temp_directory_path() / ("oomplan-files-" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~Files() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void put(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }
  std::string text(const std::string& name) const {
    std::ifstream in(path(name));
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::size_t count() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

TEST_F(Files, APatchKeepsWhatWasThere) {
  put("a.yml", "a: 1\n");
  const auto document = read_document(path("a.yml"));
  ASSERT_TRUE(document);
  const auto backup = apply(*document, "a: 2\n");
  ASSERT_TRUE(backup);
  EXPECT_EQ(text("a.yml"), "a: 2\n");
  EXPECT_EQ(text("a.yml.bak"), "a: 1\n");
  EXPECT_EQ(count(), 2U);
}

TEST_F(Files, AFileThatHasChangedInBetweenIsLeftAlone) {
  put("a.yml", "a: 1\n");
  const auto document = read_document(path("a.yml"));
  ASSERT_TRUE(document);
  put("a.yml", "a: 1\nb: written meanwhile\n");
  const auto backup = apply(*document, "a: 2\n");
  ASSERT_FALSE(backup);
  EXPECT_EQ(backup.errors().front().code, "cli/not-applied");
  EXPECT_EQ(text("a.yml"), "a: 1\nb: written meanwhile\n");
  EXPECT_EQ(count(), 1U);
}

TEST_F(Files, AFileThatIsGoneStaysSo) {
  put("a.yml", "a: 1\n");
  const auto document = read_document(path("a.yml"));
  ASSERT_TRUE(document);
  fs::remove(path("a.yml"));
  EXPECT_FALSE(apply(*document, "a: 2\n"));
  EXPECT_EQ(count(), 0U);
}

TEST_F(Files, AnotherBackupIsNotLost) {
  put("a.yml", "a: 1\n");
  put("a.yml.bak", "precious\n");
  const auto document = read_document(path("a.yml"));
  ASSERT_TRUE(document);
  EXPECT_TRUE(apply(*document, "a: 2\n"));
  EXPECT_EQ(text("a.yml.bak"), "precious\n");
  EXPECT_EQ(text("a.yml.bak.1"), "a: 1\n");
}

TEST_F(Files, AReportReplacesAReport) {
  EXPECT_TRUE(write_report(path("r.html"), "one", {}).empty());
  EXPECT_TRUE(write_report(path("r.html"), "two", {path("a.yml")}).empty());
  EXPECT_EQ(text("r.html"), "two");
  EXPECT_EQ(count(), 1U);
}

TEST_F(Files, AReportIsWrittenThroughALink) {
  put("real.html", "old");
  fs::create_symlink("real.html", path("link.html"));
  EXPECT_TRUE(write_report(path("link.html"), "new", {}).empty());
  EXPECT_EQ(text("real.html"), "new");
  EXPECT_TRUE(fs::is_symlink(path("link.html")));
}

TEST_F(Files, AReportNeverReplacesAnInputByAnyName) {
  put("a.yml", "a: 1\n");
  fs::create_hard_link(path("a.yml"), path("b.yml"));
  fs::create_symlink("a.yml", path("c.yml"));
  for (const char* name : {"a.yml", "b.yml", "c.yml", "./a.yml"}) {
    const Diagnostics failed = write_report(path(name), "report", {path("nowhere.yml"), path("a.yml")});
    ASSERT_EQ(failed.size(), 1U) << name;
    EXPECT_EQ(failed.front().code, "cli/not-written");
  }
  EXPECT_EQ(text("a.yml"), "a: 1\n");
}

TEST_F(Files, AReportWhereThereIsNoPlaceForOne) {
  EXPECT_FALSE(write_report(path("nowhere/r.html"), "r", {}).empty());
  EXPECT_FALSE(write_report(folder_.string(), "r", {}).empty());
  EXPECT_FALSE(write_report("/dev/null/x", "r", {}).empty());
  EXPECT_EQ(count(), 0U);
}

}  // namespace
}  // namespace oomplan::cli
