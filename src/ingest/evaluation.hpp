// What the keys of a framework's evaluation come to, read from the inputs as they stand.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>

#include "dialect.hpp"

namespace oomplan::ingestion {

/// The first of `keys` that asks for something; null where none does.
const Input* asking(const Inputs& inputs, std::initializer_list<std::string_view> keys);

/// The key's positive whole number, as `read` takes it. Error: ingest/bad-value.
std::optional<Setting<std::int64_t>> count_of(const Inputs& inputs, std::string_view key, Draft& draft,
                                              std::optional<std::int64_t> (*read)(const Node&) = read_positive);

/// Notes the first of `keys` that asks for something as not modelled.
void note_asking(const Inputs& inputs, std::initializer_list<std::string_view> keys, std::string_view feature,
                 Draft& draft);

}  // namespace oomplan::ingestion
