#include "shards.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "oomplan/read/glob.hpp"
#include "room.hpp"
#include "saved_dataset.hpp"

namespace oomplan::measure {
namespace {

namespace fs = std::filesystem;

bool digit(char c) { return c >= '0' && c <= '9'; }

/// So that part-10 comes behind part-9; ties are broken by the bytes.
bool before(const std::string& a, const std::string& b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (digit(a[i]) && digit(b[j])) {
      while (i < a.size() && a[i] == '0') ++i;
      while (j < b.size() && b[j] == '0') ++j;
      std::size_t length = 0;
      while (i + length < a.size() && j + length < b.size() && digit(a[i + length]) && digit(b[j + length])) ++length;
      const bool longer_a = i + length < a.size() && digit(a[i + length]);
      const bool longer_b = j + length < b.size() && digit(b[j + length]);
      if (longer_a != longer_b) return longer_b;
      const int order = a.compare(i, length, b, j, length);
      if (order != 0) return order < 0;
      i += length;
      j += length;
      continue;
    }
    if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
    ++i, ++j;
  }
  if ((i < a.size()) != (j < b.size())) return j < b.size();
  return a < b;
}

Diagnostic no_data(const std::string& path, const std::string& why) {
  return {.code = "measure/no-data", .message = why, .where = {path}};
}

Shard shard_at(const std::string& path) {
  struct stat status {};
  if (path == "-" || ::stat(path.c_str(), &status) != 0) return {.path = path};
  return {path, status.st_size, status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec};
}

class Found {
 public:
  explicit Found(std::int64_t most) : most_(most) {}

  Diagnostics add(const std::string& path) {
    std::error_code error;
    if (path != "-" && fs::is_directory(path, error)) return add_directory(path);
    bytes_ += static_cast<std::int64_t>(sizeof(Shard) + path.size());
    if (bytes_ > most_) return {over_budget({path}, "the list of files", bytes_, most_)};
    shards_.push_back(shard_at(path));
    return {};
  }

  std::vector<Shard> take() { return std::move(shards_); }
  std::size_t size() const { return shards_.size(); }
  void sort_from(std::size_t begin) {
    std::sort(shards_.begin() + static_cast<std::ptrdiff_t>(begin), shards_.end(),
              [](const Shard& a, const Shard& b) { return before(a.path, b.path); });
  }

 private:
  /// Everything below, also behind links; each directory once, however many lead to it.
  Diagnostics add_directory(const std::string& folder) {
    std::vector<std::string> left{folder};
    std::set<std::pair<dev_t, ino_t>> seen;
    while (!left.empty()) {
      const std::string next = std::move(left.back());
      left.pop_back();
      struct stat status {};
      if (::stat(next.c_str(), &status) == 0 && !seen.emplace(status.st_dev, status.st_ino).second) continue;
      if (Diagnostics errors = add_entries(next, left); !errors.empty()) return errors;
    }
    return {};
  }

  Diagnostics add_entries(const std::string& folder, std::vector<std::string>& folders) {
    std::error_code error;
    auto entry = fs::directory_iterator(folder, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      if (entry->path().filename().string().starts_with('.')) continue;
      std::error_code broken;  // a link that leads nowhere is an error once it is read
      const fs::file_status kind = entry->status(broken);
      if (fs::is_directory(kind)) folders.push_back(entry->path().string());
      if (!fs::is_regular_file(kind) && fs::exists(kind)) continue;
      if (describes_saved_dataset(entry->path())) continue;
      if (Diagnostics errors = add(entry->path().string()); !errors.empty()) return errors;
    }
    if (!error) return {};
    return {{.code = "read/unreadable", .message = "cannot be read: " + error.message(), .where = {folder}}};
  }

  std::int64_t most_;
  std::int64_t bytes_ = 0;
  std::vector<Shard> shards_{};
};

Diagnostic too_many(const std::string& pattern, const Diagnostic& why) {
  return {.code = "measure/over-budget",
          .message = why.message,
          .where = {pattern},
          .hint = "name folders instead, or a larger --budget"};
}

constexpr std::int64_t most_looked_at = 10'000'000;

/// Links are followed, as they are below directories.
Result<std::vector<std::string>> matches(const std::string& pattern, std::int64_t most) {
  Result<std::vector<std::string>> found =
      expand_glob(pattern, {.folders = true, .links = true, .most_looked_at = most_looked_at, .most_bytes = most});
  if (found) return found;
  if (found.errors().front().code == "read/too-large") return too_many(pattern, found.errors().front());
  if (found.errors().front().code != "read/no-match") return found;
  return no_data(pattern, "no file has such a name");
}

}  // namespace

Result<std::vector<Shard>> shards_of(const std::vector<std::string>& paths, std::int64_t most) {
  Found found(most);
  for (const std::string& path : paths) {
    const std::size_t begin = found.size();
    std::error_code error;
    const bool pattern = path.find_first_of("*?[") != std::string::npos && !fs::exists(path, error);
    const Result<std::vector<std::string>> names = pattern ? matches(path, most) : std::vector{path};
    if (!names) return names.errors();
    for (const std::string& name : *names) {
      if (Diagnostics errors = found.add(name); !errors.empty()) return errors;
    }
    if (found.size() == begin) return no_data(path, "there is no file in this directory");
    found.sort_from(begin);
  }
  return found.take();
}

}  // namespace oomplan::measure
