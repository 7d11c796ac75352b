#include "baseline.hpp"

#include <filesystem>
#include <system_error>

#include "git.hpp"
#include "oomplan/read/glob.hpp"
#include "oomplan/read/named_document.hpp"

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

Diagnostic unread(const std::string& revision, const std::string& path, const std::string& why) {
  return {.code = "read/unreadable", .message = why + ", in " + revision, .where = {path, 0, 0}};
}

/// What git answers is "OBJECT blob SIZE" with the content, "NAME missing", or what else the name leads to; symbolic
/// links are followed within the revision. Only a name that its tree does not have is missing: the tree may have one
/// whose content is not here.
Result<std::string> blob(const std::string& revision, const std::string& path) {
  const std::string name = revision + ":./" + path;
  if (path.find('\n') != path.npos) return unread(revision, path, "git cannot be asked for a name of two lines");
  Result<std::string> text = git({"cat-file", "--batch", "--follow-symlinks"}, ReadBudget().bytes + 128, name + "\n");
  if (!text) return unread(revision, path, text.errors().front().message);
  const std::string head = text->substr(0, text->find('\n'));
  if (head == name + " missing" && !git({"rev-parse", "--verify", "--quiet", "--end-of-options", name}, 4096))
    return Diagnostic{.code = "read/missing", .message = "it is not in " + revision, .where = {path, 0, 0}};
  if (head.starts_with(name) || head.find(" blob ") == head.npos || text->size() < head.size() + 2)
    return unread(revision, path, "this is no file that git can show");
  return text->substr(head.size() + 1, text->size() - head.size() - 2);
}

Result<Document> in_revision(const std::string& revision, const std::string& path) {
  Result<std::string> text = blob(revision, path);
  if (!text) return text.errors();
  const Syntax syntax = syntax_of(path, *text);
  return parse_document(std::move(*text), path, syntax);
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

std::optional<Result<Document>> Baseline::read(const std::string& path) const {
  const std::string place = path_from_here(path);
  if (directory_.empty()) {
    Result<Document> former = in_revision(revision_, place);
    if (!former && former.errors().front().code == "read/missing") return std::nullopt;
    return former;
  }
  const fs::path former = fs::path(directory_) / place;
  std::error_code ignored;
  if (fs::symlink_status(former, ignored).type() == fs::file_type::not_found) return std::nullopt;
  return read_document(former.string());
}

Loader Baseline::loader() const {
  if (!directory_.empty()) return read_named_document;
  return [revision = revision_](const std::string& path) { return in_revision(revision, path_from_here(path)); };
}

}  // namespace oomplan::cli
