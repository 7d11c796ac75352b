#include "script.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "dialect.hpp"

namespace oomplan::ingestion {

bool imports(const Document& script, std::string_view module) {
  const Node* modules = script.root.find("imports");
  if (modules == nullptr) return false;
  return std::ranges::any_of(modules->items, [&](const Node& one) {
    const bool begins = std::string_view(one.text).starts_with(module);
    return begins && (one.text.size() == module.size() || one.text[module.size()] == '.');
  });
}

std::string_view call_of(const Node& step) {
  const Node* call = step.find("call");
  return call == nullptr ? std::string_view{} : std::string_view(call->text);
}

std::string_view function_of(std::string_view call) {
  const auto dot = call.rfind('.');
  return dot == call.npos ? call : call.substr(dot + 1);
}

std::string_view owner_of(std::string_view call) {
  const auto dot = call.rfind('.');
  return dot == call.npos ? std::string_view{} : call.substr(0, dot);
}

Diagnostic script_error(const Document& script, const Node& at, std::string_view code, std::string message,
                        std::string hint) {
  Diagnostic out{Severity::error, std::string(code), std::move(message), script.at(at), std::move(hint), {}};
  out.excerpt = std::string(script.line(at.line));
  return out;
}

namespace {

/// A framework whose configs came to be Python functions, and what to give in their place.
struct Unread {
  std::string_view module{};
  std::string_view message{};
  std::string_view hint{};
};

constexpr std::array unread{
    Unread{"torchtitan", "torchtitan's configs in Python, of its releases after 0.2.2, are not read",
           "write what the function sets as TOML with the keys of torchtitan 0.2.2, or as a plain config"},
};

Diagnostic no_dialect(const Document& script, std::string_view dialect) {
  Diagnostic out{Severity::error, "ingest/unknown-dialect", {}, {script.file, 0, 0}, {}, {}};
  const auto* found = std::ranges::find_if(unread, [&](const Unread& one) { return imports(script, one.module); });
  if (found != unread.end()) {
    out.message = found->message;
    out.hint = found->hint;
    return out;
  }
  out.message = dialect.empty() ? "this script imports no framework whose scripts are read (unsloth)"
                                : "no scripts are read as " + std::string(dialect);
  out.hint = "only scripts and notebooks that import unsloth are read; of other frameworks the config files";
  return out;
}

}  // namespace

Result<ScriptConfig> config_of(const Document& script, std::string_view dialect) {
  const auto reads = [&](const Dialect* one) {
    return one->of_script != nullptr && (dialect.empty() ? one->of_script->is(script) : one->name == dialect);
  };
  const auto found = std::ranges::find_if(registry(), reads);
  if (found == registry().end()) return no_dialect(script, dialect);
  Result<Node> root = (*found)->of_script->config(script);
  if (!root) return root.errors();
  ScriptConfig out{(*found)->name, script};
  out.document.root = *std::move(root);
  return out;
}

}  // namespace oomplan::ingestion
