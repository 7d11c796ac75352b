// The fix ladder: the cheapest change of a plan that makes it fit, each step proved by an estimate.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oomplan/advise/advice.hpp"
#include "oomplan/catalog/architecture.hpp"
#include "oomplan/catalog/machine.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/estimate/host_check.hpp"
#include "oomplan/ingest/ingest.hpp"
#include "oomplan/plan/plan.hpp"
#include "oomplan/read/document.hpp"

namespace oomplan {

namespace advise {
struct Rung;
}  // namespace advise

/// The fixes of rules/ladder, in the order in which they are applied. Cheap to copy.
class Ladder {
 public:
  /// Those in the program. Errors: advise/bad-fix (and those of read_document): a file of ours is wrong.
  static Result<Ladder> load();
  /// The one in `text`, named after its file.
  static Result<Ladder> of(const std::string& id, const std::string& text);

  std::vector<std::string> ids() const;
  const std::vector<advise::Rung>& rungs() const { return *rungs_; }

 private:
  explicit Ladder(std::shared_ptr<const std::vector<advise::Rung>> rungs) : rungs_(std::move(rungs)) {}
  std::shared_ptr<const std::vector<advise::Rung>> rungs_;
};

struct AdviceQuestion {
  TrainingPlan plan{};  ///< Settled.
  Architecture architecture{};
  Gpu gpu{};
  double headroom = 0;                 ///< The part of the card to leave free, from 0 up to, not including, 1.
  std::vector<std::string> allow{};    ///< Only these fixes; all where it is empty.
  std::vector<std::string> forbid{};   ///< Not these.
  std::vector<std::string> keep{};     ///< Of keepable(): what no fix may change.
  const Document* document = nullptr;  ///< The config: then a change is played as its framework reads it.
  IngestOptions ingest{};              ///< How it was read.
  std::int64_t most_sets = 5'000;      ///< To look at before giving up, where some set is known to fit.
  HostCheck host{};                    ///< What each set needs of the host is held against too; empty: nobody asks.
  bool cheapest_alone = false;         ///< Neither what each fix does by itself, nor what one may prefer to `found`.
};

/// "adapter", "effective-batch", "sequence-length".
std::vector<std::string_view> keepable();

/// Walks the ladder: sets of fixes from the cheapest on (science, then speed, then effort), until one fits. Nothing is
/// passed over, so that no cheaper set fits, but for what Advice::whole says. Errors: those of estimate(), where the
/// plan itself cannot be decided.
Result<Advice> find_advice(const AdviceQuestion& question, const Ladder& ladder);

/// The plan's lever on question.gpu. Fixes are compared by their tensors alone, and the best is replayed. One that
/// moves rows from the micro-batch is none, nor one that saves less than 2 % or makes a step more than a third slower.
/// Nothing where there is none.
std::optional<Lever> lever_of(const AdviceQuestion& question, const Ladder& ladder);

/// The fact that leaves the fix nothing to change in the plan, as the config says it: "gradient_checkpointing is true".
/// Empty where there is something to change, and where the ladder asks for no fact of a fix that it offers in words.
std::string nothing_to_change(const Ladder& ladder, std::string_view id, const AdviceQuestion& question);

/// `document` with `keys` changed at their places or added beside their siblings, all else byte for byte as it was;
/// without a byte order mark, as Document::text. Errors: advise/no-patch, with the reason.
Result<std::string> patched(const Document& document, const std::vector<KeyChange>& keys);

/// Each with its line end; of the last there may be none.
std::vector<std::string_view> text_lines(std::string_view text);

/// Lines of a text that others take the place of.
struct LineEdit {
  std::size_t from = 0;     ///< Counted from 0.
  std::size_t dropped = 0;  ///< How many.
  std::string added{};      ///< With their line ends.
};

/// What makes `after` of `before`, in the order of the lines, which are alike for the most part.
std::vector<LineEdit> line_edits(const std::string& before, const std::string& after);

/// A unified diff with three lines of context, as `patch -p0` takes it; empty where the texts are equal.
std::string unified_diff(const std::string& file, const std::string& before, const std::string& after);

}  // namespace oomplan
