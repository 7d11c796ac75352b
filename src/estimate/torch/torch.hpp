// The part of PyTorch that decides what is allocated: the dispatcher's view of tensors, autograd, autocast and
// checkpointing, and the aten ops that models run. No tensor is ever computed.
//
// Every op makes the tensors that its kernel makes, in that order, and saves for backward what its autograd formula
// saves (pytorch 2.13: tools/autograd/derivatives.yaml, torch/csrc/autograd, aten/src/ATen/native). Python's part
// (which tensors a model's own code keeps alive) is in ops/, written as the framework's modules are.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "looped.hpp"
#include "node.hpp"
#include "offload.hpp"
#include "pool.hpp"
#include "recorder.hpp"
#include "tensor.hpp"

namespace oomplan::estimator {

/// How a block is checkpointed.
struct CheckpointStyle {
  bool reentrant = false;
  bool early_stop = true;       ///< Running again ends with the last tensor that backward needs.
  bool keeps_products = false;  ///< As CheckpointKeeps::products has it.
  bool by_name = false;         ///< The input is a keyword argument, which no hook on saved tensors sees.
};

/// A non-reentrant checkpoint (torch/utils/checkpoint.py): what was saved inside is a promise to run again.
struct CheckpointFrame {
  CheckpointFrame() = default;
  CheckpointFrame(const CheckpointFrame&) = delete;
  CheckpointFrame& operator=(const CheckpointFrame&) = delete;
  ~CheckpointFrame() { input.clear(); }

  int refs = 0;
  CheckpointStyle style{};
  std::vector<Tensor> kept{};  ///< What ops returned, by selective checkpointing, until running again takes it.
  std::size_t taken = 0;       ///< How many of these were.
  int products = 0;            ///< Matrix products of this run.
  int saved = 0;               ///< How many tensors the forward saved.
  int recomputed = 0;          ///< How many the recomputation has saved so far.
  bool done = false;
  std::vector<Tensor> tensors{};
  std::vector<bool> forgotten{};  ///< Of what was saved, by index: its node is gone, and recomputing keeps none of it.
  std::function<Tensor(Tensor)> forward{};
  Saved input{};
  bool asks = false;               ///< Whether the input asks for a gradient.
  int buffer = -1;                 ///< Of UnslothBuffers, the one that the input comes back into; -1: it stays.
  std::vector<Tensor*> tracked{};  ///< Of what `forward` holds: what a reentrant checkpoint gives gradients to as well.
  std::optional<DType> autocast{};
};

class UnslothBuffers;

/// The ranks that have a part of each row each, and this one of them.
struct Ring {
  std::int64_t ranks = 1;
  std::int64_t rank = 0;
  bool hands_on = false;  ///< Keys and values go from rank to rank, else all are gathered.
};

/// Called when a parameter has its gradient, as hooks on its AccumulateGrad are.
class GradientHook {
 public:
  virtual void accumulated(Torch& torch, const Tensor& leaf) = 0;

 protected:
  ~GradientHook() = default;
};

/// An output of a node and the gradient that it is given.
struct GradientRoot {
  NodeRef node{};
  int output_nr = 0;
  Tensor gradient{};
};

class Torch {
 public:
  Torch() = default;
  Torch(const Torch&) = delete;
  Torch& operator=(const Torch&) = delete;

  // --- tensors -------------------------------------------------------------------------------------------------
  Tensor empty(const Dims& sizes, DType dtype, const char* op);
  Tensor empty_strided(const Dims& sizes, const Dims& strides, DType dtype, const char* op);
  /// What a CUDA kernel takes of the allocator for itself, gone when it is launched.
  void scratch(std::int64_t bytes, const char* op);
  /// A leaf that training keeps: a weight. `trained` asks for its gradient.
  Tensor parameter(const Dims& sizes, DType dtype, bool trained);

