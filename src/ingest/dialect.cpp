#include "dialect.hpp"

#include <algorithm>
#include <iterator>

namespace oomplan::ingestion {
namespace {

template <class T>
void append(std::vector<T>& to, std::vector<T>&& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

Origin default_of(std::string_view source) { return {Origin::Kind::framework_default, std::string(source), {}}; }
Origin assumed(std::string_view source) { return {Origin::Kind::assumed, std::string(source), {}}; }

void take(Draft& draft, Findings&& findings) {
  append(draft.errors, std::move(findings.errors));
  append(draft.bad_keys, std::move(findings.bad_keys));
  append(draft.plan.warnings, std::move(findings.warnings));
  append(draft.plan.unmodelled, std::move(findings.unmodelled));
}

void miss(Draft& draft, const Document& document, std::string_view field, std::initializer_list<std::string_view> keys,
          const std::string& message, const std::string& hint) {
  for (const std::string_view key : keys) {
    if (std::ranges::count(draft.bad_keys, key) > 0) return;
  }
  const Location whole{document.file, 0, 0};
  draft.missing.push_back({std::string(field), {Severity::error, "ingest/missing-fact", message, whole, hint, {}}});
}

void conflict(Draft& draft, const Origin& at, const Document& document, std::string message) {
  Diagnostic error{Severity::error, "ingest/conflict", std::move(message), at.where, {}, {}};
  if (at.kind == Origin::Kind::command_line) error.where = {"--set " + at.source, 0, 0};
  if (error.where.file.empty()) error.where.file = document.file;
  if (error.where.file == document.file) error.excerpt = std::string(document.line(at.where.line));
  draft.errors.push_back(std::move(error));
}

}  // namespace oomplan::ingestion
