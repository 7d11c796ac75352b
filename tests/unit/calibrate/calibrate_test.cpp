#include "oomplan/calibrate/calibrate.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "least_squares.hpp"

namespace oomplan {
namespace {

constexpr std::int64_t mib = 1 << 20;

MeasuredRuns runs_of(const std::string& text) {
  LogText file = LogText::from_memory(text);
  Result<MeasuredRuns> read = read_runs(file, "runs.jsonl");
  return read ? std::move(*read) : MeasuredRuns{};
}

std::string code_of(const std::string& text) {
  LogText file = LogText::from_memory(text);
  const Result<MeasuredRuns> read = read_runs(file, "runs.jsonl");
  return read ? "" : read.errors().front().code;
}

MeasuredRun run(std::int64_t predicted, std::int64_t reserved) {
  return {.card = "A card",
          .torch = "2.11.0+cu130",
          .predicted_allocated = Bytes::mib(predicted),
          .predicted_reserved = Bytes::mib(predicted + 100),
          .allocated = Bytes::mib(predicted + 10),
          .reserved = Bytes::mib(reserved),
          .beside = Bytes::mib(700)};
}

using calibrating::Line;
using calibrating::LineSums;
using calibrating::Point;

TEST(LeastSquares, FindsTheCoefficients) {
  const Line found = LineSums(std::vector<Point>{{1, 5}, {2, 7}, {3, 9}}).line();
  EXPECT_NEAR(found.constant, 3, 1e-9);
  EXPECT_NEAR(found.slope, 2, 1e-9);
}

TEST(LeastSquares, ACoefficientBelowZeroIsZeroAndTheOtherIsFittedWithoutIt) {
  const Line falling = LineSums(std::vector<Point>{{1, 9}, {2, 7}, {3, 5}}).line();
  EXPECT_NEAR(falling.constant, 7, 1e-9);
  EXPECT_EQ(falling.slope, 0);
  const Line below = LineSums(std::vector<Point>{{1, 1}, {2, 3}, {3, 5}}).line();
  EXPECT_EQ(below.constant, 0);
  EXPECT_NEAR(below.slope, 22.0 / 14, 1e-9);
  const Line negative = LineSums(std::vector<Point>{{1, -1}, {2, -3}, {3, -5}}).line();
  EXPECT_EQ(negative.constant, 0);
  EXPECT_EQ(negative.slope, 0);
}

TEST(LeastSquares, OfPointsAtOnePlaceTheConstantTakesPart) {
  const Line found = LineSums(std::vector<Point>{{2, 4}, {2, 4}}).line();
  EXPECT_NEAR(found.constant, 4, 1e-9);
  EXPECT_EQ(found.slope, 0);
}

TEST(LeastSquares, WithoutAPointTheLineIsThatOfTheOthers) {
  const std::vector<Point> points{{1e10, 7e8}, {2e10, 9e8}, {3e10, 6e8}, {3e10, 2e9}, {8e10, 1e9}};
  const LineSums all(points);
  for (std::size_t i = 0; i < points.size(); ++i) {
    std::vector<Point> others = points;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const Line expected = LineSums(others).line();
    const Line found = all.line_without(points[i]);
    EXPECT_NEAR(found.constant, expected.constant, 1);
    EXPECT_NEAR(found.slope, expected.slope, 1e-9);
  }
}

TEST(LeastSquares, WithoutTheOnlyOtherPlaceTheConstantTakesPart) {
  const LineSums all(std::vector<Point>{{1e10, 5}, {1e10, 5}, {9e10, 800}});
  const Line found = all.line_without({9e10, 800});
  EXPECT_NEAR(found.constant, 5, 1e-6);
  EXPECT_EQ(found.slope, 0);
}

TEST(Calibrate, FindsWhatWasPlanted) {
  MeasuredRuns runs;
  for (const std::int64_t predicted : {1000, 2000, 4000, 8000})
    runs.runs.push_back(run(predicted, predicted + 100 + 10 + 50 + predicted / 20));
  const Calibration found = calibrate(runs);
  ASSERT_EQ(found.cards.size(), 1U);
  const CardTerms& terms = found.cards[0];
  EXPECT_EQ(terms.torch, "2.11");
  EXPECT_EQ(terms.workspaces, Bytes::mib(10));
  EXPECT_NEAR(static_cast<double>(terms.residue.count()) / mib, 60, 0.01);
  EXPECT_NEAR(terms.slack, 0.05, 1e-6);
  EXPECT_EQ(terms.context, Bytes::mib(700));
  EXPECT_LT(terms.error_left_out, 1e-6);
  EXPECT_GT(terms.error_before, 0.05);
}

/// Runs that allocate `allocated` and reserve `reserved` MiB more than is predicted.
MeasuredRuns offset_by(std::int64_t allocated, std::int64_t reserved) {
  MeasuredRuns runs;
  for (const std::int64_t predicted : {4, 8, 12, 16, 20}) {
    runs.runs.push_back(run(0, 0));
    MeasuredRun& one = runs.runs.back();
    one.predicted_allocated = Bytes::gib(predicted);
    one.predicted_reserved = Bytes::gib(predicted + 2);
    one.allocated = one.predicted_allocated + Bytes::mib(allocated);
    one.reserved = one.predicted_reserved + Bytes::mib(reserved);
  }
  return runs;
}

TEST(Calibrate, MoreAllocatedThanReservedOnTopIsNoPartOfWhatIsReserved) {
  const Calibration found = calibrate(offset_by(1024, 600));
  ASSERT_EQ(found.cards.size(), 1U);
  EXPECT_FALSE(found.cards[0].contradict);
  EXPECT_EQ(found.cards[0].workspaces, Bytes::gib(1));
  EXPECT_NEAR(static_cast<double>(found.cards[0].beyond(Bytes::gib(10)).count()) / mib, 600, 0.01);
  EXPECT_LT(found.cards[0].error_left_out, 1e-6);
}

TEST(Calibrate, WhatIsReservedAsPredictedContradictsNothing) {
  const Calibration found = calibrate(offset_by(1024, 0));
  ASSERT_EQ(found.cards.size(), 1U);
  EXPECT_FALSE(found.cards[0].contradict);
  EXPECT_EQ(found.cards[0].workspaces, Bytes::gib(1));
  EXPECT_EQ(found.cards[0].beyond(Bytes::gib(10)), Bytes());
  EXPECT_EQ(found.cards[0].error_left_out, 0);
}

TEST(Calibrate, TermsBeyondTheLimitsAreNone) {
  MeasuredRuns runs;
  for (const std::int64_t predicted : {1, 2, 3, 4, 5}) {
    runs.runs.push_back(run(0, 0));
    MeasuredRun& one = runs.runs.back();
    one.predicted_allocated = one.predicted_reserved = one.allocated = Bytes(predicted);
    one.reserved = Bytes(1000 * predicted);
  }
  const Calibration found = calibrate(runs);
  EXPECT_TRUE(found.cards.empty());
  ASSERT_EQ(found.unfitted.size(), 1U);
  EXPECT_EQ(found.unfitted[0].why, WhyUnfitted::beyond_limits);
}

TEST(Calibrate, TooFewRunsMakeNoTerms) {
  MeasuredRuns runs{.runs = {run(1000, 1200), run(2000, 2200), run(3000, 3200)}};
  const Calibration found = calibrate(runs);
  EXPECT_TRUE(found.cards.empty());
  ASSERT_EQ(found.unfitted.size(), 1U);
  EXPECT_EQ(found.unfitted[0].why, WhyUnfitted::too_few);
}

TEST(Calibrate, RunsThatContradictOneAnotherMakeNone) {
  MeasuredRuns runs;
  for (int i = 0; i < 5; ++i) runs.runs.push_back(run(1000 + 10 * i, 1112 + 10 * i));
  runs.runs.push_back(run(1030, 9000));
  Calibration found = calibrate(runs);
  ASSERT_EQ(found.cards.size(), 1U);  // the context was measured all the same
  EXPECT_TRUE(found.cards[0].contradict);
  EXPECT_EQ(found.cards[0].context, Bytes::mib(700));
  EXPECT_EQ(found.cards[0].beyond(Bytes::gib(10)), Bytes());
  for (MeasuredRun& one : runs.runs) one.beside.reset();
  found = calibrate(runs);
  EXPECT_TRUE(found.cards.empty());
  ASSERT_EQ(found.unfitted.size(), 1U);
  EXPECT_EQ(found.unfitted[0].why, WhyUnfitted::contradict);
}

TEST(Runs, APredictionBeginsARunOfItsProcess) {
  const MeasuredRuns read = runs_of(
      R"({"process": 1, "what": "prediction", "max_memory_allocated": 100, "max_memory_reserved": 200, "card": "A", "torch": "2.11.0"}
{"process": 2, "what": "prediction", "max_memory_allocated": null, "max_memory_reserved": null, "card": "A", "torch": "2.11.0"}
{"process": 1, "what": "step", "step": 1, "max_memory_allocated": 110, "max_memory_reserved": 210, "device_used": 1000, "memory_reserved": 200}
{"process": 1, "what": "step", "step": 2, "max_memory_allocated": 120, "max_memory_reserved": 220, "device_used": 990, "memory_reserved": 210}
)");
  ASSERT_EQ(read.runs.size(), 1U);
  EXPECT_EQ(read.runs[0].allocated, Bytes(120));
  EXPECT_EQ(read.runs[0].reserved, Bytes(220));
  EXPECT_EQ(read.runs[0].beside, Bytes(780));
  EXPECT_EQ(read.left_out, 1);
}

TEST(Runs, APredictionThatRestsOnACalibrationIsLeftOut) {
  const MeasuredRuns read = runs_of(
      R"({"process": 1, "what": "prediction", "max_memory_allocated": 100, "max_memory_reserved": 200, "card": "A", "torch": "2.11.0", "calibrated": true}
{"process": 1, "what": "step", "step": 1, "max_memory_allocated": 110, "max_memory_reserved": 210}
)");
  EXPECT_TRUE(read.runs.empty());
  EXPECT_EQ(read.left_out, 1);
}

TEST(Runs, AnEvaluationAloneIsNoRun) {
  const std::string begin =
      R"({"process": 1, "what": "prediction", "max_memory_allocated": 100, "max_memory_reserved": 200, "card": "A", "torch": "2.11.0"})";
  const std::string measured = R"(, "max_memory_allocated": 110, "max_memory_reserved": 210})";
  const MeasuredRuns read = runs_of(begin + "\n{\"process\": 1, \"what\": \"evaluation\"" + measured + "\n");
  EXPECT_TRUE(read.runs.empty());
  EXPECT_EQ(read.left_out, 1);
  EXPECT_EQ(runs_of(begin + "\n{\"process\": 1, \"what\": \"step\"" + measured).runs.size(), 1U);
}

TEST(Runs, ALastLineThatBreaksOffIsLeftOut) {
  const MeasuredRuns read = runs_of("{}\n{\"process\": 1, \"wh");
  EXPECT_TRUE(read.torn);
  EXPECT_EQ(code_of("{\"process\": 1, \"wh\n"), "calibrate/bad-runs");
  EXPECT_EQ(code_of("{\"process\": 1, \"wh\n{}"), "calibrate/bad-runs");
  EXPECT_EQ(code_of("{\"what\": \"step\", \"max_memory_allocated\": -1}"), "calibrate/bad-runs");
  EXPECT_EQ(code_of(std::string(300'000, '{')), "calibrate/bad-runs");
}

TEST(Runs, WhatIsNoRecordIsRefusedWithItsLine) {
  EXPECT_FALSE(runs_of("\n{}\n").torn);
  EXPECT_EQ(code_of("no json\n"), "calibrate/bad-runs");
  EXPECT_EQ(code_of("[1]\n"), "calibrate/bad-runs");
  EXPECT_EQ(code_of("{\"what\": \"step\", \"max_memory_allocated\": -1}\n"), "calibrate/bad-runs");
  EXPECT_EQ(code_of("{\"what\": \"step\", \"max_memory_allocated\": 1e30}\n"), "calibrate/bad-runs");
  EXPECT_EQ(code_of("{\"a\": \"" + std::string(100'000, 'x') + "\"}\n"), "calibrate/bad-runs");
  EXPECT_EQ(code_of("\n{}\n"), "");
}

TEST(Profile, RefusesWhatIsNone) {
  const auto code = [](const std::string& text) {
    const Result<Document> document = parse_document(text, "c.json", Syntax::json);
    const Result<Calibration> read = read_calibration(*document);
    return read ? "" : read.errors().front().code;
  };
  EXPECT_EQ(code("{}"), "calibrate/bad-profile");
  EXPECT_EQ(code(R"({"schema": "oomplan/calibration/1", "cards": [{}]})"), "calibrate/bad-profile");
  EXPECT_EQ(
      code(R"({"schema": "oomplan/calibration/1", "cards": [{"card": "A", "torch": "2.11", "runs": 4, "context": -1,
                     "workspaces": 0, "residue": 0, "slack": 0, "error_left_out": 0}]})"),
      "calibrate/bad-profile");
  EXPECT_EQ(code(R"({"schema": "oomplan/calibration/1", "cards": []})"), "");
}

TEST(Versions, MajorAndMinorCount) {
  EXPECT_EQ(minor_version("2.11.0+cu130"), "2.11");
  EXPECT_EQ(minor_version("2.9"), "2.9");
  EXPECT_EQ(minor_version(""), "");
}

}  // namespace
}  // namespace oomplan
