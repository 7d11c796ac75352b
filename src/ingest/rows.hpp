// A dialect as a table: one row a key, used both to read and to write back.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "codec.hpp"
#include "inputs.hpp"
#include "key_file.hpp"
#include "oomplan/plan.hpp"

namespace oomplan::ingestion {

/// A fact of a framework's own config that may have been left out.
template <class T>
struct Arg {
  std::optional<T> value{};
  Origin origin{};
};

/// Whether it was given with this value.
template <class T>
bool is(const Arg<T>& arg, const T& value) {
  return arg.value == value;
}

/// What reading has found besides values.
struct Findings {
  Diagnostics errors{};
  Diagnostics warnings{};
  std::vector<Unmodelled> unmodelled{};
  int unknown_keys = 0;
  std::vector<std::string> bad_keys{};  ///< Given, but not with a value that can be read.
};

/// A key that holds a value of `Args`, the dialect's picture of its framework's config.
template <class Args>
struct Row {
  std::string_view key{};
  std::string_view expected{};
  bool (*read)(const Node&, const Origin&, Args&) = nullptr;
  std::optional<std::string> (*write)(const Args&) = nullptr;
  std::span<const std::string_view> choices{};
};

/// A key that asks, where `active`, for something that affects memory and is not played yet.
struct Feature {
  std::string_view key{};
  std::string_view name{};
  bool (*active)(const Node&) = is_set;
};

/// A dialect's keys. A dotted key stands inside a mapping.
template <class Args>
struct Table {
  std::span<const Row<Args>> rows{};
  std::span<const Feature> features{};
  const KeyFile* file = nullptr;  ///< The keys that are none of these; null where there is none.
};

template <class T>
void assign(Arg<T>& to, T value, const Origin& origin) {
  to = {std::move(value), origin};
}
template <class T>
void assign(Setting<T>& to, T value, const Origin& origin) {
  to = {std::move(value), origin};
}
inline void assign(std::string& to, std::string value, const Origin& /*origin*/) { to = std::move(value); }

template <class T>
std::optional<T> held(const Arg<T>& arg) {
  return arg.value;
}
template <class T>
std::optional<T> held(const Setting<T>& setting) {
  return setting.value;
}
inline std::optional<std::string> held(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

/// A member of Args, or of Args' member `Within`.
template <auto Member, auto Within, class Args>
auto& member_of(Args& args) {
  if constexpr (std::is_null_pointer_v<decltype(Within)>) {
    return args.*Member;
  } else {
    return args.*Within.*Member;
  }
}

template <class Args, auto Member, const auto& Format, auto Within = nullptr>
constexpr Row<Args> row(std::string_view key) {
  return {key,
          Format.expected,
          [](const Node& node, const Origin& origin, Args& args) {
            auto value = Format.read(node);
            if (value) assign(member_of<Member, Within>(args), *std::move(value), origin);
            return value.has_value();
          },
          [](const Args& args) -> std::optional<std::string> {
            const auto value = held(member_of<Member, Within>(args));
            return value ? std::optional(Format.write(*value)) : std::nullopt;
          },
          {Format.names, Format.name_count}};
}

/// A key that is read like `row` but never written: another name for something.
template <class Args, auto Member, const auto& Format, auto Within = nullptr>
constexpr Row<Args> alias(std::string_view key) {
  Row<Args> out = row<Args, Member, Format, Within>(key);
  out.write = nullptr;
  return out;
}

Diagnostic bad_value(const Input& input, std::string_view expected, std::span<const std::string_view> choices);
void warn_unknown(const Input& input, std::span<const std::string_view> known, Findings& findings);
/// The line of `others` for the mapping that this dotted key stands in; null where there is none.
const KeyLine* mapping_of(const KeyFile& file, std::string_view key);
/// "prefix.inner: value" lines as nested YAML.
std::string nested_yaml(const std::vector<std::pair<std::string_view, std::string>>& lines);

/// The keys of a file, those with rules included.
void add_keys(const KeyFile& file, std::vector<std::string_view>& keys);

/// What the rules for this key, one of `all`, find: refusals among the errors, gaps among the unmodelled. True where
/// one was found, and the key's value is not a fact.
bool apply_rules(const KeyFile& file, const Input& input, const Inputs& all, Findings& findings);

/// Every key of the table as it may be written; the mappings that hold dotted keys too.
template <class Args>
std::vector<std::string_view> keys_of(const Table<Args>& table) {
  std::vector<std::string_view> out;
  if (table.file != nullptr) add_keys(*table.file, out);
  for (const auto& row : table.rows) out.push_back(row.key);
  for (const auto& feature : table.features) out.push_back(feature.key);
  const std::size_t count = out.size();
  for (std::size_t i = 0; i < count; ++i) {
    const auto dot = out[i].find('.');
    if (dot != std::string_view::npos) out.push_back(out[i].substr(0, dot));
  }
  return out;
}

/// A row, a feature or neither for an input, and what else its key is.
template <class Args>
class RowReader {
 public:
  RowReader(const Table<Args>& table, const Inputs& all, Args& args, Findings& findings)
      : table_(table), known_(keys_of(table)), all_(all), args_(args), findings_(findings) {}

  void read(const Inputs& inputs) {
    for (const Input& input : inputs) read(input);
  }

 private:
  void read(const Input& input) {
    const auto named = [&](const auto& row) { return row.key == input.key; };
    const auto row = std::ranges::find_if(table_.rows, named);
    const auto feature = std::ranges::find_if(table_.features, named);
    if (table_.file != nullptr && apply_rules(*table_.file, input, all_, findings_)) return;
    if (feature != table_.features.end() && feature->active(*input.value)) {
      findings_.unmodelled.push_back({std::string(feature->name), input.key, origin_of(input).where});
    } else if (row != table_.rows.end()) {
      read_fact(*row, input);
    } else if (holds_keys(input.key)) {
      read_mapping(input);
    } else if (!std::ranges::count(known_, input.key)) {
      report_unknown(input);
    }
  }

  void report_unknown(const Input& input) {
    const KeyLine* found = table_.file == nullptr ? nullptr : mapping_of(*table_.file, input.key);
    if (found == nullptr) return warn_unknown(input, known_, findings_);
    findings_.unmodelled.push_back({std::string(found->text), input.key, origin_of(input).where});
  }

  void read_fact(const Row<Args>& row, const Input& input) {
    const bool good = row.read(*input.value, origin_of(input), args_);
    if (good || input.value->kind == Node::Kind::null) return;
    findings_.errors.push_back(bad_value(input, row.expected, row.choices));
    findings_.bad_keys.push_back(input.key);
  }

  bool holds_keys(std::string_view key) const {
    return std::ranges::any_of(known_, [&](std::string_view other) {
      return other.size() > key.size() && other[key.size()] == '.' && other.starts_with(key);
    });
  }

  void read_mapping(const Input& input) {
    if (input.value->kind == Node::Kind::null) return;
    if (!input.value->is_mapping()) findings_.errors.push_back(bad_value(input, "a mapping", {}));
    read(inputs_of(*input.document, *input.value, input.key + ".", input.command_line));
  }

  const Table<Args>& table_;
  std::vector<std::string_view> known_;
  const Inputs& all_;
  Args& args_;
  Findings& findings_;
};

/// Reads `inputs` by the table: values into `args`, the rest into `findings`. Null means "left out", except to a codec
/// that reads it.
template <class Args>
void read_rows(const Table<Args>& table, const Inputs& inputs, Args& args, Findings& findings) {
  RowReader<Args>(table, inputs, args, findings).read(inputs);
}

/// `args` in the dialect's keys, as YAML.
template <class Args>
std::string write_rows(const Table<Args>& table, const Args& args) {
  std::vector<std::pair<std::string_view, std::string>> lines;
  for (const auto& row : table.rows) {
    if (!row.write) continue;
    if (auto text = row.write(args)) lines.emplace_back(row.key, *std::move(text));
  }
  return nested_yaml(lines);
}

}  // namespace oomplan::ingestion
