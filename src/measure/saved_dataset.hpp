// Folders as Hugging Face's datasets writes them: Arrow files, and JSON that says what they are.
#pragma once

#include <filesystem>

namespace oomplan::measure {

/// Whether a file is such JSON and no data: dataset_info.json or state.json beside an Arrow file, dataset_dict.json
/// above folders that have state.json.
bool describes_saved_dataset(const std::filesystem::path& file);

}  // namespace oomplan::measure
