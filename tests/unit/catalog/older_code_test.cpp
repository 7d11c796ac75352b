#include "oomplan/catalog/older_code.hpp"

#include <gtest/gtest.h>

namespace oomplan {
namespace {

OpSpec with(std::string versions) {
  return {"op", "", {{"older_code", std::move(versions)}, {"width", std::int64_t{8}}}};
}

TEST(OlderCode, IsThatOfTheVersionsItNames) {
  const OpSpec spec = with("transformers 5.6.0, transformers 5.14.1");
  EXPECT_TRUE(runs_older_code(spec, "axolotl 0.18.0 on transformers 5.14.1"));
  EXPECT_TRUE(runs_older_code(spec, "llamafactory 0.9.5 on transformers 5.6.0, peft 0.18.1"));
  EXPECT_FALSE(runs_older_code(spec, "trl 1.16.0 on transformers 5.23.0"));
  EXPECT_FALSE(runs_older_code(spec, "transformers 5.14.10"));
  EXPECT_FALSE(runs_older_code(spec, ""));
  EXPECT_FALSE(runs_older_code({"op", "", {}}, "transformers 5.14.1"));
}

TEST(OlderCode, StaysOnlyInAModelThatRunsIt) {
  Architecture model;
  model.body.emplace_back().kinds = {{with("transformers 5.14.1")}};
  EXPECT_EQ(as_run(model, "transformers 5.14.1").body, model.body);
  const Architecture newer = as_run(model, "transformers 5.23.0");
  EXPECT_EQ(newer.body[0].kinds[0][0].find(older_code), nullptr);
  EXPECT_NE(newer.body[0].kinds[0][0].find("width"), nullptr);
}

}  // namespace
}  // namespace oomplan
