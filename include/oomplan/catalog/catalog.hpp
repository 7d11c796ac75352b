// What is known of models, optimizers and GPUs: the data in models/, embedded in the program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/catalog/machine.hpp"
#include "oomplan/catalog/runtime.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/read/document.hpp"

namespace oomplan {

struct OptimizerFile;

/// One data file: `path` below models/ ("gpus/l4.yaml"), `file` as messages name it.
struct ModelFile {
  std::string path{};
  std::string text{};
  std::string file{};
};

/// Data files of the user's own. They add to the built-in ones, and replace those of the same path.
struct Catalog {
  std::vector<ModelFile> files{};
  std::string hub_cache{};  ///< The folder of huggingface_hub's cache, where models are found by id; "" for none.
};

/// The .yaml files in the folders architectures, generations, gpus, libraries, presets and runtimes of `directory`.
/// Errors: catalog/unreadable-directory, catalog/bad-file, and those of read_document.
Result<Catalog> read_models(const std::string& directory);

/// Keys of config.json, each with the scalar in its place, as YAML.
using ConfigOverrides = std::vector<std::pair<std::string, std::string>>;

/// A model by hub id ("meta-llama/Llama-3.1-8B", case counts nothing), or from a directory with a config.json, or a
/// config.json itself; an id that no preset has is looked for in catalog.hub_cache. A path that exists wins over a
/// preset. Errors: catalog/unknown-model (with near ids),
/// catalog/no-config, catalog/unknown-architecture (with the list of known model_types), catalog/missing-key,
/// catalog/bad-value, catalog/bad-file (of our own data), and those of read_document.
/// `overrides` are put into its config; the model then has no parameters stated, and those of the keys that its
/// architecture does not read are not played.
Result<Architecture> find_model(const std::string& id_or_path, const Catalog& catalog = {},
                                const ConfigOverrides& overrides = {});

/// The same from a config.json's content, `config.root` being the mapping of Hugging Face keys.
Result<Architecture> architecture_of(const Document& config, const Catalog& catalog = {});

/// A GPU by name, alias, or size ("rtx-4090", "RTX 4090", "24GiB"). A size's context and workspace are those of the
/// most common generation, and `context_source` says so. Errors: catalog/unknown-gpu, with near names;
/// catalog/ambiguous-gpu, with the cards that are all called so.
Result<Gpu> find_gpu(std::string_view name, const Catalog& catalog = {});

/// The libraries of these names and all that they import, each once. Errors: catalog/unknown-library, catalog/bad-file
/// (of a data file of the user's own).
Result<std::vector<Library>> find_libraries(const std::vector<std::string>& names, const Catalog& catalog = {});

/// Errors: catalog/bad-file (of a data file of the user's own).
Result<PythonCosts> python_costs(const Catalog& catalog = {});

/// An optimizer by the name that plans use; null where there is none. The files are those of the program: it is asked
/// for each plan, and each is read once.
const OptimizerFile* find_optimizer(std::string_view name);

/// What there is, sorted by name; files that cannot be read are left out.
std::vector<Gpu> known_gpus(const Catalog& catalog = {});
/// Those of so many GB on the box ("80", "80GB"), else those with `part` in a name. Error: catalog/unknown-gpu, where
/// there is none.
Result<std::vector<Gpu>> known_gpus_like(std::string_view part, const Catalog& catalog = {});
std::vector<std::string> known_models(const Catalog& catalog = {});
/// Those with `part` in the id, in any case. Error: catalog/unknown-model, with near ids, where there is none.
Result<std::vector<std::string>> known_models_like(std::string_view part, const Catalog& catalog = {});
std::vector<std::string> known_model_types(const Catalog& catalog = {});

/// What of training the file of a family says more or less of: Liger's kernels, Axolotl's cut cross entropy, Unsloth's
/// layers, and all that its config.json can switch on.
struct Family {
  std::string model_type{};
  int features = 0;                         ///< Those that such a model can be trained with.
  std::vector<std::string> not_modelled{};  ///< Of these, those that leave a plan undecided.
};

/// Sorted by model_type.
std::vector<Family> known_families(const Catalog& catalog = {});
std::vector<std::string> known_optimizers();

}  // namespace oomplan
