// Which kinds of layers a segment of an architecture file has, and where.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config_values.hpp"
#include "fields.hpp"

namespace oomplan::catalog {

/// The names of one layer's kinds: "sliding_attention", "sparse", one of each list of rules.
using Kinds = std::vector<std::string>;

/// The kinds of each of `layers` layers, by the mapping `kinds` of a segment: a list of rules for each thing in which
/// layers differ, of which the first that says something of a layer counts (docs/catalog.md). Layers of a segment
/// without `kinds` have none.
std::vector<Kinds> kinds_of_layers(Fields& segment, ConfigValues& values, std::int64_t layers);

}  // namespace oomplan::catalog
