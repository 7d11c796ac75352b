// Models by name, each looked up once.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "oomplan/catalog/catalog.hpp"

namespace oomplan::cli {

/// May be asked by several threads at a time.
class ModelsCache {
 public:
  explicit ModelsCache(const Catalog& catalog) : catalog_(catalog) {}

  /// As find_model(); lives as long as the cache.
  const Result<Architecture>& find(const std::string& id_or_path) {
    {
      const std::lock_guard lock(guard_);
      if (const auto known = models_.find(id_or_path); known != models_.end()) return known->second;
    }
    Result<Architecture> model = find_model(id_or_path, catalog_);
    const std::lock_guard lock(guard_);
    return models_.try_emplace(id_or_path, std::move(model)).first->second;
  }

 private:
  const Catalog& catalog_;
  std::mutex guard_{};
  std::map<std::string, Result<Architecture>> models_{};
};

}  // namespace oomplan::cli
