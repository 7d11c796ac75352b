// A mesh as settings of a document, and the plan that they make.
#pragma once

#include <string>
#include <vector>

#include "oomplan/survey/meshes.hpp"

namespace oomplan::survey {

/// All that a layout says, whatever the document does: "key=value".
std::vector<std::string> all_settings(const MeshLayout& layout, const std::string& dialect, const LayoutWorld& world);

/// The question's document with them. Errors: ingest()'s; survey/other-layout where they make another plan.
Result<TrainingPlan> mesh_plan(const LayoutQuestion& question, const MeshLayout& layout);

/// Whether the plan is what the layout says.
bool is_mesh(const TrainingPlan& plan, const MeshLayout& layout);

}  // namespace oomplan::survey
