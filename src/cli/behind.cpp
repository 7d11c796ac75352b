#include "behind.hpp"

#include <utility>

namespace oomplan::cli {

std::vector<std::string> files_behind(const Document& document, IngestOptions options) {
  std::vector<std::string> out{document.file};
  options.loader = [&out, load = std::exchange(options.loader, {})](const std::string& path) {
    out.push_back(path);
    return load(path);
  };
  static_cast<void>(ingest(document, options));
  return out;
}

std::vector<std::string> files_behind(const std::string& config, const IngestOptions& options) {
  const Result<Document> document = options.loader(config);
  return document ? files_behind(*document, options) : std::vector{config};
}

}  // namespace oomplan::cli
