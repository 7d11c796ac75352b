// Run by embed.cmake at build time: `embed_files OUT NAMESPACE FOLDER PATH...` writes OUT, in NAMESPACE, with the text
// of each PATH below FOLDER and, of YAML, what it says; of presets, the hub ids that they list, too. A file that cannot
// be read stops the build with its error.
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>

#include "../src/catalog/preset_ids.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/core/text.hpp"
#include "oomplan/read/packed.hpp"

namespace {

/// A std::string_view's initializer, with the size, which the compiler would count byte by byte.
std::string view_of(std::string_view text) {
  std::string out = "{\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n\"\n     \"";
    } else {
      out += c;
    }
  }
  return out + "\", " + std::to_string(text.size()) + "}";
}

using Ids = std::map<std::string, std::string>;  // In lower case, with the path of the preset.

void add_ids(const std::string& path, const oomplan::Node& preset, Ids& ids) {
  constexpr std::string_view folder = "presets/";
  constexpr std::string_view extension = ".yaml";
  if (!path.starts_with(folder)) return;
  const std::string name = path.substr(folder.size(), path.size() - folder.size() - extension.size());
  ids.emplace(oomplan::lowered(oomplan::catalog::id_of_name(name)), path);
  for (const std::string& id : oomplan::catalog::other_ids_in(preset)) ids.emplace(oomplan::lowered(id), path);
}

int failed(const std::string& file) {
  std::cerr << file << ": cannot be read or written\n";
  return 1;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string space = arguments[2];
  const std::string folder = arguments[3];
  std::ostringstream out;
  out << "#include \"oomplan/core/embedded.hpp\"\n\nnamespace oomplan::" << space
      << " {\nnamespace {\nconstexpr EmbeddedFile files[] = {\n";
  Ids ids;
  for (int i = 4; i < count; ++i) {
    const std::string path = arguments[i];
    const std::string file = folder + "/" + path;
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in) return failed(file);
    std::string packed;
    if (path.ends_with(".yaml")) {
      const auto document = oomplan::parse_document(text.str(), file, oomplan::Syntax::yaml);
      if (!document) {
        for (const oomplan::Diagnostic& error : document.errors()) std::cerr << oomplan::to_text(error) << '\n';
        return 1;
      }
      packed = oomplan::pack(document->root);
      add_ids(path, document->root, ids);
    }
    out << "    {" << view_of(path) << ",\n     " << view_of(text.str()) << ",\n     " << view_of(packed) << "},\n";
  }
  out << "};\n";
  if (!ids.empty()) out << "constexpr EmbeddedId ids[] = {\n";
  for (const auto& [id, path] : ids) out << "    {" << view_of(id) << ", " << view_of(path) << "},\n";
  if (!ids.empty()) out << "};\n";
  out << "}  // namespace\nstd::span<const EmbeddedFile> embedded_files();\n"
         "std::span<const EmbeddedFile> embedded_files() { return files; }\n";
  if (!ids.empty())
    out << "std::span<const EmbeddedId> embedded_ids();\nstd::span<const EmbeddedId> embedded_ids() { return ids; }\n";
  out << "}  // namespace oomplan::" << space << "\n";
  std::ofstream to(arguments[1], std::ios::binary);
  to << out.str() << std::flush;
  return to ? 0 : failed(arguments[1]);
}
