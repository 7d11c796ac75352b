#include "policies/zero3_coordinator.hpp"

#include <limits>
#include <utility>

#include "oomplan/core/bytes.hpp"

namespace oomplan::estimator::zero {

/// A handle of an all-gather, and the buffer of several parameters, which lives until each of them was waited for.
struct Gather {
  std::vector<Share*> shares{};
  Tensor flat{};
  bool complete = false;
};

namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::min();

/// __allgather_stream, where overlap_comm asks for one.
constexpr std::uint8_t allgather_stream = 1;

template <class T>
bool has(const std::vector<T>& in, const T& what) {
  return std::ranges::find(in, what) != in.end();
}

}  // namespace

void Coordinator::forward(Torch& t, Sub& of) {
  trace_prologue(t, of);
  fetch(t, of, true);
}

void Coordinator::backward(Torch& t, Sub& of) {
  trace_prologue(t, of);
  add_once(in_backward_, &of);
  fetch(t, of, false);
}

void Coordinator::pass(Torch& t) {
  if (trace_ == Trace::complete) gather_ahead(t);
}

void Coordinator::read(Torch& t, Share& share) {
  if (share.status != Status::not_available) return;
  gather(t, {&share}, false);
  wait(t, share);
}

void Coordinator::end_backward() {
  while (!in_backward_.empty()) release(*in_backward_.back(), false);
}

void Coordinator::trace_prologue(Torch& t, Sub& of) {
  if (trace_ == Trace::complete && (step_ >= std::ssize(order_) || order_[static_cast<std::size_t>(step_)] != &of)) {
    trace_ = Trace::invalid;
    order_.clear();
    in_trace_.clear();
    queue_.clear();
    clean_registry(t);
  }
  if (trace_ == Trace::record) order_.push_back(&of);
}

void Coordinator::clean_registry(Torch& t) {
  for (Share& share : shares_) {
    if (!share.in_flight) continue;
    wait(t, share);
    release(share);
  }
}

void Coordinator::reset_step(Torch& t) {
  clean_registry(t);
  if (trace_ == Trace::record) construct_trace();
  if (trace_ != Trace::complete) trace_ = order_.empty() ? Trace::record : Trace::complete;
  queue_.assign(in_trace_.begin(), in_trace_.end());
  for (Share& share : shares_) share.fetched_for = never;
  step_ = 0;
  available_ = 0;
}

/// construct_parameter_trace_from_module_trace
void Coordinator::construct_trace() {
  for (std::size_t i = 0; i < order_.size(); ++i) {
    for (Share* share : order_[i]->shares) in_trace_.push_back({share, static_cast<std::int64_t>(i)});
  }
}

std::uint8_t Coordinator::stream_of(const Torch& t) const {
  return mesh_.zero_overlap.value ? allgather_stream : t.recorder.scope.stream;
}

void Coordinator::fetch(Torch& t, Sub& of, bool forward) {
  std::vector<Share*> missing;
  for (Share* share : of.shares) {
    if (share->status == Status::not_available) missing.push_back(share);
  }
  if (!missing.empty()) gather(t, missing, true);
  const bool recomputes = forward && t.recorder.scope.phase == Phase::backward;
  for (Share* share : of.shares) {
    add_once<const Sub*>(share->active, &of);
    if (recomputes && !in_backward_.empty() && !share->parameter->trained) {
      add_once(in_backward_.back()->recomputed, share);
      add_once<const Sub*>(share->active, in_backward_.back());
    }
    Restore stream(t.recorder.scope.stream, stream_of(t));
    wait(t, *share);
  }
  if (trace_ == Trace::complete) {
    discard_fetched(of);
    gather_ahead(t);
  }
  ++step_;
}

/// What the module needs is taken off the queue.
void Coordinator::discard_fetched(const Sub& of) {
  std::size_t left = 0;
  for (const Share* share : of.shares) left += share->fetched_for < step_ ? 1 : 0;
  for (; left > 0 && !queue_.empty(); --left) {
    queue_.front().share->fetched_for = queue_.front().last_used_at;
    queue_.pop_front();
  }
}

void Coordinator::gather_ahead(Torch& t) {
  const std::int64_t most = std::min(mesh_.zero_max_live.value - available_, mesh_.zero_prefetch.value);
  std::vector<Share*> ahead;
  std::int64_t elements = 0;
  while (mesh_.zero_prefetch.value > 0 && !queue_.empty() && elements < most) {
    const InTrace next = queue_.front();
    queue_.pop_front();
    next.share->fetched_for = std::max(next.share->fetched_for, next.last_used_at);
    if (next.share->status != Status::not_available || has(ahead, next.share)) continue;
    ahead.push_back(next.share);
    elements = saturating_add(elements, next.share->elements);
  }
  if (!ahead.empty()) gather(t, ahead, true);
}

