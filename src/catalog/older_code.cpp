#include "oomplan/catalog/older_code.hpp"

namespace oomplan {
namespace {

void drop_where_newer(OpSpec& spec, std::string_view framework) {
  if (runs_older_code(spec, framework)) return;
  std::erase_if(spec.attributes, [](const auto& row) { return row.first == older_code; });
}

void drop_where_newer(std::vector<OpSpec>& ops, std::string_view framework) {
  for (OpSpec& spec : ops) drop_where_newer(spec, framework);
}

}  // namespace

Architecture as_run(Architecture model, std::string_view framework) {
  // peft knows what layers the experts were; where they still are, it needs no such names.
  if (any_op(model, [&](const OpSpec& spec) { return spec.op == "sparse_moe" && runs_older_code(spec, framework); }))
    model.expert_names.clear();
  drop_where_newer(model.head, framework);
  for (Segment& segment : model.body) {
    drop_where_newer(segment.stem, framework);
    for (std::vector<OpSpec>& block : segment.kinds) drop_where_newer(block, framework);
  }
  if (model.teacher != nullptr) model.teacher = std::make_shared<const Architecture>(as_run(*model.teacher, framework));
  return model;
}

}  // namespace oomplan
