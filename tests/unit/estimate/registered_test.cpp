// The order of a block's parameters, as transformers' modules are registered.
#include "registered.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <list>

#include "recording.hpp"

namespace oomplan::estimator {
namespace {

using ::testing::ElementsAre;

class Registered : public ::testing::Test {
 protected:
  void add(const std::string& name, std::int16_t layer, bool of_layer_norm = false) {
    const Restore scope(torch_.recorder.scope.layer, layer);
    Parameter& p = parameters_.emplace_back();
    p.name = name;
    p.of_layer_norm = of_layer_norm;
    p.held = p.whole = leaf(torch_, {8}, DType::fp32);
    members_.push_back(&p);
  }

  std::vector<std::string> order() {
    order_as_registered(members_);
    std::vector<std::string> out;
    for (const Parameter* p : members_) out.push_back(p->name + " " + std::to_string(p->layer()));
    return out;
  }

 private:
  Torch torch_{};
  std::list<Parameter> parameters_{};
  std::vector<Parameter*> members_{};
};

TEST_F(Registered, RmsNormsOfABlockStandBehindIt) {
  add("model.embed_tokens.weight", -1);
  for (const std::int16_t layer : {std::int16_t{0}, std::int16_t{1}}) {
    add("model.layers.*.input_layernorm.weight", layer);
    add("model.layers.*.self_attn.q_proj.weight", layer);
    add("model.layers.*.self_attn.q_norm.weight", layer);
    add("model.layers.*.post_attention_layernorm.weight", layer);
    add("model.layers.*.mlp.down_proj.weight", layer);
  }
  add("model.norm.weight", -1);
  EXPECT_THAT(order(),
              ElementsAre("model.embed_tokens.weight -1", "model.layers.*.self_attn.q_proj.weight 0",
                          "model.layers.*.self_attn.q_norm.weight 0", "model.layers.*.mlp.down_proj.weight 0",
                          "model.layers.*.input_layernorm.weight 0", "model.layers.*.post_attention_layernorm.weight 0",
                          "model.layers.*.self_attn.q_proj.weight 1", "model.layers.*.self_attn.q_norm.weight 1",
                          "model.layers.*.mlp.down_proj.weight 1", "model.layers.*.input_layernorm.weight 1",
                          "model.layers.*.post_attention_layernorm.weight 1", "model.norm.weight -1"));
}

TEST_F(Registered, OthersStayWhereTheyAreUsed) {
  add("transformer.h.*.ln_1.weight", 0, true);
  add("transformer.h.*.ln_1.bias", 0, true);
  add("transformer.h.*.attn.c_attn.weight", 0);
  add("backbone.layers.*.dt_bias", 0);
  add("transformer.h.*.mlp.c_fc.weight", 0);
  EXPECT_THAT(order(), ElementsAre("transformer.h.*.ln_1.weight 0", "transformer.h.*.ln_1.bias 0",
                                   "transformer.h.*.attn.c_attn.weight 0", "backbone.layers.*.dt_bias 0",
                                   "transformer.h.*.mlp.c_fc.weight 0"));
}

}  // namespace
}  // namespace oomplan::estimator
