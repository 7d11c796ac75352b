#include "parameter.hpp"

#include <cstddef>

namespace oomplan::estimator {

ParameterOrder of_all_layers(const ParameterOrder& order) {
  ParameterOrder out;
  for (std::size_t first = 0, end = 0; first < order.size(); first = end) {
    const std::int64_t times = order[first]->layers;
    while (end < order.size() && order[end]->layers == times) ++end;
    for (std::int64_t i = 0; i < times; ++i) {
      out.insert(out.end(), order.begin() + static_cast<std::ptrdiff_t>(first),
                 order.begin() + static_cast<std::ptrdiff_t>(end));
    }
  }
  return out;
}

}  // namespace oomplan::estimator
