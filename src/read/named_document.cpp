#include "oomplan/read/named_document.hpp"

#include <utility>

namespace oomplan {

Result<Document> read_named_document(const std::string& path) {
  Result<Document> document = read_document(path);
  if (document) return document;
  Diagnostics errors = document.errors();
  for (Diagnostic& error : errors) {
    error.excerpt.clear();
    if (error.code == "read/duplicate-key") error.message = "a key is given twice";
  }
  return errors;
}

}  // namespace oomplan
