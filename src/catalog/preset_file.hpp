// One file of models/presets: a checkpoint on the hub by its config.json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "files.hpp"
#include "oomplan/catalog/catalog.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/read/document.hpp"

namespace oomplan::catalog {

struct Preset {
  std::string id{};  ///< As asked for, in the file's spelling.
  std::int64_t parameters = 0;
  Document config{};         ///< Its root is the mapping of Hugging Face keys.
  std::string not_played{};  ///< What of the checkpoint changes memory beside its config.
};

/// "org--name.yaml" is org/name.
std::string id_of(const DataFile& file);

/// By the file's name, one of its aliases or of its variants, case counting nothing.
std::optional<Result<Preset>> find_preset(std::string_view id, const Catalog& catalog);

/// The id by name, the aliases and the variants; only the former where the file cannot be read.
std::vector<std::string> ids_of(const DataFile& file);

}  // namespace oomplan::catalog
