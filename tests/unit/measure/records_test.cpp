#include "records.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "cells.hpp"

namespace oomplan::measure {
namespace {

using testing::ElementsAre;

/// Hands out a byte at a time, as a slow pipe does.
class Slow final : public read::ByteSource {
 public:
  explicit Slow(std::string text) : text_(std::move(text)) {}
  Result<std::size_t> read(char* out, std::size_t) override {
    if (at_ == text_.size()) return std::size_t{0};
    *out = text_[at_++];
    return std::size_t{1};
  }

 private:
  std::string text_;
  std::size_t at_ = 0;
};

std::vector<std::string> all(const std::string& text, Boundary& boundary) {
  Records records(std::make_unique<Slow>(text), "file", 1, boundary);
  std::vector<std::string> out;
  for (auto record = records.next(); record && *record; record = records.next()) {
    out.push_back(std::to_string((*record)->offset) + ":" + std::string((*record)->text));
  }
  return out;
}

TEST(Records, KnowTheirPlaces) {
  LineBoundary lines;
  EXPECT_THAT(all("a\n\nbc\nd", lines), ElementsAre("0:a", "2:", "3:bc", "6:d"));
  EXPECT_THAT(all("\xEF\xBB\xBF"
                  "a\nb\n",
                  lines),
              ElementsAre("3:a", "5:b"));
  EXPECT_THAT(all("", lines), ElementsAre());
}

TEST(Records, GoOnWithinQuotes) {
  CellsBoundary cells;
  EXPECT_THAT(all("a,\"b\nc\"\"\n\"\nd\n", cells), ElementsAre("0:a,\"b\nc\"\"\n\"", "11:d"));
}

/// Hands out so many bytes at a time.
class Pieces final : public read::ByteSource {
 public:
  Pieces(std::string_view text, std::size_t length) : rest_(text), length_(length) {}
  Result<std::size_t> read(char* out, std::size_t most) override {
    const std::size_t got = rest_.copy(out, std::min(most, length_));
    rest_.remove_prefix(got);
    return got;
  }

 private:
  std::string_view rest_;
  std::size_t length_;
};

constexpr std::int64_t most = 300'000;

/// Each as its number, offset and text, or why it was refused.
std::vector<std::string> some_refused(const std::string& text, Boundary& boundary, std::size_t piece = 1 << 20) {
  Records records(std::make_unique<Pieces>(text, piece), "file", most, boundary);
  std::vector<std::string> out;
  for (auto record = records.next(); record && *record; record = records.next()) {
    const Record& row = **record;
    const std::string place = std::to_string(row.number) + ", " + std::to_string(row.offset) + ": ";
    const std::string why = row.refused != nullptr ? row.refused->message : "";
    out.push_back(place + (why.empty() ? std::string(row.text) : why.substr(0, why.find(" needs"))));
  }
  return out;
}

TEST(Records, ALongOneIsRefusedWithItsLengthAndTheNextFollows) {
  LineBoundary lines;
  const std::string text = std::string(900'000, 'x') + "\nshort\n" + std::string(most, 'y') + "\n" +
                           std::string(most + 1, 'y') + "\n\n" + std::string(800'000, 'z');
  for (const std::size_t piece : {7'777, 65'536, 1 << 20}) {
    EXPECT_THAT(
        some_refused(text, lines, piece),
        ElementsAre("1, 0: row 1, 900,000 bytes from byte 0 on,", "2, 900001: short",
                    "3, 900007: " + std::string(most, 'y'), "4, 1200008: row 4, 300,001 bytes from byte 1,200,008 on,",
                    "5, 1500010: ", "6, 1500011: row 6, 800,000 bytes from byte 1,500,011 on,"));
  }
}

TEST(Records, ALongOneEndsWhereItsQuotesSay) {
  const std::string cell = "\"" + std::string(700'000, 'x') + "\"\"\n\"\"\n\"";
  const std::string after = std::to_string(cell.size() + 3);
  for (std::size_t piece = 49'980; piece < 50'020; ++piece) {  // so that one ends at each of the last bytes
    CellsBoundary cells;
    EXPECT_THAT(some_refused("a," + cell + "\nb,c\n", cells, piece),
                ElementsAre("1, 0: row 1, 700,010 bytes from byte 0 on,", "2, " + after + ": b,c"))
        << piece;
  }
}

TEST(Cells, AreSplitAndUnquoted) {
  std::vector<Cell> cells;
  std::string undone;
  ASSERT_EQ(split_cells("a,\"b,\"\"c\",,\"\"", ',', 9, cells, undone), 4);
  ASSERT_EQ(cells.size(), 4U);
  EXPECT_EQ(cells[1].text, "b,\"c");
  EXPECT_TRUE(is_null(cells[2]));
  EXPECT_FALSE(is_null(cells[3]));
  EXPECT_EQ(split_cells("\"a\"b,c", ',', 9, cells, undone), 0);
  EXPECT_EQ(split_cells("\"a", ',', 9, cells, undone), 0);
  EXPECT_EQ(split_cells("a,b,c", ',', 2, cells, undone), 3);
  EXPECT_EQ(cells.size(), 2);
}

}  // namespace
}  // namespace oomplan::measure
