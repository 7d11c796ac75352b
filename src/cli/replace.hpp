// A file's new contents, with all else about it as it was.
#pragma once

#include <string>
#include <string_view>

namespace oomplan::cli {

/// Puts `bytes` in the place of `was`, what the regular file at `path` (no symbolic link) holds: through a temporary
/// file beside it and a rename, which keeps owner, mode, ACL and extended attributes. Where that cannot keep all (the
/// file has more names, belongs to somebody else, is a mount), the file itself is written, as editors do. Why it is not
/// done; then the file is as it was, unless the text says otherwise.
std::string replace_file(const std::string& path, std::string_view bytes, std::string_view was);

/// A new file at `path` with `bytes`, and of `like` what we may give: mode, owner, ACL, extended attributes; where the
/// owner is not among these, nobody else may read it. Why there is none.
std::string copy_like(const std::string& path, std::string_view bytes, const std::string& like);

/// Whether the file at `path` holds `bytes`.
bool holds(const std::string& path, std::string_view bytes);

/// Gives the open file `to` owner, group, mode, ACL and extended attributes of `from`. False where not all could be
/// given; the mode is then without the rights of group and others if the owner or the group is another.
bool give_attributes(int from, int to);

}  // namespace oomplan::cli
