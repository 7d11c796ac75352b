#include "group.hpp"

#include <fmt/format.h>

#include "oomplan/core/text.hpp"

namespace oomplan::report {
namespace {

std::string layers_text(const LiveGroup& group) {
  if (group.first_layer == group.last_layer) return fmt::format("layer {}", group.first_layer);
  return fmt::format("layers {}-{}", group.first_layer, group.last_layer);
}

}  // namespace

std::string shape_text(const LiveGroup& group) {
  std::string out;
  for (const std::int64_t size : group.shape) out += (out.empty() ? "" : "×") + std::to_string(size);
  return out.empty() ? "scalar" : out;
}

std::string tensors_text(const LiveGroup& group) {
  return fmt::format("{} × {} {}", with_separators(group.count), shape_text(group), name_of(group.dtype));
}

std::string place_text(const LiveGroup& group) {
  if (group.first_layer < 0) return group.module;
  const std::size_t star = group.module.find("*.");
  const std::string inside = star == std::string::npos ? "" : ": " + group.module.substr(star + 2);
  return layers_text(group) + inside;
}

std::vector<LiveGroup> of_bucket(const std::vector<LiveGroup>& groups, Bucket bucket) {
  std::vector<LiveGroup> out;
  for (const LiveGroup& group : groups) {
    if (group.bucket == bucket) out.push_back(group);
  }
  return out;
}

std::string op_text(const LiveGroup& group) {
  constexpr std::string_view prefix = "aten::";
  return group.op.starts_with(prefix) ? group.op.substr(prefix.size()) : group.op;
}

Bytes unrounded(const LiveGroup& group) {
  Bytes bytes(bytes_of(group.dtype));
  for (const std::int64_t size : group.shape) bytes = bytes * size;
  return bytes * group.count;
}

Row group_row(const LiveGroup& group, const Unit& unit) {
  return {{in_unit(group.bytes, unit), true},
          {std::string(name_of(group.bucket))},
          {tensors_text(group)},
          {place_text(group)},
          {op_text(group)}};
}

Row group_heading(const Unit& unit) {
  Row row{{std::string(unit.name), true}, {"bucket"}, {"tensors"}, {"in"}, {"made by"}};
  for (Cell& cell : row) cell.paint = Paint::dim;
  return row;
}

}  // namespace oomplan::report
