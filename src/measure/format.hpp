// Which data format a file is in, told by what is in it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "source.hpp"

namespace oomplan::measure {

struct Format {
  std::string_view name{};  ///< As --format takes it: "json-lines".
  OpenSource open = nullptr;
};

std::span<const Format> formats();
const Format* find_format(std::string_view name);

/// By the first bytes of the unpacked file; by its name only where text may be a table of one column or of no row.
/// Nothing where they are of no known kind; an empty file is text.
const Format* sniffed(std::string_view begun, std::string_view path);

/// The same of `bytes`, which begin where they did afterwards. Errors: the bytes' own.
Result<const Format*> sniffed(std::unique_ptr<read::ByteSource>& bytes, std::string_view path);

/// How much of a file sniffed() looks at.
inline constexpr std::size_t sniff_length = std::size_t{64} << 10;

}  // namespace oomplan::measure
