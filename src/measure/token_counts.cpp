#include "token_counts.hpp"

#include "oomplan/core/text.hpp"

namespace oomplan::measure {
namespace {

constexpr std::size_t most_columns = 64;
constexpr std::size_t longest_name = 256;

}  // namespace

/// One value, whose text is added.
void TokenCounts::pass(CanonicalCursor& in, Text& text) {
  switch (in.tag()) {
    case 'i':
    case 'u':
    case 'x':
      in.raw<std::int64_t>();
      return;
    case 'd':
      in.sized();
      return;
    case 'T':
    case 'D':
    case 'C':
      in.raw<std::int64_t>();
      in.raw<std::int32_t>();
      return;
    case '[':
      return pass_children(in, ']', text);
    case '{':
      return pass_children(in, '}', text);
    case 's': {
      const std::string_view string = in.sized();
      if (valid_utf8(string) != string.size()) return;  // bytes of an image are no text
      ++text.strings;
      text.bytes += static_cast<std::int64_t>(string.size());
      text.pieces += pieces_in(string);
      return;
    }
    default:
      return;
  }
}

void TokenCounts::pass_children(CanonicalCursor& in, char end, Text& text) {
  while (!in.at(end)) {
    if (end == '}') in.tag(), in.sized();
    pass(in, text);
  }
  in.tag();
}

TokenCounts::Value TokenCounts::value(CanonicalCursor& in) {
  Value out;
  if (!in.at('[')) {
    pass(in, out.text);
    return out;
  }
  in.tag();
  bool whole = true;
  std::int64_t elements = 0;
  for (; !in.at(']'); ++elements) {
    whole = whole && (in.at('i') || in.at('u'));
    pass(in, out.text);
  }
  in.tag();
  if (whole) out.numbers = elements;
  return out;
}

TokenCounts::Column* TokenCounts::column(Columns& columns, std::string_view name) {
  const auto found = columns.find(name);
  if (found != columns.end()) return &found->second;
  if (texts_.size() + lists_.size() < most_columns && name.size() <= longest_name) return &columns[std::string(name)];
  ++left_out_;
  return nullptr;
}

void TokenCounts::add(std::string_view name, const Value& value, Text& row) {
  row.bytes += value.text.bytes;
  row.pieces += value.text.pieces;
  const bool list = value.numbers > 0;  // an empty one may be a list of anything
  if (!list && value.text.strings == 0) return;
  Column* to = column(list ? lists_ : texts_, name);
  if (to == nullptr) return;
  ++to->rows;
  to->bytes.add(value.text.bytes);
  to->pieces.add(list ? value.numbers : value.text.pieces);
}

void TokenCounts::add(std::string_view canonical) {
  CanonicalCursor in(canonical);
  Text row;
  if (in.at('{')) {
    in.tag();
    while (!in.at('}')) {
      in.tag();
      const std::string_view name = in.sized();
      add(name, value(in), row);
    }
  } else {
    add("", value(in), row);
  }
  bytes_.add(row.bytes);
  pieces_.add(row.pieces);
}

void TokenCounts::add(const TokenCounts& more) {
  add(texts_, more.texts_);
  add(lists_, more.lists_);
  left_out_ += more.left_out_;
  bytes_.add(more.bytes_);
  pieces_.add(more.pieces_);
}

void TokenCounts::add(Columns& columns, const Columns& more) {
  for (const auto& [name, from] : more) {
    Column* to = column(columns, name);
    if (to == nullptr) continue;
    to->rows += from.rows;
    to->bytes.add(from.bytes);
    to->pieces.add(from.pieces);
  }
}

Tokens TokenCounts::tokens() const {
  Tokens out{.values_left_out = left_out_, .text_bytes = bytes_.sizes(), .text_pieces = pieces_.sizes()};
  for (const auto* columns : {&texts_, &lists_}) {
    for (const auto& [name, column] : *columns) {
      out.columns.push_back({name, columns == &texts_, column.rows, column.bytes.sizes(), column.pieces.sizes()});
    }
  }
  return out;
}

}  // namespace oomplan::measure
