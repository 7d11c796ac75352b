#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "example.hpp"
#include "layout.hpp"

namespace oomplan::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string text(const Report& report, ViewOptions options = {.parts = all_parts}) {
  return *render(report, "text", options);
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) out.push_back(line);
  return out;
}

TEST(TextView, BeginsWithTheVerdict) {
  EXPECT_THAT(text(example({example_fit("NVIDIA One", Bytes::gib(200))})),
              StartsWith("fits on ONE NVIDIA One: needs 181.00 GiB of 200.00 GiB, 19.00 GiB free\n"));
  EXPECT_THAT(text(example({example_fit("NVIDIA Two", Bytes::gib(80))})),
              StartsWith("does not fit on ONE NVIDIA Two: needs 181.00 GiB of 80.00 GiB, 101.00 GiB too much\n"));
  EXPECT_THAT(text(example()), StartsWith("peak 180.00 GiB of tensors, in backward of step 2\n"));
}

TEST(TextView, SaysHowManyCardsThereAre) {
  Report report = example({example_fit("NVIDIA One", Bytes::gib(200))});
  Setting<std::int64_t>& world = report.found.plan->mesh.world_size;
  world.value = 8;
  EXPECT_THAT(text(report), StartsWith("fits on each of 8 NVIDIA One: needs"));
  world = {1, {Origin::Kind::config, "config.yml", {}}};
  EXPECT_THAT(text(report), StartsWith("fits on NVIDIA One: needs")) << "somebody says that it is one";
}

// Half of the card is tensors in the first; in the second the card ends where half of what is needed does.
TEST(TextView, DrawsTheCardAndWhatIsNeeded) {
  const auto count = [](const std::string& line, std::string_view what) {
    int out = 0;
    for (std::size_t at = line.find(what); at != line.npos; at = line.find(what, at + what.size())) ++out;
    return out;
  };
  const std::string wide = lines(text(example({example_fit("A", Bytes::gib(360))})))[1];
  EXPECT_EQ(count(wide, "█"), 36) << "180 of 360 GiB in 72 columns";
  EXPECT_EQ(count(wide, "█") + count(wide, "▒") + count(wide, "░"), 72);
  EXPECT_EQ(count(wide, "│"), 0);
  const std::string narrow = lines(text(example({example_fit("A", Bytes::gib(90))})))[1];
  EXPECT_EQ(count(narrow.substr(0, narrow.find("│")), "█"), 36) << "90 of 181 GiB";
  EXPECT_EQ(count(narrow, "░"), 0);
}

TEST(TextView, LeavesTheTablesToThoseWhoAsk) {
  const std::string screen = text(example(), {});
  EXPECT_THAT(screen, HasSubstr("peak 180.00 GiB of tensors, in backward of step 2: inputs 36.00, temporaries 32.00"));
  EXPECT_THAT(screen, HasSubstr("More: --phases, --largest, --assumptions,\n  or --all."));
  EXPECT_THAT(screen, Not(HasSubstr("The highest moment")));
  EXPECT_LE(lines(screen).size(), 24U);
  const std::string one = text(example(), {.parts = {.largest = true}});
  EXPECT_THAT(one, HasSubstr("Largest at the peak"));
  EXPECT_THAT(one, Not(HasSubstr("Assumed, because")));
  EXPECT_THAT(one, HasSubstr("More: --phases, --assumptions, or --all."));
  EXPECT_THAT(text(example()), Not(HasSubstr("More:")));
}

TEST(TextView, SaysWhatIsWanted) {
  Fit fit = example_fit("A", Bytes::gib(200));
  fit.verdict = FitVerdict::at_the_edge;
  fit.wanted = Bytes::gib(20);
  EXPECT_THAT(text(example({fit})),
              StartsWith("fits, but with too little headroom, on ONE A: needs 181.00 GiB of 200.00 GiB, "
                         "19.00 GiB free where\n  20.00 GiB are wanted\n"));
  fit.wanted = Bytes::gib(10);
  EXPECT_THAT(text(example({fit})),
              HasSubstr("19.00 GiB free, but it\n  does not complete on every card that is up to 10.00 GiB smaller\n"));
}

TEST(TextView, ComparesSeveralGpus) {
  const std::string out = text(example({example_fit("A", Bytes::gib(200)), example_fit("B", Bytes::gib(80))}));
  EXPECT_THAT(out, StartsWith("fits on 1 of 2 GPUs\n  GPU       total      needed"));
  EXPECT_THAT(out, HasSubstr("  B     80.00 GiB  181.00 GiB  -101.00 GiB  does not fit\n"));
}