  // --- views (no allocation) -----------------------------------------------------------------------------------
  Tensor view(const Tensor& x, Dims sizes);  ///< One size may be -1. The strides must allow it.
  Tensor reshape(const Tensor& x, Dims sizes);
  Tensor unsafe_view(const Tensor& x, Dims sizes);
  Tensor transpose(const Tensor& x, int a, int b);
  Tensor t(const Tensor& x) { return transpose(x, 0, 1); }
  Tensor permute(const Tensor& x, const Dims& order);
  Tensor expand(const Tensor& x, const Dims& sizes);
  Tensor unsqueeze(const Tensor& x, int dim);
  Tensor squeeze(const Tensor& x, int dim);
  Tensor slice(const Tensor& x, int dim, std::int64_t start, std::int64_t length);
  /// Every second element of the last dimension (x[..., ::2]).
  Tensor every_other(const Tensor& x);
  Tensor select(const Tensor& x, int dim);
  std::vector<Tensor> split(const Tensor& x, std::int64_t size, int dim);  ///< Into eight parts at most.
  std::vector<Tensor> unbind(const Tensor& x, int dim);                    ///< Of a dimension of at most eight.
  std::vector<Tensor> split_sizes(const Tensor& x, std::initializer_list<std::int64_t> sizes, int dim);
  Tensor detach(const Tensor& x);

  // --- copies --------------------------------------------------------------------------------------------------
  Tensor to(const Tensor& x, DType dtype);  ///< x itself where it is of that dtype already.
  Tensor clone(const Tensor& x);            ///< Strides preserved.
  Tensor contiguous(const Tensor& x);       ///< x itself where it is contiguous already.
  Tensor cat(std::initializer_list<Tensor> parts, int dim);
  Tensor zeros(const Dims& sizes, DType dtype) { return empty(sizes, dtype, "aten::zeros"); }
  Tensor stack_last(const Tensor& a, const Tensor& b);  ///< torch.stack((a, b), dim=-1).
  Tensor pad_last(const Tensor& x, std::int64_t by);

  // --- indexing ------------------------------------------------------------------------------------------------
  Tensor index_rows(const Tensor& x, const Tensor& rows);    ///< x[rows].
  Tensor index_select(const Tensor& x, const Tensor& rows);  ///< torch.index_select(x, 0, rows).
  /// x[..., [i], ...] at dimension `dim`: a copy, since i stands in a list.
  Tensor index_one(const Tensor& x, int dim);
  Tensor gather_last(const Tensor& x, const Tensor& index);  ///< x.gather(-1, index).
  Tensor repeat_first(const Tensor& x, std::int64_t times);  ///< x.repeat(times, 1, 1).
  /// x[rows] += source, in place; x begins without a gradient.
  Tensor index_add_(const Tensor& x, const Tensor& rows, const Tensor& source);
  /// Each row `times` times, one after the other.
  Tensor repeat_rows(const Tensor& x, std::int64_t times);
  /// The highest of the last dimension, and where they were.
  std::pair<Tensor, Tensor> topk_last(const Tensor& x, std::int64_t count);

  // --- elementwise ---------------------------------------------------------------------------------------------
  Tensor add(const Tensor& a, const Tensor& b);
  Tensor sub(const Tensor& a, const Tensor& b);
  Tensor mul(const Tensor& a, const Tensor& b);
  Tensor add_scalar(const Tensor& x);
  Tensor mul_scalar(const Tensor& x);
  Tensor div_scalar(const Tensor& x);
  Tensor div(const Tensor& x, const Tensor& by);
  Tensor clamp(const Tensor& x);
  Tensor pow_scalar(const Tensor& x);
  Tensor rsqrt(const Tensor& x);
  Tensor exp(const Tensor& x);
  Tensor neg(const Tensor& x);
  Tensor tanh(const Tensor& x);
  Tensor sigmoid(const Tensor& x);
  Tensor relu(const Tensor& x);
  Tensor silu(const Tensor& x);
  Tensor gelu(const Tensor& x);
  Tensor dropout(const Tensor& x, double p);             ///< torch.nn.Dropout in training; x itself where p is 0.
  Tensor functional_dropout(const Tensor& x, double p);  ///< torch.nn.functional.dropout, so, whatever `drops` says.
  Tensor expm1(const Tensor& x);
  Tensor softplus(const Tensor& x);
  Tensor minimum(const Tensor& x, const Tensor& y);
  Tensor maximum(const Tensor& x, const Tensor& y);
  Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);
  Tensor masked_fill(const Tensor& x, const Tensor& mask);  ///< With a number where the mask says so.
  Tensor add_(const Tensor& x, const Tensor& y);
  Tensor div_scalar_(const Tensor& x);
  Tensor div_(const Tensor& x, const Tensor& by);
  /// An elementwise op outside autograd: its output alone.
  Tensor pointwise(std::initializer_list<const Tensor*> inputs, DType dtype, const char* op);

