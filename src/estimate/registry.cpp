#include <array>

#include "head.hpp"
#include "objective.hpp"
#include "op_names.hpp"
#include "play.hpp"
#include "recipe.hpp"

namespace oomplan::estimator {

namespace ops {
#define OOMPLAN_ENTRY(name) extern const OpType name;
#include "registry/ops.inc"
#undef OOMPLAN_ENTRY
}  // namespace ops

namespace heads {
#define OOMPLAN_ENTRY(name) extern const HeadType name;
#include "registry/heads.inc"
#undef OOMPLAN_ENTRY
}  // namespace heads

namespace objectives {
#define OOMPLAN_ENTRY(name) extern const Objective name;
#include "registry/objectives.inc"
#undef OOMPLAN_ENTRY
}  // namespace objectives

namespace recipes {
#define OOMPLAN_ENTRY(name) extern const Recipe name;
#include "registry/recipes.inc"
#undef OOMPLAN_ENTRY
}  // namespace recipes

namespace {

constexpr std::array all_ops{
#define OOMPLAN_ENTRY(name) &ops::name,
#include "registry/ops.inc"
#undef OOMPLAN_ENTRY
};

}  // namespace

const OpType* find_op(std::string_view name) {
  for (const OpType* op : all_ops) {
    if (op->name == name) return op;
  }
  return nullptr;
}

std::vector<std::string_view> op_names() {
  std::vector<std::string_view> out;
  for (const OpType* op : all_ops) out.push_back(op->name);
  return out;
}

const HeadType* find_head(std::string_view name) {
  static constexpr std::array all{
#define OOMPLAN_ENTRY(name) &heads::name,
#include "registry/heads.inc"
#undef OOMPLAN_ENTRY
  };
  for (const HeadType* head : all) {
    if (head->name == name) return head;
  }
  return nullptr;
}

const Objective* find_objective(Loss loss, Task task) {
  static constexpr std::array all{
#define OOMPLAN_ENTRY(name) &objectives::name,
#include "registry/objectives.inc"
#undef OOMPLAN_ENTRY
  };
  for (const Objective* first : all) {
    for (const Objective* one = first; one != nullptr; one = one->other_version) {
      if (one->loss == loss && one->task == task) return one;
    }
  }
  return nullptr;
}

const Recipe* find_recipe(std::string_view name) {
  static constexpr std::array all{
#define OOMPLAN_ENTRY(name) &recipes::name,
#include "registry/recipes.inc"
#undef OOMPLAN_ENTRY
  };
  for (const Recipe* recipe : all) {
    if (recipe->name == name) return recipe;
  }
  return nullptr;
}

}  // namespace oomplan::estimator
