// What a loader does to weights by their names.
#pragma once

#include <string_view>

namespace oomplan::estimator {

/// Axolotl's convert_embedding_modules_dtype and its like go by the module's name, not by what it is: GPT-2's norms and
/// embeddings are not found.
bool is_raised(std::string_view name);

}  // namespace oomplan::estimator
