#include "replace.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace oomplan::cli {
namespace {

namespace fs = std::filesystem;

class Replace : public testing::Test {
 protected:
  Replace() {
    std::string name = (fs::temp_directory_path() / "oomplan-replace-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    path_ = (folder_ / "config.yml").string();
    std::ofstream(path_) << old_text;
  }
  ~Replace() override { fs::remove_all(folder_); }

  static std::string text_of(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  struct stat status() const {
    struct stat out {};
    stat(path_.c_str(), &out);
    return out;
  }
  std::string attribute(const char* name) const {
    std::string value(256, '\0');
    const ssize_t size = getxattr(path_.c_str(), name, value.data(), value.size());
    value.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    return value;
  }

  static constexpr const char* old_text = "rows: 8\n";
  fs::path folder_{};
  std::string path_{};
};

TEST_F(Replace, KeepsModeAndLeavesNothingBeside) {
  chmod(path_.c_str(), 0640);
  EXPECT_EQ(replace_file(path_, "rows: 2\n", old_text), "");
  EXPECT_EQ(text_of(path_), "rows: 2\n");
  EXPECT_EQ(status().st_mode & 07777, 0640u);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

TEST_F(Replace, KeepsOwnerAndGroup) {
  if (chown(path_.c_str(), 1234, 4321) != 0) GTEST_SKIP() << "only root gives files away";
  EXPECT_EQ(replace_file(path_, "rows: 2\n", old_text), "");
  EXPECT_EQ(status().st_uid, 1234u);
  EXPECT_EQ(status().st_gid, 4321u);
}

TEST_F(Replace, KeepsExtendedAttributes) {
  if (setxattr(path_.c_str(), "user.origin", "here", 4, 0) != 0) GTEST_SKIP() << "not on this file system";
  EXPECT_EQ(replace_file(path_, "rows: 2\n", old_text), "");
  EXPECT_EQ(attribute("user.origin"), "here");
}

TEST_F(Replace, KeepsAccessControlList) {
  // Version 2; owner rw-, user 1234 r--, group ---, mask r--, other --- (linux/posix_acl_xattr.h).
  const std::string list(
      "\2\0\0\0"
      "\1\0\6\0\xff\xff\xff\xff"
      "\2\0\4\0\xd2\4\0\0"
      "\4\0\0\0\xff\xff\xff\xff"
      "\x10\0\4\0\xff\xff\xff\xff"
      "\x20\0\0\0\xff\xff\xff\xff",
      44);
  if (setxattr(path_.c_str(), "system.posix_acl_access", list.data(), list.size(), 0) != 0)
    GTEST_SKIP() << "not on this file system";
  EXPECT_EQ(replace_file(path_, "rows: 2\n", old_text), "");
  EXPECT_EQ(attribute("system.posix_acl_access"), list);
}

TEST_F(Replace, AllNamesOfAFileLeadToTheNewText) {
  fs::create_hard_link(path_, folder_ / "other.yml");
  EXPECT_EQ(replace_file(path_, "rows: 2\n", old_text), "");
  EXPECT_EQ(text_of(folder_ / "other.yml"), "rows: 2\n");
  EXPECT_EQ(status().st_nlink, 2u);
}

TEST_F(Replace, AFileThatIsNoLongerAsItWasReadIsLeftAlone) {
  for (const bool linked : {false, true}) {
    if (linked) fs::create_hard_link(path_, folder_ / "other.yml");
    EXPECT_NE(replace_file(path_, "rows: 2\n", "rows: 9\n"), "");
    EXPECT_EQ(text_of(path_), old_text);
  }
}

// The limit on the size of files stands for a disk that fills up.
TEST_F(Replace, WhatCannotBeWrittenLeavesTheOldText) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto old_action = std::signal(SIGXFSZ, SIG_IGN);
  for (const bool linked : {false, true}) {
    if (linked) fs::create_hard_link(path_, folder_ / "other.yml");
    const rlimit small{10, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    const std::string why = replace_file(path_, "rows: 2\nand: more than ten bytes\n", old_text);
    setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_NE(why, "");
    EXPECT_EQ(text_of(path_), old_text);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), linked ? 2 : 1);
  }
  std::signal(SIGXFSZ, old_action);
}

// Root may give all away; anybody else keeps for himself what he may not give to the same owner.
TEST_F(Replace, ACopyIsNotOpenToMoreThanItsModel) {
  chmod(path_.c_str(), 0644);
  if (chown(path_.c_str(), 1234, 4321) != 0) GTEST_SKIP() << "only root gives files away";
  chmod(folder_.c_str(), 0777);
  const std::string copy = (folder_ / "copy").string();
  ASSERT_EQ(seteuid(1235), 0);
  EXPECT_EQ(copy_like(copy, old_text, path_), "");
  ASSERT_EQ(seteuid(0), 0);
  struct stat found {};
  stat(copy.c_str(), &found);
  EXPECT_EQ(found.st_mode & 07777, 0600u);
  EXPECT_EQ(found.st_uid, 1235u);
}

}  // namespace
}  // namespace oomplan::cli
