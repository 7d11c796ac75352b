// Which files a gate reads: a config of a foreign pull request may name any on the machine that checks it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "oomplan/core/result.hpp"

namespace oomplan::cli {

class Fence {
 public:
  /// Around the git repository that the working directory is in (that directory itself where it is in none), and around
  /// each folder of `more`.
  explicit Fence(const std::vector<std::string>& more);

  /// The fence for a file that the command line names. Only its user can have named one that lies elsewhere: that one's
  /// repository, or its folder, is then within too.
  Fence around(const std::string& named) const;

  /// Error cli/outside, where `path`, with all links followed, is outside; it need not be there.
  std::optional<Diagnostic> objection(const std::string& path) const;

 private:
  bool holds(const std::filesystem::path& real) const;
  bool names_within(const std::filesystem::path& path) const;

  std::vector<std::filesystem::path> roots_{};
};

}  // namespace oomplan::cli
