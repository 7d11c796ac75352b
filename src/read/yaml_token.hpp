// What PyYAML's scanner makes of a YAML text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace oomplan::read {

struct YamlToken {
  enum class Type : std::uint8_t {
    end,
    version,     ///< %YAML, `text` the number before the point
    tag_handle,  ///< %TAG, `handle` and `text`
    directive,   ///< any other, which PyYAML passes over
    document_start,
    document_end,
    block_sequence,
    block_mapping,
    block_end,
    flow_sequence,
    flow_sequence_end,
    flow_mapping,
    flow_mapping_end,
    flow_entry,
    block_entry,
    key,
    value,
    alias,
    anchor,
    tag,
    scalar,
  };

  Type type = Type::end;
  std::size_t offset = 0;
  std::size_t end = 0;
  std::string text{};    ///< Of a scalar, an anchor, an alias; a tag's suffix.
  std::string handle{};  ///< Of a tag: "!", "!!", "!x!"; empty for "!<…>" and "!" alone.
  bool plain = false;    ///< A scalar without quotes, not of a block.
};

}  // namespace oomplan::read