/// all_gather_coalesced
void Coordinator::gather(Torch& t, const std::vector<Share*>& shares, bool counts) {
  Restore gathers(t.recorder.scope.bucket, Bucket::gathered);
  Restore stream(t.recorder.scope.stream, counts ? stream_of(t) : t.recorder.scope.stream);
  const auto handle = std::make_shared<Gather>(Gather{shares, {}, false});
  std::int64_t elements = 0;
  std::vector<Tensor> moved;
  for (Share* share : shares) {
    if (counts) available_ = saturating_add(available_, share->elements);
    share->status = Status::in_flight;
    share->in_flight = handle;
    elements = saturating_add(elements, share->partition);
    if (mesh_.zero_offload_params.value)
      moved.push_back(t.empty({share->partition}, share->parameter->whole->dtype, "aten::_to_copy"));
  }
  const Tensor flat =
      t.empty({saturating_mul(elements, ranks_)}, shares_.front().parameter->whole->dtype, "deepspeed::all_gather");
  (shares.size() == 1 ? shares.front()->data : handle->flat) = flat;
}

void Coordinator::wait(Torch& t, Share& share) {
  if (!share.in_flight) return;
  const std::shared_ptr<Gather> handle = std::exchange(share.in_flight, {});
  if (std::exchange(handle->complete, true)) return;
  for (Share* one : handle->shares) {
    if (handle->flat) {
      make_whole(t, *one, one->elements);
    } else {
      one->status = Status::available;
    }
  }
}

void Coordinator::make_whole(Torch& t, Share& share, std::int64_t elements) {
  Restore gathers(t.recorder.scope.bucket, Bucket::gathered);
  Restore layer(t.recorder.scope.layer, std::int16_t{share.parameter->layer()});
  share.data = t.empty({elements}, share.parameter->whole->dtype, "aten::cat");
  share.status = Status::available;
}

Tensor Coordinator::own_part(Torch& t, const Share& share) const {
  if (!mesh_.zero_offload_params.value || share.status == Status::available) return {};
  Restore gathers(t.recorder.scope.bucket, Bucket::gathered);
  return t.empty({share.partition}, share.parameter->whole->dtype, "aten::_to_copy");
}

Tensor Coordinator::gathered(Torch& t, Share& share) const {
  if (share.status == Status::available) {
    share.status = Status::not_available;
    return std::exchange(share.data, {});
  }
  Restore gathers(t.recorder.scope.bucket, Bucket::gathered);
  return t.empty({saturating_mul(share.partition, ranks_)}, share.parameter->whole->dtype, "deepspeed::all_gather");
}

void Coordinator::release(Sub& of, bool forward) {
  std::vector<Share*> released = trace_ == Trace::complete ? params_to_release(of) : of.shares;
  std::vector<Share*> shares = of.shares;
  if (!forward) {
    for (Share* share : std::exchange(of.recomputed, {})) {
      add_once(shares, share);
      if (!share->persists) add_once(released, share);
    }
    std::erase(in_backward_, &of);
  }
  for (Share* share : shares) {
    std::erase(share->active, &of);
    if (has(released, share)) release(*share);
  }
}

void Coordinator::release(Share& share) {
  if (share.status != Status::available || !share.active.empty()) return;
  share.data.reset();
  share.status = Status::not_available;
  available_ -= share.elements;
}

/// Not what persists, what was passed over as it was whole already, and what is used again soon. The first answer for
/// a module at a step stays (functools.lru_cache), that of training also in evaluation.
const std::vector<Share*>& Coordinator::params_to_release(const Sub& of) {
  const auto [at, fresh] = to_release_.try_emplace({&of, step_});
  if (!fresh) return at->second;
  std::vector<Share*>& out = at->second;
  for (Share* share : of.shares) {
    if (!share->persists && share->fetched_for <= step_) out.push_back(share);
  }
  std::int64_t traversed = 0;
  for (auto i = static_cast<std::size_t>(step_); i < order_.size() && traversed < mesh_.zero_max_reuse.value; ++i) {
    for (Share* share : order_[i]->shares) {
      std::erase(out, share);
      traversed = saturating_add(traversed, share->elements);
    }
  }
  return out;
}

void Coordinator::partition_all_parameters(Torch& t) {
  for (Share& share : shares_) {
    wait(t, share);
    share.active.clear();
    release(share);
  }
}

}  // namespace oomplan::estimator::zero
