// What an Arrow IPC message makes of memory, told from its metadata before Arrow reads it.
#pragma once

#include <cstdint>
#include <string_view>

namespace oomplan::measure {

/// Bytes, beside the message's own: objects for fields, columns and buffers, names, and metadata. Measured with columns
/// by the hundred thousand, and rounded up.
struct MessageCost {
  enum class Kind : std::uint8_t { other, schema, dictionary, batch };
  Kind kind = Kind::other;
  std::int64_t bytes = 0;
  std::int64_t fields = 0;      ///< Of a schema, nested ones too; of a batch its columns.
  std::int64_t columns = 0;     ///< Bytes that a batch will take, of a schema.
  std::int64_t dictionary = 0;  ///< Whose, of a dictionary;
  std::int64_t body = 0;        ///< The length of what follows the metadata, by its own word.
  bool added = false;           ///< which stays beside what there was of it.
};

/// Of the flatbuffer `metadata`; of one that is broken nothing, as Arrow refuses it. `contents`: what is in the rows is
/// looked at, which takes an object for each column. Counting ends past a terabyte or ten million fields.
MessageCost cost_of_message(std::string_view metadata, bool contents);

}  // namespace oomplan::measure
