// Reads the fields of our data files, and says what is wrong with one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oomplan/core/bytes.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/read/document.hpp"

namespace oomplan::catalog {

/// The key's value, in the place of the one that it has.
void put(Node& mapping, const std::string& key, Node value);

/// A mapping of one data file. Whatever is missing, unknown or of the wrong kind ends up in `errors`, all of it; the
/// reading functions then return an empty value.
class Fields {
 public:
  Fields(const Document& document, const Node& mapping, Diagnostics& errors);

  /// Refuses every key that is not in `known`.
  void only(std::span<const std::string_view> known);

  const Node* find(std::string_view key) const { return mapping_.find(key); }
  const Node* required(std::string_view key);
  std::string text(std::string_view key, bool is_required = true);
  std::vector<std::string> texts(std::string_view key);
  /// "512 MiB".
  Bytes size(std::string_view key);
  /// A whole number above 0.
  std::optional<std::int64_t> count(std::string_view key, bool is_required = true);

  void refuse(const Node& node, std::string message);
  const Document& document() const { return document_; }
  Diagnostics& errors() { return errors_; }

 private:
  const Document& document_;
  const Node& mapping_;
  Diagnostics& errors_;
};

}  // namespace oomplan::catalog
