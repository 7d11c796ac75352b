// The versions of frameworks that somebody names, beside those of models/stacks.
#pragma once

#include <optional>
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

/// The version behind the package's name in "trl 1.16.0 on transformers 5.23.0", or in a source; empty where there is
/// none.
std::string_view version_behind(std::string_view package, std::string_view text);

/// Whether the layer was held against this version: one from its `since` to its own, or a patch of its own.
bool covers(const StackLayer& layer, std::string_view version);

/// While it lives, a stack that stack_of() makes on this thread has, in front of each layer of a package that is named,
/// the layer that covers the version, else that of the nearest; defaults that this has not stay those of the layer
/// behind. A dialect asks for its stack by name wherever it needs it, so that this goes beside its arguments. One at a
/// time.
class ChosenVersions {
 public:
  explicit ChosenVersions(const std::vector<NamedVersion>& named);
  ChosenVersions(const ChosenVersions&) = delete;
  ChosenVersions& operator=(const ChosenVersions&) = delete;
  ~ChosenVersions() { current_ = nullptr; }

  /// Null where there is none.
  static ChosenVersions* current() { return current_; }

  /// The file that goes in front of this layer in a stack whose top is a layer of the package `top`; empty where none
  /// does.
  std::string in_front_of(const StackLayer& layer, std::string_view top) const;

  /// The version that it stands for: the one that is named, where it covers that; else its own.
  std::string version_of(const StackLayer& layer, std::string_view top) const;

  /// Remembers the layers of a stack that was asked for.
  void use(const std::vector<StackLayer>& layers);

  /// The version of the package, where one is named that comes before `version`; else empty.
  std::string older_than(std::string_view package, std::string_view version) const;

  /// What a stack depends on, for a cache: "transformers==5.14.1;".
  std::string key() const;

  /// Warnings (ingest/nearest-version, ingest/unused-version) and gaps of the plan (a version whose behaviour is not
  /// known).
  void report(Draft& draft) const;

  /// Gaps of the plan: what the config asks for that the versions in use do in a way that is not played. Wants the
  /// facts as they are in the end.
  void note_unplayed(const Inputs& inputs, Draft& draft) const;

 private:
  const NamedVersion* named(std::string_view package) const;
  const StackLayer* chosen(const NamedVersion& named, std::string_view top) const;
  void report_one(const NamedVersion& named, Draft& draft) const;
  void report_needs(Draft& draft) const;

  static thread_local ChosenVersions* current_;
  const std::vector<NamedVersion>& named_;
  std::vector<NamedVersion> implied_{};      ///< By `with` of the layers of those.
  std::vector<const StackLayer*> layers_{};  ///< Of each package the topmost that was asked for.
  std::string top_{};                        ///< The package on top of the first stack.
};

}  // namespace oomplan::ingestion
