#include "oomplan/read/glob.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "oomplan/core/text.hpp"

namespace oomplan {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view any_folders = "**";

std::vector<std::string_view> folders_of(std::string_view path) {
  std::vector<std::string_view> out;
  if (path.starts_with('/')) out.push_back("");
  while (!path.empty()) {
    const std::string_view name = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(path.size(), name.size() + 1));
    if (!name.empty() && name != ".") out.push_back(name);
  }
  return out;
}

/// The end of "[…]" and whether `letter` is in it; npos where the bracket is none.
struct Class {
  std::size_t end = std::string_view::npos;
  bool holds = false;
};

Class class_at(std::string_view pattern, std::size_t open, char letter) {
  const bool negated = pattern.substr(open + 1, 1) == "!" || pattern.substr(open + 1, 1) == "^";
  const std::size_t first = open + (negated ? 2 : 1);
  const std::size_t close = pattern.find(']', first + 1);
  if (close == pattern.npos) return {};
  bool found = false;
  for (std::size_t i = first; i < close; ++i) {
    const bool range = i + 2 < close && pattern[i + 1] == '-';
    found = found || (range ? pattern[i] <= letter && letter <= pattern[i + 2] : pattern[i] == letter);
    if (range) i += 2;
  }
  return {close + 1, found != negated};
}

/// Where the pattern goes on after one letter; npos where it does not mean that letter.
std::size_t after_letter(std::string_view pattern, std::size_t p, char letter) {
  if (p >= pattern.size()) return pattern.npos;
  if (pattern[p] == '?') return p + 1;
  if (pattern[p] == '[') {
    const Class found = class_at(pattern, p, letter);
    if (found.end != pattern.npos) return found.holds ? found.end : pattern.npos;
  }
  return pattern[p] == letter ? p + 1 : pattern.npos;
}

/// Of one name. Only the last star seen has ever to be tried again.
bool name_matches(std::string_view pattern, std::string_view name) {
  std::size_t p = 0;
  std::size_t star = pattern.npos;
  std::size_t again = 0;
  for (std::size_t n = 0; n < name.size();) {
    const std::size_t next = after_letter(pattern, p, name[n]);
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      again = n;
    } else if (next != pattern.npos) {
      p = next;
      ++n;
    } else if (star != pattern.npos) {
      p = star + 1;
      n = ++again;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == pattern.npos;
}

bool shows(std::string_view pattern, std::string_view name) {
  return (!name.starts_with('.') || pattern.starts_with('.')) && name_matches(pattern, name);
}

class Expansion {
 public:
  Expansion(const std::string& pattern, const GlobOptions& options)
      : pattern_(pattern), options_(options), parts_(folders_of(pattern)) {}

  Result<std::vector<std::string>> files() {
    look(pattern_.starts_with('/') ? "/" : "", pattern_.starts_with('/') ? 1 : 0);
    while (!links_.empty() && errors_.empty()) {
      const auto [folder, part] = std::move(links_.back());
      links_.pop_back();
      look(folder, part);
    }
    if (!errors_.empty()) return errors_;
    if (found_.empty())
      return Diagnostic{.code = "read/no-match",
                        .message = "no file matches " + pattern_,
                        .hint = "a pattern that means nothing would pass whatever is wrong"};
    return std::vector<std::string>(std::make_move_iterator(found_.begin()), std::make_move_iterator(found_.end()));
  }

 private:
  void too_large(const std::string& why) {
    if (errors_.empty()) errors_.push_back({.code = "read/too-large", .message = pattern_ + why});
  }

  bool spent() {
    if (++looked_at_ > options_.most_looked_at)
      too_large(" leads through more than " + with_separators(options_.most_looked_at) + " files");
    return !errors_.empty();
  }

  /// What parts_[part, …) mean below `folder`.
  void look(const std::string& folder, std::size_t part) {
    if (part == parts_.size() || !seen_.insert({folder, part}).second || spent()) return;
    const std::string_view name = parts_[part];
    if (name == any_folders) {
      if (!first_time(folder, part)) return;
      if (part + 1 < parts_.size()) look(folder, part + 1);
      each(folder, [&](const fs::directory_entry& entry, const std::string& below) { descend(entry, below, part); });
    } else if (!is_glob(name)) {
      take(folder + std::string(name), part);
    } else {
      each(folder, [&](const fs::directory_entry& entry, const std::string& below) {
        if (shows(name, entry.path().filename().string())) take(below, part);
      });
    }
  }

  /// Where links are followed, a folder may be reached in many ways, its own subfolders' links among them.
  bool first_time(const std::string& folder, std::size_t part) {
    struct stat status {};
    if (!options_.links || ::stat(folder.empty() ? "." : folder.c_str(), &status) != 0) return true;
    return folders_.insert({status.st_dev, status.st_ino, part}).second;
  }

  /// Links come last, so that what lies below the pattern itself has the name that it has there.
  void descend(const fs::directory_entry& entry, const std::string& path, std::size_t part) {
    std::error_code ignored;
    if (entry.path().filename().string().starts_with('.')) return;
    const bool folder = entry.is_directory(ignored);
    const bool link = entry.is_symlink(ignored);
    if (folder && !link) look(path + "/", part);
    if (folder && link && options_.links) links_.emplace_back(path + "/", part);
    if (!folder && part + 1 == parts_.size()) add(path);
  }

  void take(const std::string& path, std::size_t part) {
    std::error_code ignored;
    const bool folder = fs::is_directory(path, ignored);
    if (part + 1 < parts_.size()) {
      if (folder) look(path + "/", part + 1);
    } else if (folder ? options_.folders : fs::exists(fs::symlink_status(path, ignored))) {
      add(path);
    }
  }

  void add(const std::string& path) {
    constexpr std::int64_t of_path = 96;  // a node of the set with a string in it
    if (!found_.insert(path).second) return;
    bytes_ += of_path + static_cast<std::int64_t>(path.size());
    if (bytes_ > options_.most_bytes) too_large(" matches more files than there is memory for their names");
  }

  /// `take` gets an entry and its path. One at a time, as a folder may hold millions.
  template <class Take>
  void each(const std::string& folder, const Take& take) {
    std::error_code error;
    fs::directory_iterator entry(folder.empty() ? "." : folder, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      if (spent()) return;
      take(*entry, folder + entry->path().filename().string());
    }
    if (error) errors_.push_back({.code = "read/unreadable", .message = error.message(), .where = {folder, 0, 0}});
  }

  const std::string& pattern_;
  const GlobOptions options_;
  std::vector<std::string_view> parts_;
  std::set<std::pair<std::string, std::size_t>> seen_{};
  std::set<std::tuple<dev_t, ino_t, std::size_t>> folders_{};
  std::vector<std::pair<std::string, std::size_t>> links_{};
  std::set<std::string> found_{};
  Diagnostics errors_{};
  std::int64_t looked_at_ = 0;
  std::int64_t bytes_ = 0;
};

}  // namespace

