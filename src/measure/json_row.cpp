#include "json_row.hpp"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "canonical.hpp"
#include "json_values.hpp"
#include "records.hpp"
#include "value_bytes.hpp"

namespace oomplan::measure {
namespace {

namespace dom = simdjson::dom;
static_assert(simdjson::SIMDJSON_PADDING <= Records::padding);

// What parsing takes: text and its copy with escapes undone, and for each value an index and a place on the tape. A
// row of many small values takes far more than a row of few long strings.
std::int64_t memory_for(std::string_view text) {
  std::array<bool, 256> structural{};
  for (const unsigned char c : {'{', '}', '[', ']', ':', ',', '"'}) structural[c] = true;
  const auto values =
      std::count_if(text.begin(), text.end(), [&](char c) { return structural[static_cast<unsigned char>(c)]; });
  return 4 * static_cast<std::int64_t>(text.size()) + 40 * values;
}

class Canonical {
 public:
  explicit Canonical(ByteBuffer& out) : out_(out) {}

  void object(dom::object object, KeyColumns* key) {
    std::vector<std::pair<std::string_view, dom::element>> fields;
    for (const auto& [name, value] : object) {
      if (key == nullptr || key->takes(name)) fields.emplace_back(name, value);
    }
    std::stable_sort(fields.begin(), fields.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    begin_object(out_);
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const auto& [name, value] = fields[i];
      const bool last_of_name = i + 1 == fields.size() || fields[i + 1].first != name;
      if (!last_of_name || value.is_null()) continue;
      put_name(out_, name);
      element(value);
    }
    end_object(out_);
  }

  void element(dom::element element) {
    switch (element.type()) {
      case dom::element_type::NULL_VALUE:
        return put_null(out_);
      case dom::element_type::BOOL:
        return put_boolean(out_, element.get_bool().value_unsafe());
      case dom::element_type::INT64:
        return put_integer(out_, element.get_int64().value_unsafe());
      case dom::element_type::UINT64:
        return put_unsigned(out_, element.get_uint64().value_unsafe());
      case dom::element_type::DOUBLE:
        return put_number(out_, element.get_double().value_unsafe());
      case dom::element_type::STRING:
        return put_text(out_, element.get_string().value_unsafe());
      case dom::element_type::OBJECT:
        return object(element.get_object().value_unsafe(), nullptr);
      case dom::element_type::ARRAY:
        break;
    }
    begin_list(out_);
    const dom::array children = element.get_array().value_unsafe();
    for (const dom::element child : children) this->element(child);
    end_list(out_);
  }

 private:
  ByteBuffer& out_;
};

void put_row(ByteBuffer& out, dom::element row, KeyColumns& key) {
  if (row.is_object()) return Canonical(out).object(row.get_object().value_unsafe(), key.whole_row() ? nullptr : &key);
  Canonical(out).element(row);
}

}  // namespace

struct JsonRows::Parser {
  dom::parser parser{};
};

JsonRows::JsonRows(const Input& input)
    : parser_(std::make_unique<Parser>()),
      path_(input.path),
      room_(input.room),
      wanted_(input.wanted),
      key_(input.key),
      skip_(input.skip) {}
JsonRows::~JsonRows() = default;

Result<bool> JsonRows::add(const Record& row, RowBatch& out) {
  if (row.refused != nullptr) return leave_out(skip_, *row.refused);
  const std::string_view text = row.text;
  if (static_cast<std::int64_t>(text.size()) > room_.batch && memory_for(text) > room_.free) {
    return leave_out(
        skip_, over_budget({path_, static_cast<int>(std::min<std::int64_t>(row.number, 1 << 30))},
                           "a row of " + std::to_string(text.size()) + " bytes of JSON", memory_for(text), room_.free));
  }
  dom::element element;
  const auto error = parser_->parser.parse(text.data(), text.size(), false).get(element);
  if (error != simdjson::SUCCESS)
    return leave_out(skip_, bad_row(path_, row.number, row.offset, simdjson::error_message(error)));
  if ((wanted_.values || wanted_.objects) && !element.is_object())
    return leave_out(skip_, bad_row(path_, row.number, row.offset, "this is no object, so it has no columns"));
  out.add_row(static_cast<std::int64_t>(text.size()), wanted_);
  if (wanted_.canonical) {
    put_row(out.canonical.open(), element, *key_);
    out.canonical.close();
  }
  if (wanted_.values) {
    ValueBytes values(out.values.open());
    tell(element, values);
    out.values.close();
  }
  if (wanted_.text) out.text.add(text);
  return true;
}

}  // namespace oomplan::measure
