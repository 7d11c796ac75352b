// What a gate points at: of the lines that a config has, the one that moves the bucket most.
#include "lever.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "oomplan/ingest/ingest.hpp"

namespace oomplan::survey {
namespace {

const std::map<std::string, std::string>& values() {
  static const std::map<std::string, std::string> all{{"model", "openai-community/gpt2"},
                                                      {"quantization", "nf4"},
                                                      {"adapter", "lora"},
                                                      {"weights_dtype", "bf16"},
                                                      {"optimizer", "adamw_8bit"},
                                                      {"sequence_length", "1024"},
                                                      {"micro_batch_size", "2"},
                                                      {"gradient_checkpointing", "true"},
                                                      {"attention", "eager"},
                                                      {"loss", "full_logits"},
                                                      {"autocast", "bf16"},
                                                      {"sharding", "ddp"},
                                                      {"fsdp_reshard", "all"},
                                                      {"fsdp_param_dtype", "bf16"},
                                                      {"fsdp_reduce_dtype", "bf16"},
                                                      {"ddp_bucket_views", "true"},
                                                      {"alloc_conf", "garbage_collection_threshold:0.8"}};
  return all;
}

std::string lever(Bucket bucket, const std::string& without_before, const std::vector<std::string>& order) {
  std::string text;
  bool left_out = true;  // those before it
  for (const std::string& fact : order) {
    left_out = left_out && fact != without_before;
    if (!left_out) text += fact + ": \"" + values().at(fact) + "\"\n";
  }
  if (text.find("model") == std::string::npos) text += "model: openai-community/gpt2\n";
  std::vector<std::string> overrides;  // of what a plan must have, since those are no lines of the file
  for (const char* fact : {"sequence_length", "micro_batch_size"})
    if (text.find(std::string(fact) + ":") == std::string::npos) overrides.push_back(fact + ("=" + values().at(fact)));
  const Result<Document> document = parse_document(text, "c.yaml", Syntax::yaml);
  const Result<TrainingPlan> plan = ingest(*document, {.dialect = "oomplan", .overrides = overrides});
  if (!plan) return to_text(plan.errors().front());
  return lever_of(*plan, bucket, "c.yaml").key;
}

// Each bucket's settings, the strongest first: with those before it missing, each is the lever.
TEST(Lever, IsTheStrongestSettingThatTheFileHas) {
  const std::vector<std::pair<Bucket, std::vector<std::string>>> orders{
      {Bucket::weights, {"quantization", "adapter", "weights_dtype", "model"}},
      {Bucket::optimizer, {"optimizer", "adapter", "weights_dtype", "model"}},
      {Bucket::gradients, {"adapter", "weights_dtype", "model"}},
      {Bucket::activations, {"sequence_length", "micro_batch_size", "gradient_checkpointing", "attention", "model"}},
      {Bucket::attention_scores, {"attention", "sequence_length", "micro_batch_size", "model"}},
      {Bucket::logits_and_loss, {"sequence_length", "micro_batch_size", "loss", "model"}},
      {Bucket::autocast_copies, {"autocast", "weights_dtype", "model"}},
      {Bucket::temporaries, {"sequence_length", "micro_batch_size", "optimizer", "model"}},
      {Bucket::inputs, {"sequence_length", "micro_batch_size", "model"}},
      {Bucket::gathered, {"fsdp_reshard", "sharding", "fsdp_param_dtype", "model"}},
      {Bucket::communication, {"ddp_bucket_views", "sharding", "fsdp_reduce_dtype", "model"}},
      {Bucket::slack, {"alloc_conf", "sequence_length", "micro_batch_size", "model"}},
      {Bucket::fragmentation, {"alloc_conf", "sequence_length", "micro_batch_size", "model"}},
      {Bucket::paged, {"optimizer", "adapter", "model"}},
      {Bucket::runtime, {"model"}}};
  EXPECT_EQ(orders.size(), bucket_count);
  for (const auto& [bucket, order] : orders)
    for (const std::string& fact : order) EXPECT_EQ(lever(bucket, fact, order), fact) << name_of(bucket);
}

TEST(Lever, IsNotWhatGivesWay) {
  ByBucket sizes{};
  at(sizes, Bucket::paged) = Bytes::gib(9);
  at(sizes, Bucket::activations) = Bytes::gib(3);
  at(sizes, Bucket::weights) = Bytes::gib(2);
  EXPECT_EQ(largest_of(sizes), Bucket::activations);
}

}  // namespace
}  // namespace oomplan::survey
