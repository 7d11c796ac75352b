// When in the run: from the frames of the traceback that belongs to the failure, else from the progress lines before
// it.
#include <algorithm>
#include <map>

#include "case.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan::diagnose {
namespace {

constexpr std::size_t most_frame_lines = 140;

bool contains_any(const std::string& text, const std::vector<std::string>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const std::string& part) { return text.find(part) != std::string::npos; });
}

bool names_function(const std::string& function, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    if (name.ends_with('*')) return function.starts_with(name.substr(0, name.size() - 1));
    return name.starts_with('*') ? function.find(name.substr(1)) != std::string::npos : function == name;
  });
}

class Finder {
 public:
  Finder(const Rules& rules, const std::vector<Evidence>& evidence, const std::vector<Line>& lines,
         const Evidence& root)
      : rules_(rules), lines_(lines), root_(root) {
    for (const Evidence& e : evidence)
      if (e.says == Says::frame && e.line) frames_[*e.line] = &e;
  }

  /// The line that tells the phase, in the traceback before the root, else in the one after it; none where the root
  /// stands in no log.
  std::optional<std::pair<const MomentText*, std::size_t>> find() {
    if (!root_.line) return std::nullopt;
    read(*root_.line, frames_.contains(*root_.line) ? "frame" : "");
    walk(-1);
    if (!best_) walk(1);
    return best_;
  }

 private:
  bool spoken_by_root(const Line& line) const { return line.rank == root_.rank && line.source == root_.source; }

  // A file's path says less than what the code in it does, so the frames decide first, innermost first.
  void walk(int direction) {
    std::size_t at = *root_.line;
    bool in_traceback = direction < 0;
    for (std::size_t seen = 0; seen < most_frame_lines; ++seen) {
      at += static_cast<std::size_t>(direction);  // below 0 is past the end
      if (at >= lines_.size()) return;
      const Line& line = lines_[at];
      if (direction > 0 && line.header) return;
      const auto frame = frames_.find(at);
      const bool header = frame != frames_.end() && heads_traceback(*frame->second);
      if (header && in_traceback) return;
      in_traceback = in_traceback || header;
      if (in_traceback && (spoken_by_root(line) || root_.rank == std::nullopt))
        read(at, frame == frames_.end() ? "" : "frame");
      if (direction < 0 && line.header) return;
    }
  }

  void read(std::size_t at, std::string_view kind) {
    std::string text = lines_.at(at).body;
    std::erase(text, '\n');
    // What runs inside the closure of optimizer.step(closure) is forward and backward, not the optimizer.
    if (kind == "frame" && frames_.at(at)->text_of("function").find("closure") != std::string::npos) in_closure_ = true;
    for (const MomentText& moment : rules_.moments) {
      const bool in_frame = kind == "frame" && frame_tells(*frames_.at(at), moment);
      const bool found =
          in_frame || contains_any(kind == "frame" ? code_behind(*frames_.at(at), text) : text, moment.code);
      if (found) consider(moment, at);
    }
  }

  // Where line ends were lost, the source line stands behind the function's name.
  static std::string code_behind(const Evidence& frame, const std::string& text) {
    const std::string named = ", in " + frame.text_of("function");
    const std::size_t at = frame.find("function") == nullptr ? std::string::npos : text.find(named);
    return at == std::string::npos ? std::string() : text.substr(at + named.size());
  }

  static bool frame_tells(const Evidence& frame, const MomentText& moment) {
    std::string path = frame.text_of("path");
    std::replace(path.begin(), path.end(), '\\', '/');
    std::erase(path, ' ');  // where a terminal broke it
    return contains_any(path, moment.files) || names_function(frame.text_of("function"), moment.functions);
  }

  // Innermost is met first when walking up; only a moment of lower order replaces it: a matmul within backward is
  // backward's, a softmax within an evaluation is the evaluation's.
  void consider(const MomentText& moment, std::size_t at) {
    if (in_closure_ && moment.played == Phase::optimizer_step) return;
    if (!best_ || moment.order < best_->first->order) best_ = {&moment, at};
  }

  const Rules& rules_;
  const std::vector<Line>& lines_;
  const Evidence& root_;
  std::map<std::size_t, const Evidence*> frames_{};
  std::optional<std::pair<const MomentText*, std::size_t>> best_{};
  bool in_closure_ = false;
};

Location place_of(const Line& line, const std::vector<std::string>& files) {
  return {files[static_cast<std::size_t>(line.file)], static_cast<int>(line.number), 0};
}

// A tracker counts the steps of a program that prints none; it stands in a file of its own.
const Evidence* last_of_tracker(const std::vector<Evidence>& evidence) {
  const auto last =
      std::find_if(evidence.rbegin(), evidence.rend(), [](const Evidence& e) { return e.family == "tensorboard"; });
  return last == evidence.rend() ? nullptr : &*last;
}

