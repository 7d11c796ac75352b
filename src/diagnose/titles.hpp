// Titles of a text that explains a failure.
#pragma once

#include <string>
#include <string_view>

#include "wording.hpp"

namespace oomplan::diagnose {

/// The title that a line is, in small letters, alone on it and with a capital: "Causes & fixes", "How the OOM killer
/// works", "What OOMKilled means". Empty for another line, and for the titles of a report of one's own ("Describe the
/// bug", "Root cause", "Steps to reproduce").
std::string explaining_title(const Wordings& wordings, std::string_view text);

}  // namespace oomplan::diagnose
