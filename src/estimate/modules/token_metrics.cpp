#include "modules/token_metrics.hpp"

#include <algorithm>

namespace oomplan::estimator {
namespace {

/// logits[..., :-1, :].contiguous(), a copy where a batch has several rows.
Tensor shifted(Torch& t, const Tensor& logits) { return t.contiguous(t.slice(logits, 1, 0, logits->sizes[1] - 1)); }

/// Of parts of so many rows, of which two are played, as each is as large as the one before it.
void entropy(Torch& t, const Tensor& logits, std::int64_t rows_at_once) {
  const std::int64_t vocabulary = logits->sizes.back();
  const std::int64_t all = logits->numel() / vocabulary;
  const Tensor of_each = t.empty({all}, logits->dtype, "aten::sum");
  const Dims part{std::min(rows_at_once, all), vocabulary};
  Tensor scores;  // A name of the loop's, which holds the part before until the next one is made.
  for (std::int64_t i = 0; i < std::min<std::int64_t>(2, all / part[0]); ++i) {
    scores = t.empty(part, logits->dtype, "aten::_log_softmax");
    const Tensor shares = t.pointwise({&scores}, logits->dtype, "aten::exp");
    t.pointwise({&shares, &scores}, logits->dtype, "aten::mul");
  }
}

}  // namespace

void measure_tokens(Torch& t, TokenMetrics what, const Tensor& logits) {
  constexpr std::int64_t tokens_at_once = 128;
  if (what == TokenMetrics::none || !logits) return;
  Restore no_grad(t.grad_enabled, false);
  if (what == TokenMetrics::row_entropy) entropy(t, logits, logits->sizes[1]);
  if (what == TokenMetrics::entropy) entropy(t, logits, tokens_at_once);
  if (what == TokenMetrics::shifted_entropy) return entropy(t, shifted(t, logits), tokens_at_once);
  Tensor copy;
  if (what == TokenMetrics::copied_entropy) {
    copy = shifted(t, logits);
    entropy(t, copy, tokens_at_once);
  }
  const Tensor predicted_by = shifted(t, logits);
  t.empty({predicted_by->sizes[0], predicted_by->sizes[1]}, DType::int64, "aten::argmax");
}

}  // namespace oomplan::estimator
