// No layout that MeshBound throws away fits when it is played, over random models, worlds and layouts.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "oomplan/estimate/fit_check.hpp"
#include "oomplan/ingest/ingest.hpp"
#include "oomplan/survey/meshes.hpp"
#include "oomplan/survey/survey.hpp"
#include "random_plans.hpp"

namespace oomplan {
namespace {

using drawn::Dice;
using drawn::Model;

std::string random_config(Dice& dice) {
  const std::int64_t length = 8 * dice.pick({2, 8, 16, 64});
  std::string out = "model: drawn\nmicro_batch_size: 1\nsequence_length: " + std::to_string(length) + "\n";
  out += "weights_dtype: " + dice.pick<std::string>({"bf16", "bf16", "fp32"}) + "\n";
  out += "optimizer: " + dice.pick<std::string>({"adamw_foreach", "adamw_for_each", "adamw_fused"}) + "\n";
  if (dice.one_in(3)) out += "pipeline_outputs: false\n";
  if (dice.one_in(3)) out += "clip_gradients: false\n";
  if (dice.one_in(4)) out += "sync_each: true\n";
  if (dice.one_in(4)) out += "adapter: lora\n";
  if (dice.one_in(4)) out += "fsdp_param_dtype: bf16\nfsdp_reduce_dtype: fp32\n";
  return out;
}

/// The plan that the layout's settings make.
Result<TrainingPlan> plan_of(const LayoutQuestion& question, const TrainingPlan& plain, const MeshLayout& layout) {
  IngestOptions options = question.ingest;
  for (const std::string& one : mesh_settings(layout, plain, question.world)) options.overrides.push_back(one);
  Result<TrainingPlan> plan = ingest(question.document, options);
  return plan ? with_model_defaults(std::move(*plan), question.architecture) : plan;
}

TEST(MeshLaws, WhatTheBoundThrowsAwayDoesNotFit) {
  Dice dice(71);
  int decided = 0;
  int thrown = 0;
  for (int i = 0; i < 250 && !::testing::Test::HasFailure(); ++i) {
    Model drawn_model = drawn::rotary_model(dice);
    drawn_model.keys["vocab_size"] = dice.number({64, 512, 3000});
    drawn_model.keys["num_hidden_layers"] = dice.number({2, 3, 4, 6, 8});
    const Architecture model = drawn_model.architecture();
    const std::string text = random_config(dice);
    const Document document = *parse_document(text, "oomplan.yaml", Syntax::yaml);
    const LayoutWorld world{.each = dice.pick({1, 2, 4, 8}), .machines = dice.pick({1, 2, 4}), .network = 25};
    const std::int64_t rows = dice.pick({1, 4, 16, 24, 64});
    IngestOptions options;
    options.dialect = "oomplan";
    options.world = {world.each, world.machines, "--gpu"};
    Gpu gpu = *find_gpu("24GiB");
    const LayoutQuestion question{document, options, model, gpu, world, rows, 0.05};
    const Result<TrainingPlan> plain = ingest(document, options);
    ASSERT_TRUE(plain) << to_text(plain.errors().front()) << text;
    MeshBound bound(question);
    const std::vector<MeshLayout> all = mesh_layouts(world, rows, model.layers, "oomplan");
    for (int draws = 0; draws < 12; ++draws) {
      const MeshLayout layout = all[static_cast<std::size_t>(dice.below(std::ssize(all)))];
      const Result<TrainingPlan> plan = plan_of(question, *plain, layout);
      if (!plan) continue;
      FitCheck check(*plan, model);
      if (!check.peaks()) continue;
      ++decided;
      const Bytes least = bound.least(layout);
      // On a card that the bound is a byte too much for.
      const Bytes limit = least + gpu.context - Bytes(1);
      const CheckedFit fit = check.on(gpu, limit);
      thrown += least > Bytes() ? 1 : 0;
      EXPECT_FALSE(fit.errors.empty() && fit.fits)
          << title_of(layout.shape) << (layout.checkpointing ? " checkpointed " : " ") << layout.micro_batch << " x "
          << layout.micro_batches << " bound " << least.count() << " tensors " << check.peaks()->peak.tensors().count()
          << "\n"
          << text << drawn::described(drawn_model, *plan);
      EXPECT_LE(least, check.peaks()->peak.tensors())
          << title_of(layout.shape) << (layout.checkpointing ? " checkpointed " : " ") << layout.micro_batch << " x "
          << layout.micro_batches << "\n"
          << text << drawn::described(drawn_model, *plan);
    }
  }
  EXPECT_GT(decided, 300);
  EXPECT_GT(thrown, 250);
}

}  // namespace
}  // namespace oomplan
