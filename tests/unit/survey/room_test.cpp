// room_of against a search of every value.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "oomplan/catalog/catalog.hpp"
#include "oomplan/core/text.hpp"
#include "oomplan/estimate/fit_check.hpp"
#include "oomplan/survey/survey.hpp"

namespace oomplan {
namespace {

constexpr std::string_view text =
    "model: openai-community/gpt2\nmicro_batch_size: 2\nsequence_length: 256\noptimizer: adamw_foreach\n";

struct Asked {
  explicit Asked(std::vector<std::string> overrides = {})
      : document(*parse_document(std::string(text), "config.yml", Syntax::yaml)),
        options{.overrides = std::move(overrides)},
        plan(*ingest(document, options)),
        model(*find_model("openai-community/gpt2")) {}

  std::optional<Room> room(Bytes total) {
    gpu = *find_gpu(to_text(total));
    return room_of({document, options, plan, model, gpu, 0.05});
  }

  /// The same by trying all from the largest down.
  std::int64_t largest(std::int64_t from) {
    for (std::int64_t rows = from; rows > 0; --rows) {
      IngestOptions here = options;
      here.overrides.push_back("micro_batch_size=" + std::to_string(rows));
      const TrainingPlan other = *with_model_defaults(*ingest(document, here), model);
      if (FitCheck(other, model).on(gpu, limit_of(gpu, 0.05)).fits) return rows;
    }
    return 0;
  }

  Document document;
  IngestOptions options;
  TrainingPlan plan;
  Architecture model;
  Gpu gpu{};
};

TEST(Room, IsTheLargestThatFits) {
  Asked asked;
  for (const int gib : {2, 3, 4, 6, 9}) {
    const auto room = asked.room(Bytes::gib(gib));
    ASSERT_TRUE(room) << gib;
    EXPECT_EQ(room->key, "micro_batch_size");
    EXPECT_EQ(room->now, 2);
    EXPECT_EQ(room->largest, asked.largest(room->largest + 5)) << gib;
    EXPECT_EQ(room->needed > Bytes(), room->largest > 0);
  }
}

TEST(Room, BeginsWithWhatAnOverrideSays) {
  Asked asked({"micro_batch_size=64"});
  const auto room = asked.room(Bytes::gib(4));
  ASSERT_TRUE(room);
  EXPECT_EQ(room->now, 64);
  EXPECT_EQ(room->largest, Asked().room(Bytes::gib(4))->largest);
}

TEST(Room, IsNoneWhereOneRowIsTooMuch) {
  const auto room = Asked().room(Bytes::gib(1));
  ASSERT_TRUE(room);
  EXPECT_EQ(room->largest, 0);
}

}  // namespace
}  // namespace oomplan
