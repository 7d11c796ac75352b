#include "groups.hpp"

#include <algorithm>
#include <cstring>

namespace oomplan::estimator {

Groups::Groups(const Timeline& timeline, const std::vector<std::string>& modules)
    : recorder_(timeline.recorder()),
      modules_(modules),
      lifetimes_(timeline),
      kinds_(0, SameKind{&recorder_}, SameKind{&recorder_}),
      kind_of_(recorder_.storages.size(), -1) {}

std::size_t Groups::SameKind::operator()(StorageId id) const {
  const Storage& s = recorder->at(id);
  return static_cast<std::size_t>(s.bytes) * 31 + static_cast<std::size_t>(s.module);
}

bool Groups::SameKind::operator()(StorageId a, StorageId b) const {
  const Storage& x = recorder->at(a);
  const Storage& y = recorder->at(b);
  return x.bucket == y.bucket && x.born == y.born && x.module == y.module && x.dtype == y.dtype &&
         (x.layer < 0) == (y.layer < 0) && x.shape == y.shape && std::strcmp(x.op, y.op) == 0;
}

std::vector<Live> Groups::handed_out(std::vector<Live> alive) const {
  std::erase_if(alive, [&](const Live& live) {
    const Storage& s = recorder_.at(live.storage);
    return s.bucket == Bucket::paged || s.bytes == 0;
  });
  return alive;
}

std::vector<Live> Groups::of_peaks(std::vector<Live> alive) const {
  std::erase_if(alive, [&](const Live& live) { return !is_tensor(recorder_.at(live.storage)); });
  return handed_out(std::move(alive));
}

std::vector<LiveGroup> Groups::at(const Moment& moment, Bucket bucket) {
  std::vector<Live> alive = lifetimes_.alive_at(moment);
  std::erase_if(alive, [&](const Live& live) {
    const Storage& s = recorder_.at(live.storage);
    return s.bucket != bucket || s.bytes == 0;
  });
  return grouped(alive);
}

std::int32_t Groups::kind(StorageId id) {
  std::int32_t& kind = kind_of_[static_cast<std::size_t>(id)];
  if (kind < 0) kind = kinds_.try_emplace(id, static_cast<std::int32_t>(kinds_.size())).first->second;
  return kind;
}

std::vector<LiveGroup> Groups::grouped(const std::vector<Live>& alive) {
  std::vector<LiveGroup> groups;
  std::vector<std::int32_t> group_of_kind(kinds_.size(), -1);
  for (const Live& live : alive) {
    const auto k = static_cast<std::size_t>(kind(live.storage));
    if (k >= group_of_kind.size()) group_of_kind.resize(k + 1, -1);
    std::int32_t& at = group_of_kind[k];
    if (at < 0) {
      at = static_cast<std::int32_t>(groups.size());
      groups.push_back(group_of(live));
      continue;
    }
    LiveGroup& same = groups[static_cast<std::size_t>(at)];
    same.count += live.count;
    same.bytes += Bytes(recorder_.at(live.storage).bytes) * live.count;
    same.first_layer = std::min(same.first_layer, live.first_layer);
    same.last_layer = std::max(same.last_layer, live.last_layer);
  }
  std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return groups;
}

LiveGroup Groups::group_of(const Live& live) const {
  const Storage& s = recorder_.at(live.storage);
  LiveGroup g;
  g.bucket = s.bucket;
  g.born = s.born;
  g.op = s.op;
  if (s.module >= 0) g.module = modules_[static_cast<std::size_t>(s.module)];
  g.shape.assign(s.shape.span().begin(), s.shape.span().end());
  g.dtype = s.dtype;
  g.first_layer = live.first_layer;
  g.last_layer = live.last_layer;
  g.count = live.count;
  g.bytes = Bytes(s.bytes) * live.count;
  return g;
}

}  // namespace oomplan::estimator