bool is_glob(std::string_view text) { return text.find_first_of("*?[") != text.npos; }

bool glob_matches(std::string_view pattern, std::string_view path) {
  const std::vector<std::string_view> parts = folders_of(pattern);
  const std::vector<std::string_view> names = folders_of(path);
  // Row by row: whether the parts so far mean the first n names.
  std::vector<bool> means(names.size() + 1, false);
  means[0] = true;
  for (const std::string_view part : parts) {
    std::vector<bool> next(names.size() + 1, false);
    for (std::size_t n = 0; n <= names.size(); ++n) {
      if (part == any_folders) {
        next[n] = means[n] || (n > 0 && next[n - 1]);
      } else {
        next[n] = n > 0 && means[n - 1] && name_matches(part, names[n - 1]);
      }
    }
    means = std::move(next);
  }
  return means.back();
}

std::string path_from_here(const std::string& path) {
  std::error_code ignored;
  const fs::path normal = fs::path(path).lexically_normal();
  return normal.is_absolute() ? normal.lexically_relative(fs::current_path(ignored)).string() : normal.string();
}

bool brackets_close(std::string_view pattern) {
  return std::ranges::all_of(folders_of(pattern), [](std::string_view name) {
    for (std::size_t open = name.find('['); open != name.npos;) {
      const std::size_t end = class_at(name, open, 0).end;
      if (end == name.npos) return false;
      open = name.find('[', end);
    }
    return true;
  });
}

bool globs_mean(const std::vector<std::string>& patterns, const std::string& path) {
  std::error_code ignored;
  const std::string here = path_from_here(path);
  const std::string whole = fs::absolute(path, ignored).lexically_normal().string();
  return std::ranges::any_of(patterns, [&](const std::string& pattern) {
    return glob_matches(pattern, pattern.starts_with('/') ? whole : here);
  });
}

Result<std::vector<std::string>> expand_glob(const std::string& pattern, const GlobOptions& options) {
  return Expansion(pattern, options).files();
}

}  // namespace oomplan
