#include "library_file.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "fields.hpp"

namespace oomplan::catalog {
namespace {

constexpr std::array<std::string_view, 5> library_keys{"title", "imports", "own", "mapped", "source"};

struct CostKey {
  std::string_view name{};
  Price PythonCosts::*cost = nullptr;
};
constexpr std::array cost_keys{CostKey{"forked_worker", &PythonCosts::forked_worker},
                               CostKey{"forked_object_worker", &PythonCosts::forked_object_worker},
                               CostKey{"helper", &PythonCosts::helper},
                               CostKey{"integer", &PythonCosts::integer},
                               CostKey{"slot", &PythonCosts::slot},
                               CostKey{"list", &PythonCosts::list},
                               CostKey{"text", &PythonCosts::text},
                               CostKey{"pickled_integer", &PythonCosts::pickled_integer},
                               CostKey{"apart", &PythonCosts::apart},
                               CostKey{"page", &PythonCosts::page}};

}  // namespace

Result<LibraryFile> read_library(const DataFile& file) {
  const Result<Document> document = parse(file);
  if (!document) return document.errors();
  Diagnostics errors;
  Fields fields(*document, document->root, errors);
  fields.only(library_keys);
  LibraryFile out;
  out.library = {std::string(file.name), fields.text("title"), fields.size("own"), fields.size("mapped"),
                 fields.text("source")};
  out.imports = fields.texts("imports");
  if (!errors.empty()) return errors;
  return out;
}

Result<PythonCosts> read_python(const DataFile& file) {
  const Result<Document> document = parse(file);
  if (!document) return document.errors();
  Diagnostics errors;
  Fields fields(*document, document->root, errors);
  PythonCosts out;
  for (const CostKey& key : cost_keys) {
    const std::string name(key.name);
    out.*key.cost = {fields.size(name), fields.text(name + "_source")};
  }
  // A page divides sizes.
  if (errors.empty() && out.page.bytes < Bytes(1)) fields.refuse(*fields.find("page"), "page must be above 0");
  if (!errors.empty()) return errors;
  return out;
}

}  // namespace oomplan::catalog
