// The files that start a layout.
#pragma once

#include <string>
#include <vector>

#include "oomplan/core/result.hpp"
#include "oomplan/survey/layouts.hpp"

namespace oomplan::cli {

/// A new folder with accelerate.yaml and config.yaml (config.json where it is JSON, config.toml where it is TOML; of a
/// mesh that alone): the question's document with the
/// layout's settings and `overrides` in it, which is held against the layout before anything is written. The paths, in
/// that order. Error: cli/not-written.
Result<std::vector<std::string>> write_layout(const std::string& folder, const LayoutQuestion& question,
                                              const std::vector<std::string>& overrides, const Layout& layout);

}  // namespace oomplan::cli
