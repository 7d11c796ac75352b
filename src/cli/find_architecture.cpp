#include "find_architecture.hpp"

#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "codes.hpp"
#include "errors.hpp"

namespace oomplan::cli {
namespace {

/// A relative path is taken from the working directory, as the frameworks take it; its user may have meant the
/// config's.
void hint_beside(Diagnostics& errors, const Setting<std::string>& model) {
  const std::filesystem::path beside = std::filesystem::path(model.origin.where.file).parent_path() / model.value;
  std::error_code ignored;
  if (model.origin.kind != Origin::Kind::config || !std::filesystem::exists(beside, ignored)) return;
  for (Diagnostic& error : errors) {
    if (error.code != "catalog/unknown-model") continue;
    error.hint = "paths in a config are taken from the working directory, and " + beside.string() +
                 " is there: run in the config's folder, or write that path.";
  }
}

/// False where there is one that is not found.
bool find_teacher(Findings& findings, const Catalog& catalog) {
  const Setting<std::string>& teacher = findings.plan->model.teacher;
  if (teacher.value.empty()) return true;
  Result<Architecture> architecture = find_model(teacher.value, catalog);
  if (!architecture) {
    Diagnostics errors = placed(architecture.errors(), teacher.origin);
    hint_beside(errors, teacher);
    findings.diagnostics.insert(findings.diagnostics.end(), errors.begin(), errors.end());
    return false;
  }
  findings.architecture->teacher = std::make_shared<const Architecture>(std::move(*architecture));
  return true;
}

}  // namespace

bool find_architecture(Findings& findings, const Catalog& catalog) {
  const Setting<std::string>& model = findings.plan->model.name;
  Result<Architecture> architecture = find_model(model.value, catalog, findings.plan->model_config);
  if (architecture) {
    findings.architecture = std::move(*architecture);
    return find_teacher(findings, catalog);
  }
  for (const Unmodelled& gap : findings.plan->unmodelled) findings.diagnostics.push_back(error_of(gap));
  Diagnostics errors = placed(architecture.errors(), model.origin);
  hint_beside(errors, model);
  findings.diagnostics.insert(findings.diagnostics.end(), errors.begin(), errors.end());
  return false;
}

}  // namespace oomplan::cli
