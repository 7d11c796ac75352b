#include "modules/linear_adapter.hpp"

#include <array>

namespace oomplan::estimator {

LinearAdapterPtr make_linear_adapter(Builder& builder, const AdaptedLinear& layer) {
  using Make = LinearAdapterPtr (*)(Builder&, const AdaptedLinear&);
  // By Adapter.
  constexpr std::array<Make, adapter_names.size()> makers{nullptr,       nullptr,        adapters::ia3, adapters::vera,
                                                          adapters::oft, adapters::loha, adapters::lokr};
  return makers.at(static_cast<std::size_t>(builder.facts.kind))(builder, layer);
}

}  // namespace oomplan::estimator
