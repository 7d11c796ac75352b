// Small files of /proc and /sys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace oomplan::watching {

/// At most 16 KiB of it; empty where it cannot be read.
std::string text_of(const std::string& path);

/// The number after `key` at the beginning of a line ("oom_kill 3", "MemTotal:  12 kB").
std::optional<std::int64_t> number_after(std::string_view text, std::string_view key);

/// A number that stands alone; nothing for "max".
std::optional<std::int64_t> number_in(const std::string& path);

}  // namespace oomplan::watching