// The bars of evaluations among those of training, once an evaluation began: of another length, or of the same one and
// begun anew. Where that begins anew too, training goes on.
// A shorter bar that begins within one of training which is not at its end is another loop's as well, as Hugging Face's
// Trainer draws its evaluations; so is one before a failure of the evaluation. The batches of an epoch are none: within
// a bar of epochs, or begun anew at each step of the longer one.
class EvaluationBars {
 public:
  explicit EvaluationBars(bool failed_there) : failed_there_(failed_there) {}

  bool operator()(const Evidence& bar, const Evidence* last_step, const Evidence* last_phase) {
    if (is_within(bar, last_step)) return true;
    if (last_phase == nullptr || last_phase->phase != "evaluation" || last_step == nullptr || !bar.phase.empty() ||
        !bar.number("steps") || !last_step->number("steps") || !bar.number("step"))
      return false;
    if (bar.number("steps") != last_step->number("steps")) return true;
    if (last_phase != evaluation_) at_.reset();
    evaluation_ = last_phase;
    const std::int64_t step = *bar.number("step");
    const bool goes_on = at_ ? step >= *at_ : step < last_step->number("step").value_or(0);
    if (goes_on) at_ = step;
    return goes_on;
  }

 private:
  bool is_within(const Evidence& bar, const Evidence* outer) {
    constexpr std::int64_t first_drawn = 2;
    if (outer == nullptr || !bar.phase.empty() || !bar.number("step")) return false;
    const auto steps = bar.number("steps");
    const auto all = outer->number("steps");
    if (!steps || !all || *steps >= *all) return false;
    const std::int64_t done = outer->number("step").value_or(0);
    if (counts_epochs(outer->text)) return false;
    if (*bar.number("step") <= first_drawn && done > 0 && done < *all) {
      if (within_ == steps && done == begun_at_ + 1) of_each_ = steps;
      within_ = steps;
      begun_at_ = done;
    }
    return of_each_ != steps && (failed_there_ || within_ == steps);
  }

  // "Epochs:   3%|…"; "Epoch 3:  20%|…" counts the batches of one.
  static bool counts_epochs(const std::string& text) {
    constexpr std::size_t longest = 8;
    const std::string label = lowered(text.substr(std::min(text.find_first_not_of(' '), text.size()), longest));
    return label.starts_with("epoch:") || label.starts_with("epochs:");
  }

  bool failed_there_;
  const Evidence* evaluation_ = nullptr;
  std::optional<std::int64_t> at_{};       // of its bar, where that is as long as training's
  std::optional<std::int64_t> within_{};   // how long the loop is that began within training's,
  std::int64_t begun_at_ = 0;              // at which step,
  std::optional<std::int64_t> of_each_{};  // and where it began anew at the next
};

// The last progress line before the failure, and the last that says where in the run it is.
void add_progress(const std::vector<Evidence>& evidence, const Evidence& root, Moment& out) {
  const bool beside = root.family == "wandb";  // its file has no line of the run's own
  const Evidence* last_step = nullptr;
  const Evidence* last_phase = nullptr;
  EvaluationBars is_of_evaluation(out.phase == "evaluation");
  for (const Evidence& e : evidence) {
    if (e.says != Says::progress || (!beside && (e.order > root.order || e.where.file != root.where.file))) continue;
    const bool same_line = last_phase != nullptr && last_phase->order == e.order;  // "Loading shards: 14%|… 1/7"
    if (same_line || is_of_evaluation(e, last_step, last_phase)) continue;
    if (e.find("step") != nullptr && (e.rank == root.rank || !root.rank)) last_step = &e;
    if (e.find("step") != nullptr && e.phase.empty()) last_phase = nullptr;
    if (!e.phase.empty()) last_phase = &e;
  }
  if (last_step == nullptr) last_step = last_of_tracker(evidence);
  if (last_step != nullptr) {
    out.step = last_step->number("step");
    out.step_where = last_step->where;
  }
  if (out.phase != "unknown" || last_phase == nullptr) return;
  out.phase = last_phase->phase;
  out.reason = last_phase->text;
  out.where = last_phase->where;
}

}  // namespace

Moment moment_of(const Rules& rules, const std::vector<Evidence>& evidence, const std::vector<Line>& lines,
                 const Evidence& root, const std::vector<std::string>& files) {
  Moment out;
  const Evidence* teller = root.phase.empty() ? nullptr : &root;
  for (const Evidence& e : evidence)
    if (teller == nullptr && e.family == root.family && !e.phase.empty()) teller = &e;
  if (teller != nullptr) {
    out.phase = teller->phase;
    out.reason = teller->text;
    out.where = teller->where;
  } else if (const auto found = Finder(rules, evidence, lines, root).find()) {
    const Line& line = lines[found->second];
    out.phase = found->first->phase;
    out.reason = line.body;
    out.where = place_of(line, files);
  }
  add_progress(evidence, root, out);
  if (const MomentText* known = rules.find_moment(out.phase)) {
    out.played = known->played;
    out.host_memory_peaks = known->host_memory_peaks;
  }
  return out;
}

}  // namespace oomplan::diagnose
