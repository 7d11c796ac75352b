#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "accounts.hpp"
#include "join.hpp"
#include "oomplan/report/diagnosis_view.hpp"
#include "oomplan/report/report.hpp"

namespace oomplan {
namespace {

using Json = nlohmann::ordered_json;

Json of(const Evidence& e);
Json of(const Judgement& j);
Json of(const Finding& f);
Json of(const Fix& f);
Json of(const Shown& s);
Json of(const Diagnostic& d);

Json of(const Location& where) { return {{"file", where.file}, {"line", where.line}}; }

Json of(const Reading& fact) {
  Json out{{"name", fact.name}, {"text", fact.text}};
  if (fact.kind == Reading::Kind::bytes) out["bytes"] = fact.integer;
  if (fact.kind == Reading::Kind::integer) out["number"] = fact.integer;
  if (fact.kind == Reading::Kind::real) out["number"] = fact.real;
  return out;
}

template <class T>
Json list_of(const std::vector<T>& items) {
  Json out = Json::array();
  for (const T& item : items) out.push_back(of(item));
  return out;
}

Json or_null(const std::optional<std::int64_t>& value) { return value ? Json(*value) : Json(nullptr); }

Json of(const Evidence& e) {
  return {{"message", e.message}, {"family", e.family}, {"says", name_of(e.says)},
          {"where", of(e.where)}, {"text", e.text},     {"rank", or_null(e.rank)},
          {"source", e.source},   {"time", e.time},     {"facts", list_of(e.facts)}};
}

Json of(const Judgement& j) {
  return {{"cause", name_of(j.cause)},
          {"confidence", name_of(j.confidence)},
          {"reason", j.reason},
          {"arithmetic", j.arithmetic},
          {"against", j.against}};
}

Json of(const Finding& f) { return {{"id", f.id}, {"text", f.text}}; }
Json of(const Fix& f) {
  return {{"id", f.id}, {"kind", f.kind == Fix::Kind::ladder ? "fix" : "action"}, {"text", f.text}};
}
Json of(const Shown& s) { return {{"what", s.what}, {"text", s.text}, {"where", of(s.where)}}; }
Json of(const Diagnostic& d) {
  return {{"severity", d.severity == Severity::error ? "error" : "warning"},
          {"code", d.code},
          {"message", d.message},
          {"where", of(d.where)}};
}

Json of(const Moment& m) {
  return {{"phase", m.phase}, {"reason", m.reason}, {"where", of(m.where)}, {"step", or_null(m.step)}};
}

}  // namespace

std::string diagnosis_json(const Diagnosis& d, const Diagnostics& problems) {
  const Json out{{"schema", "oomplan/diagnosis/1"},
                 {"oomplan", version()},
                 {"out_of_memory", d.out_of_memory},
                 {"headline", d.headline},
                 {"verdict", of(d.verdict)},
                 {"where", name_of(d.place)},
                 {"moment", of(d.moment)},
                 {"rank", or_null(d.rank)},
                 {"root", d.root ? of(*d.root) : Json(nullptr)},
                 {"facts", list_of(d.facts)},
                 {"also", list_of(d.also)},
                 {"meaning", d.meaning},
                 {"to_do", list_of(d.to_do)},
                 {"not_to_do", list_of(d.not_to_do)},
                 {"shows", list_of(d.shows)},
                 {"to_prove", d.to_prove},
                 {"alternatives", list_of(d.alternatives)},
                 {"supporting", list_of(d.supporting)},
                 {"consequences", list_of(d.consequences)},
                 {"snapshots", report::accounts_json(d.accounts)},
                 {"prediction", report::join_json(d.join)},
                 {"lines", d.lines},
                 {"failures", d.failures},
                 {"diagnostics", list_of(problems)}};
  // A log may hold any byte; the answer stays valid UTF-8.
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace oomplan
