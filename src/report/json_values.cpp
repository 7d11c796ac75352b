#include "json_values.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace oomplan::report {

using Json = nlohmann::ordered_json;

Json object_of(std::initializer_list<Member> members) {
  Json::object_t out;
  out.reserve(members.size());
  for (const Member& member : members) out.emplace_back(member.key, std::move(member.value));
  return out;
}

Json location_json(const Location& where) {
  Json out = Json::object();
  out["file"] = where.file.empty() ? Json() : Json(where.file);
  out["line"] = where.line > 0 ? Json(where.line) : Json();
  out["column"] = where.column > 0 ? Json(where.column) : Json();
  return out;
}

Json diagnostic_json(const Diagnostic& diagnostic) {
  constexpr std::array<std::string_view, 3> severities{"note", "warning", "error"};
  Json out{{"severity", severities.at(static_cast<std::size_t>(diagnostic.severity))},
           {"code", diagnostic.code},
           {"message", diagnostic.message}};
  out.update(location_json(diagnostic.where));
  out["hint"] = diagnostic.hint.empty() ? Json() : Json(diagnostic.hint);
  return out;
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

}  // namespace oomplan::report
