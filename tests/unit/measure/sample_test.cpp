#include "sample.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "line_block.hpp"
#include "parquet_file.hpp"
#include "temporary.hpp"

namespace oomplan::measure {
namespace {

TEST(StudentT, IsThatOfTheTables) {
  EXPECT_NEAR(student_t(5), 2.5706, 0.01);
  EXPECT_NEAR(student_t(15), 2.1314, 0.001);
  EXPECT_NEAR(student_t(63), 1.9983, 0.001);
}

/// Rows whose lengths are alike within a block, as shards sorted by source or length have them.
struct Population {
  std::vector<SampledBlock> blocks{};
  std::vector<std::int64_t> sizes{};
  double rows = 0;
  double decoded = 0;
  double bytes = 0;
};

/// `between` and `within` are the spreads of the logarithm; `counts` that of the rows of a block.
Population population(std::mt19937_64& random, double between, double within, double counts, bool sorted) {
  constexpr int blocks = 400;
  std::normal_distribution<double> normal;
  Population out;
  for (int b = 0; b < blocks; ++b) {
    const double middle = 6 + (sorted ? 3.0 * b / blocks - 1.5 : between * normal(random));
    const int rows = 1 + static_cast<int>(std::exp(4.5 + counts * normal(random)));
    SizeSketch sketch;
    for (int i = 0; i < rows; ++i) {
      const auto size = static_cast<std::int64_t>(1 + std::exp(middle + within * normal(random)));
      sketch.add(size);
      out.sizes.push_back(size);
    }
    const auto decoded = static_cast<double>(sketch.sum());
    const double compressed = decoded * (0.3 + 0.05 * normal(random) * normal(random));
    out.blocks.push_back({std::max(compressed, 1.0), 1, static_cast<double>(rows), decoded, sketch.bins()});
    out.rows += rows;
    out.decoded += decoded;
    out.bytes += out.blocks.back().bytes;
  }
  std::sort(out.sizes.begin(), out.sizes.end());
  return out;
}

std::vector<SampledBlock> drawn(const Population& all, std::mt19937_64& random, int draws) {
  std::vector<double> chances;
  for (const SampledBlock& block : all.blocks) chances.push_back(block.bytes);
  std::discrete_distribution<std::size_t> pick(chances.begin(), chances.end());
  std::vector<SampledBlock> out;
  for (int i = 0; i < draws; ++i) out.push_back(all.blocks[pick(random)]);
  return out;
}

/// The median's own bin is 2 % wide, and what it holds is not told apart.
bool holds(const Estimate& estimate, double truth) {
  return estimate.low <= truth * 1.001 && (!estimate.high || *estimate.high >= truth * 0.999);
}

struct Held {
  int mean = 0, rows = 0, decoded = 0, p50 = 0, p99 = 0;
};

Held held(double between, double within, double counts, bool sorted, int draws, int trials) {
  std::mt19937_64 random(11);
  Held out;
  Population all;
  for (int trial = 0; trial < trials; ++trial) {
    if (trial % 50 == 0) all = population(random, between, within, counts, sorted);
    const Sampled sampled = estimates_of(drawn(all, random, draws), static_cast<std::int64_t>(all.bytes), std::nullopt);
    const auto at = [&](double share) {
      return static_cast<double>(
          all.sizes[static_cast<std::size_t>(std::ceil(share * static_cast<double>(all.sizes.size()))) - 1]);
    };
    out.mean += holds(sampled.mean, all.decoded / all.rows);
    out.rows += holds(sampled.rows, all.rows);
    out.decoded += holds(sampled.decoded, all.decoded);
    out.p50 += holds(sampled.p50, at(0.5));
    out.p99 += holds(sampled.p99, at(0.99));
  }
  return out;
}

void expect_about_95(int count, int trials, const char* what) {
  testing::Test::RecordProperty(what, count);
  EXPECT_GE(count, trials * 90 / 100) << what;
  EXPECT_LE(count, trials) << what;
}

struct Shape {
  const char* name;
  double between, within, counts;
  bool sorted;
};

class Coverage : public testing::TestWithParam<Shape> {};

TEST_P(Coverage, Of95PercentIntervals) {
  const Shape shape = GetParam();
  constexpr int trials = 300;
  const Held out = held(shape.between, shape.within, shape.counts, shape.sorted, 100, trials);
  expect_about_95(out.mean, trials, "mean");
  expect_about_95(out.rows, trials, "rows");
  expect_about_95(out.decoded, trials, "decoded");
  expect_about_95(out.p50, trials, "p50");
  expect_about_95(out.p99, trials, "p99");
}

INSTANTIATE_TEST_SUITE_P(Rows, Coverage,
                         testing::Values(Shape{"alike", 0, 1, 0, false}, Shape{"clustered", 0.7, 0.7, 0, false},
                                         Shape{"of_many_sizes", 0.7, 0.7, 0.6, false},
                                         Shape{"sorted", 0, 0.3, 0, true}),
                         [](const auto& of) { return of.param.name; });

TEST(Sample, OfOneValueHasNoError) {
  SizeSketch sketch;
  for (int i = 0; i < 10; ++i) sketch.add(100);
  const SampledBlock block{50, 20, 10, 1000, sketch.bins()};
  const Sampled sampled = estimates_of({block, block}, 5000, std::nullopt);
  EXPECT_EQ(sampled.draws, 40);
  EXPECT_NEAR(sampled.rows.value, 1000, 1e-6);
  EXPECT_NEAR(sampled.decoded.low, 100'000, 1e-3);
  EXPECT_NEAR(*sampled.mean.high, 100, 1e-6);
  EXPECT_NEAR(sampled.p50.value, 100, 1);
  EXPECT_FALSE(sampled.p99.high && *sampled.p99.high < 100);
}

std::string read_all(read::ByteSource& source, std::size_t step) {
  std::string out;
  std::string piece(step, '\0');
  while (true) {
    const auto got = source.read(piece.data(), step);
    if (!got.ok() || *got == 0) return out;
    out.append(piece, 0, *got);
  }
}

TEST(Lines, OfPartsThatFollowEachOtherAreAllLinesOnce) {
  const Temporary folder;
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round) {
    std::string text;
    const auto length = random() % 200;
    while (text.size() < length) text += random() % 8 == 0 ? '\n' : static_cast<char>('a' + random() % 26);
    const std::string path = folder.file("lines", text);
    const auto size = static_cast<std::int64_t>(text.size());
    const std::int64_t step = 1 + static_cast<std::int64_t>(random() % 40);
    std::string joined;
    for (std::int64_t begin = 0; begin < size; begin += step) {
      auto lines = lines_of(path, {.lines = true, .begin = begin, .end = std::min(begin + step, size)});
      ASSERT_TRUE(lines.ok());
      joined += read_all(**lines, 1 + random() % 10);
    }
    EXPECT_EQ(joined, text) << "in parts of " << step;
  }
  EXPECT_EQ(lines_of(folder / "none", {}).errors()[0].code, "read/missing");
}

ReadOptions sampling(std::int64_t draws, std::uint64_t seed = 1) { return {.sample = draws, .seed = seed}; }

TEST(Sample, OfRowGroupsKnowsTheRowsAndIsTheSameForOneSeed) {
  const Temporary folder;
  std::vector<std::string> texts;
  for (int i = 0; i < 5000; ++i) texts.emplace_back(static_cast<std::size_t>(i % 97), 'x');
  write_parquet(*table_of_texts(texts), folder / "a.parquet", 50);
  const StreamReport first = stream({folder.path()}, sampling(20));
  const StreamReport again = stream({folder.path()}, sampling(20));
  ASSERT_TRUE(first.diagnostics.empty()) << to_text(first.diagnostics[0]);
  ASSERT_TRUE(first.sampled.has_value());
  EXPECT_EQ(first.sampled->of_blocks, 100);
  EXPECT_EQ(first.sampled->draws, 20);
  EXPECT_TRUE(first.sampled->rows_known);
  EXPECT_EQ(first.sampled->rows.value, 5000);
  EXPECT_EQ(first.totals.rows, 50 * first.sampled->blocks);
  EXPECT_EQ(first.totals.files, 1);
  EXPECT_EQ(first.sampled->mean.value, again.sampled->mean.value);
  EXPECT_NE(first.sampled->mean.value, stream({folder.path()}, sampling(20, 2)).sampled->mean.value);
  EXPECT_NEAR(first.sampled->mean.value, 48, 5);
  EXPECT_LE(first.row_sizes->longest, 96);
}

TEST(Sample, OfFewBlocksIsAllOfThem) {
  const Temporary folder;
  folder.file("a.jsonl", "{\"a\": 1}\n{\"a\": 22}\n");
  folder.file("b.csv", "x,y\n1,2\n");
  const StreamReport report = stream({folder.path()}, sampling(16));
  ASSERT_TRUE(report.sampled.has_value());
  EXPECT_EQ(report.sampled->draws, 0);
  EXPECT_EQ(report.sampled->blocks, 2);
  EXPECT_EQ(report.sampled->rows.value, 3);
  EXPECT_EQ(report.sampled->rows.high, 3);
}

TEST(Sample, SaysInWhichBlockABadRowIs) {
  const Temporary folder;
  std::string text;
  while (text.size() < (64 << 20)) text += "{\"a\": \"" + std::string(1000, 'x') + "\"}\n";
  for (std::size_t i = 500'000; i < text.size(); i += 500'000) text[i] = '\x01';
  folder.file("a.jsonl", text);
  const StreamReport report = stream({folder / "a.jsonl"}, sampling(16));
  ASSERT_FALSE(report.diagnostics.empty());
  EXPECT_EQ(report.diagnostics[0].code, "measure/bad-row");
  EXPECT_THAT(report.diagnostics[0].message, testing::HasSubstr("(of the block at byte "));
}

TEST(Sample, OfAPipeIsRefused) { EXPECT_EQ(stream({"-"}, sampling(16)).diagnostics[0].code, "measure/no-sample"); }

}  // namespace
}  // namespace oomplan::measure
