// What an optimizer holds from step to step and makes within one: models/optimizers/<name>.yaml, read.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oomplan/core/dtype.hpp"

namespace oomplan {

/// What a parameter is to the model. Optimizers and shards go by this, never by a name.
enum class Part : std::uint8_t { matrix, embedding, head, norm, bias, adapter, router, expert };
inline constexpr std::array<std::string_view, 8> part_names{"matrix", "embedding", "head",   "norm",
                                                            "bias",   "adapter",   "router", "expert"};
constexpr std::string_view name_of(Part part) { return part_names[static_cast<std::size_t>(part)]; }

/// A tensor that lives from the first step on.
struct OptimizerState {
  enum class Sizes : std::uint8_t { parameter, scalar, values, blocks };

  std::string op{};  ///< The framework's op that makes it.
  Sizes sizes = Sizes::parameter;
  std::int64_t count = 0;        ///< Of `values`: how many; of `blocks`: a value for so many elements.
  std::int64_t times = 1;        ///< So many of that in one tensor.
  std::optional<DType> dtype{};  ///< None: the parameter's.
  std::int64_t paged_from = 0;   ///< In managed memory where the parameter has so many elements; 0: never.
};

/// Which parameters get which states. The first rule that holds counts.
struct OptimizerRule {
  std::int64_t below = 0;              ///< Of parameters with fewer elements; 0: of any size.
  std::int64_t uneven = 0;             ///< Of those whose elements are no multiple of it; 0: of any.
  bool fp32_embeddings = false;        ///< Of embeddings, where the plan asks for their state in fp32.
  std::vector<OptimizerState> once{};  ///< Made before the first parameter's, and shared by all of the rule.
  std::vector<OptimizerState> states{};
  std::vector<OptimizerState> step{};  ///< What a step makes for one parameter, alive together until the next one's.
};

/// Parameters that one step() goes through.
struct OptimizerGroup {
  std::vector<Part> parts{};          ///< None: all that no group before takes.
  std::vector<std::string> except{};  ///< But where one of these is in the name: the framework goes by names.
  std::vector<OptimizerRule> rules{};
  std::vector<std::string> at_once{};  ///< Ops whose results of all parameters are alive together.
  std::vector<std::string> each{};     ///< Ops on one parameter, whose results live until the next one's is made …
  std::string kept{};  ///< … and one after them, whose result lives until the next parameter's is made.
  std::string code{};  ///< Of src/estimate/optimizers, where a table cannot say it.
};

struct OptimizerFile {
  std::string name{};
  std::string title{};
  std::string source{};
  std::vector<OptimizerGroup> groups{};
};

}  // namespace oomplan
