// What rows are to a tokenizer, for both kinds of reader.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "oomplan/core/text.hpp"
#include "outcome.hpp"

namespace oomplan::data {
namespace {

using Json = nlohmann::ordered_json;

Json json_of_column(const measure::TokenColumn& column) {
  Json out{{"name", printable(column.name)}, {"kind", column.text ? "text" : "whole-numbers"}, {"rows", column.rows}};
  if (column.text) {
    out["bytes"] = json_of(column.bytes);
    out["pieces"] = json_of(column.pieces);
  } else {
    out["length"] = json_of(column.pieces);
  }
  return out;
}

measure::RowSizes divided(const measure::RowSizes& bytes, double by) {
  const auto up = [by](std::int64_t n) { return static_cast<std::int64_t>(std::ceil(static_cast<double>(n) / by)); };
  return {bytes.mean / by, up(bytes.p50), up(bytes.p99), up(bytes.longest)};
}

std::string sizes(const Json& json) {
  const auto whole = [&](const char* key) { return with_separators(json[key].get<std::int64_t>()); };
  return fmt::format("mean {:.1f}, median {}, 99 % at most {}, longest {}", json["mean"].get<double>(), whole("p50"),
                     whole("p99"), whole("longest"));
}

std::string column_text(const Json& column) {
  const std::string name = "  column '" + column["name"].get<std::string>() + "', ";
  if (column["kind"] == "text") return name + "pieces of text: " + sizes(column["pieces"]) + "\n";
  return name + "whole numbers in a list: " + sizes(column["length"]) + "\n";
}

}  // namespace

Json json_of(const measure::Tokens& tokens, double bytes_per_token) {
  Json columns = Json::array();
  for (const measure::TokenColumn& column : tokens.columns) columns.push_back(json_of_column(column));
  Json out{{"columns", columns},
           {"values_left_out", tokens.values_left_out},
           {"text_bytes", json_of(tokens.text_bytes)},
           {"text_pieces", json_of(tokens.text_pieces)}};
  if (bytes_per_token > 0) {
    out["bytes_per_token"] = bytes_per_token;
    out["text_tokens"] = json_of(divided(tokens.text_bytes, bytes_per_token));
  }
  return out;
}

std::string tokens_text(const Json& tokens) {
  std::string out;
  for (const Json& column : tokens["columns"]) out += column_text(column);
  if (tokens["text_bytes"]["longest"] > 0) {
    out += "  all text of a row, bytes: " + sizes(tokens["text_bytes"]) + "\n";
    out += "    pieces: " + sizes(tokens["text_pieces"]) + "\n";
  }
  if (tokens.contains("text_tokens"))
    out += fmt::format("    tokens of {} bytes: {}\n", tokens["bytes_per_token"].get<double>(),
                       sizes(tokens["text_tokens"]));
  const auto left_out = tokens["values_left_out"].get<std::int64_t>();
  if (left_out > 0)
    out += fmt::format("  {} values of further columns are in no line above\n", with_separators(left_out));
  return out;
}

}  // namespace oomplan::data
