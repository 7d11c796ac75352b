// The versions of frameworks that somebody names, beside those of models/stacks.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "dialect.hpp"
#include "oomplan/ingest/ingest.hpp"

namespace oomplan::ingestion {

/// Among `known` ("5.6.0", "5.14.1") the one that a version means: the same numbers, as far as it has them ("5.14"),
/// else the nearest of its major version, of two as near the newer; nothing where there is none of that.
std::optional<std::string> nearest_version(std::string_view wanted, const std::vector<std::string>& known);

/// Whether `version` has the numbers of `wanted`, as far as that has any. "2.13.0+cu130" wants 2.13.0.
bool is_version(std::string_view wanted, std::string_view version);

/// Whether `version` comes before `other`, number by number.
bool is_older(std::string_view version, std::string_view other);

/// While it lives, a stack that stack_of() makes on this thread has, in front of each layer of a package that is named,
/// the layer of the nearest version; defaults that this has not stay those of the layer behind. A dialect asks for its
/// stack by name wherever it needs it, so that this goes beside its arguments. One at a time.
class ChosenVersions {
 public:
  explicit ChosenVersions(const std::vector<NamedVersion>& named) : named_(named) { current_ = this; }
  ChosenVersions(const ChosenVersions&) = delete;
  ChosenVersions& operator=(const ChosenVersions&) = delete;
  ~ChosenVersions() { current_ = nullptr; }

  /// Null where there is none.
  static ChosenVersions* current() { return current_; }

  /// The file that goes in front of this layer; empty where none does.
  std::string in_front_of(const StackLayer& layer) const;

  /// Remembers the packages of a stack that was asked for.
  void use(const std::vector<StackLayer>& layers);

  /// What a stack depends on, for a cache: "transformers==5.14.1;".
  std::string key() const;

  /// Warnings (ingest/nearest-version, ingest/unused-version) and gaps of the plan (another major version).
  void report(Draft& draft) const;

 private:
  const NamedVersion* named(std::string_view package) const;

  static thread_local ChosenVersions* current_;
  const std::vector<NamedVersion>& named_;
  std::set<std::string> packages_{};  ///< Of the stacks that were made.
};

}  // namespace oomplan::ingestion
