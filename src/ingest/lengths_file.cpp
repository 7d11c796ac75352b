#include <algorithm>
#include <sstream>

#include "codec.hpp"
#include "oomplan/plan/lengths.hpp"
#include "steps.hpp"

namespace oomplan::ingestion {
namespace {

bool names_a_file(const Input& input) { return input.key == "lengths" && input.value->kind == Node::Kind::string; }

/// Numbers that only space parts are one text to YAML.
void part(Document& document) {
  if (!document.root.is_scalar()) return;
  Node list{.kind = Node::Kind::sequence, .line = document.root.line, .column = document.root.column};
  std::istringstream lines(document.text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      list.items.push_back({.kind = Node::Kind::string, .text = std::move(word), .line = number, .column = 1});
    }
  }
  document.root = std::move(list);
}

/// Without any of its text: the file may be any on the machine.
Diagnostic refused(const Document& document, const Node& at, std::string message) {
  return {.code = "ingest/bad-value", .message = std::move(message), .where = document.at(at)};
}

Diagnostics check(const Document& document) {
  const Node& root = document.root;
  if (!root.is_sequence()) return {refused(document, root, "lengths: this is no list of positive integers")};
  if (root.items.size() > most_steps)
    return {refused(document, root, "more than 4096 lengths: each is a step that is played, so give a sample of them")};
  const auto bad = std::ranges::find_if(root.items, [](const Node& item) { return !read_positive(item); });
  if (bad == root.items.end()) return {};
  return {refused(document, *bad, "lengths: this is no positive integer")};
}

Diagnostics load(Input& input, const Loader& loader, std::deque<Document>& documents) {
  const std::string& path = input.value->text;
  const std::string file = input.command_line.empty() ? beside(input.document->file, path) : path;
  if (!loader) return {at_value(input, "ingest/lengths-missing", "lengths: " + file + " cannot be read from here")};
  Result<Document> loaded = loader(file);
  if (!loaded) {
    Diagnostics errors{at_value(input, "ingest/lengths-missing", "lengths: " + file + " cannot be read")};
    errors.insert(errors.end(), loaded.errors().begin(), loaded.errors().end());
    return errors;
  }
  Document& document = documents.emplace_back(*std::move(loaded));
  part(document);
  input.value = &document.root;
  input.document = &document;
  input.command_line.clear();
  return check(document);
}

}  // namespace

Diagnostics load_lengths(Inputs& inputs, const Loader& loader, std::deque<Document>& documents) {
  Diagnostics errors;
  std::erase_if(inputs, [&](Input& input) {
    if (!names_a_file(input)) return false;
    const Diagnostics more = load(input, loader, documents);
    errors.insert(errors.end(), more.begin(), more.end());
    return !more.empty();
  });
  return errors;
}

}  // namespace oomplan::ingestion
