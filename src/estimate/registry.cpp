#include <array>

#include "play.hpp"

namespace oomplan::estimator {

namespace ops {
#define OOMPLAN_ENTRY(name) extern const OpType name;
#include "registry/ops.inc"
#undef OOMPLAN_ENTRY
}  // namespace ops

const OpType* find_op(std::string_view name) {
  static constexpr std::array all{
#define OOMPLAN_ENTRY(name) &ops::name,
#include "registry/ops.inc"
#undef OOMPLAN_ENTRY
  };
  for (const OpType* op : all) {
    if (op->name == name) return op;
  }
  return nullptr;
}

}  // namespace oomplan::estimator
