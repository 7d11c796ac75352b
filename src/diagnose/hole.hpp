// The typed holes: how much of the text a value takes, and what it means.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "oomplan/diagnose/evidence.hpp"
#include "program.hpp"

namespace oomplan::diagnose {

/// The most text that an open hole may span.
constexpr std::size_t longest_gap = 1024;

/// How many bytes at the beginning of `text` make a value of `type`; nothing where there is none. Not for word and
/// text, whose end is where the sentence goes on.
std::optional<std::size_t> span_of(HoleType type, std::string_view text);

/// What those bytes say.
Reading fact_of(const Hole& hole, std::string_view text);

/// "SIGKILL" for "-9", "9", "Killed", "SIGKILL"; empty where it is none.
std::string_view signal_named(std::string_view text);

}  // namespace oomplan::diagnose
