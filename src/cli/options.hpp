// The options that several commands take.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "oomplan/arguments/arguments.hpp"
#include "oomplan/catalog/catalog.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/ingest/ingest.hpp"

namespace oomplan::cli {

/// --trainer
Option add_trainer_option(const ArgumentParser& app, std::string& trainer);

/// --launch, which may be given several times.
Option add_launch_option(const ArgumentParser& app, std::vector<std::string>& files);

/// --set, which may be given several times.
Option add_set_option(const ArgumentParser& app, std::vector<std::string>& overrides);

/// What --dialect takes: "hf or oomplan; else recognised from the content".
std::string dialect_help();

/// --models
void add_models_option(const ArgumentParser& app, std::string& directory);

/// The user's own data files; none without a directory.
Result<Catalog> catalog_in(const std::string& directory);

/// The same, and the models that huggingface_hub has downloaded, where HF_HUB_CACHE, HF_HOME or XDG_CACHE_HOME say that
/// they are.
Result<Catalog> catalog_here(const std::string& directory);

/// What says the versions of frameworks: --framework and --requirements.
struct VersionsAsked {
  std::vector<std::string> frameworks{};    ///< "trl==1.16.0"
  std::vector<std::string> requirements{};  ///< Files that pin versions.
};

void add_version_options(const ArgumentParser& app, VersionsAsked& asked);

/// Reads the files; --framework goes before them, and of two files the first. What cannot be read goes to
/// `options.unread`.
void name_versions(const VersionsAsked& asked, IngestOptions& options);

/// Whether a file may be opened.
using MayRead = std::function<bool(const std::string& path)>;

/// Names the versions of the lock and requirements files in the config's folder, after those that are named already. A
/// file that cannot be read as such names none, nor one that `may_read` says no of.
void name_versions_beside(const std::string& config, IngestOptions& options, const MayRead& may_read = {});

/// Of --headroom.
Diagnostic bad_headroom(const std::string& text);

}  // namespace oomplan::cli
