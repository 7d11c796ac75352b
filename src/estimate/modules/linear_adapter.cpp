#include "modules/linear_adapter.hpp"

#include <array>

namespace oomplan::estimator {

Tensor AddedWeight::operator()(Play& play, const Tensor& x, const Base& base) const {
  Torch& t = play.torch;
  Tensor result = base(x);
  result = t.add(result, update(t, x));
  return t.to(result, x->dtype);
}

Tensor AddedWeight::update(Torch& t, const Tensor& x) const {
  const Tensor added = weight(t);
  const Tensor input = t.to(x, added->dtype);
  return t.linear(input, added, {});
}

LinearAdapterPtr make_linear_adapter(Builder& builder, const AdaptedLinear& layer) {
  using Make = LinearAdapterPtr (*)(Builder&, const AdaptedLinear&);
  // By Adapter.
  constexpr std::array<Make, adapter_names.size()> makers{nullptr,       nullptr,        adapters::ia3, adapters::vera,
                                                          adapters::oft, adapters::loha, adapters::lokr};
  return makers.at(static_cast<std::size_t>(builder.facts.kind))(builder, layer);
}

}  // namespace oomplan::estimator
