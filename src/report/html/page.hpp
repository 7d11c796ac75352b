// One self-contained page.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace oomplan::report::html {

/// What the page is made of: the answer as its JSON view has it, from which the script draws, and as text for whoever
/// has no script.
struct Page {
  std::string_view kind{};  ///< "estimate", "fix", "gate" or "diagnose": what the script draws.
  std::string title{};
  nlohmann::ordered_json answer{};
  nlohmann::ordered_json curve{};   ///< Of "estimate": its step over time.
  nlohmann::ordered_json movers{};  ///< Of "estimate": for each bucket the names of the facts that move it.
  std::string text{};
};

std::string written(const Page& page);

}  // namespace oomplan::report::html
