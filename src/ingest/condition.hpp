// When a rule of keys.yaml acts: terms joined by " & ", on the values that a config gives.
#pragma once

#include <string_view>

#include "inputs.hpp"

namespace oomplan::ingestion {

/// A term is a key with a test, or "!" and a term that must not hold; "a|b" is any of the keys, dotted ones stand in a
/// mapping, and the first key of all is the one that a message points at:
///
///     key          its value is one that Python takes for true
///     key?         it has a value other than null
///     key??        it stands there
///     key=a|b      the value is one of these (numbers by value; true and false as such)
///     key!=a|b     it is one that Python takes for true, and none of these
///     key!=@other  ... and not that of the other key
///     key^=a       its text begins so
///     key~a        its text, or an item of the list, has this in it
///     key>1        it is a number beyond, or anything else that Python takes for true
///     key<=0       it is a number up to this
bool holds(std::string_view condition, const Inputs& inputs);

/// The key that a condition begins with.
std::string_view subject_of(std::string_view condition);

/// The value of a key, which may be dotted; the command line's before the file's. Null where it is not there.
const Node* find_value(const Inputs& inputs, std::string_view key);

/// Whether Python takes the value for true.
bool is_truthy(const Node& node);

}  // namespace oomplan::ingestion
