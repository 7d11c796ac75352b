#include "check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  oomplan::fuzz::check(oomplan::Syntax::python, data, size);
  return 0;
}
