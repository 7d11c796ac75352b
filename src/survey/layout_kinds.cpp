// models/layouts, read.
#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "oomplan/core/embedded.hpp"
#include "oomplan/read/packed.hpp"
#include "oomplan/survey/layouts.hpp"

namespace oomplan {

namespace layouts {
std::span<const EmbeddedFile> embedded_files();  // of models/layouts/
}

namespace {

constexpr std::string_view yaml = ".yaml";
constexpr std::array<std::string_view, 9> layout_keys{
    "title", "what", "source", "launch", "sharding", "least_gpus", "most_gpus", "least_machines", "least_each"};

class LayoutReader {
 public:
  explicit LayoutReader(const Document& document) : document_(document) {}

  Result<LayoutKind> kind(std::string name) {
    for (const Entry& entry : document_.root.entries)
      if (std::ranges::count(layout_keys, entry.key) == 0)
        refuse(entry.value, "a layout has no key \"" + entry.key + "\"");
    text("source");
    LayoutKind out{.name = std::move(name), .title = text("title"), .what = text("what"), .launch = text("launch")};
    out.least_gpus = count("least_gpus", out.least_gpus);
    out.most_gpus = count("most_gpus", out.most_gpus);
    out.least_machines = count("least_machines", out.least_machines);
    out.least_each = count("least_each", out.least_each);
    out.sharding = sharding();
    return errors_.empty() ? Result<LayoutKind>(std::move(out)) : errors_;
  }

 private:
  void refuse(const Node& node, std::string message) {
    errors_.push_back({.code = "survey/bad-layout", .message = std::move(message), .where = document_.at(node)});
  }

  std::string text(const std::string& key) {
    const Node* node = document_.root.find(key);
    if (node != nullptr && node->is_scalar() && !node->text.empty()) return node->text;
    refuse(node != nullptr ? *node : document_.root, "\"" + key + "\" is a text");
    return {};
  }

  Sharding sharding() {
    const auto found = std::ranges::find(sharding_names, text("sharding"));
    if (found != sharding_names.end()) return static_cast<Sharding>(found - sharding_names.begin());
    refuse(document_.root, "\"sharding\" is none of those that there are");
    return Sharding::none;
  }

  std::int64_t count(const std::string& key, std::int64_t otherwise) {
    const Node* node = document_.root.find(key);
    if (node == nullptr) return otherwise;
    const std::optional<std::int64_t> value = node->as_integer();
    if (value && *value > 0) return *value;
    refuse(*node, "\"" + key + "\" is a positive integer");
    return otherwise;
  }

  const Document& document_;
  Diagnostics errors_{};
};

}  // namespace

Result<std::vector<LayoutKind>> layout_kinds() {
  std::vector<LayoutKind> out;
  for (const EmbeddedFile& file : layouts::embedded_files()) {
    const Result<Document> document = data_document(file.text, file.packed, "models/layouts/" + std::string(file.path));
    if (!document) return document.errors();
    Result<LayoutKind> kind =
        LayoutReader(*document).kind(std::string(file.path.substr(0, file.path.size() - yaml.size())));
    if (!kind) return kind.errors();
    out.push_back(std::move(*kind));
  }
  return out;
}

std::string launch_file(const LayoutKind& kind, const LayoutWorld& world) {
  const std::array<std::pair<std::string_view, std::string>, 4> values{{{"{gpus}", std::to_string(world.gpus())},
                                                                        {"{each}", std::to_string(world.each)},
                                                                        {"{machines}", std::to_string(world.machines)},
                                                                        {"{precision}", world.precision}}};
  std::string out = kind.launch;
  for (const auto& [name, value] : values)
    for (std::size_t at = out.find(name); at != out.npos; at = out.find(name, at + value.size()))
      out.replace(at, name.size(), value);
  return out;
}

}  // namespace oomplan
