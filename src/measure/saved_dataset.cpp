#include "saved_dataset.hpp"

#include <functional>
#include <system_error>

namespace oomplan::measure {
namespace {

namespace fs = std::filesystem;

bool any_entry(const fs::path& folder, const std::function<bool(const fs::path&)>& is) {
  std::error_code error;
  auto entry = fs::directory_iterator(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (is(entry->path())) return true;
  }
  return false;
}

bool is_arrow(const fs::path& file) { return file.extension() == ".arrow"; }

bool is_split(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / "state.json", error);
}

}  // namespace

bool describes_saved_dataset(const fs::path& file) {
  const fs::path name = file.filename();
  if (name == "dataset_info.json" || name == "state.json") return any_entry(file.parent_path(), is_arrow);
  return name == "dataset_dict.json" && any_entry(file.parent_path(), is_split);
}

}  // namespace oomplan::measure
