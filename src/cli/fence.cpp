#include "fence.hpp"

#include <algorithm>
#include <system_error>

namespace oomplan::cli {
namespace {

namespace fs = std::filesystem;

fs::path repository_around(const fs::path& folder) {
  std::error_code ignored;
  for (fs::path at = folder;; at = at.parent_path()) {
    if (fs::exists(at / ".git", ignored)) return at;
    if (at == at.root_path() || at.empty()) return folder;
  }
}

fs::path real_path(const fs::path& path) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(fs::absolute(path, error), error);
  return error ? fs::path() : real;
}

}  // namespace

Fence::Fence(const std::vector<std::string>& more) {
  roots_.push_back(repository_around(real_path(".")));
  for (const std::string& folder : more) roots_.push_back(real_path(folder));
  std::erase(roots_, fs::path());
}

bool Fence::holds(const fs::path& real) const {
  return std::ranges::any_of(roots_, [&](const fs::path& root) {
    return std::mismatch(root.begin(), root.end(), real.begin(), real.end()).first == root.end();
  });
}

/// By its name alone: a folder on the way that leads elsewhere is the repository's own doing, not the user's.
bool Fence::names_within(const fs::path& path) const {
  std::error_code error;
  for (fs::path at = fs::absolute(path, error).lexically_normal(); at != at.root_path() && !at.empty();) {
    at = at.parent_path();
    if (std::ranges::any_of(roots_, [&](const fs::path& root) { return fs::equivalent(at, root, error); })) return true;
  }
  return false;
}

Fence Fence::around(const std::string& named) const {
  Fence out = *this;
  if (!names_within(named)) out.roots_.push_back(repository_around(real_path(fs::path(named).parent_path() / ".")));
  std::erase(out.roots_, fs::path());
  return out;
}

std::optional<Diagnostic> Fence::objection(const std::string& path) const {
  if (const fs::path real = real_path(path); !real.empty() && holds(real)) return std::nullopt;
  const std::string root = roots_.empty() ? "." : roots_.front().string();
  return Diagnostic{.code = "cli/outside",
                    .message = path + " lies outside of " + root + ", and a gate reads only below it",
                    .hint = "--allow-outside DIR lets configs name files below DIR as well"};
}

}  // namespace oomplan::cli
