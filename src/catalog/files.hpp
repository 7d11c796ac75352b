// The data files: the user's own first, then those that the build put into the program.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oomplan/catalog/catalog.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/read/document.hpp"

namespace oomplan::catalog {

struct DataFile {
  std::string_view name;    ///< Without folder and ".yaml" ("rtx-4090", "openai-community--gpt2").
  std::string_view path;    ///< Below models/.
  std::string_view text;    ///< Of the user's own; else empty.
  std::string_view packed;  ///< Of the program's (oomplan/read/packed.hpp); else empty.
  std::string file;         ///< As messages name it.
};

/// Those of `folder` ("gpus"), each path once, sorted by path.
std::vector<DataFile> files_in(std::string_view folder, const Catalog& catalog);

/// The user's own of `folder`, sorted by path.
std::vector<DataFile> own_files_in(std::string_view folder, const Catalog& catalog);

/// The program's own preset that lists `id`, case counting nothing, unless the user has a file in its place.
std::optional<DataFile> find_listing(std::string_view id, const Catalog& catalog);

/// The one of `folder` with exactly this name.
std::optional<DataFile> find_file(std::string_view folder, std::string_view name, const Catalog& catalog);

Result<Document> parse(const DataFile& file);

/// Letters and digits in lower case, nothing else: "RTX 4090" and "rtx-4090" are the same.
std::string squeezed(std::string_view text);

/// `files` that have `name` somewhere. It spares parsing all files to find the one that lists an alias.
std::vector<DataFile> mentioning(std::string_view name, const std::vector<DataFile>& files);

}  // namespace oomplan::catalog
