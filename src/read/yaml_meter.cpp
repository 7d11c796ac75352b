#include "yaml_meter.hpp"

#include <algorithm>

namespace oomplan::read {
namespace {

constexpr std::size_t step = 2048;  // bytes

bool makes_token(char c) { return std::string_view("[]{},:?-&*!\"'").find(c) != std::string_view::npos; }

}  // namespace

YamlMeter::int_type YamlMeter::underflow() {
  if (gptr() < egptr()) return traits_type::to_int_type(*gptr());
  const std::string_view part = text_.substr(next_, step);
  if (part.empty() || exceeded_) return traits_type::eof();
  passed_ += static_cast<std::size_t>(std::count_if(part.begin(), part.end(), makes_token));
  exceeded_ = passed_ > most_;
  if (exceeded_) return traits_type::eof();
  next_ += part.size();
  char* const begin = const_cast<char*>(part.data());  // streambuf asks for it; nothing here writes
  setg(begin, begin, begin + part.size());
  return traits_type::to_int_type(*begin);
}

}  // namespace oomplan::read
