// find_gpu and known_gpus.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "errors.hpp"
#include "files.hpp"
#include "gpu_file.hpp"
#include "oomplan/catalog/catalog.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan {
namespace {

using namespace catalog;

/// Names what a GPU is sold under; drivers print them, people leave them out.
constexpr std::array<std::string_view, 5> makers{"nvidia", "amd", "geforce", "tesla", "quadro"};

constexpr std::string_view common_generation = "ampere";
constexpr Bytes smallest = Bytes::mib(512);
constexpr Bytes largest = Bytes::gib(16 << 10);

std::string plain(std::string_view name) {
  std::string out = squeezed(name);
  for (const std::string_view maker : makers)
    if (out.starts_with(maker) && out.size() > maker.size()) out.erase(0, maker.size());
  return out;
}

bool is_called(const Gpu& gpu, std::string_view name) {
  const auto same = [name](const std::string& other) { return plain(other) == name; };
  return same(gpu.name) || same(gpu.title) || std::any_of(gpu.aliases.begin(), gpu.aliases.end(), same);
}

std::optional<Result<Gpu>> find_listed(std::string_view name, const std::vector<DataFile>& files,
                                       const Catalog& catalog) {
  const std::string wanted = plain(name);
  for (const DataFile& file : files)
    if (squeezed(file.name) == wanted) return read_gpu(file, catalog);
  for (const DataFile& file : mentioning(wanted, files))
    if (Result<Gpu> gpu = read_gpu(file, catalog); gpu && is_called(*gpu, wanted)) return gpu;
  return std::nullopt;
}

std::string size_name(Bytes size) {
  const std::int64_t gib = size.count() >> 30;
  return Bytes::gib(gib) == size ? std::to_string(gib) + " GiB" : to_text(size);
}

Result<Gpu> gpu_of_size(Bytes size, const Catalog& catalog) {
  const Result<Generation> generation = read_generation(*find_file("generations", common_generation, catalog));
  if (!generation) return generation.errors();
  Gpu gpu;
  gpu.name = size_name(size);
  gpu.title = "a GPU with " + gpu.name;
  gpu.total = size;
  gpu.context = generation->context;
  gpu.cublas_workspace = generation->cublas_workspace;
  gpu.total_source = "as given";
  gpu.context_source =
      "taken as on " + generation->title + ", since only a size was given: " + generation->context_source;
  return gpu;
}

std::vector<std::string> names_of(const std::vector<DataFile>& files) {
  std::vector<std::string> out;
  for (const DataFile& file : files) out.emplace_back(file.name);
  return out;
}

Diagnostic unknown(std::string_view name, const std::vector<DataFile>& files) {
  const std::vector<std::string> near = near_names(plain(name), names_of(files));
  const std::string hint = near.empty() ? "" : "did you mean " + joined(near) + "? ";
  return error_in({}, "catalog/unknown-gpu", "no GPU " + shown(name) + " is known",
                  hint + (near.empty() ? "G" : "Or g") + "ive its memory as a size (\"24GiB\").");
}

/// A bare number most likely lacks its unit.
Diagnostic no_such_size(std::string_view name, Bytes size) {
  const std::string hint = parse_integer(name)
                               ? "write the unit with the size (\"24GiB\")."
                               : "sizes from " + to_text(smallest) + " to " + to_text(largest) + " are taken.";
  return error_in({}, "catalog/unknown-gpu", "no GPU has " + to_text(size) + " of memory", hint);
}

}  // namespace

Result<Gpu> find_gpu(std::string_view name, const Catalog& catalog) {
  const std::vector<DataFile> files = files_in("gpus", catalog);
  if (std::optional<Result<Gpu>> listed = find_listed(name, files, catalog)) return *std::move(listed);
  const std::optional<Bytes> size = parse_bytes(name);
  if (!size) return unknown(name, files);
  if (*size >= smallest && *size <= largest) return gpu_of_size(*size, catalog);
  return no_such_size(name, *size);
}

std::vector<Gpu> known_gpus(const Catalog& catalog) {
  std::vector<Gpu> out;
  for (const DataFile& file : files_in("gpus", catalog))
    if (Result<Gpu> gpu = read_gpu(file, catalog)) out.push_back(*std::move(gpu));
  return out;
}

}  // namespace oomplan
