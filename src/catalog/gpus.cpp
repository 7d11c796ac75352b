// find_gpu and known_gpus.
#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
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

/// Cards of several sizes may go by one name.
Diagnostic ambiguous(std::string_view name, const std::vector<Gpu>& called) {
  std::vector<std::string> names;
  for (const Gpu& gpu : called) names.push_back(gpu.name + " (" + to_text(gpu.total) + ")");
  return error_in({}, "catalog/ambiguous-gpu", "several GPUs are called " + shown(name),
                  "say which: " + joined(names) + ".");
}

std::optional<Result<Gpu>> find_listed(std::string_view name, const std::vector<DataFile>& files,
                                       const Catalog& catalog) {
  const std::string wanted = plain(name);
  for (const DataFile& file : files)
    if (squeezed(file.name) == wanted) return read_gpu(file, catalog);
  std::vector<Gpu> called;
  for (const DataFile& file : mentioning(wanted, files))
    if (Result<Gpu> gpu = read_gpu(file, catalog); gpu && is_called(*gpu, wanted)) called.push_back(*std::move(gpu));
  if (called.empty()) return std::nullopt;
  if (called.size() > 1) return Result<Gpu>(ambiguous(name, called));
  return Result<Gpu>(std::move(called.front()));
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

namespace {

/// "80", "80GB", "80 GiB" as sizes on a box are asked for.
std::optional<std::int64_t> gigabytes_in(std::string_view part) {
  const std::string text = squeezed(part);
  std::string_view digits = text;
  for (const std::string_view unit : {"gib", "gb", "g"}) {
    if (!digits.ends_with(unit)) continue;
    digits.remove_suffix(unit.size());
    break;
  }
  return parse_integer(digits);
}

/// As on the box, else the total rounded up.
std::int64_t size_on_box(const Gpu& gpu) {
  constexpr std::int64_t gib = std::int64_t{1} << 30;
  return gpu.nominal_gb > 0 ? gpu.nominal_gb : (gpu.total.count() + gib - 1) / gib;
}

bool mentions(const Gpu& gpu, const std::string& part) {
  const auto has = [&part](const std::string& text) { return squeezed(text).find(part) != std::string::npos; };
  return has(gpu.name) || has(gpu.title) || std::any_of(gpu.aliases.begin(), gpu.aliases.end(), has);
}

}  // namespace

Result<std::vector<Gpu>> known_gpus_like(std::string_view part, const Catalog& catalog) {
  const std::vector<Gpu> all = known_gpus(catalog);
  const auto that = [&all](const auto& matches) {
    std::vector<Gpu> out;
    std::copy_if(all.begin(), all.end(), std::back_inserter(out), matches);
    return out;
  };
  if (const std::optional<std::int64_t> size = gigabytes_in(part))
    if (std::vector<Gpu> out = that([&](const Gpu& gpu) { return size_on_box(gpu) == *size; }); !out.empty())
      return out;
  const std::string wanted = plain(part);
  std::vector<Gpu> out = that([&](const Gpu& gpu) { return !wanted.empty() && mentions(gpu, wanted); });
  if (out.empty()) return unknown(part, files_in("gpus", catalog));
  return out;
}

std::vector<Gpu> known_gpus(const Catalog& catalog) {
  std::vector<Gpu> out;
  for (const DataFile& file : files_in("gpus", catalog))
    if (Result<Gpu> gpu = read_gpu(file, catalog)) out.push_back(*std::move(gpu));
  return out;
}

}  // namespace oomplan
