// Which texts of a sequence are not there before.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <vector>

namespace oomplan::python {

/// The indices of texts that differ from all before them. `texts` is a tuple of str.
std::vector<std::int64_t> first_texts(const nanobind::tuple& texts);

}  // namespace oomplan::python
