// What a file has beside its contents.
#pragma once

namespace oomplan::cli {

/// Gives the open file `to` owner, group, mode, ACL and extended attributes of `from`. False where not all could be
/// given; the mode is then without the rights of group and others if the owner or the group is another.
bool give_attributes(int from, int to);

}  // namespace oomplan::cli
