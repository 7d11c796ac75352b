// torch.nn.parallel.DistributedDataParallel (torch 2.13: torch/nn/parallel/distributed.py, and the Reducer in
// torch/csrc/distributed/c10d/reducer.cpp): every rank holds the whole model, and gradients are reduced in buckets that
// exist from the constructor on.
#include <limits>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "oomplan/plan/plan.hpp"
#include "policies/policies.hpp"

namespace oomplan::estimator {
namespace {

constexpr std::int64_t mib = 1024 * 1024;
constexpr std::int64_t first_bucket = mib;  // dist._DEFAULT_FIRST_BUCKET_BYTES
constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

using Order = ParameterOrder;

class Ddp final : public Policy, GradientHook {
 public:
  explicit Ddp(const MeshFacts& mesh)
      : cap_(saturating_mul(mesh.ddp_bucket_mib.value, mib)),
        views_(mesh.ddp_bucket_views.value),
        seeks_unused_(mesh.ddp_find_unused.value),
        rebuilds_(!seeks_unused_),
        sync_each_(mesh.sync_each.value && !is_pipelined(mesh)) {}

  void hold(Torch& t, Parameter& p, DType dtype) override { p.held = p.whole = t.parameter(p.sizes, dtype, p.trained); }

  // distributed.py: BucketCapacityConfig. Where buckets are made again by the order in which gradients come, one holds
  // all to begin with.
  void wrap(Torch& t, Parameters& parameters) override {
    Order order;
    for (const Parameter& p : parameters) {
      if (!p.trained) continue;
      order.push_back(&p);
      trained_.emplace(p.whole.get(), &p);
    }
    t.gradient_hook = this;
    make_buckets(t, order, rebuilds_ ? no_limit : first_bucket);
  }

  // DistributedDataParallel._pre_forward: Reducer::rebuild_buckets, once, after the first backward that was reduced.
  void enter_model(Torch& t) override {
    if (!rebuilds_ || !reduced_ || !t.grad_enabled) return;
    rebuilds_ = false;
    make_buckets(t, arrived_, first_bucket);
  }

  /// distributed.py, _DDPSink: what looks for parameters without a gradient copies all that the model returns.
  /// accelerate wraps no model of which nothing is trained.
  void leave_model(Torch& t, std::initializer_list<Tensor*> outputs) override {
    if (!seeks_unused_ || !reduces_ || trained_.empty() || !t.grad_enabled) return;
    for (Tensor* output : outputs) {
      if (*output) *output = t.clone(*output);
    }
  }

  void begin(Torch&, bool last) override { reduces_ = sync_each_ || last; }

  void finish(Torch&) override { reduced_ = reduced_ || reduces_; }

  /// Reducer::ensure_prior_reduction_finished, in the forward pass after the first that was to be reduced. The first by
  /// name, of those of the first layer.
  const Parameter* unreached() const override {
    if (seeks_unused_ || !reduced_) return nullptr;
    const std::unordered_set<const Parameter*> arrived(arrived_.begin(), arrived_.end());
    const Parameter* out = nullptr;
    const auto rank = [](const Parameter& p) { return std::tuple(p.layer(), std::string_view(p.name)); };
    for (const auto& [leaf, p] : trained_) {
      if (!arrived.contains(p) && (out == nullptr || rank(*p) < rank(*out))) out = p;
    }
    return out;
  }

  /// Reducer::mark_variable_ready_dense: a gradient that is not in its bucket is copied there; where views were asked
  /// for, its parameter is given the bucket's in its place.
  void accumulated(Torch& t, const Tensor& leaf) override {
    const auto known = trained_.find(leaf.get());
    if (!reduces_ || known == trained_.end()) return;
    if (!reduced_) arrived_.push_back(known->second);
    const Tensor& bucket = bucket_of_.at(known->second);
    if (views_ && leaf->grad->storage != bucket->storage) take_view(t, *leaf, bucket);
  }

 private:
  static void take_view(Torch& t, TensorImpl& leaf, const Tensor& bucket) {
    leaf.grad = t.on_storage(bucket->storage, leaf.sizes, leaf.strides, leaf.dtype);
  }

  struct Open {
    std::int64_t limit = 0;
    std::int64_t elements = 0;
    Order members{};
  };

  /// compute_bucket_assignment_by_size: of each dtype one bucket is open, and closed by the gradient that fills it.
  void make_buckets(Torch& t, const Order& order, std::int64_t first_limit) {
    Restore communication(t.recorder.scope.bucket, Bucket::communication);
    bucket_of_.clear();
    buckets_.clear();
    std::map<DType, Open> open;
    for (const Parameter* p : of_all_layers(order)) {
      const DType dtype = p->whole->dtype;
      Open& o = open.try_emplace(dtype, Open{first_limit}).first->second;
      o.members.push_back(p);
      o.elements = saturating_add(o.elements, p->sizes.product());
      if (saturating_mul(o.elements, bytes_of(dtype)) >= o.limit) close(t, dtype, o);
    }
    for (auto& [dtype, o] : open) close(t, dtype, o);
  }

  void close(Torch& t, DType dtype, Open& o) {
    if (o.members.empty()) return;
    const Tensor& bucket = buckets_.emplace_back(t.empty({o.elements}, dtype, "c10d::Reducer"));
    for (const Parameter* p : o.members) {
      bucket_of_.insert_or_assign(p, bucket);
      // initialize_bucket_views: a gradient that is there is copied to its new place.
      if (views_ && p->whole->grad) take_view(t, *p->whole, bucket);
    }
    o = {cap_};
  }

  std::int64_t cap_;
  bool views_;
  bool seeks_unused_;
  bool rebuilds_;
  bool sync_each_;
  bool reduces_ = true;
  bool reduced_ = false;
  std::unordered_map<const TensorImpl*, const Parameter*> trained_{};
  Order arrived_{};
  std::vector<Tensor> buckets_{};
  std::unordered_map<const Parameter*, Tensor> bucket_of_{};
};

}  // namespace

std::unique_ptr<Policy> ddp(const MeshFacts& mesh) { return std::make_unique<Ddp>(mesh); }

}  // namespace oomplan::estimator
