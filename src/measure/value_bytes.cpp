#include "value_bytes.hpp"

#include <cstring>

namespace oomplan::measure {
namespace {

void put_sized(ByteBuffer& out, char tag, std::string_view value) {
  out.put_raw(tag, value.size());
  out.put(value);
}

template <class T>
T take_raw(std::string_view& in) {
  T value;
  std::memcpy(&value, in.data(), sizeof value);
  in.remove_prefix(sizeof value);
  return value;
}

std::string_view take_sized(std::string_view& in) {
  const auto size = take_raw<std::size_t>(in);
  const std::string_view out = in.substr(0, size);
  in.remove_prefix(size);
  return out;
}

void tell_one(char tag, std::string_view& in, Values& values) {
  switch (tag) {
    case 'n':
      return values.null();
    case 't':
    case 'f':
      return values.boolean(tag == 't');
    case 'i':
      return values.integer(take_raw<std::int64_t>(in));
    case 'u':
      return values.large_integer(take_raw<std::uint64_t>(in));
    case 'x':
      return values.number(take_raw<double>(in));
    case 'd':
      return values.decimal(take_sized(in));
    case 's':
      return values.text(take_sized(in));
    case 'b':
      return values.bytes(take_sized(in));
    case 'T':
      return values.time(take_raw<Time>(in));
    case '[':
      return values.begin_list();
    case ']':
      return values.end_list();
    case '{':
      return values.begin_object();
    case 'k':
      return values.name(take_sized(in));
    default:
      return values.end_object();
  }
}

}  // namespace

void ValueBytes::null() { out_.put('n'); }
void ValueBytes::boolean(bool value) { out_.put(value ? 't' : 'f'); }
void ValueBytes::integer(std::int64_t value) { out_.put_raw('i', value); }
void ValueBytes::large_integer(std::uint64_t value) { out_.put_raw('u', value); }
void ValueBytes::number(double value) { out_.put_raw('x', value); }
void ValueBytes::decimal(std::string_view digits) { put_sized(out_, 'd', digits); }
void ValueBytes::text(std::string_view utf8) { put_sized(out_, 's', utf8); }
void ValueBytes::bytes(std::string_view bytes) { put_sized(out_, 'b', bytes); }
void ValueBytes::time(const Time& value) { out_.put_raw('T', value); }
void ValueBytes::begin_list() { out_.put('['); }
void ValueBytes::end_list() { out_.put(']'); }
void ValueBytes::begin_object() { out_.put('{'); }
void ValueBytes::name(std::string_view utf8) { put_sized(out_, 'k', utf8); }
void ValueBytes::end_object() { out_.put('}'); }

void tell(std::string_view written, Values& values) {
  while (!written.empty()) {
    const char tag = written.front();
    written.remove_prefix(1);
    tell_one(tag, written, values);
  }
}

}  // namespace oomplan::measure
