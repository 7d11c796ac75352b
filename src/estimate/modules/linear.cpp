#include "modules/linear.hpp"

#include <algorithm>

#include "modules/dora.hpp"
#include "modules/fake_quantize.hpp"
#include "modules/four_bits.hpp"
#include "modules/lora_init.hpp"
#include "torch/redistribute.hpp"
#include "weight_checks.hpp"

namespace oomplan::estimator {
namespace {

/// A layer of plain weights.
Tensor product_of(Torch& t, LinearKind kind, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (kind == LinearKind::matmul) return t.matmul(x, t.t(weight));
  if (kind == LinearKind::linear || kind == LinearKind::unquantized) return t.linear(x, weight, bias);
  Dims sizes = x->sizes;
  sizes[sizes.size() - 1] = weight->sizes.back();
  return t.view(t.addmm(bias, t.view(x, {-1, weight->sizes[0]}), weight), sizes);
}

/// A linear layer of the adapter.
Tensor adapter(Play& play, const Tensor& x, const Tensor& weight) {
  const Tensor entered = play.policy.enter_leaf(play.torch, {&weight}, x);
  // LoRALinear multiplies by a view of the parameter, which autocast casts each time.
  const LinearKind kind = play.facts.own_lora ? LinearKind::matmul : LinearKind::linear;
  return play.policy.leave_leaf(play.torch, {&weight}, product_of(play.torch, kind, entered, weight, {}));
}

/// What a 4-bit weight was before, of which bitsandbytes' Linear4bit keeps the type; another subclass that a plan names
/// is made of weights in the type that it computes in.
DType quantized_in(const Facts& facts) {
  if (facts.lightning) return DType::fp16;
  return facts.bitsandbytes ? facts.weights : facts.quantized_compute;
}

/// transformers 5 (integrations/bitsandbytes.py: replace_with_bnb_linear) quantises GPT-2's Conv1D, and no subclass of
/// torch's Linear.
bool quantizable(LinearKind kind, const Facts& facts) {
  if (kind == LinearKind::conv1d) return facts.bitsandbytes;
  if (kind == LinearKind::matmul) return !facts.bitsandbytes;
  return kind == LinearKind::linear;
}

}  // namespace

Linear::Linear(Builder& builder, const std::string& name, std::int64_t in, std::int64_t out, bool bias, LinearKind kind)
    : kind_(kind), in_(in), out_(out), module_(builder.module_id(name)) {
  Restore module(builder.torch.recorder.scope.module, std::int32_t{module_});
  if (quantizable(kind, builder.facts) && builder.quantized(name)) {
    quantize(builder, name, in, out);
  } else {
    weight_.original =
        builder.weight(name + ".weight", kind == LinearKind::conv1d ? Dims{in, out} : Dims{out, in}, Part::matrix);
  }
  if (bias) bias_.original = builder.weight(name + ".bias", {out}, Part::bias);
  fake_scale_ = fake(builder);
  if (builder.facts.adapts() && builder.targeted(name, true)) adapt(builder, name, in, out);
}

Linear Linear::columns(Builder& builder, const std::string& name, std::int64_t in, std::int64_t out, bool bias) {
  return split(builder, Split::columns, name, {in, builder.part_of(out, name)}, bias);
}

Linear Linear::rows(Builder& builder, const std::string& name, std::int64_t in, std::int64_t out, bool bias) {
  return split(builder, Split::rows, name, {builder.part_of(in, name), out}, bias);
}

/// `sizes`: of this rank's part, in and out.
Linear Linear::split(Builder& builder, Split split, const std::string& name, Dims sizes, bool bias) {
  Restore parts(builder.parts, std::int64_t{builder.facts.tensor_parallel.ranks});
  Linear out(builder, name, sizes[0], sizes[1], bias);
  if (builder.facts.tensor_parallel.ranks == 1) return out;
  out.split_ = split;
  if (bias && split == Split::rows)
    builder.problems.push_back(unmodelled(
        builder.path(name) + ", a layer that ranks share by its inputs, with a bias is not modelled yet", {}));
  return out;
}

Linear Linear::head(Builder& builder, const std::string& name, std::int64_t in, std::int64_t out, bool bias,
                    const Tensor& tied_weight) {
  Linear head;
  const std::int64_t ranks = builder.facts.tensor_parallel.ranks;
  const std::int64_t part = divided_up(out, ranks);
  Restore padding(builder.padding, part * ranks - out);
  out = part;
  head.in_ = in;
  head.out_ = out;
  head.split_ = ranks > 1 ? Split::vocabulary : Split::none;
  head.module_ = builder.module_id(name);
  Restore module(builder.torch.recorder.scope.module, std::int32_t{head.module_});
  Restore parts(builder.parts, std::int64_t{ranks});
  if (builder.facts.lightning && !tied_weight && builder.quantized(name)) {
    head.quantize(builder, name, in, out);
  } else {
    head.weight_.original = tied_weight ? tied_weight : builder.weight(name + ".weight", {out, in}, Part::head);
  }
  if (bias) head.bias_.original = builder.weight(name + ".bias", {out}, Part::bias);
  if (!tied_weight) head.fake(builder);
  head.weight_.copy = builder.saved_copy(name, "weight", {out, in}, Part::head);
  if (bias) head.bias_.copy = builder.saved_copy(name, "bias", {out}, Part::bias);
  // peft adapts no module that it saves whole (tuners_utils.py: check_target_module_exists).
  if (head.weight_.copy || !builder.facts.adapts()) return head;
  if (builder.facts.kind != Adapter::lora) builder.play_no_adapter(name, "the head");
  if (builder.facts.kind == Adapter::lora && builder.targeted(name, false)) head.adapt(builder, name, in, out);
  return head;
}

Linear Linear::classifier(Builder& builder, const std::string& name, std::int64_t in, std::int64_t out, bool bias,
                          const std::string& whole) {
  const bool part = name.starts_with(whole + ".");
  const std::string of = part ? whole : name;
  const std::string below = part ? name.substr(whole.size() + 1) + "." : "";
  const Tensor copy = builder.saved_copy(of, below + "weight", {out, in}, Part::head);
  if (!copy) return Linear(builder, name, in, out, bias);
  Linear made;
  made.in_ = in;
  made.out_ = out;
  made.module_ = builder.module_id(name);
  made.weight_.original = builder.weight(name + ".weight", {out, in}, Part::head);
  made.weight_.copy = copy;
  if (!bias) return made;
  made.bias_.original = builder.weight(name + ".bias", {out}, Part::bias);
  made.bias_.copy = builder.saved_copy(of, below + "bias", {out}, Part::bias);
  return made;
}

void Linear::adapt(Builder& builder, const std::string& name, std::int64_t in, std::int64_t out) {
  const Facts& f = builder.facts;
  const DType dtype = quantized() ? f.quantized_adapter : f.adapter;
  if (f.kind != Adapter::lora) {
    adapter_ = make_linear_adapter(builder, {name, in, out, dtype});
    return;
  }
  play_lora_init(builder, in, out);
  // A decomposition has no more vectors than the smaller side.
  const std::int64_t rank = f.init == AdapterInit::plain ? f.lora_rank : std::min({f.lora_rank, in, out});
  lora_a_ = builder.adapter_weight(name + ".lora_A", {rank, in}, dtype);
  lora_b_ = builder.adapter_weight(name + ".lora_B", {out, rank}, dtype);
  // A norm of the dequantized weight with an update in fp32, which TRL lowers with none of the others.
  const DType of_norm = quantized() && f.bitsandbytes ? DType::fp32 : dtype;
  if (f.dora) magnitude_ = builder.adapter_weight(name + ".lora_magnitude_vector", {out}, of_norm);
}

// Int8DynActInt4WeightQATQuantizer.prepare, of the layers whose width is whole groups; a layer keeps its last scales
// and zeros, of its weight and of its input.
Tensor Linear::fake(Builder& builder) {
  const Facts& f = builder.facts;
  if (f.fake_group == 0 || in_ % f.fake_group != 0) return {};
  fake_group_ = f.fake_group;
  const Dims of_weight{out_, in_ / fake_group_};
  const Dims of_input{saturating_mul(f.batch, f.length)};
  for (const Dims& sizes : {of_weight, of_input, of_input}) builder.quantized_storage(sizes, DType::fp32);
  return builder.quantized_storage(of_weight, DType::fp32);
}

// transformers/integrations/bitsandbytes.py: Bnb4bitQuantize puts the weight on the GPU in the dtype of loading, a
// Conv1D's turned into a Linear's; it is gone once bitsandbytes/functional.py: quantize_4bit has made 4 bits of it.
void Linear::quantize(Builder& builder, const std::string& name, std::int64_t in, std::int64_t out) {
  if (builder.facts.int8) return quantize_to_int8(builder, name);
  if (builder.facts.torchao) return quantize_by_torchao(builder, name);
  Torch& t = builder.torch;
  const std::int64_t elements = saturating_mul(in, out);
  builder.loads(name + ".weight", divided_up(elements, 2));
  const DType loaded = builder.facts.lightning ? DType::fp16 : builder.facts.weights;
  const bool made_here = builder.facts.bitsandbytes && !builder.facts.quantized_before;
  const Tensor weight = made_here ? t.empty({in, out}, loaded, "aten::_to_copy") : Tensor();
  const Tensor turned = weight && kind_ == LinearKind::conv1d ? t.empty({out, in}, loaded, "aten::clone") : Tensor();
  absmax_blocks_ = store_four_bits(builder, elements);
  builder.count(elements, false);
}

Tensor Linear::operator()(Play& play, const Tensor& x) const {
  Torch& t = play.torch;
  Restore module(t.recorder.scope.module, std::int32_t{module_});
  if (play.facts.adapters_off || !(lora_a_ || adapter_)) return base(play, x);
  if (adapter_) return (*adapter_)(play, x, [&](const Tensor& input) { return base(play, input); });
  if (quantized() && play.facts.bitsandbytes && !play.facts.own_lora) return adapted_quantized(play, x);
  // peft/tuners/lora/layer.py: Linear.forward.
  Tensor result = base(play, x);
  if (magnitude_ && play.facts.own_dora) {
    return own_dora(play, x, result, {lora_a_, lora_b_, magnitude_},
                    [&] { return dequantized_weight(play.torch, play.facts); });
  }
  const DType dtype = result->dtype;
  const Tensor input = t.to(x, play.policy.read_weight(t, lora_a_)->dtype);
  if (magnitude_) {
    const Tensor& bias = bias_.of(play.facts);
    const std::function<Tensor()> weight = [&] { return dequantized_weight(t, play.facts); };
    const Dora dora{lora_a_, lora_b_, magnitude_, weight, kind_ == LinearKind::conv1d, bias};
    return t.to(t.add(result, dora(play, input, result)), dtype);
  }
  Tensor update = t.dropout(input, play.facts.lora_dropout);
  update = adapter(play, update, lora_a_);
  update = adapter(play, update, lora_b_);
  update = t.mul_scalar(update);
  result = t.add(result, update);
  update.reset();
  return t.to(result, dtype);
}

Tensor Linear::adapted_quantized(Play& play, const Tensor& x) const {
  // peft/tuners/lora/bnb.py: forward of Linear4bit and Linear8bitLt. Autocast sees to the adapters' dtype where it is
  // on.
  Torch& t = play.torch;
  Tensor result = base(play, x);
  if (!int8_) result = t.clone(result);
  const bool converts = !t.autocast();
  const Tensor input = converts ? t.to(x, lora_a_->dtype) : x;
  if (magnitude_) {
    const DType dtype = result->dtype;
    const std::function<Tensor()> weight = [&] { return dequantized_weight(t, play.facts); };
    const Tensor update = Dora{lora_a_, lora_b_, magnitude_, weight, false, bias_.of(play.facts)}(play, input, result);
    result = t.add(result, update);
    return converts ? t.to(result, dtype) : result;
  }
  Tensor output = t.dropout(input, play.facts.lora_dropout);
  output = adapter(play, output, lora_a_);
  output = adapter(play, output, lora_b_);
  output = t.mul_scalar(output);
  if (converts) output = t.to(output, result->dtype);
  result = t.add(result, output);
  return result;
}

Tensor Linear::base(Play& play, const Tensor& x) const {
  Torch& t = play.torch;
  if (int8_) return int8_product(play, x);
  const Tensor& bias = bias_.of(play.facts);
  if (absmax_blocks_ == 0) {
    const Tensor& weight = weight_.of(play.facts);
    if (fake_group_ > 0) {
      const Tensor input = fake_quantized(t, x, in_, {});
      return t.linear(input, fake_quantized(t, weight, fake_group_, fake_scale_), bias);
    }
    const Tensor entered = play.policy.enter_leaf(t, {&weight, &bias}, x);
    return play.policy.leave_leaf(t, {&weight, &bias}, plain(play, entered, weight, bias));
  }
  if (play.facts.torchao) {
    const Tensor output = torchao_product(play, x);
    return bias ? t.add(output, bias) : output;
  }
  const Tensor input = t.to(x, play.facts.quantized_compute);
  // bitsandbytes/nn/modules.py: Linear4bit.forward.
  if (play.facts.bitsandbytes) return t.to(product(play, input, bias), x->dtype);
  const Tensor output = t.to(product(play, input, {}), x->dtype);
  return bias ? t.add(output, t.to(bias, output->dtype)) : output;
}

// DTensor's dispatch around a layer's product. With parts of rows what goes in is gathered for all of a block's
// matrices at once, by what holds them.
Tensor Linear::plain(Play& play, const Tensor& x, const Tensor& weight, const Tensor& bias) const {
  Torch& t = play.torch;
  const TensorParallel& shared = play.facts.tensor_parallel;
  if (split_ == Split::none) return product_of(t, kind_, x, weight, bias);
  if (split_ == Split::rows) {
    const Tensor out = product_of(t, kind_, x, weight, bias);
    return shared.sequence ? reduce_scattered(t, out, 1, shared.ranks) : all_reduced(t, out);
  }
  if (split_ == Split::columns) return product_of(t, kind_, shared.sequence ? x : replicated(t, x), weight, bias);
  const Tensor whole = shared.sequence ? all_gathered(t, x, 1, shared.ranks) : replicated(t, x);
  const Tensor logits = product_of(t, kind_, whole, weight, bias);
  return shared.loss ? logits : gathered_output(t, logits, shared.ranks);
}

Tensor Linear::dequantized_weight(Torch& t, const Facts& facts) const {
  if (int8_) return int8_weight(t);
  if (absmax_blocks_ == 0) return weight_.of(facts);
  if (facts.torchao) return torchao_weight(t, facts.weights);
  return dequantized(t, {out_, in_}, absmax_blocks_, facts.double_quantized, quantized_in(facts));
}

Tensor Linear::product(Play& play, const Tensor& x, const Tensor& bias) const {
  // bitsandbytes/autograd/_functions.py: MatMul4Bit.
  Torch& t = play.torch;
  NodeRef node = t.record("MatMul4BitBackward", {&x}, [](Torch& torch, Node& n, Grads& g) {
    Tensor weight = dequantized(torch, {n.ints[1], n.ints[0]}, n.ints[2], n.ints[3] / 256 != 0,
                                static_cast<DType>(n.ints[3] % 256));
    weight = torch.to(weight, g.in[0]->dtype);
    g.out[0] = torch.matmul(g.in[0], weight);
  });
  const bool nested = play.facts.double_quantized;
  const DType compute = quantized_in(play.facts);
  if (node) node->ints = {in_, out_, absmax_blocks_, (nested ? 256 : 0) + static_cast<std::int64_t>(compute)};
  Restore no_grad(t.grad_enabled, false);
  InProduct of;
  if (play.facts.gemm_4bit) {
    of = dequantized_in_product(t, {out_, in_}, absmax_blocks_, nested, x->dtype);
  } else {
    of.weight = t.to(dequantized_weight(t, play.facts), x->dtype);
  }
  Tensor out = t.linear(x, of.weight, bias ? t.to(bias, x->dtype) : Tensor());
  if (!node) return out;
  Tensor plain = t.detach(out);
  out.reset();
  return t.attach(node, std::move(plain));
}

}  // namespace oomplan::estimator
