#include "oomplan/read/glob.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace oomplan {
namespace {

namespace fs = std::filesystem;

class Globs : public testing::Test {
 protected:
  Globs() : folder_(fs::temp_directory_path() / ("oomplan-glob-" + std::to_string(::getpid()))) {
    for (const char* path : {"a.yaml", "b.yml", "x/a.yaml", "x/y/a.yaml", "x/y/c.txt", ".hidden/a.yaml"}) {
      fs::create_directories((folder_ / path).parent_path());
      std::ofstream(folder_ / path) << "a: 1\n";
    }
    fs::create_directory_symlink(folder_, folder_ / "x/loop");
  }
  ~Globs() override { fs::remove_all(folder_); }

  std::vector<std::string> expanded(const std::string& pattern) const {
    const auto found = expand_glob(folder_.string() + "/" + pattern);
    std::vector<std::string> out;
    if (!found) return {found.errors().front().code};
    for (const std::string& path : *found) out.push_back(path.substr(folder_.string().size() + 1));
    return out;
  }

  fs::path folder_;
};

using Names = std::vector<std::string>;

TEST_F(Globs, MeanFilesFolderByFolder) {
  EXPECT_EQ(expanded("*.yaml"), (Names{"a.yaml"}));
  EXPECT_EQ(expanded("*.y*ml"), (Names{"a.yaml", "b.yml"}));
  EXPECT_EQ(expanded("**/*.yaml"), (Names{"a.yaml", "x/a.yaml", "x/y/a.yaml"}));
  EXPECT_EQ(expanded("x/**"), (Names{"x/a.yaml", "x/y/a.yaml", "x/y/c.txt"}));
  EXPECT_EQ(expanded("[ab].y?*l"), (Names{"a.yaml", "b.yml"}));
  EXPECT_EQ(expanded(".hidden/*"), (Names{".hidden/a.yaml"}));
}

TEST_F(Globs, ThatMeanNothingAreAnError) {
  EXPECT_EQ(expanded("*.toml"), (Names{"read/no-match"}));
  EXPECT_EQ(expanded("nowhere/*.yaml"), (Names{"read/no-match"}));
  EXPECT_EQ(expanded("x/y/"), (Names{"read/no-match"}));
}

TEST_F(Globs, MeanLinksThatLeadNowhereButNoFolders) {
  fs::create_symlink("nowhere", folder_ / "x/lost.yaml");
  fs::create_directory(folder_ / "x/folder.yaml");
  EXPECT_EQ(expanded("x/*.yaml"), (Names{"x/a.yaml", "x/lost.yaml"}));
  EXPECT_EQ(expanded("x/**/l*.yaml"), (Names{"x/lost.yaml"}));
}

TEST(GlobsMean, AFileHoweverItsPathIsWritten) {
  const std::string here = fs::current_path().string();
  for (const std::string& path : {std::string("configs/b.yaml"), here + "/configs/b.yaml",
                                  here + "/./x/../configs/b.yaml", std::string("./f/../configs//b.yaml")}) {
    EXPECT_TRUE(globs_mean({"a", "configs/*.yaml"}, path)) << path;
    EXPECT_TRUE(globs_mean({here + "/configs/**"}, path)) << path;
    EXPECT_FALSE(globs_mean({"f/**", "/configs/*"}, path)) << path;
  }
  EXPECT_TRUE(globs_mean({"/else/*"}, "/else/where.yaml"));
  EXPECT_TRUE(globs_mean({"../x/*"}, "../x/a.yaml"));
}

TEST(GlobMatches, PathsAsTheyAreWritten) {
  EXPECT_TRUE(glob_matches("configs/**/*.yaml", "configs/a.yaml"));
  EXPECT_TRUE(glob_matches("configs/**/*.yaml", "./configs/x/y/a.yaml"));
  EXPECT_TRUE(glob_matches("**", "any/thing"));
  EXPECT_TRUE(glob_matches("a[!b-d]c", "axc"));
  EXPECT_FALSE(glob_matches("a[!b-d]c", "acc"));
  EXPECT_FALSE(glob_matches("configs/*.yaml", "configs/x/a.yaml"));
  EXPECT_FALSE(glob_matches("a.yaml", "b/a.yaml"));
  EXPECT_FALSE(glob_matches("/a.yaml", "a.yaml"));
  EXPECT_TRUE(glob_matches("a[", "a["));
}

TEST(GlobMatches, BracketsThatClose) {
  for (const char* closed : {"", "a/b", "a[b]c/[!d-e]", "[[]", "[]]"}) EXPECT_TRUE(brackets_close(closed)) << closed;
  for (const char* open : {"[", "a[b/c]", "[a][", "[]", "[!]"}) EXPECT_FALSE(brackets_close(open)) << open;
}

TEST(GlobMatches, TakesNoLongerForManyStars) {
  std::string pattern;
  for (int i = 0; i < 100; ++i) pattern += "*a";
  EXPECT_FALSE(glob_matches(pattern + "b", std::string(10'000, 'a')));
  std::string folders;
  for (int i = 0; i < 100; ++i) folders += "**/";
  std::string path;
  for (int i = 0; i < 500; ++i) path += "a/";
  EXPECT_FALSE(glob_matches(folders + "b", path + "c"));
}

}  // namespace
}  // namespace oomplan
