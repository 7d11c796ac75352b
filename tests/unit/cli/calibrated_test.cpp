// What `calibrate --output` writes, `estimate --calibration` reads.
#include <gtest/gtest.h>

#include <string>

#include "oomplan/calibrate/calibrate.hpp"
#include "oomplan/report/calibration_view.hpp"

namespace oomplan {
namespace {

/// Runs of one card that reserve `times` what is predicted, of tensors of 1 GiB and more.
MeasuredRuns runs_of(std::int64_t times) {
  MeasuredRuns out;
  for (const std::int64_t size : {1, 2, 3, 4, 5}) {
    const Bytes predicted = Bytes::gib(size);
    out.runs.push_back({.card = "A \"card\"\n",
                        .torch = "2.11.0",
                        .predicted_allocated = predicted,
                        .predicted_reserved = predicted,
                        .allocated = predicted,
                        .reserved = predicted * times,
                        .beside = Bytes::mib(700)});
  }
  return out;
}

Result<Calibration> read_back(const Calibration& written) {
  const Result<Document> document = parse_document(calibration_json(written), "c.json", Syntax::json);
  if (!document) return document.errors();
  return read_calibration(*document);
}

TEST(Calibrated, WhatIsWrittenIsReadBack) {
  for (const std::int64_t times : {1, 2, 100}) {
    const Calibration written = calibrate(runs_of(times));
    ASSERT_EQ(written.cards.size(), 1U);
    const Result<Calibration> read = read_back(written);
    ASSERT_TRUE(read);
    ASSERT_EQ(read->cards.size(), 1U);
    const CardTerms& one = read->cards[0];
    EXPECT_EQ(one.card, written.cards[0].card);
    EXPECT_EQ(one.context, Bytes::mib(700));
    EXPECT_EQ(one.workspaces, written.cards[0].workspaces);
    EXPECT_EQ(one.residue, written.cards[0].residue);
    EXPECT_EQ(one.slack, written.cards[0].slack);
    EXPECT_EQ(one.error_left_out, written.cards[0].error_left_out);
  }
}

TEST(Calibrated, WhatCouldNotBeReadIsNotWritten) {
  const Calibration written = calibrate(runs_of(1000));
  EXPECT_TRUE(written.cards.empty());
  ASSERT_EQ(written.unfitted.size(), 1U);
  EXPECT_EQ(written.unfitted[0].why, WhyUnfitted::beyond_limits);
  EXPECT_TRUE(read_back(written));
}

}  // namespace
}  // namespace oomplan
