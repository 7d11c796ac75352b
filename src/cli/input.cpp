#include "input.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "given_input.hpp"

namespace oomplan::cli {
namespace {

/// One byte more than the budget is enough for the reader to refuse it.
Result<std::string> standard_input(std::size_t most) {
  if (const auto given = given_input()) return std::string(given->substr(0, most + 1));
  std::string text;
  std::array<char, 65536> chunk{};
  while (text.size() <= most) {
    const ssize_t got = read(STDIN_FILENO, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      return Diagnostic{Severity::error, "read/missing", std::string("cannot read: ") + std::strerror(errno), {"-"}};
    if (got == 0) break;
    text.append(chunk.data(), static_cast<std::size_t>(got));
  }
  return text;
}

Syntax syntax_of(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && (text[first] == '{' || text[first] == '[') ? Syntax::json : Syntax::yaml;
}

}  // namespace

Result<Document> read_config(const std::string& path) {
  if (path != "-") return read_document(path);
  const ReadBudget budget;
  Result<std::string> text = standard_input(budget.bytes);
  if (!text) return text.errors();
  const Syntax syntax = syntax_of(*text);
  return parse_document(std::move(*text), "standard input", syntax, budget);
}

std::vector<std::string> config_files(const Document& document, IngestOptions options) {
  std::vector<std::string> out{document.file};
  options.loader = [&out, load = std::exchange(options.loader, {})](const std::string& path) {
    out.push_back(path);
    return load(path);
  };
  for (const NamedVersion& version : options.versions) out.push_back(version.where.file);
  // A model in a folder or a file of its own.
  const Result<TrainingPlan> plan = ingest(document, options);
  const std::string model = plan ? plan->model.name.value : "";
  if (std::error_code error; !model.empty() && std::filesystem::exists(model, error)) {
    out.insert(out.end(), {model, (std::filesystem::path(model) / "config.json").string()});
  }
  return out;
}

std::vector<std::string> config_files(const std::string& config, const IngestOptions& options) {
  const Result<Document> document = options.loader(config);
  return document ? config_files(*document, options) : std::vector{config};
}

}  // namespace oomplan::cli
