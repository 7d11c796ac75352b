// The body of an architecture file: its segments, their layers and the kinds of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config_values.hpp"
#include "fields.hpp"
#include "oomplan/catalog/architecture.hpp"

namespace oomplan::catalog {

/// An op with its attributes.
OpSpec op_of(Fields& fields, ConfigValues& values, const Node& item);

/// The list of ops under `key`.
std::vector<OpSpec> ops_in(Fields& fields, ConfigValues& values, std::string_view key);

// Which kinds of layers a segment of an architecture file has, and where.

/// The names of one layer's kinds: "sliding_attention", "sparse", one of each list of rules.
using Kinds = std::vector<std::string>;

/// The segments under `body`; or the only one, whose keys stand in the file itself. `kinds` gets those that any of
/// their layers has.
std::vector<Segment> segments_in(Fields& fields, ConfigValues& values, Kinds& kinds);

/// The layers of a vision tower, by a file of models/towers. `taken`: the hidden states that are made features of,
/// counted as Python does from the first layer's input; none: what the last layer gives.
Segment tower_in(Fields& fields, ConfigValues& values, std::span<const std::int64_t> taken);

/// The ops under `tail`: those that name no kind, and those of a kind that a layer has.
std::vector<OpSpec> tail_of(Fields& fields, ConfigValues& values, const Kinds& kinds);

/// The kinds of each of `layers` layers, by the mapping `kinds` of a segment: a list of rules for each thing in which
/// layers differ, of which the first that says something of a layer counts (docs/catalog.md). Layers of a segment
/// without `kinds` have none.
std::vector<Kinds> kinds_of_layers(Fields& segment, ConfigValues& values, std::int64_t layers);

}  // namespace oomplan::catalog
