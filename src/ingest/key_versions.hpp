// Keys that not every version of a framework has: `until` and `since` of a keys.yaml.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dialect.hpp"
#include "oomplan/ingest/ingest.hpp"

namespace oomplan::ingestion {

/// A line of `until` or `since`.
struct KeyVersion {
  std::string_view package{};
  std::string_view version{};
  std::string_view note{};  ///< What took its place; empty where nothing did.
};

/// Of "trl 0.20; it is max_length now".
KeyVersion key_version(std::string_view text);

/// The version of the package that the stack stands for; empty where it has none.
std::string_view version_in(const Stack& stack, std::string_view package);

/// Whether the versions of the stack have the key, as far as the file knows.
bool has_key(const KeyFile& file, const Stack& stack, std::string_view key);

/// Refuses each input that the versions of `stack` no longer have, or not yet (ingest/refused), and names those that
/// have it. Of packages whose parser `strict` says takes no other keys; a key that is not read any more is refused
/// wherever `reads` holds.
struct KeyReaders {
  bool (*reads)(std::string_view package, std::string_view trainer) = nullptr;
  bool (*strict)(std::string_view package, std::string_view trainer) = nullptr;
};
void refuse_by_version(const KeyFile& file, const Stack& stack, const KeyReaders& readers, const Inputs& inputs,
                       Draft& draft);

/// The inputs that refuse_by_version refused.
std::vector<const Input*> refused_by_version(const KeyFile& file, const Inputs& inputs, const Draft& draft);

/// Whose argument it is, or was.
std::string_view package_of(const KeyFile& file, std::string_view key);

/// Versions of a package of the plan's framework that may have all these keys, the newest first: of each range that was
/// held against runs the newest, before what the keys were given up in and not before what they came with. Of what lies
/// below, those that the framework can run on.
std::vector<NamedVersion> versions_with(const KeyFile& file, const std::vector<const Input*>& keys,
                                        std::string_view package, const TrainingPlan& plan);

}  // namespace oomplan::ingestion
