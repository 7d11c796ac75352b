// Models by name, each looked up once.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "oomplan/catalog/catalog.hpp"
#include "oomplan/plan/plan.hpp"

namespace oomplan::cli {

/// May be asked by several threads at a time.
class ModelsCache {
 public:
  explicit ModelsCache(const Catalog& catalog) : catalog_(catalog) {}

  /// As find_model(); lives as long as the cache.
  const Result<Architecture>& find(const TrainingPlan& plan) {
    const Asked key{plan.model.name.value, plan.model_config};
    {
      const std::lock_guard lock(guard_);
      if (const auto known = models_.find(key); known != models_.end()) return known->second;
    }
    Result<Architecture> model = find_model(key.first, catalog_, key.second);
    const std::lock_guard lock(guard_);
    return models_.try_emplace(key, std::move(model)).first->second;
  }

 private:
  using Asked = std::pair<std::string, ConfigOverrides>;
  const Catalog& catalog_;
  std::mutex guard_{};
  std::map<Asked, Result<Architecture>> models_{};
};

}  // namespace oomplan::cli
