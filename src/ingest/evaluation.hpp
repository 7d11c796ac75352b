// What the keys of a framework's evaluation come to, read from the inputs as they stand.
#pragma once

#include <initializer_list>
#include <string_view>

#include "dialect.hpp"

namespace oomplan::ingestion {

/// The first of `keys` that asks for something; null where none does.
const Input* asking(const Inputs& inputs, std::initializer_list<std::string_view> keys);

/// Notes the first of `keys` that asks for something as not modelled.
void note_asking(const Inputs& inputs, std::initializer_list<std::string_view> keys, std::string_view feature,
                 Draft& draft);

}  // namespace oomplan::ingestion
