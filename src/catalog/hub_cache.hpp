// huggingface_hub's cache on this machine: models--ORG--NAME/snapshots/REVISION/config.json.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace oomplan::catalog {

/// The config.json of a model that was downloaded, of the revision that `main` is, or of the only one that is there.
/// Nothing where `id` is no hub id, or has none there.
std::optional<std::string> cached_config(const std::string& cache, std::string_view id);

}  // namespace oomplan::catalog
