// What every JSON answer says in the same words.
#pragma once

#include <nlohmann/json.hpp>

#include "oomplan/core/result.hpp"

namespace oomplan::report {

/// {file, line, column}; null what is not known.
nlohmann::ordered_json location_json(const Location& where);

/// {severity, code, message, file, line, column, hint}.
nlohmann::ordered_json diagnostic_json(const Diagnostic& diagnostic);

/// A text; null where it is empty.
nlohmann::ordered_json text_or_null(const std::string& text);

}  // namespace oomplan::report
