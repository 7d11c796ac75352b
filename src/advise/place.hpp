// Where the values and keys of a config stand in its text.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "oomplan/read/document.hpp"

namespace oomplan::advise {

/// An entry of a mapping, and how the mapping is written.
struct Spot {
  const Entry* entry = nullptr;
  bool in_braces = false;  ///< JSON's, or YAML's flow style: a comma ends a value.
};

/// The entry of a key, dotted where it is inside a mapping; `entry` is null where there is none.
Spot spot_of(const Document& document, std::string_view key);
/// Whether the document's own keys stand in braces.
bool is_in_braces(const Document& document);

/// Where line `line` (from 1) begins, and where the one with the byte `at` ends, before its newline.
std::size_t offset_of(std::string_view text, int line);
std::size_t line_end(std::string_view text, std::size_t at);

/// Where a key begins.
std::size_t key_offset(const Document& document, const Entry& entry);

/// A value's text. `lead` goes before a new one: a blank where nothing stands behind the colon.
struct Place {
  std::size_t at = 0;
  std::size_t size = 0;
  std::string_view lead{};
};

/// Where the value stands. Not of block lists, mappings, texts over several lines, aliases and tagged values.
std::optional<Place> place_of(const Document& document, const Spot& spot);

}  // namespace oomplan::advise
