// The columns by which rows are told apart.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace oomplan::measure {

/// Sorted names with whether a row had each; without any the whole row counts.
class KeyColumns {
 public:
  KeyColumns() = default;
  explicit KeyColumns(std::vector<std::string> names) : names_(std::move(names)) {
    std::sort(names_.begin(), names_.end());
    names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
    seen_.resize(names_.size());
  }
  bool whole_row() const { return names_.empty(); }
  /// Whether the column counts; it is seen then.
  bool takes(std::string_view name) {
    if (whole_row()) return true;
    const auto found = std::lower_bound(names_.begin(), names_.end(), name);
    if (found == names_.end() || *found != name) return false;
    seen_[static_cast<std::size_t>(found - names_.begin())] = true;
    return true;
  }
  /// Of the same names: what the other has seen, this one has too.
  void see(const KeyColumns& other) {
    for (std::size_t i = 0; i < names_.size(); ++i) seen_[i] = seen_[i] || other.seen_[i];
  }
  std::vector<std::string> unseen() const {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (!seen_[i]) out.push_back(names_[i]);
    }
    return out;
  }

 private:
  std::vector<std::string> names_{};
  std::vector<bool> seen_{};
};

}  // namespace oomplan::measure
