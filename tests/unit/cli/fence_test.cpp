#include "fence.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace oomplan::cli {
namespace {

namespace fs = std::filesystem;

/// repo/.git, repo/sub (the working directory), repo/file, other/file, and links from repo to the latter.
class Fenced : public testing::Test {
 protected:
  Fenced() : before_(fs::current_path()) {
    std::string name = (fs::temp_directory_path() / "oomplan-fence-XXXXXX").string();
    folder_ = fs::canonical(mkdtemp(name.data()));
    for (const char* made : {"repo/.git", "repo/sub", "other", "other/below"}) fs::create_directories(folder_ / made);
    for (const char* made : {"repo/file", "other/file", "other/below/file"}) std::ofstream(folder_ / made) << "x";
    fs::create_symlink(folder_ / "other/file", folder_ / "repo/link");
    fs::create_symlink(folder_ / "other", folder_ / "repo/folder");
    fs::create_symlink("../file", folder_ / "repo/sub/inner");
    fs::create_symlink("round", folder_ / "repo/round");
    fs::current_path(folder_ / "repo/sub");
  }
  ~Fenced() override {
    fs::current_path(before_);
    fs::remove_all(folder_);
  }

  fs::path before_{};
  fs::path folder_{};
};

TEST_F(Fenced, TheRepositoryIsWithinAndNothingElse) {
  const Fence fence({});
  for (const char* path : {"../file", "inner", "not-there", "org/model", ".", "..", "../sub/./inner"})
    EXPECT_FALSE(fence.objection(path)) << path;
  for (const char* path : {"../../other/file", "../link", "../folder/file", "../folder/not-there", "/", "/etc/hosts",
                           "../../not-there", "../round", "../../repository"})
    EXPECT_TRUE(fence.objection(path)) << path;
}

TEST_F(Fenced, FoldersThatTheUserNamesAreWithinToo) {
  const Fence fence({(folder_ / "other/below").string()});
  EXPECT_FALSE(fence.objection("../folder/below/file"));
  EXPECT_TRUE(fence.objection("../link"));
}

TEST_F(Fenced, AConfigNamedElsewhereBringsItsFolder) {
  const Fence fence = Fence({}).around("../../other/file");
  EXPECT_FALSE(fence.objection("../../other/below/file"));
  EXPECT_TRUE(fence.objection("../.."));
}

TEST_F(Fenced, ALinkInTheRepositoryBringsNothing) {
  for (const char* named : {"../link", "../folder/file", "../../repo/folder/file"})
    EXPECT_TRUE(Fence({}).around(named).objection(named)) << named;
}

}  // namespace
}  // namespace oomplan::cli
