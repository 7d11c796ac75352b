// What every JSON answer says in the same words.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>

#include "oomplan/core/result.hpp"

namespace oomplan::report {

struct Member {
  const char* key;
  mutable nlohmann::ordered_json value;  ///< Moved into the object.
};

/// An object of members, all keys different. As Json{{key, value}, …}, which makes an array of each pair and, while it
/// grows, copies of all that it has.
nlohmann::ordered_json object_of(std::initializer_list<Member> members);

/// {file, line, column}; null what is not known.
nlohmann::ordered_json location_json(const Location& where);

/// {severity, code, message, file, line, column, hint}.
nlohmann::ordered_json diagnostic_json(const Diagnostic& diagnostic);

/// A text; null where it is empty.
nlohmann::ordered_json text_or_null(const std::string& text);

}  // namespace oomplan::report
