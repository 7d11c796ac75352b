// How views name allocations that are alike in all but their layer.
#pragma once

#include <string>
#include <vector>

#include "layout.hpp"
#include "oomplan/estimate/footprint.hpp"

namespace oomplan::report {

/// "2048×128256"; "scalar" for no dimensions.
std::string shape_text(const LiveGroup& group);

/// "32 × 2048×4096 bf16".
std::string tensors_text(const LiveGroup& group);

/// "layers 0-31: mlp.down_proj", "lm_head".
std::string place_text(const LiveGroup& group);

/// The op without the namespace that nearly all share.
std::string op_text(const LiveGroup& group);

/// Those of one bucket, in their order.
std::vector<LiveGroup> of_bucket(const std::vector<LiveGroup>& groups, Bucket bucket);

/// What the shapes alone come to, before each storage is rounded up to the allocator's 512 bytes.
Bytes unrounded(const LiveGroup& group);

/// size, bucket, tensors, place, op.
Row group_row(const LiveGroup& group, const Unit& unit);
Row group_heading(const Unit& unit);

}  // namespace oomplan::report
