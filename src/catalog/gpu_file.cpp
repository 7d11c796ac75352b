#include "gpu_file.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "errors.hpp"
#include "fields.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan::catalog {
namespace {

constexpr std::array<std::string_view, 11> gpu_keys{"title",      "aliases", "generation",    "compute_capability",
                                                    "nominal_gb", "total",   "total_highest", "evidence",
                                                    "assumed",    "apart",   "speed"};
constexpr std::array<std::string_view, 3> speed_keys{"tflops", "link_gb_s", "source"};
constexpr std::array<std::string_view, 4> generation_keys{"title", "context", "context_source", "cublas_workspace"};

/// "23.52 GiB" as PyTorch prints it is rounded to hundredths. The least of the sizes that print so is the safe one.
std::optional<Bytes> least_printed_as(std::string_view text) {
  constexpr std::string_view unit = " GiB";
  if (!text.ends_with(unit)) return std::nullopt;
  text.remove_suffix(unit.size());
  if (text.size() < 4 || text[text.size() - 3] != '.') return std::nullopt;
  std::string digits(text);
  digits.erase(digits.size() - 3, 1);
  const std::optional<std::int64_t> hundredths = parse_integer(digits);
  if (!hundredths || *hundredths < 1 || *hundredths > 10'000'000) return std::nullopt;
  return Bytes(((2 * *hundredths - 1) * (std::int64_t{1} << 30)) / 200 + 1);
}

std::optional<Bytes> total_of(std::string_view text) {
  if (const std::optional<std::int64_t> exact = parse_integer(text); exact && *exact > 0) return Bytes(*exact);
  return least_printed_as(text);
}

Bytes total_in(Fields& fields, std::string_view key) {
  const std::string text = fields.text(key);
  if (const std::optional<Bytes> total = total_of(text)) return *total;
  if (!text.empty())
    fields.refuse(*fields.find(key),
                  shown(key) + " must be as PyTorch prints it (\"23.52 GiB\") or exact bytes, not " + shown(text));
  return {};
}

std::int64_t nominal_in(Fields& fields) {
  constexpr std::int64_t most = 10'000;
  const Node* node = fields.find("nominal_gb");
  if (node == nullptr) return 0;
  const std::optional<std::int64_t> value = node->as_integer();
  if (value && *value > 0 && *value <= most) return *value;
  fields.refuse(*node, "\"nominal_gb\" must be a number of GB, not " + shown(*node));
  return 0;
}

double number_in(Fields& fields, const std::string& key) {
  const Node* node = fields.required(key);
  if (node == nullptr) return 0;
  const std::optional<double> value = node->as_number();
  if (value && *value > 0) return *value;
  fields.refuse(*node, shown(key) + " must be a number above 0, not " + shown(*node));
  return 0;
}

std::optional<GpuSpeed> speed_in(Fields& fields) {
  const Node* node = fields.find("speed");
  if (node == nullptr) return std::nullopt;
  Fields speed(fields.document(), *node, fields.errors());
  speed.only(speed_keys);
  return GpuSpeed{number_in(speed, "tflops"), number_in(speed, "link_gb_s"), speed.text("source")};
}

std::string total_source(Fields& fields) {
  const std::string highest = fields.text("total_highest", false);
  const std::string assumed = fields.text("assumed", false);
  const std::string evidence = fields.text("evidence", assumed.empty());
  if (!assumed.empty() && !evidence.empty())
    fields.refuse(*fields.find("assumed"), "\"assumed\" stands where there is no \"evidence\"");
  if (!assumed.empty()) return assumed;
  return highest.empty() ? evidence : evidence + "; up to " + highest + " seen";
}

Gpu gpu_of(Fields& fields, const Generation& generation, std::string name) {
  Gpu gpu;
  gpu.name = std::move(name);
  gpu.title = fields.text("title");
  gpu.compute_capability = fields.text("compute_capability", false);
  gpu.nominal_gb = nominal_in(fields);
  gpu.total = total_in(fields, "total");
  gpu.total_source = total_source(fields);
  gpu.total_assumed = fields.find("assumed") != nullptr;
  gpu.apart = fields.text("apart", false);
  gpu.context = generation.context;
  gpu.context_source = generation.context_source;
  gpu.cublas_workspace = generation.cublas_workspace;
  gpu.speed = speed_in(fields);
  gpu.aliases = fields.texts("aliases");
  return gpu;
}

}  // namespace

Result<Generation> read_generation(const DataFile& file) {
  const Result<Document> document = parse(file);
  if (!document) return document.errors();
  Diagnostics errors;
  Fields fields(*document, document->root, errors);
  fields.only(generation_keys);
  Generation out{fields.text("title"), fields.size("context"), fields.text("context_source"),
                 fields.size("cublas_workspace")};
  if (!errors.empty()) return errors;
  return out;
}

Result<Gpu> read_gpu(const DataFile& file, const Catalog& catalog) {
  const Result<Document> document = parse(file);
  if (!document) return document.errors();
  Diagnostics errors;
  Fields fields(*document, document->root, errors);
  fields.only(gpu_keys);
  const std::string name = fields.text("generation");
  if (!errors.empty()) return errors;
  const std::optional<DataFile> beside = find_file("generations", name, catalog);
  if (!beside) {
    fields.refuse(*fields.find("generation"), "there is no models/generations/" + name + ".yaml");
    return errors;
  }
  const Result<Generation> generation = read_generation(*beside);
  if (!generation) return generation.errors();
  Gpu gpu = gpu_of(fields, *generation, std::string(file.name));
  if (!errors.empty()) return errors;
  return gpu;
}

}  // namespace oomplan::catalog
