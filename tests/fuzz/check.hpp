// What must hold of any text at all: it is read or refused, and either answer is sound. Aborts where it is not.
#pragma once

#include <cstddef>
#include <cstdint>

#include "oomplan/read/document.hpp"

namespace oomplan::fuzz {

void check(Syntax syntax, const std::uint8_t* data, std::size_t size);

}  // namespace oomplan::fuzz
