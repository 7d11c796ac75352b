#include "compose.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "codec.hpp"
#include "dialect.hpp"
#include "rows.hpp"

namespace oomplan::ingestion {
namespace {

// Longer than any sane chain; a file can name itself by a new path each time, which no comparison of names sees.
constexpr std::size_t longest_chain = 16;

// The inputs of one document without its `extends`, which is handed back apart.
Inputs own_inputs(const Document& document, std::vector<Input>& extends) {
  Inputs inputs = inputs_of(document, document.root);
  std::erase_if(inputs, [&](const Input& input) {
    if (input.key == "extends") extends.push_back(input);
    return input.key == "extends";
  });
  return inputs;
}

/// Of what is none, no text may be told: the file may be any on the machine.
bool is_config(const Document& document) {
  if (!document.root.is_mapping()) return false;
  const Inputs inputs = inputs_of(document, document.root);
  return std::ranges::any_of(inputs, [](const Input& input) {
    const auto knows = [&](const Dialect* dialect) { return dialect->has(input.key); };
    return input.key == "extends" || std::ranges::any_of(registry(), knows);
  });
}

Result<Document> load(const Input& extends, const std::vector<std::string>& chain, const Loader& loader) {
  const auto path = read_text(*extends.value);
  if (!path) return bad_value(extends, "the path of a config", {});
  const std::string file = beside(extends.document->file, *path);
  if (chain.size() >= longest_chain || std::ranges::count(chain, file) > 0) {
    return at_value(extends, "ingest/extends-cycle", "extends: " + file + " leads back to itself");
  }
  if (!loader) return at_value(extends, "ingest/extends-missing", "extends: " + file + " cannot be read from here");
  auto loaded = loader(file);
  if (loaded && is_config(*loaded)) return loaded;
  if (loaded)
    return at_value(extends, "ingest/extends-missing", "extends: " + file + " has no key of a training config");
  Diagnostics errors{at_value(extends, "ingest/extends-missing", "extends: " + file + " cannot be read")};
  errors.insert(errors.end(), loaded.errors().begin(), loaded.errors().end());
  return errors;
}

// A file may hold a hundred thousand keys, so no key is compared with every other.
void add_below(Inputs& inputs, const Inputs& base) {
  std::set<std::string> above;
  for (const Input& input : inputs) above.insert(input.key);
  for (const Input& input : base) {
    if (!above.contains(input.key)) inputs.push_back(input);
  }
}

}  // namespace

Diagnostic not_a_mapping(const Document& document) {
  Diagnostic out{Severity::error,
                 "ingest/not-a-mapping",
                 "expected a mapping of keys to values, found " + shown(document.root),
                 document.at(document.root),
                 {},
                 {}};
  out.excerpt = std::string(document.line(document.root.line));
  return out;
}

Result<Composed> compose(const Document& document, const Loader& loader) {
  Composed out;
  std::vector<std::string> chain;
  const Document* next = &document;
  while (next != nullptr) {
    if (!next->root.is_mapping()) return not_a_mapping(*next);
    chain.push_back(next->file);
    std::vector<Input> extends;
    add_below(out.inputs, own_inputs(*next, extends));
    next = nullptr;
    if (extends.empty() || extends.front().value->kind == Node::Kind::null) break;
    auto loaded = load(extends.front(), chain, loader);
    if (!loaded) return loaded.errors();
    next = &out.documents.emplace_back(*std::move(loaded));
  }
  return out;
}

}  // namespace oomplan::ingestion
