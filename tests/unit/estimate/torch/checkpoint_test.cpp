// torch/utils/checkpoint.py, both kinds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "recording.hpp"

namespace oomplan::estimator {
namespace {

using ::testing::ElementsAre;

class Checkpoint : public ::testing::Test {
 protected:
  /// silu(silu(x)): saves x and what lies between.
  Tensor twice(CheckpointStyle style) {
    return t.checkpoint(
        x, [this](Tensor in) { return t.silu(t.silu(in)); }, style);
  }

  Torch t{};
  Tensor x = leaf(t, {128});
};

TEST_F(Checkpoint, KeepsNothingOfWhatItRan) {
  const Watch plain(t);
  const Tensor without = t.silu(t.silu(x));
  EXPECT_EQ(plain.net(), 2 * 512);
  for (const bool reentrant : {false, true}) {
    const Watch watch(t);
    const Tensor out = twice({.reentrant = reentrant});
    EXPECT_EQ(watch.net(), 512) << reentrant;
    EXPECT_EQ(watch.peak(), 2 * 512) << reentrant;
  }
}

TEST_F(Checkpoint, RecomputesUpToTheLastThingSavedAndNoFurther) {
  const Tensor out = twice({});
  const Watch watch(t);
  t.backward(out);
  EXPECT_THAT(watch.made(), ElementsAre("aten::ones_like", "aten::silu", "aten::silu_backward", "aten::silu_backward"));
  EXPECT_TRUE(x->grad);
}

TEST_F(Checkpoint, RecomputesNothingWhereOnlyTheInputWasSaved) {
  const Tensor out = t.checkpoint(x, [this](Tensor in) { return t.mul_scalar(t.silu(in)); }, {});
  const Watch watch(t);
  t.backward(out);
  EXPECT_THAT(watch.made(), ElementsAre("aten::ones_like", "aten::mul", "aten::silu_backward"));
}

TEST_F(Checkpoint, RunsTheWholeFunctionAgainWithoutEarlyStop) {
  const Tensor out = twice({.early_stop = false});
  const Watch watch(t);
  t.backward(out);
  EXPECT_THAT(watch.made(),
              ElementsAre("aten::ones_like", "aten::silu", "aten::silu", "aten::silu_backward", "aten::silu_backward"));
}

TEST_F(Checkpoint, WithinAnotherMakesItsInputAgainUnlessItCameByName) {
  for (const bool by_name : {false, true}) {
    const auto inner = [this](Tensor in) { return t.silu(t.silu(in)); };
    const auto outer = [&](Tensor in) { return t.checkpoint(t.mul_scalar(in), inner, {.by_name = by_name}); };
    const Watch watch(t);
    const Tensor out = t.checkpoint(x, outer, {});
    EXPECT_EQ(watch.net(), by_name ? 2 * 512 : 512);
    const Watch back(t);
    t.backward(out);
    std::vector<std::string> made{"aten::ones_like",     "aten::mul",           "aten::silu",
                                  "aten::silu_backward", "aten::silu_backward", "aten::mul"};
    if (by_name) made.erase(made.begin() + 1);
    EXPECT_EQ(back.made(), made) << by_name;
  }
}

// torch/utils/checkpoint.py: _CachingTorchDispatchMode sees what a custom function multiplies without gradients too.
TEST_F(Checkpoint, EverySecondProductIsMadeAgainWhoeverMadeIt) {
  const Tensor in = leaf(t, {16, 8});
  const Tensor frozen = t.empty({8, 8}, DType::fp32, "frozen");
  const Tensor a = leaf(t, {8, 2});
  const Tensor b = leaf(t, {2, 8});
  const auto adapted = [&](Tensor entered) {
    Tensor base;
    {
      Restore no_grad(t.grad_enabled, false);
      base = t.mm(entered, frozen);
    }
    return t.silu(t.add(base, t.mm(t.mm(entered, a), b)));
  };
  const Watch forward(t);
  const Tensor out = t.checkpoint(in, adapted, {.keeps_products = true});
  EXPECT_EQ(forward.net(), 3 * 512);  // The first and the third product, and what is returned.
  const Watch watch(t);
  t.backward(out);
  std::vector<std::string> made;
  for (const auto& op : watch.made()) made.emplace_back(op);
  made.resize(4);
  EXPECT_THAT(made, ElementsAre("aten::ones_like", "aten::mm", "aten::add", "aten::silu_backward"));
  EXPECT_TRUE(in->grad && a->grad && b->grad);
}

TEST_F(Checkpoint, ReentrantRunsTheWholeFunctionAgain) {
  const Tensor out = twice({.reentrant = true});
  const Watch watch(t);
  t.backward(out);
  EXPECT_THAT(watch.made(),
              ElementsAre("aten::ones_like", "aten::silu", "aten::silu", "aten::silu_backward", "aten::silu_backward"));
  EXPECT_TRUE(x->grad);
}

// What it returns beside its output gets a gradient of zeros, made before anything is run again.
TEST_F(Checkpoint, ReentrantGivesASecondOutputAGradientOfZeros) {
  const auto two = [this](Tensor in) {
    t.beside[0] = t.silu(in);
    return t.silu(t.beside[0]);
  };
  const Tensor out = t.checkpoint(x, two, {.reentrant = true});
  const Tensor second = std::exchange(t.beside[0], {});
  EXPECT_EQ(second->grad_fn.get(), out->grad_fn.get());
  const Watch watch(t);
  t.backward(out);
  EXPECT_THAT(watch.made(), ElementsAre("aten::ones_like", "aten::zeros", "aten::silu", "aten::silu",
                                        "aten::silu_backward", "aten::silu_backward"));
  EXPECT_TRUE(x->grad);
  EXPECT_FALSE(t.beside[0]);
}

TEST_F(Checkpoint, RecomputationLetsGoOfASecondOutput) {
  const Tensor out = t.checkpoint(x,
                                  [this](Tensor in) {
                                    t.beside[0] = t.silu(in);
                                    return t.silu(t.beside[0]);
                                  },
                                  {});
  t.beside[0].reset();
  t.backward(out);
  EXPECT_FALSE(t.beside[0]);
  EXPECT_TRUE(x->grad);
}

TEST_F(Checkpoint, GivesTrackedArgumentsTheirGradients) {
  const Tensor leaf_beside = leaf(t, {128});
  for (const bool reentrant : {false, true}) {
    auto argument = std::make_shared<Tensor>(t.silu(leaf_beside));
    const auto product = [this, argument](Tensor in) { return t.mul(t.silu(in), *argument); };
    t.backward(t.checkpoint(x, product, {.reentrant = reentrant}, {argument.get()}));
    EXPECT_TRUE(leaf_beside->grad) << reentrant;
    leaf_beside->grad.reset();
    x->grad.reset();
  }
}

// As T5's blocks hand on the bias that they are given.
TEST_F(Checkpoint, ReentrantReturnsATrackedArgumentAsAView) {
  const Tensor leaf_beside = leaf(t, {128});
  auto argument = std::make_shared<Tensor>(t.silu(leaf_beside));
  const StorageId storage = (*argument)->storage;
  const auto product = [this, argument](Tensor in) {
    t.beside[1] = *argument;
    return t.mul(t.silu(in), *argument);
  };
  const Tensor out = t.checkpoint(x, product, {.reentrant = true}, {argument.get()});
  const Tensor handed_on = std::exchange(t.beside[1], {});
  EXPECT_EQ(handed_on->storage, storage);
  EXPECT_EQ(handed_on->grad_fn.get(), out->grad_fn.get());
  const Tensor both = t.mul(out, handed_on);
  t.backward(both);
  EXPECT_TRUE(leaf_beside->grad);
  EXPECT_TRUE(x->grad);
}

TEST_F(Checkpoint, LeavesNothingBehindButTheGradient) {
  for (const bool reentrant : {false, true}) {
    x->grad.reset();
    const Watch watch(t);
    Tensor out = twice({.reentrant = reentrant});
    t.backward(out);
    out.reset();
    EXPECT_EQ(watch.net(), 512) << reentrant;
  }
}

TEST_F(Checkpoint, HoldsItsInputUntilBackward) {
  for (const bool reentrant : {false, true}) {
    Tensor in = t.mul_scalar(x);
    const StorageId storage = in->storage;
    Tensor out = t.checkpoint(in, [this](Tensor y) { return t.silu(t.silu(y)); }, {.reentrant = reentrant});
    in.reset();
    EXPECT_TRUE(alive(t, storage)) << reentrant;
    out.reset();
    EXPECT_FALSE(alive(t, storage)) << reentrant;
  }
}

TEST_F(Checkpoint, OfAnInputWithoutGradientReentrantGivesTheWeightsNone) {
  const Tensor plain = input(t, {128});
  const auto scaled = [this](Tensor in) { return t.mul(in, x); };
  t.backward(t.checkpoint(plain, scaled, {.reentrant = true}));
  EXPECT_FALSE(x->grad);
  t.backward(t.checkpoint(plain, scaled, {}));
  EXPECT_TRUE(x->grad);
}

TEST_F(Checkpoint, EachFrameIsRecomputedOnce) {
  Tensor out = twice({});
  out = t.checkpoint(out, [this](Tensor in) { return t.silu(t.silu(t.silu(in))); }, {});
  const Watch watch(t);
  t.backward(out);
  const std::vector<std::string> made = watch.made();
  EXPECT_EQ(std::count(made.begin(), made.end(), "aten::silu"), 2 + 1);
}

TEST_F(Checkpoint, RecomputationCastsTheWeightsAgain) {
  const Tensor w = leaf(t, {256, 128});
  const Tensor in = leaf(t, {16, 128});
  t.enter_autocast(DType::bf16);
  Tensor out = t.checkpoint(in, [&](Tensor y) { return t.silu(t.silu(t.linear(y, w, {}))); }, {});
  t.exit_autocast();
  const std::int64_t copy = 256 * 128 * 2;
  const Watch watch(t);
  t.backward(out);
  out.reset();
  std::vector<std::int64_t> sizes = watch.sizes();
  EXPECT_EQ(std::count(sizes.begin(), sizes.end(), copy), 2);  // The copy of w, and its gradient before it is cast.
  EXPECT_EQ(bucket_of(t, w->grad), Bucket::gradients);
  EXPECT_EQ(w->grad->dtype, DType::fp32);
}

}  // namespace
}  // namespace oomplan::estimator
