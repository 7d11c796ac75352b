#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "oomplan/core/text.hpp"

namespace oomplan {
namespace {

constexpr std::array<std::string_view, 6> keys{
    "micro_batch_size", "gradient_accumulation_steps", "gradient_checkpointing", "sequence_len", "lr", "bf16",
};

std::optional<std::string> near(std::string_view word) { return nearest(word, keys); }

TEST(Nearest, FindsMisspeltWords) {
  EXPECT_EQ(near("micro_batchsize"), "micro_batch_size");
  EXPECT_EQ(near("gradient_checkpoint"), "gradient_checkpointing");
  EXPECT_EQ(near("sequnce_length"), "sequence_len");
  EXPECT_EQ(near("bf61"), std::nullopt);  // two of four letters
  EXPECT_EQ(near("bf6"), "bf16");
}

TEST(Nearest, CaseAndDashesCountNothing) {
  EXPECT_EQ(near("Micro-Batch-Size"), "micro_batch_size");
  EXPECT_EQ(near("LR"), "lr");
}

TEST(Nearest, SaysNothingWhereNothingIsNear) {
  EXPECT_EQ(near(""), std::nullopt);
  EXPECT_EQ(near("optimizer"), std::nullopt);
  EXPECT_EQ(near("lx"), std::nullopt);
  EXPECT_EQ(near("a"), std::nullopt);
  EXPECT_EQ(nearest("word", {}), std::nullopt);
}

TEST(Nearest, DrawsTheLineAtAThirdOfTheLetters) {
  constexpr std::array<std::string_view, 1> one{"abcdef"};
  EXPECT_EQ(nearest("abcdxx", one), "abcdef");
  EXPECT_EQ(nearest("abcxxx", one), std::nullopt);
}

TEST(Nearest, TakesTheNearestAndTheFirstOfEquals) {
  constexpr std::array<std::string_view, 4> words{"save_step", "save_steps", "save_stepz", "eval_steps"};
  EXPECT_EQ(nearest("save_steps", words), "save_steps");
  EXPECT_EQ(nearest("save_stepx", words), "save_step");
}

TEST(Nearest, DoesNotTryAWordOfMegabytes) {
  const std::string word(std::size_t{1} << 22, 'a');
  const std::array<std::string_view, 1> candidates{word};
  EXPECT_EQ(nearest(word, candidates), std::nullopt);
}

}  // namespace
}  // namespace oomplan
