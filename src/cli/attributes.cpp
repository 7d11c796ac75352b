#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replace.hpp"

namespace oomplan::cli {
namespace {

// What the kernel says of the contents, and would be wrong of others.
constexpr std::array<std::string_view, 3> of_contents{"security.ima", "security.evm", "security.capability"};

std::vector<std::string> names_of(int file) {
  const ssize_t room = flistxattr(file, nullptr, 0);
  std::string all(static_cast<std::size_t>(std::max<ssize_t>(room, 0)), '\0');
  const ssize_t size = room > 0 ? flistxattr(file, all.data(), all.size()) : 0;
  all.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  std::vector<std::string> out;
  for (std::size_t at = 0; at < all.size(); at += out.back().size() + 1) out.emplace_back(all.c_str() + at);
  std::erase_if(out, [](const std::string& name) { return std::ranges::count(of_contents, name) > 0; });
  return out;
}

std::optional<std::string> value_of(int file, const std::string& name) {
  const ssize_t room = fgetxattr(file, name.c_str(), nullptr, 0);
  if (room < 0) return std::nullopt;
  std::string value(static_cast<std::size_t>(room), '\0');
  const ssize_t size = fgetxattr(file, name.c_str(), value.data(), value.size());
  if (size != room) return std::nullopt;
  return value;
}

bool give_one(int from, int to, const std::string& name) {
  const std::optional<std::string> value = value_of(from, name);
  if (!value) return false;
  return value_of(to, name) == value || fsetxattr(to, name.c_str(), value->data(), value->size(), 0) == 0;
}

/// What the folder gives to each new file (a default ACL) goes, where the old file was without it.
bool give_extended(int from, int to) {
  const std::vector<std::string> wanted = names_of(from);
  bool all = true;
  for (const std::string& name : names_of(to))
    if (std::ranges::count(wanted, name) == 0) all = fremovexattr(to, name.c_str()) == 0 && all;
  for (const std::string& name : wanted) all = give_one(from, to, name) && all;
  return all;
}

}  // namespace

bool give_attributes(int from, int to) {
  struct stat status {};
  if (fstat(from, &status) != 0) return false;
  const bool owned = fchown(to, status.st_uid, status.st_gid) == 0;
  const bool extended = owned && give_extended(from, to);
  const mode_t mode = status.st_mode & (owned ? 07777 : 0700);  // after fchown, which takes the set-ID bits
  return fchmod(to, mode) == 0 && extended;
}

}  // namespace oomplan::cli
