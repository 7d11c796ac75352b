// A config.json's values, as an architecture file declares its keys.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/read/document.hpp"

namespace oomplan::catalog {

/// No dimension of a model is larger; beyond it a config is broken or hostile.
inline constexpr std::int64_t largest_dimension = std::int64_t{1} << 24;

/// Whether a scalar of an architecture file is a `$key`, and the key.
bool is_name(const Node& node);
std::string_view name_in(const Node& node);

/// The value of each declared key, from the config or by its default. A key can have no value
/// (`default: null`). A null in the config counts as missing, but for a key with `optional: true`, which it switches
/// off.
class ConfigValues {
 public:
  /// Errors go to `errors`: those of the config as catalog/missing-key and catalog/bad-value, those of the architecture
  /// file as catalog/bad-file. `declarations` is the file's mapping `config`.
  ConfigValues(const Document& config, const Document& file, const Node& declarations, Diagnostics& errors);

  /// What `node` of the architecture file stands for: `$key`, `{quotient: [a, b]}`, `{product: [a, …]}`,
  /// `{difference: [a, b]}`, `{part: [whole, share]}`, or itself.
  /// Nothing where a key without value is named, or where an error was found.
  std::optional<Attribute> value_of(const Node& node);

  /// A value that another file's keys gave, under a name that no key here has ("language.hidden_size").
  void provide(std::string name, Attribute value) { values_.insert_or_assign(std::move(name), std::move(value)); }

  /// Refuses the value of `node` of the architecture file: at the config's key where it names one that the config
  /// gives.
  void refuse(const Node& node, std::string message);

  /// The list that the config has under `key`; null where it has none.
  const Node* list(std::string_view key) const;
  /// The text under the key, or null.
  const Node* text(std::string_view key) const;
  /// Refuses a value of the config.
  void refuse_given(const Node& node, std::string message) { refuse_config(&node, std::move(message)); }

  /// Those that have a value, in the order of their declaration.
  const std::vector<std::pair<std::string, Attribute>>& all() const { return all_; }

 private:
  void declare(const Entry& entry);
  std::optional<Attribute> from_config(const Entry& declaration, const Entry& found);
  std::optional<Attribute> from_default(const Entry& declaration);
  std::optional<Attribute> usual_value(const Entry& declaration, const Node& usual);
  const Entry* entry_of(std::string_view key) const;
  /// Whether the config has that key, or key in a mapping, with a null.
  bool says_null(std::string_view key) const;
  bool an_alias_says_null(const Entry& declaration) const;
  const Entry* find_in_config(const Entry& declaration) const;
  void check_divides(const Entry& declaration, const Node& other);
  void check_multiple(const Entry& declaration, const Node& step);
  const Node* given(std::string_view key) const;
  std::optional<Attribute> named(const Node& node);
  std::optional<Attribute> computed(const Node& node);
  std::optional<Attribute> quotient(const Node& operands, const std::vector<std::int64_t>& values);
  std::optional<Attribute> part(const Node& operands);
  std::optional<Attribute> difference(const Node& operands, const std::vector<std::int64_t>& values);
  std::vector<std::int64_t> integers(const std::vector<Node>& operands);
  std::string described(const Node& operand) const;
  void refuse_config(const Node* node, std::string message);
  void refuse_file(const Node& node, std::string message);

  mutable std::deque<Entry> entries_{};  ///< Of lists, by number.
  const Document& config_;
  const Document& file_;
  Diagnostics& errors_;
  std::map<std::string, std::optional<Attribute>, std::less<>> values_;
  std::map<std::string, const Node*, std::less<>> given_;  ///< Where the config gives a declared key.
  std::vector<std::pair<std::string, Attribute>> all_;
};

}  // namespace oomplan::catalog
