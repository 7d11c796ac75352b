#include "records.hpp"

#include <gmock/gmock.h>

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

/// A number in place of a text is the length of one that was refused.
std::vector<std::string> all_of_at_most(std::int64_t most, const std::string& text, Boundary& boundary) {
  Records records(read::bytes_of(text), "file", most, boundary);
  std::vector<std::string> out;
  for (auto record = records.next(); record && *record; record = records.next()) {
    const Record& row = **record;
    const std::string what =
        row.refused ? row.refused->message.substr(0, row.refused->message.find(" at once")) : std::string(row.text);
    out.push_back(std::to_string(row.number) + ", " + std::to_string(row.offset) + ": " + what);
  }
  return out;
}

TEST(Records, ALongOneIsRefusedWithItsLengthAndTheNextFollows) {
  LineBoundary lines;
  const std::string text =
      std::string(900'000, 'x') + "\nshort\n" + std::string(262'144, 'y') + "\n" + std::string(800'000, 'z');
  EXPECT_THAT(all_of_at_most(300'000, text, lines),
              ElementsAre("1, 0: a row of 900000 bytes needs 878.91 KiB", "2, 900001: short",
                          testing::StartsWith("3, 900007: yyy"), "4, 1162152: a row of 800000 bytes needs 781.25 KiB"));
}

TEST(Records, ALongOneEndsWhereItsQuotesSay) {
  for (std::size_t length = 786'420; length < 786'440; ++length) {  // around the end of a piece
    CellsBoundary cells;
    const std::string cell = "\"" + std::string(length, 'x') + "\"\"\n\"\"\n\"";
    const std::string size = std::to_string(cell.size() + 2);
    EXPECT_THAT(
        all_of_at_most(300'000, "a," + cell + "\nb,c\n", cells),
        ElementsAre(testing::StartsWith("1, 0: a row of " + size), "2, " + std::to_string(cell.size() + 3) + ": b,c"))
        << length;
  }
}

TEST(Cells, AreSplitAndUnquoted) {
  std::vector<Cell> cells;
  std::string undone;
  ASSERT_TRUE(split_cells("a,\"b,\"\"c\",,\"\"", ',', cells, undone));
  ASSERT_EQ(cells.size(), 4U);
  EXPECT_EQ(cells[1].text, "b,\"c");
  EXPECT_TRUE(is_null(cells[2]));
  EXPECT_FALSE(is_null(cells[3]));
  EXPECT_FALSE(split_cells("\"a\"b,c", ',', cells, undone));
  EXPECT_FALSE(split_cells("\"a", ',', cells, undone));
}

}  // namespace
}  // namespace oomplan::measure
