#include "oomplan/read/log_text.hpp"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace oomplan {
namespace {

class LogTextTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "oomplan_log_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& content) {
    const std::string path = folder_ / "log";
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

  std::filesystem::path folder_;
};

struct Whole {
  std::string text{};
  std::size_t longest = 0;
  Diagnostics errors{};
};

Whole read_all(const std::string& path, LogText::Part part = LogText::Part::all) {
  Whole out;
  Result<LogText> log = LogText::open(path, part);
  if (!log) return {.errors = log.errors()};
  while (true) {
    const Result<std::optional<std::string_view>> block = log->next();
    if (!block) return out.errors = block.errors(), out;
    if (!*block) return out;
    out.text += **block;
    out.longest = std::max(out.longest, (*block)->size());
  }
}

std::string gzipped(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

std::string zstded(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

// A protocol buffer's field with a length.
std::string field(unsigned number, const std::string& bytes) {
  std::string out;
  for (const std::size_t value : {std::size_t{number} << 3U | 2U, bytes.size()}) {
    std::size_t rest = value;
    for (; rest >= 0x80; rest >>= 7U) out += static_cast<char>(rest | 0x80U);
    out += static_cast<char>(rest);
  }
  return out + bytes;
}

std::string printed(const std::string& text) { return field(13, std::string("\x08\x01", 2) + field(3, text)); }

// A file as W&B writes it: records in chunks that end with blocks of 32 KiB.
std::string wandb_file(const std::vector<std::string>& records) {
  std::string out(":W&B\xE1\xBE\0", 7);
  for (const std::string& record : records) {
    std::size_t at = 0;
    do {
      std::size_t room = 32768 - out.size() % 32768;
      if (room < 7) out.append(std::exchange(room, 32768), '\0');
      const std::size_t size = std::min(record.size() - at, room - 7);
      const bool begins = at == 0;
      const bool ends = at + size == record.size();
      const char type = begins && ends ? 1 : begins ? 2 : ends ? 4 : 3;
      const std::string chunk = type + record.substr(at, size);
      const uLong sum = crc32(0, reinterpret_cast<const Bytef*>(chunk.data()), static_cast<uInt>(chunk.size()));
      for (unsigned shift = 0; shift < 32; shift += 8) out += static_cast<char>(sum >> shift & 0xFFU);
      out += static_cast<char>(size & 0xFFU);
      out += static_cast<char>(size >> 8U);
      out += chunk;
      at += size;
    } while (at < record.size());
  }
  return out;
}

std::string many_lines() {
  std::string out;
  for (int i = 1; i <= 40'000; ++i) out += "line " + std::to_string(i) + " of the log\n";
  return out;
}

TEST_F(LogTextTest, GivesWholeLines) {
  const std::string text = many_lines();
  Result<LogText> log = LogText::open(file(text));
  ASSERT_TRUE(log.ok());
  int blocks = 0;
  for (Result<std::optional<std::string_view>> block = log->next(); *block; block = log->next(), ++blocks) {
    EXPECT_TRUE((*block)->starts_with("line "));
    EXPECT_EQ((*block)->back(), '\n');
  }
  EXPECT_GT(blocks, 2);
}

TEST_F(LogTextTest, CutsALineThatIsTooLong) {
  const Whole whole = read_all(file("first\n" + std::string(3 * LogText::most, 'x') + "\nlast"));
  EXPECT_LE(whole.longest, LogText::most);
  EXPECT_EQ(whole.text.size(), 6 + 3 * LogText::most + 5);
}

TEST_F(LogTextTest, CutsAtACarriageReturnWhereThereIsOne) {
  std::string bar;
  while (bar.size() < 2 * LogText::most) bar += "\r 12%|#         | 10/80";
  Result<LogText> log = LogText::open(file(bar));
  const Result<std::optional<std::string_view>> block = log->next();
  EXPECT_EQ((*block)->back(), '\r');
}

TEST_F(LogTextTest, UnpacksGzipAndZstdOfSeveralMembers) {
  const std::string text = many_lines();
  EXPECT_EQ(read_all(file(gzipped(text) + gzipped("more\n"))).text, text + "more\n");
  EXPECT_EQ(read_all(file(zstded(text) + zstded("more\n"))).text, text + "more\n");
}

TEST_F(LogTextTest, SaysThatPackedDataIsCutShortAfterWhatStandsBefore) {
  const std::string text = many_lines();
  for (const std::string& packed : {gzipped(text), zstded(text)}) {
    const Whole whole = read_all(file(packed.substr(0, packed.size() - 40)));
    ASSERT_EQ(whole.errors.size(), 1U);
    EXPECT_EQ(whole.errors.front().code, "read/damaged");
    EXPECT_TRUE(text.starts_with(whole.text));
  }
}

TEST_F(LogTextTest, ReadsWhatPowerShellWrites) {
  std::string utf16 = "\xFF\xFE";
  for (const char c : std::string("out of memory\r\n")) utf16 += std::string{c, '\0'};
  utf16 += std::string("\xe9\x00", 2);  // é
  EXPECT_EQ(read_all(file(utf16)).text, "out of memory\r\n\xC3\xA9");
}

TEST_F(LogTextTest, RefusesWhatIsNotThere) {
  EXPECT_EQ(read_all(folder_ / "none").errors.front().code, "read/missing");
  EXPECT_EQ(read_all(folder_).errors.front().code, "read/not-a-file");
  EXPECT_TRUE(read_all(file("")).errors.empty());
}

TEST(CountNewlines, CountsWhateverTheLengthAndPlace) {
  for (std::size_t size = 0; size < 70; ++size) EXPECT_EQ(count_newlines(std::string(size, '\n')), size);
  EXPECT_EQ(count_newlines(std::string(100'000, 'x') + "\n" + std::string(9'000, '\n')), 9'001);
}

TEST_F(LogTextTest, OfAWandbFileItIsWhatTheRunPrinted) {
  const std::string one_line = std::string(70'000, 'x') + "\n";
  const std::string history = field(2, field(1, field(1, "loss") + field(2, "1.9")));
  const std::string exit = field(18, std::string("\x08\x01", 2));
  const Whole whole = read_all(file(wandb_file(
      {printed("step 1\nste"), history, printed("p 2\n"), printed(one_line), field(4, field(3, "done")), exit})));
  EXPECT_TRUE(whole.errors.empty());
  EXPECT_EQ(whole.text, "step 1\nstep 2\n" + one_line + "done\n\nwandb: the run ended with exit code 1\n");
}

TEST_F(LogTextTest, ADamagedRecordOfAWandbFileIsLeftOut) {
  std::string bytes = wandb_file({printed("one\n"), printed("two\n"), printed("three\n")});
  bytes[bytes.find("two")] = 'T';
  EXPECT_EQ(read_all(file(bytes)).text, "one\nthree\n");
  const std::string cut = wandb_file({printed("one\n"), printed("two\n")});
  for (std::size_t size = 7; size < cut.size(); ++size) {
    const std::string text = read_all(file(cut.substr(0, size))).text;
    EXPECT_TRUE(text.empty() || text == "one\n") << size;
  }
}

// More than a MiB in one record is no line of a log.
TEST_F(LogTextTest, AWandbRecordTakesNoMoreThanAMebibyte) {
  EXPECT_EQ(read_all(file(wandb_file({printed(std::string(2'000'000, 'x')), printed("two\n")}))).text, "two\n");
}

TEST_F(LogTextTest, OfAWandbFileBesideTheTerminalsCopyOnlyTheEndCounts) {
  const std::string path = file(wandb_file({printed("one\n"), field(18, std::string("\x08\x01", 2))}));
  EXPECT_EQ(read_all(path, LogText::Part::of_tracker).text, "wandb: the run ended with exit code 1\n");
  EXPECT_EQ(read_all(file("CUDA out of memory\n"), LogText::Part::of_tracker).text, "");
}

}  // namespace
}  // namespace oomplan
