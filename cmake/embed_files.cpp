// Run by embed.cmake at build time: `embed_files OUT NAMESPACE FOLDER PATH... -- PATH...` writes OUT, in NAMESPACE, with
// what each YAML before "--", below FOLDER, says, and with the text of each file behind it; of presets, the hub ids that they
// list, too. A file that cannot be read stops the build with its error.
#include <cstdint>
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
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n\"\n     \"";
    } else if (byte < 0x20 || byte > 0x7E) {
      for (const int shift : {6, 3, 0}) (out += shift == 6 ? "\\" : "") += static_cast<char>('0' + (byte >> shift & 7));
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

std::uint64_t fingerprint(std::string_view text) {
  std::uint64_t out = 0xcbf29ce484222325U;
  for (const char c : text) out = (out ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return out;
}

int failed(const std::string& file) {
  std::cerr << file << ": cannot be read or written\n";
  return 1;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string space = arguments[2];
  const std::string folder = arguments[3];
  std::map<std::string, std::string> rows;
  Ids ids;
  bool as_written = false;
  for (int i = 4; i < count; ++i) {
    const std::string path = arguments[i];
    if (path == "--") {
      as_written = true;
      continue;
    }
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
      if (!as_written) packed = oomplan::pack(document->root);
      add_ids(path, document->root, ids);
    }
    rows[path] = "    {" + view_of(path) + ",\n     " + view_of(as_written ? text.str() : "") + ",\n     " +
                 view_of(packed) + ", " + std::to_string(fingerprint(text.str())) + "U},\n";
  }
  std::ostringstream out;
  out << "#include \"oomplan/core/embedded.hpp\"\n\nnamespace oomplan::" << space
      << " {\nnamespace {\nconstexpr EmbeddedFile files[] = {\n";
  for (const auto& [path, row] : rows) out << row;
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
