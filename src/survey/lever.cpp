#include "lever.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "oomplan/ingest.hpp"

namespace oomplan::survey {
namespace {

using Facts = std::array<std::string_view, 5>;

/// For each bucket, in order, the facts that move it, the strongest first.
constexpr std::array<Facts, bucket_count> movers{{
    {"quantization", "adapter", "weights_dtype", "model"},                                    // weights
    {"optimizer", "adapter", "weights_dtype", "model"},                                       // optimizer
    {"adapter", "weights_dtype", "model"},                                                    // gradients
    {"sequence_length", "micro_batch_size", "gradient_checkpointing", "attention", "model"},  // activations
    {"attention", "sequence_length", "micro_batch_size", "model"},                            // attention_scores
    {"sequence_length", "micro_batch_size", "loss", "model"},                                 // logits_and_loss
    {"autocast", "weights_dtype", "model"},                                                   // autocast_copies
    {"sequence_length", "micro_batch_size", "optimizer", "model"},                            // temporaries
    {"sequence_length", "micro_batch_size", "model"},                                         // inputs
    {"fsdp_reshard", "sharding", "fsdp_param_dtype", "model"},                                // gathered
    {"ddp_bucket_views", "sharding", "fsdp_reduce_dtype", "model"},                           // communication
    {"alloc_conf", "sequence_length", "micro_batch_size", "model"},                           // slack
    {"alloc_conf", "sequence_length", "micro_batch_size", "model"},                           // fragmentation
    {"optimizer", "adapter", "model"},                                                        // paged
    {"model"},                                                                                // runtime
}};

}  // namespace

Lever lever_of(const TrainingPlan& plan, Bucket bucket, const std::string& file) {
  for (const std::string_view fact : movers[static_cast<std::size_t>(bucket)]) {
    const Origin* origin = fact.empty() ? nullptr : origin_of_fact(plan, fact);
    if (origin == nullptr || origin->kind != Origin::Kind::config || origin->where.file != file) continue;
    return {origin->source, origin->where};
  }
  return {{}, {file, 1, 1}};
}

Bucket largest_of(ByBucket by_bucket) {
  at(by_bucket, Bucket::paged) = Bytes();  // It gives way to the others.
  return static_cast<Bucket>(std::ranges::max_element(by_bucket) - by_bucket.begin());
}

}  // namespace oomplan::survey
