// Escapes and entities, one layer of them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace oomplan::diagnose {

/// Text in which each byte knows where it was in what it was made from.
struct Mapped {
  std::string text{};
  std::vector<std::size_t> from{};  ///< As long as `text`.

  void put(std::string_view bytes, std::size_t at);
};

Mapped mapped(std::string_view text);

struct Escape {
  std::string text{};
  std::size_t size = 0;  ///< With its backslash; 0 for none.
};

/// The escape that `text` begins with, of those that JSON and Python's repr write.
Escape escape_at(std::string_view text);

/// Whether `text` was written with backslash escapes, as JSON and Python's repr do: line ends are among them, and no
/// backslash is there that such a writer would not have written.
bool is_escaped(std::string_view text);
Mapped unescaped(const Mapped& text);

/// HTML's entities and <br>, and rsyslog's #012 and #011.
bool has_entities(std::string_view text);
Mapped without_entities(const Mapped& text);

}  // namespace oomplan::diagnose