TEST(TextView, TheTableShowsTheWorseStepAndMarksThePeak) {
  const std::string out = text(example({example_fit("A", Bytes::gib(200))}));
  EXPECT_THAT(out, HasSubstr("  GiB                load  forward  backward  between\n"
                             "                            step 1    step 2   step 1\n"
                             "  weights            1.00     2.00      4.00     1.00\n"));
  EXPECT_THAT(out, HasSubstr("  runtime            1.00     1.00      1.00     1.00\n"
                             "  total             46.00    91.00    181.00    46.00\n"
                             "                                      ^ peak\n"));
}

TEST(TextView, WithoutOneGpuTheTableHoldsTensorsOnly) {
  EXPECT_THAT(text(example()), Not(HasSubstr("\n  runtime")));
  EXPECT_THAT(text(example()), HasSubstr("Without --gpu"));
  const std::string two = text(example({example_fit("A", Bytes::gib(200)), example_fit("B", Bytes::gib(80))}));
  EXPECT_THAT(two, Not(HasSubstr("\n  runtime")));
}

TEST(TextView, SaysWhereEachFactCameFrom) {
  const std::string out = text(example());
  EXPECT_THAT(out, HasSubstr("model=org/model (3), micro_batch_size=2 (command line: --set micro_batch_size=2),"
                             "\n  sequence_length=2048 (base.yml:7)"));
  EXPECT_THAT(out, HasSubstr("adamw_fused        default of transformers 5.23.0: TrainingArguments\n"));
  EXPECT_THAT(out, Not(HasSubstr("lora_rank")));
}

TEST(TextView, SaysHowAFactFollowsFromItsLine) {
  Report report = example();
  TrainingPlan& plan = *report.found.plan;
  plan.batch.sequence_length = {128, {Origin::Kind::config, "max_length", {"config.yml", 7, 1}, "100", "padded up"}};
  plan.batch.micro_batch_size = {1, {Origin::Kind::config, "packing", {"config.yml", 8, 1}, "true", {}}};
  plan.batch.padding_mask = {true, {Origin::Kind::config, "padding_mask", {"config.yml", 9, 1}, "true", {}}};
  const std::string out = text(collect(report.found));
  EXPECT_THAT(out,
              HasSubstr("micro_batch_size=1 (8: packing: true), sequence_length=128 (7: max_length:\n  100, padded "
                        "up), padding_mask=true (9)\n"));
}

TEST(TextView, SaysWhatTheCheckpointsTypeIs) {
  Report report = example();
  EXPECT_THAT(text(report), HasSubstr("checkpoint (fp32)  assumed\n"));
  report.found.architecture->checkpoint_dtype = DType::bf16;
  EXPECT_THAT(text(collect(report.found)), HasSubstr("checkpoint (bf16)  assumed\n"));
  report.found.architecture->names_dtype = false;
  EXPECT_THAT(text(collect(report.found)), HasSubstr("fp32 assumed, as the model's config.json"));
}

TEST(TextView, SaysWhatTheConfigWasReadAs) {
  EXPECT_THAT(text(example()), HasSubstr("\nread as oomplan, with the defaults of transformers 5.23.0\n"));
}

TEST(TextView, SaysThatItIsOneGpu) {
  EXPECT_THAT(text(example()), AllOf(HasSubstr("ONE GPU: on several,"), HasSubstr("parallel training holds another")));
}

TEST(TextView, StaysOnThePageAndLeavesNoBlanksAtLineEnds) {
  for (const std::string& line : lines(text(example({example_fit("NVIDIA One", Bytes::gib(200))})))) {
    EXPECT_LE(width_of(line), page_width) << line;
    EXPECT_FALSE(line.ends_with(' ')) << line;
  }
}

TEST(TextView, ColourChangesNothingButEscapes) {
  const Report report = example({example_fit("A", Bytes::gib(200))});
  std::string coloured = text(report, {.colour = true, .parts = all_parts});
  EXPECT_THAT(coloured, HasSubstr("\x1b[1;32mfits\x1b[0m on ONE A"));
  for (std::size_t at = 0; (at = coloured.find('\x1b')) != std::string::npos;) {
    coloured.erase(at, coloured.find('m', at) - at + 1);
  }
  EXPECT_EQ(coloured, text(report));
  EXPECT_THAT(text(report), Not(HasSubstr("\x1b")));
}

TEST(TextView, ObeysNoEscapeInAName) {
  Report report = example();
  report.found.config = "a\x1b[31m.yml";
  EXPECT_THAT(text(report), Not(HasSubstr("\x1b")));
}

TEST(TextView, IsEmptyWithoutAnAnswer) { EXPECT_EQ(text(collect({.config = "config.yml"})), ""); }

TEST(Render, KnowsItsViews) {
  EXPECT_THAT(views(), ::testing::ElementsAre("explain", "json", "text"));
  EXPECT_FALSE(render(example(), "html").has_value());
}

}  // namespace
}  // namespace oomplan::report
