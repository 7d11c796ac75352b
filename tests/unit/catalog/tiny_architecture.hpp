// An architecture of a few lines, and how a config reads with it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "oomplan/catalog/catalog.hpp"
#include "oomplan/core/text.hpp"
#include "oomplan/read/document.hpp"

namespace oomplan {

inline constexpr std::string_view tiny = R"(model_types: [tiny, tiny_two]
task: causal_lm
source: a test
config:
  width: {type: integer, required: true, aliases: [n_embd]}
  heads: {type: integer, required: true}
  kv_heads: {type: integer, default: $heads, divides: $heads}
  head_dim: {type: integer, default: {quotient: [$width, $heads]}}
  inner: {type: integer, default: {product: [4, $width]}}
  window: {type: integer, default: null}
  experts: {type: integer, default: 0}
  dropout: {type: number, default: 0.1}
  bias: {type: boolean, default: false}
  act: {type: string, default: gelu}
layers: 3
block_module: layers
tied_embeddings: true
max_positions: $window
stem:
  - {op: embedding, module: wte, rows: 100, width: $width}
block:
  - {op: attention, module: attn, width: $width, window: $window, dropout: $dropout, bias: $bias}
  - {op: mlp, inner: $inner, act: $act, kv: {product: [$kv_heads, $head_dim]}, approximate: tanh}
tail: []
expect:
  some/model: 1000
)";

inline std::string with(std::string_view from, std::string_view to) {
  std::string out(tiny);
  const std::size_t at = out.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return out.replace(at, from.size(), to);
}

inline Result<Architecture> read(const std::string& config, std::string architecture = std::string(tiny)) {
  const Result<Document> document = parse_document(config, "config.json", Syntax::json);
  EXPECT_TRUE(document.ok()) << config;
  if (!document) return document.errors();
  return architecture_of(*document, Catalog{{{"architectures/tiny.yaml", std::move(architecture), "tiny.yaml"}}});
}

inline std::string errors(const std::string& config, std::string architecture = std::string(tiny)) {
  const Result<Architecture> out = read(config, std::move(architecture));
  if (out) return "";
  std::string text;
  for (const Diagnostic& error : out.errors()) text += to_text(error);
  return text;
}

inline const std::string good = R"({"model_type": "tiny", "width": 64, "heads": 4, "window": 512})";

template <class T>
T attribute(const OpSpec& op, std::string_view name) {
  const Attribute* found = op.find(name);
  EXPECT_NE(found, nullptr) << name;
  return found == nullptr ? T{} : std::get<T>(*found);
}

}  // namespace oomplan