  // --- reductions ----------------------------------------------------------------------------------------------
  Tensor mean_last(const Tensor& x);  ///< Over the last dimension, kept.
  Tensor sum_dim(const Tensor& x, int dim, bool keep, std::optional<DType> dtype = {});
  Tensor sum_all(const Tensor& x);
  Tensor sum_last(const Tensor& x, std::optional<DType> dtype = {});
  Tensor sum_to(const Tensor& x, const Dims& sizes);
  Tensor softmax_last(const Tensor& x, std::optional<DType> dtype = {});
  /// The gradient of a softmax's input. CUDA's kernel multiplies gradient and result first, in memory of its own; that
  /// of a log-softmax does not (aten/src/ATen/native/cuda/SoftMax.cu: softmax_backward_cuda_out).
  Tensor softmax_backward(const Dims& sizes, DType dtype);
  Tensor log_softmax_last(const Tensor& x);

  // --- products ------------------------------------------------------------------------------------------------
  Tensor mm(const Tensor& a, const Tensor& b);
  Tensor addmm(const Tensor& bias, const Tensor& a, const Tensor& b);
  Tensor bmm(const Tensor& a, const Tensor& b);
  /// torch.baddbmm(c, a, b, alpha=…) of a multiple that is not 1; c needs no gradient, and is none where beta is 0.
  Tensor baddbmm(const Tensor& c, const Tensor& a, const Tensor& b);
  Tensor matmul(const Tensor& a, const Tensor& b);
  Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias);
  /// torch._grouped_mm: rows of a, sorted by group, with each group's own matrix (weight: groups × out × in).
  Tensor grouped_mm(const Tensor& a, const Tensor& weight, const Tensor& offsets);

  // --- layers --------------------------------------------------------------------------------------------------
  Tensor embedding(const Tensor& weight, const Tensor& indices, std::int64_t ranks = 1);
  Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias);
  Tensor cross_entropy(const Tensor& logits, const Tensor& labels);
  Tensor nll_loss(const Tensor& log_probs, const Tensor& labels);  ///< Summed, or their mean.
  /// torch.nn.functional.scaled_dot_product_attention; q, k, v as batch × heads × length × head dim.
  Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, double dropout, bool causal,
                   bool enable_gqa);

  // --- autograd ------------------------------------------------------------------------------------------------
  void backward(const Tensor& root);
  void backward_from(const Tensor& root, Tensor gradient);
  /// From several roots at once, each with its gradient; one may have come of what another was made of.
  void backward_from(const Tensor& root, Tensor gradient, std::span<std::pair<Tensor, Tensor>> others);
  /// torch.autograd.grad: of `leaves` alone, which keep theirs. `retains`: nodes let go of nothing that they saved.
  /// `within`: all that lies between, where that is known.
  std::vector<Tensor> gradients_of(const std::vector<GradientRoot>& roots, const std::vector<Tensor>& leaves,
                                   bool retains, NodeWatch* watch, std::vector<Node*> within = {});
  /// Runs `forward` so that what it saves is recomputed in backward. `tracked`: tensors within `forward` that stand
  /// beside `input` among its arguments.
  Tensor checkpoint(const Tensor& input, std::function<Tensor(Tensor)> forward, CheckpointStyle style,
                    std::vector<Tensor*> tracked = {});

  bool grad_enabled = true;
  bool subclasses = false;     ///< What is recorded is of DTensors.
  bool training = true;        ///< Else the model is in eval(): nothing is dropped.
  bool drops = true;           ///< Else each torch.nn.Dropout is there, with a p of 0 (TRL's disable_dropout).
  bool loss_parallel = false;  ///< Within torch.distributed.tensor.parallel.loss_parallel.
  bool zero3_linear = false;   ///< torch.nn.functional.linear is DeepSpeed's function.

  // --- autocast ------------------------------------------------------------------------------------------------
  void enter_autocast(std::optional<DType> dtype);
  void exit_autocast();
  std::optional<DType> autocast() const { return autocast_; }

  // --- for op files --------------------------------------------------------------------------------------------
  /// A node for an op on `inputs`, or none where no gradient is asked for.
  NodeRef record(const char* name, std::initializer_list<const Tensor*> inputs, BackwardFn backward);
  /// Calls go in the order in which hooks on saved tensors see them: by the names of an op's arguments, then by those
  /// of its results (torchgen, tools/autograd/gen_variable_type.py: save_variables).
  void save(const NodeRef& node, int slot, const Tensor& tensor);
  void save_output(const NodeRef& node, int slot, const Tensor& tensor);
  /// Keeps the tensor as an attribute of ctx, beside what is saved: a checkpoint does not let go of it.
  void hold(const NodeRef& node, const Tensor& tensor);
  /// Keeps the tensor until the node has run, as what a checkpoint's function was given by name: no hook packs it.
  static void keep(const NodeRef& node, int slot, const Tensor& tensor);
  /// Whether a non-reentrant checkpoint runs for the first time, or again.
  bool packs() const { return packing_ != nullptr; }
  bool recomputes() const { return recomputing_ != nullptr; }
  /// What `make` makes of an op whose output selective checkpoints keep.
  template <class Make>
  Tensor kept_by_checkpoint(const Make& make) {
    CheckpointFrame* frame = selecting();
    return frame != nullptr ? through_checkpoint(*frame, make) : make();
  }
  Tensor unpack(Node& node, int slot);
  Tensor unpack(Saved& saved);
  Tensor attach(const NodeRef& node, Tensor output, int output_nr = 0);
  /// Whether its storage has more than it.
  bool is_part(const Tensor& x) const { return recorder.at(x->storage).bytes > storage_bytes(x->sizes, x->dtype); }
  Tensor view_as(const Tensor& x, const Dims& sizes, const Dims& strides);
  Tensor alias(const Tensor& x, const Dims& sizes, const Dims& strides);
  Tensor on_storage(StorageId storage, const Dims& sizes, const Dims& strides, DType dtype);
  /// autocast's cached_cast: x in the low precision, where autocast is on and x is of another floating type.
  Tensor lowered(const Tensor& x);
  /// Autocast's fp32 list.
  Tensor raised(const Tensor& x);

  GradientHook* gradient_hook = nullptr;
  ActivationOffload* offload = nullptr;  ///< What is saved while it is set goes through its hooks.
  /// The node at which those hooks were last, which they hold on to (curr_autograd_node): it outlives its backward
  /// pass.
  NodeRef& offload_at() { return offload_at_; }
  UnslothBuffers* unsloth = nullptr;   ///< What Unsloth's functions keep from step to step.
  std::array<Tensor, 4> beside{};      ///< What a block returns beside its hidden states, until its caller takes it.
  std::vector<std::string> kernels{};  ///< The attention kernels chosen, each once.
  /// `newer`: what it is called where only compute capability 8.0 and up has it.
  void use_kernel(const char* name, const char* newer);
  Ring ring{};                    ///< Of several ranks scaled_dot_product_attention is theirs together.
  const char* newer_kernel = "";  ///< The first such one that was chosen.
  bool older_gpu = false;         ///< scaled_dot_product_attention chooses as below compute capability 8.0.
  Recorder recorder{};
  Loops loops{};

  /// Forgets what was played, but not the memory that it took. No tensor may be left.
  void clear();

  TensorImpl* new_impl();
  void free_impl(TensorImpl* impl);
  Node* new_node();
  void free_node(Node* node);

 private:
  /// What is kept for backward is an activation, unless it is known to be something else.
  void keep_for_backward(const Tensor& tensor);
  void accumulate(Node& node, const Tensor& gradient);
  /// Counts what each node below has to wait for.
  void count_dependencies(Node* from, std::uint32_t visit);
  void take_gradient(const Tensor& leaf, const Tensor& gradient);
  void evaluate(Node& node);
  Node* pop_ready();
  void add_to_buffer(Node& node, int nr, Tensor gradient);
  void validate(Node& node, Grads& grads);
  NodeRef accumulator_of(const Tensor& leaf);
  Tensor reentrant(const Tensor& input, CheckpointFrame& frame);
  void recompute(CheckpointFrame& frame);
  Tensor bring_back(Saved& saved);
  Tensor input_of(CheckpointFrame& frame);
  void pack(Saved& saved, const Tensor& tensor);
  void keep_input(CheckpointFrame& frame, const Tensor& input);
  Tensor recomputed(Saved& saved);
  /// What an op returns, through a selective checkpoint: kept in its forward run, or that again in the second.
  template <class Make>
  Tensor through_checkpoint(CheckpointFrame& frame, const Make& make) {
    if (&frame == recomputing_) return std::move(frame.kept.at(frame.taken++));
    Tensor out = make();
    frame.kept.push_back(detach(out));
    keep_for_backward(out);
    return out;
  }
  /// The selective checkpoint that runs, if any. It is a dispatch mode, which sees what a custom function does without
  /// gradients too.
  CheckpointFrame* selecting() const {
    CheckpointFrame* frame = recomputing_ != nullptr ? recomputing_ : packing_;
    return frame != nullptr && frame->style.keeps_products ? frame : nullptr;
  }
  Tensor product(const Dims& sizes, DType dtype);
  Tensor flash(const Tensor& q, const Tensor& k, const Tensor& v, double dropout, bool causal);
  Tensor ring_flash(const Tensor& q, const Tensor& k, const Tensor& v);
  Tensor efficient(const Tensor& q, const Tensor& k, const Tensor& v, Tensor mask, double dropout);
  Tensor repeat_heads(const Tensor& x, std::int64_t times);
  Tensor safe_softmax(const Tensor& x);
  Tensor math(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, double dropout, bool causal,
              bool gqa);

  Pool<TensorImpl> impls_{};
  Pool<Node> nodes_{};
  std::vector<Node*> dying_nodes_{};
  bool draining_ = false;
  std::uint64_t next_sequence_ = 0;
  std::uint32_t visit_ = 0;
  std::vector<Node*> ready_{};
  Node* running_ = nullptr;
  bool retains_ = false;     ///< The pass at work is one that retains the graph.
  std::uint32_t graph_ = 0;  ///< The number of the backward pass at work.

  std::optional<DType> autocast_{};
  int autocast_depth_ = 0;
  std::vector<std::optional<DType>> autocast_stack_{};
  std::vector<std::pair<TensorImpl*, Tensor>> autocast_cache_{};
  CheckpointFrame* packing_ = nullptr;      ///< What is saved now goes to this frame's promises.
  CheckpointFrame* recomputing_ = nullptr;  ///< What is saved now fulfils them.
  NodeRef offload_at_{};
};

/// Sets a member for a scope.
template <class T>
class Restore {
 public:
  Restore(T& place, T value) : place_(place), old_(std::exchange(place, std::move(value))) {}
  Restore(const Restore&) = delete;
  Restore& operator=(const Restore&) = delete;
  ~Restore() { place_ = std::move(old_); }

 private:
  T& place_;
  T old_;
};

}  // namespace oomplan::estimator
