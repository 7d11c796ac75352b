// The body of an architecture file: its segments, their layers and the kinds of them.
#pragma once

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

/// The segments under `body`; or the only one, whose keys stand in the file itself.
std::vector<Segment> segments_in(Fields& fields, ConfigValues& values);

}  // namespace oomplan::catalog
