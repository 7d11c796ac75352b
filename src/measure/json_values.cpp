#include "json_values.hpp"

namespace oomplan::measure {
namespace {

namespace dom = simdjson::dom;

void tell_object(dom::object object, Values& values) {
  values.begin_object();
  for (const auto& [name, value] : object) {
    values.name(name);
    tell(value, values);
  }
  values.end_object();
}

void tell_array(dom::array array, Values& values) {
  values.begin_list();
  for (const dom::element child : array) tell(child, values);
  values.end_list();
}

}  // namespace

// The parser has refused what is nested deeper than 1024 levels.
void tell(dom::element element, Values& values) {
  switch (element.type()) {
    case dom::element_type::NULL_VALUE:
      return values.null();
    case dom::element_type::BOOL:
      return values.boolean(element.get_bool().value_unsafe());
    case dom::element_type::INT64:
      return values.integer(element.get_int64().value_unsafe());
    case dom::element_type::UINT64:
      return values.large_integer(element.get_uint64().value_unsafe());
    case dom::element_type::DOUBLE:
      return values.number(element.get_double().value_unsafe());
    case dom::element_type::STRING:
      return values.text(element.get_string().value_unsafe());
    case dom::element_type::OBJECT:
      return tell_object(element.get_object().value_unsafe(), values);
    case dom::element_type::ARRAY:
      return tell_array(element.get_array().value_unsafe(), values);
  }
}

}  // namespace oomplan::measure
