#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "support.hpp"

namespace oomplan::read {
namespace {

class FileTest : public testing::Test {
 protected:
  FileTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "oomplan-read-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~FileTest() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, std::string_view text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }

  static std::string refusal(const std::string& path, const ReadBudget& budget = {}) {
    const auto document = read_document(path, budget);
    return document ? "no refusal" : to_text(document.errors()[0]);
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(FileTest, TheExtensionSaysTheSyntax) {
  EXPECT_EQ(read_document(write("a.yaml", "{a: 1}"))->syntax, Syntax::yaml);
  EXPECT_EQ(read_document(write("a.yml", "[1]"))->syntax, Syntax::yaml);
  EXPECT_EQ(read_document(write("a.JSON", "3"))->syntax, Syntax::json);
  EXPECT_EQ(read_document(write("a.toml", "a = 1"))->syntax, Syntax::toml);
}

TEST_F(FileTest, OtherwiseTheFirstCharacterDoes) {
  EXPECT_EQ(read_document(write("a", " \n{\"a\": 1}"))->syntax, Syntax::json);
  EXPECT_EQ(read_document(write("a.conf", "\n[1]"))->syntax, Syntax::json);
  EXPECT_EQ(read_document(write("a.txt", "a: 1"))->syntax, Syntax::yaml);
  EXPECT_EQ(
      refusal(write("a.cfg", "{")).find("a.cfg:1:2: error: the file ends before the JSON does") == std::string::npos,
      false);
}

TEST_F(FileTest, ReadsTheWholeText) {
  const std::string text = "# " + std::string(300'000, 'x') + "\na: 1\n";
  const auto document = read_document(write("a.yaml", text));
  ASSERT_TRUE(document);
  EXPECT_EQ(document->text, text);
  EXPECT_EQ(document->file, path("a.yaml"));
}

TEST_F(FileTest, RefusesAMissingFile) {
  EXPECT_EQ(refusal(path("none.yaml")), path("none.yaml") + ": error: there is no such file [read/missing]\n");
  EXPECT_EQ(refusal(write("f", "a: 1") + "/x"), path("f") + "/x: error: there is no such file [read/missing]\n");
  EXPECT_EQ(refusal(""), "error: there is no such file [read/missing]\n");
  EXPECT_EQ(refusal(std::string(10'000, 'x')).substr(10'000), ": error: there is no such file [read/missing]\n");
  std::string cut = write("cut.yaml", "a: 1");
  cut.push_back('\0');
  EXPECT_EQ(refusal(cut + ".json"), path("cut.yaml") + "?.json: error: there is no such file [read/missing]\n");
}

TEST_F(FileTest, RefusesWhatIsNoPlainFileWithoutWaiting) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(refusal(path("pipe")), path("pipe") + ": error: this is a pipe, not a file [read/not-a-file]\n");
  EXPECT_EQ(refusal(path("")), path("") + ": error: this is a directory, not a file [read/not-a-file]\n");
  EXPECT_EQ(refusal("/dev/zero"), "/dev/zero: error: this is a device, not a file [read/not-a-file]\n");
  std::filesystem::create_symlink("/dev/zero", path("link.yaml"));
  EXPECT_EQ(refusal(path("link.yaml")),
            path("link.yaml") + ": error: this is a device, not a file [read/not-a-file]\n");
}

TEST_F(FileTest, RefusesASocket) {
  const int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path("s").copy(address.sun_path, sizeof(address.sun_path) - 1);
  ASSERT_EQ(bind(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_EQ(refusal(path("s")), path("s") + ": error: this is a socket, not a file [read/not-a-file]\n");
  close(descriptor);
}

TEST_F(FileTest, RefusesAFileThatMayNotBeRead) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
  chmod(write("secret.yaml", "a: 1").c_str(), 0);
  EXPECT_EQ(refusal(path("secret.yaml")),
            path("secret.yaml") + ": error: cannot be read: Permission denied [read/unreadable]\n");
}

TEST_F(FileTest, RefusesALoopOfLinks) {
  std::filesystem::create_symlink(path("b"), path("a"));
  std::filesystem::create_symlink(path("a"), path("b"));
  EXPECT_EQ(refusal(path("a")),
            path("a") + ": error: cannot be read: Too many levels of symbolic links [read/unreadable]\n");
}

TEST_F(FileTest, RefusesAFileLargerThanTheBudget) {
  write("big.yaml", "");
  std::filesystem::resize_file(path("big.yaml"), std::uintmax_t{1} << 40);  // sparse
  EXPECT_EQ(refusal(path("big.yaml")),
            path("big.yaml") + ": error: the file is larger than 8.00 MiB [read/too-large]\n");
  EXPECT_EQ(refusal(write("s.yaml", "a: 1"), {.bytes = 3}),
            path("s.yaml") + ": error: the file is larger than 3 B [read/too-large]\n");
  EXPECT_EQ(refusal(write("t.yaml", "a: 1"), {.bytes = 4}), "no refusal");
}

TEST_F(FileTest, RefusesAnEmptyFile) {
  EXPECT_EQ(refusal(write("e.yaml", "")), path("e.yaml") + ":1:1: error: the file is empty [read/empty]\n");
}

// Their size reads 0 and their text has no end that stat knows.
TEST_F(FileTest, ReadsFilesWithoutASize) {
  const auto document = read_document("/proc/self/comm");
  ASSERT_TRUE(document);
  EXPECT_EQ(document->root.text, "unit_read");
}

}  // namespace
}  // namespace oomplan::read
