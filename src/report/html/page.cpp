#include "page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "oomplan/core/embedded.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan::report {
std::span<const EmbeddedFile> embedded_files();  // of src/report/html/: the style and the script of every page
}

namespace oomplan::report::html {
namespace {

using Json = nlohmann::ordered_json;

/// Line by line: printable() has no line ends.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '&') {
      out += "&amp;";
    } else if (letter == '<') {
      out += "&lt;";
    } else if (letter == '>') {
      out += "&gt;";
    } else if (letter == '"') {
      out += "&quot;";
    } else {
      out += letter;
    }
  }
  return out;
}

std::string escaped_lines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    out += escaped(printable(line)) + "\n";
  }
  return out;
}

/// Within a script element only "<" can end it or open a comment; in JSON it stands in strings alone.
std::string embedded(const Json& json) {
  std::string out;
  for (const char letter : json.dump(-1, ' ', false, Json::error_handler_t::replace))
    out += letter == '<' ? std::string("\\u003c") : std::string(1, letter);
  return out;
}

constexpr std::string_view last_script = "page.js";

/// A file of this folder.
std::string_view part(std::string_view name) {
  const EmbeddedFile* found = find_embedded(embedded_files(), name);
  return found == nullptr ? std::string_view{} : found->text;
}

/// The parts by name, and the one that begins the drawing behind them.
std::string script() {
  std::string out = "\"use strict\";\n";
  for (const EmbeddedFile& file : embedded_files())
    if (file.path.ends_with(".js") && file.path != last_script) out += file.text;
  return out.append(part(last_script));
}

constexpr std::string_view policy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'";

}  // namespace

std::string written(const Page& page) {
  const Json data{{"kind", page.kind}, {"answer", page.answer}, {"curve", page.curve}, {"movers", page.movers}};
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n"
      "<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n<main id=\"page\"></main>\n"
      "<details id=\"text\"><summary>The same as text</summary><pre>{}</pre></details>\n"
      "<noscript><style>#text {{ display: none }}</style><pre>{}</pre></noscript>\n"
      "<script id=\"data\" type=\"application/json\">{}</script>\n<script>\n{}</script>\n</body>\n</html>\n",
      policy, escaped(printable(page.title)), part("page.css"), escaped_lines(page.text), escaped_lines(page.text),
      embedded(data), script());
}

}  // namespace oomplan::report::html
