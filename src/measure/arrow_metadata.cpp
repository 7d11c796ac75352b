#include "arrow_metadata.hpp"

#include <cstring>
#include <optional>

#include "oomplan/core/bytes.hpp"

namespace oomplan::measure {
namespace {

constexpr std::int64_t of_field = 450;        // Field, its type, its place among names; and our name for it
constexpr std::int64_t of_dictionary = 1400;  // its type, and the tables of dictionaries
constexpr std::int64_t of_pair = 160;         // of metadata, beside its text
constexpr std::int64_t of_column = 380;       // ArrayData and Array, and those of a slice
constexpr std::int64_t of_buffer = 120;
constexpr std::int64_t of_cell_writer = 850;
constexpr std::int64_t most_visits = 10'000'000;  // tables may be shared, so that few bytes say many
constexpr std::int64_t most_bytes = std::int64_t{1} << 40;
constexpr int deepest = 128;  // as Arrow allows

struct Broken {};

/// A place in a flatbuffer. Reading past its end throws Broken.
class Place {
 public:
  Place(std::string_view whole, std::uint64_t at) : whole_(whole), at_(at) {}

  template <class T>
  T read(std::uint64_t offset = 0) const {
    T out{};
    if (at_ + offset > whole_.size() || whole_.size() - at_ - offset < sizeof out) throw Broken{};
    std::memcpy(&out, whole_.data() + at_ + offset, sizeof out);
    return out;
  }
  /// What the offset here leads to.
  Place target() const { return {whole_, at_ + read<std::uint32_t>()}; }
  Place at(std::uint64_t offset) const { return {whole_, at_ + offset}; }

  /// Of a table: where its field of this number stands.
  std::optional<Place> field(unsigned number) const {
    const auto back = read<std::int32_t>();
    const std::int64_t begin = static_cast<std::int64_t>(at_) - back;
    if (begin < 0) throw Broken{};
    const Place table(whole_, static_cast<std::uint64_t>(begin));
    if (4 + 2 * number + 2 > table.read<std::uint16_t>()) return std::nullopt;
    const auto offset = table.read<std::uint16_t>(4 + 2 * number);
    return offset == 0 ? std::nullopt : std::optional<Place>(at(offset));
  }
  std::optional<Place> table(unsigned number) const {
    const auto place = field(number);
    return place ? std::optional(place->target()) : std::nullopt;
  }
  /// Of a vector or text that the table's field of this number leads to.
  std::int64_t length(unsigned number) const {
    const auto vector = table(number);
    return vector ? vector->read<std::uint32_t>() : 0;
  }
  /// Element `i` of a vector of tables.
  Place element(std::int64_t i) const { return at(4 + 4 * static_cast<std::uint64_t>(i)).target(); }

 private:
  std::string_view whole_;
  std::uint64_t at_;
};

// Numbers of fields in Arrow's Message.fbs and Schema.fbs.
namespace message {
enum : unsigned { header_type = 1, header = 2, body_length = 3, metadata = 4 };
}
namespace schema {
enum : unsigned { fields = 1, metadata = 2 };
}
namespace field {
enum : unsigned { name = 0, type_kind = 2, type = 3, dictionary = 4, children = 5, metadata = 6 };
}
namespace batch {
enum : unsigned { nodes = 1, buffers = 2, variadic = 4 };
}
namespace dictionary {
enum : unsigned { id = 0, data = 1, is_delta = 2 };
}
constexpr std::uint8_t timestamp = 10;  // of the union Type

class Count {
 public:
  std::int64_t bytes = 0;
  std::int64_t fields = 0;

  void schema_of(Place table) {
    each(table, schema::fields, [&](Place child) { field_of(child, 0); });
    pairs(table, schema::metadata);
  }

  void batch_of(Place table, bool contents) {
    fields = table.length(batch::nodes);
    add(saturating_mul(fields, of_column + (contents ? of_cell_writer : 0)));
    add(saturating_mul(table.length(batch::buffers), of_buffer));
  }

  void pairs(Place table, unsigned number) {
    each(table, number, [&](Place pair) { add(of_pair + 2 * (pair.length(0) + pair.length(1))); });
  }

 private:
  void add(std::int64_t more) { bytes = saturating_add(bytes, more); }

  template <class Take>
  void each(Place table, unsigned number, const Take& take) {
    const auto vector = table.table(number);
    const std::int64_t length = vector ? vector->read<std::uint32_t>() : 0;
    for (std::int64_t i = 0; i < length && bytes < most_bytes && ++visits_ < most_visits; ++i) take(vector->element(i));
  }

  void field_of(Place table, int depth) {
    if (depth > deepest) throw Broken{};
    ++fields;
    add(of_field + 3 * table.length(field::name));
    if (table.field(field::dictionary)) add(of_dictionary);
    const auto kind = table.field(field::type_kind);
    if (kind && kind->read<std::uint8_t>() == timestamp) {
      if (const auto type = table.table(field::type)) add(2 * type->length(1));  // the zone
    }
    pairs(table, field::metadata);
    each(table, field::children, [&](Place child) { field_of(child, depth + 1); });
  }

  std::int64_t visits_ = 0;
};

MessageCost counted(Place root, bool contents) {
  MessageCost out;
  Count count;
  const auto kind = root.field(message::header_type);
  const auto header = root.table(message::header);
  count.pairs(root, message::metadata);
  if (const auto body = root.field(message::body_length)) out.body = body->read<std::int64_t>();
  switch (kind && header ? kind->read<std::uint8_t>() : 0) {
    case 1:
      out.kind = MessageCost::Kind::schema;
      count.schema_of(*header);
      out.columns = saturating_mul(count.fields, of_column + 2 * of_buffer + (contents ? of_cell_writer : 0));
      break;
    case 2: {
      out.kind = MessageCost::Kind::dictionary;
      if (const auto id = header->field(dictionary::id)) out.dictionary = id->read<std::int64_t>();
      if (const auto delta = header->field(dictionary::is_delta)) out.added = delta->read<std::uint8_t>() != 0;
      if (const auto data = header->table(dictionary::data)) count.batch_of(*data, false);
      break;
    }
    case 3:
      out.kind = MessageCost::Kind::batch;
      count.batch_of(*header, contents);
      break;
    default:
      break;
  }
  out.bytes = count.bytes;
  out.fields = count.fields;
  return out;
}

}  // namespace

MessageCost cost_of_message(std::string_view metadata, bool contents) {
  try {
    return counted(Place(metadata, 0).target(), contents);
  } catch (const Broken&) {
    return {};
  }
}

}  // namespace oomplan::measure
