#include "baseline.hpp"

#include <filesystem>
#include <system_error>

#include "git.hpp"
#include "oomplan/glob.hpp"

namespace oomplan::cli {
namespace {

namespace fs = std::filesystem;

Syntax syntax_of(const std::string& path, const std::string& text) {
  if (path.ends_with(".json")) return Syntax::json;
  if (path.ends_with(".toml")) return Syntax::toml;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool yaml = path.ends_with(".yaml") || path.ends_with(".yml");
  return !yaml && first != text.npos && (text[first] == '{' || text[first] == '[') ? Syntax::json : Syntax::yaml;
}

Result<Document> in_revision(const std::string& revision, const std::string& path) {
  const ReadBudget budget;
  Result<std::string> text = git({"cat-file", "blob", revision + ":./" + path}, budget.bytes);
  if (!text) return Diagnostic{.code = "read/missing", .message = "it is not in " + revision, .where = {path, 0, 0}};
  const Syntax syntax = syntax_of(path, *text);
  return parse_document(std::move(*text), path, syntax, budget);
}

Diagnostic refused(const std::string& name, const std::string& why) {
  return {
      .code = "cli/no-baseline",
      .message = "--baseline " + name + ": there is no such directory, and it is no git revision here (" + why + ")",
      .hint = "in CI a shallow clone lacks other revisions: fetch with their history"};
}

}  // namespace

Result<Baseline> Baseline::open(const std::string& name) {
  Baseline out;
  std::error_code ignored;
  if (fs::is_directory(name, ignored)) {
    out.directory_ = name;
    return out;
  }
  if (name.empty() || name.starts_with('-')) return refused(name, "that is no name");
  const Result<std::string> commit =
      git({"rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}"}, 4096);
  if (!commit) return refused(name, commit.errors().front().message);
  out.revision_ = commit->substr(0, commit->find('\n'));
  return out;
}

Result<Document> Baseline::read(const std::string& path) const {
  if (!directory_.empty()) return read_document((fs::path(directory_) / path_from_here(path)).string());
  return in_revision(revision_, path_from_here(path));
}

Loader Baseline::loader() const {
  if (!directory_.empty()) return [](const std::string& path) { return read_document(path); };
  return [revision = revision_](const std::string& path) { return in_revision(revision, path_from_here(path)); };
}

}  // namespace oomplan::cli
