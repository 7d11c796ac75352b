// What the reading of a config goes by: the keys that a dialect knows, and what each of them is.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codec.hpp"
#include "inputs.hpp"
#include "key_file.hpp"
#include "oomplan/plan/plan.hpp"

namespace oomplan::ingestion {

/// What reading has found besides values.
struct Findings {
  Diagnostics errors{};
  Diagnostics warnings{};
  std::vector<Unmodelled> unmodelled{};
  int unknown_keys = 0;
  std::vector<std::string> bad_keys{};  ///< Given, but not with a value that can be read.
};

/// A key that has a value of its own.
struct Row {
  std::string_view key{};
  std::string_view expected{};
  std::span<const std::string_view> choices{};
  std::function<bool(const Node&, const Origin&)> read{};  ///< False where the value is not what is expected.
};

/// A key that asks, where `active`, for something that affects memory and is not played yet.
struct Feature {
  std::string_view key{};
  std::string_view name{};
  bool (*active)(const Node&) = is_set;
};

/// A dialect's keys. A dotted key stands inside a mapping.
struct Table {
  std::vector<Row> rows{};
  std::span<const Feature> features{};
  const KeyFile* file = nullptr;  ///< The keys that are none of these; null where there is none.
};

Diagnostic bad_value(const Input& input, std::string_view expected, std::span<const std::string_view> choices);

/// The keys of a file and of features as they may be written; the mappings that hold dotted keys too.
std::vector<std::string_view> keys_of(const KeyFile& file, std::span<const Feature> features);

/// Reads `inputs` by the table: values by its rows, the rest into `findings`. Null means "left out", except to a row
/// that reads it.
void read_rows(const Table& table, const Inputs& inputs, Findings& findings);

using Lines = std::vector<std::pair<std::string_view, std::string>>;

/// "prefix.inner: value" lines as nested YAML.
std::string nested_yaml(const Lines& lines);

}  // namespace oomplan::ingestion
