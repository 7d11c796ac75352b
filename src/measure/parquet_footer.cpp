#include "parquet_footer.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <vector>

#include "oomplan/core/text.hpp"
#include "source.hpp"

namespace oomplan::measure {
namespace {

enum : unsigned {
  t_true = 1,
  t_false,
  t_byte,
  t_i16,
  t_i32,
  t_i64,
  t_double,
  t_binary,
  t_list,
  t_set,
  t_map,
  t_struct
};

constexpr std::int64_t field_of_schema = 2;  // of FileMetaData
constexpr std::int64_t field_of_row_groups = 4;
constexpr std::int64_t field_of_columns = 1;   // of RowGroup
constexpr std::int64_t field_of_children = 5;  // of SchemaElement
constexpr int deepest_value = 20;              // Parquet's own structures are about six deep

struct Broken {};

class Reader {
 public:
  explicit Reader(std::string_view in) : in_(in) {}

  std::uint64_t varint() {
    std::uint64_t out = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto next = byte();
      out |= std::uint64_t{next & 0x7fU} << shift;
      if (next < 0x80) return out;
    }
    throw Broken{};
  }
  std::int64_t zigzag() {
    const std::uint64_t raw = varint();
    return static_cast<std::int64_t>(raw >> 1) ^ -static_cast<std::int64_t>(raw & 1);
  }
  /// The next field of a struct: its type, and its number in `id`; 0 at the end.
  unsigned field(std::int64_t& id) {
    const unsigned head = byte();
    if (head == 0) return 0;
    id = head >> 4 != 0 ? id + (head >> 4) : zigzag();
    return head & 15;
  }
  /// How many elements a list has, and their type.
  std::uint64_t list(unsigned& type) {
    const unsigned head = byte();
    type = head & 15;
    return head >> 4 == 15 ? varint() : head >> 4;
  }
  void skip(unsigned type, int depth = 0) {
    if (depth > deepest_value) throw Broken{};
    switch (type) {
      case t_true:
      case t_false:
        return;
      case t_byte:
        return pass(1);
      case t_i16:
      case t_i32:
      case t_i64:
        return static_cast<void>(varint());
      case t_double:
        return pass(8);
      case t_binary:
        return pass(varint());
      case t_list:
      case t_set:
        return static_cast<void>(skip_list(depth));
      case t_map:
        return skip_map(depth);
      case t_struct:
        return skip_struct(depth);
      default:
        throw Broken{};
    }
  }

  /// How many elements it had.
  std::int64_t skip_list(int depth) {
    unsigned type = 0;
    const std::uint64_t count = list(type);
    for (std::uint64_t left = count; left > 0; --left) skip_element(type, depth);
    return static_cast<std::int64_t>(count);
  }

 private:
  unsigned byte() {
    if (in_.empty()) throw Broken{};
    const auto out = static_cast<unsigned char>(in_.front());
    in_.remove_prefix(1);
    return out;
  }
  void pass(std::uint64_t count) {
    if (count > in_.size()) throw Broken{};
    in_.remove_prefix(count);
  }
  void skip_element(unsigned type, int depth) {
    type == t_true || type == t_false ? pass(1) : skip(type, depth + 1);  // in lists a bool has a byte of its own
  }
  void skip_map(int depth) {
    const std::uint64_t size = varint();
    if (size == 0) return;
    const unsigned types = byte();
    for (std::uint64_t left = size; left > 0; --left) {
      skip_element(types >> 4, depth);
      skip_element(types & 15, depth);
    }
  }
  void skip_struct(int depth) {
    std::int64_t id = 0;
    while (const unsigned type = field(id)) skip(type, depth + 1);
  }

  std::string_view in_;
};

std::int64_t children_of_element(Reader& in) {
  std::int64_t children = 0;
  std::int64_t id = 0;
  while (const unsigned type = in.field(id)) {
    if (id == field_of_children && type == t_i32)
      children = in.zigzag();
    else
      in.skip(type);
  }
  return children;
}

/// The elements are the tree's nodes, each before its children.
bool too_deep(Reader& in, FooterCounts& counts) {
  unsigned type = 0;
  std::vector<std::int64_t> open;  // children still to come, of each node on the way down
  for (std::uint64_t left = in.list(type); left > 0; --left) {
    if (type != t_struct) throw Broken{};
    while (!open.empty() && open.back() <= 0) open.pop_back();
    if (!open.empty()) --open.back();
    const std::int64_t children = children_of_element(in);
    ++counts.elements;
    if (children > 0) open.push_back(children);
    if (children <= 0) ++counts.leaves;
    if (open.size() > deepest_schema) return true;
  }
  return false;
}

/// A list of structs, in which the list of field `inner`, if it is one, is counted.
std::int64_t elements_of_lists(Reader& in, std::int64_t inner) {
  unsigned type = 0;
  std::int64_t out = 0;
  for (std::uint64_t left = in.list(type); left > 0; --left) {
    if (type != t_struct) throw Broken{};
    std::int64_t id = 0;
    while (const unsigned field = in.field(id)) {
      if (id == inner && field == t_list)
        out += in.skip_list(0);
      else
        in.skip(field);
    }
  }
  return out;
}

}  // namespace

std::optional<std::string> objection_to_footer(std::string_view footer, FooterCounts& counts) {
  counts = {.bytes = static_cast<std::int64_t>(footer.size())};
  try {
    Reader in(footer);
    std::int64_t id = 0;
    while (const unsigned type = in.field(id)) {
      if (id == field_of_row_groups && type == t_list)
        counts.chunks += elements_of_lists(in, field_of_columns);
      else if (id != field_of_schema || type != t_list)
        in.skip(type);
      else if (too_deep(in, counts))
        return "the schema is nested deeper than " + std::to_string(deepest_schema) + " levels";
    }
    return std::nullopt;
  } catch (const Broken&) {
    return "the footer is broken";
  }
}

Result<FooterCounts> footer_of(const std::string& path, const Room& room) {
  std::error_code error;
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(path, error));
  if (error) return bad_file(path, "Parquet is read from a file, not a pipe");
  std::ifstream file(path, std::ios::binary);
  unsigned char end[8] = {};
  const Diagnostic no_end{.code = "read/truncated", .message = "the Parquet file lacks its end", .where = {path}};
  if (size < 12 || !file.seekg(-8, std::ios::end) || !file.read(reinterpret_cast<char*>(end), 8)) return no_end;
  const std::string_view mark(reinterpret_cast<char*>(end) + 4, 4);
  if (mark == "PARE") return bad_file(path, encrypted);
  if (mark != "PAR1") return no_end;
  const std::int64_t length = end[0] | end[1] << 8 | end[2] << 16 | std::int64_t{end[3]} << 24;
  if (length > size - 12) return bad_file(path, "the footer is said to be longer than the file");
  if (length > room.pool / 2) return over_budget({path}, "the footer", copies_of_footer * length, room.pool);
  std::string footer(static_cast<std::size_t>(length), '\0');
  file.seekg(-8 - length, std::ios::end).read(footer.data(), length);
  if (!file) return bad_file(path, "the footer cannot be read");
  FooterCounts counts;
  if (const auto objection = objection_to_footer(footer, counts)) return bad_file(path, *objection);
  if (counts.as_read() > room.pool)
    return over_budget({path}, what_of(counts), counts.as_read() + counts.readers(), room.pool);
  return counts;
}

std::string what_of(const FooterCounts& counts) {
  return "the footer of " + counted(counts.leaves, "column") + " in " + counted(counts.chunks, "chunk");
}

}  // namespace oomplan::measure
