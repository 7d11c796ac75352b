// What is known of models, optimizers and GPUs: the data in models/, embedded in the program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "oomplan/architecture.hpp"
#include "oomplan/document.hpp"
#include "oomplan/machine.hpp"
#include "oomplan/result.hpp"

namespace oomplan {

/// A model by hub id ("meta-llama/Llama-3.1-8B", case counts nothing), or from a directory with a config.json, or a
/// config.json itself. A path that exists wins over a preset. Errors: catalog/unknown-model (with near ids),
/// catalog/unknown-architecture (with the list of known model_types), catalog/missing-key, catalog/bad-value, and
/// those of read_document.
Result<Architecture> find_model(const std::string& id_or_path);

/// The same from a config.json's content, `config.root` being the mapping of Hugging Face keys.
Result<Architecture> architecture_of(const Document& config);

/// A GPU by name, alias, or size ("rtx-4090", "RTX 4090", "24GiB"). A size's context and workspace are those of the
/// most common generation, and `context_source` says so. Error: catalog/unknown-gpu, with near names.
Result<Gpu> find_gpu(std::string_view name);

std::vector<Gpu> known_gpus();
std::vector<std::string> known_models();
std::vector<std::string> known_model_types();

}  // namespace oomplan
