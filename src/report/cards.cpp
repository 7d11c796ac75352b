#include "cards.hpp"

#include <fmt/format.h>

#include <string_view>

namespace oomplan::report {

std::string cards_text(const GpuCount& count, const Gpu& gpu) {
  constexpr std::string_view of_a_size = "a GPU";
  const bool named = !gpu.title.starts_with(of_a_size);
  if (count.gpus <= 1) return (count.said || !named ? "" : "ONE ") + gpu.title;
  return fmt::format("each of {} {}", count.gpus, named ? gpu.title : "GPUs" + gpu.title.substr(of_a_size.size()));
}

}  // namespace oomplan::report
