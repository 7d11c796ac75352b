// The projections of an attention to heads that are read one after the other, and back.
#pragma once

#include "linear.hpp"

namespace oomplan::estimator {

/// q_proj, k_proj, v_proj and o_proj below the op's module, in that order: `heads` of them and `kv_heads`, each
/// `head_dim` wide, of a stream of `width`; all with a bias where `bias` says so.
struct HeadProjections {
  HeadProjections(const Attributes& a, Builder& b) {
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    const std::int64_t all = saturating_mul(a.integer("heads"), a.integer("head_dim"));
    const std::int64_t kv = all / a.quotient("heads", "kv_heads");
    const bool bias = a.flag("bias", false);
    q = Linear(b, m + "q_proj", width, all, bias);
    k = Linear(b, m + "k_proj", width, kv, bias);
    v = Linear(b, m + "v_proj", width, kv, bias);
    o = Linear(b, m + "o_proj", all, width, bias);
  }

  Linear q{}, k{}, v{}, o{};
};

}  // namespace oomplan::estimator
