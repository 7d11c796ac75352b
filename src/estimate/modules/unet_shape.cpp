#include "modules/unet_shape.hpp"

#include <algorithm>

#include "modules/latents.hpp"

namespace oomplan::estimator {
namespace {

constexpr std::size_t most_stages = 8;
constexpr std::int64_t most_layers = 64;   // Of a stage, and of a transformer.
constexpr std::int64_t most_blocks = 512;  // SDXL has 70 of transformers.

/// Whether each stage's numbers are such as diffusers builds.
bool is_sound(const UnetShape& shape) {
  return std::ranges::all_of(shape.down, [&](const UnetShape::Stage& s) {
    return s.width % s.heads == 0 && s.width % shape.groups == 0 && s.layers <= most_layers && s.resnets <= most_layers;
  });
}

std::int64_t blocks_of(const std::vector<UnetShape::Stage>& stages) {
  std::int64_t out = 0;
  for (const UnetShape::Stage& s : stages)
    out = saturating_add(out, saturating_mul(s.resnets, s.attends ? saturating_add(s.layers, 1) : 1));
  return out;
}

}  // namespace

UnetShape unet_shape(const Attributes& a, Builder& /*b*/) {
  UnetShape out;
  const std::vector<std::string> down = words_in(a, "down");
  const std::vector<std::string> up = words_in(a, "up");
  const std::size_t stages = down.size();
  for (const char* list : {"widths", "resnets", "layers", "heads", "text"}) {
    const std::vector<std::int64_t> all = numbers_in(a, list);
    const bool fits = all.size() == stages || (all.size() == 1 && std::string_view(list) != "widths");
    if (fits && *std::ranges::min_element(all) > 0) continue;
    a.unmodelled("a list of its config with other than a number for each of its blocks");
    return out;
  }
  if (stages < 1 || stages > most_stages || up.size() != stages) {
    a.unmodelled("down_block_types and up_block_types of other lengths");
    return out;
  }
  out.groups = a.integer("groups", 32);
  out.dropout = a.number("dropout", 0.0);
  out.linear = a.flag("linear", false);
  out.time = saturating_mul(number_in(a, "widths", 0), 4);
  const auto add = [&](std::vector<UnetShape::Stage>& to, const std::string& type, const std::string& plain,
                       const std::string& attending, std::size_t i) {
    if (type != plain && type != attending) a.unmodelled("blocks of type " + type);
    to.push_back({type == attending, number_in(a, "widths", i), number_in(a, "resnets", i), number_in(a, "layers", i),
                  number_in(a, "heads", i), number_in(a, "text", i)});
  };
  for (std::size_t i = 0; i < stages; ++i) {
    add(out.down, down[i], "DownBlock2D", "CrossAttnDownBlock2D", i);
    add(out.up, up[i], "UpBlock2D", "CrossAttnUpBlock2D", stages - 1 - i);
    ++out.up.back().resnets;
  }
  if (saturating_add(blocks_of(out.down), blocks_of(out.up)) > most_blocks) {
    a.unmodelled("so many blocks");
    return {};
  }
  if (is_sound(out)) return out;
  a.unmodelled("widths that its heads or its norms' groups do not divide");
  return {};
}

}  // namespace oomplan::estimator
