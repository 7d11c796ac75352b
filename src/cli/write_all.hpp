// Writing to a descriptor.
#pragma once

#include <string_view>

namespace oomplan::cli {

/// All of it, however many calls that takes; false, with errno, where the system takes no more.
bool write_all(int descriptor, std::string_view text);

}  // namespace oomplan::cli
