#include "modules/embedding_adapter.hpp"

#include <utility>

namespace oomplan::estimator {

EmbeddingAdapter::EmbeddingAdapter(Builder& builder, const std::string& name, const Dims& sizes) {
  const Facts& f = builder.facts;
  if (f.kind != Adapter::lora) builder.play_no_adapter(name, "an embedding");
  if (f.kind != Adapter::lora || !builder.targeted(name, false)) return;
  a_ = builder.adapter_weight(name + ".lora_embedding_A", {f.lora_rank, sizes[0]}, f.adapter);
  b_ = builder.adapter_weight(name + ".lora_embedding_B", {sizes[1], f.lora_rank}, f.adapter);
}

Tensor EmbeddingAdapter::operator()(const Play& play, const Tensor& indices, Tensor result) const {
  if (!a_ || play.facts.adapters_off) return result;
  Torch& t = play.torch;
  const DType dtype = result->dtype;
  const Tensor embedding_a = t.t(a_);
  const Tensor embedding_b = t.t(b_);
  const Tensor after_a = t.embedding(embedding_a, indices);
  const Tensor output = t.mul_scalar(t.matmul(after_a, embedding_b));
  result = t.add(result, output);
  return t.to(result, dtype);
}

}  // namespace oomplan::estimator
