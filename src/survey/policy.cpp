// A gate's policy, from its file.
#include <algorithm>
#include <array>
#include <span>

#include "oomplan/core/text.hpp"
#include "oomplan/estimate/fit_check.hpp"
#include "oomplan/read/glob.hpp"
#include "oomplan/survey/survey.hpp"

namespace oomplan {
namespace {

constexpr std::array<std::string_view, 5> policy_keys{"gpus", "headroom", "budget", "rules", "allow_undecided"};
constexpr std::array<std::string_view, 4> rule_keys{"configs", "gpus", "headroom", "budget"};

class Reader {
 public:
  Reader(const Document& document, const Catalog& catalog) : document_(document), catalog_(catalog) {}

  Result<Policy> policy() {
    const Node& root = document_.root;
    Policy out{.file = document_.file};
    if (!expect_keys(root, policy_keys)) return errors_;
    GateRule rest = rule_of(root, {.configs = {"**", "/**"}, .headroom = usual_headroom});
    if (const Node* rules = root.find("rules")) add_rules(*rules, rest, out);
    if (const Node* allowed = root.find("allow_undecided")) {
      out.allow_undecided = patterns(*allowed, "allow_undecided");
      out.allow_where = document_.at(*allowed);
    }
    if (!rest.gpus.empty()) out.rules.push_back(std::move(rest));
    if (out.rules.empty() && errors_.empty())
      refuse(root, "the policy names no GPU", "gpus: [rtx-4090], or rules with configs and gpus");
    return errors_.empty() ? Result<Policy>(std::move(out)) : errors_;
  }

 private:
  void refuse(const Node& node, std::string message, std::string hint = {}) {
    errors_.push_back({.code = "survey/bad-policy",
                       .message = std::move(message),
                       .where = document_.at(node),
                       .hint = std::move(hint),
                       .excerpt = std::string(document_.line(node.line))});
  }

  bool expect_keys(const Node& node, std::span<const std::string_view> known) {
    if (!node.is_mapping()) {
      refuse(node, "expected a mapping of keys to values");
      return false;
    }
    for (const Entry& entry : node.entries) {
      if (std::ranges::count(known, entry.key) > 0) continue;
      const auto near = nearest(entry.key, known);
      errors_.push_back({.code = "survey/bad-policy",
                         .message = "a policy has no key \"" + entry.key + "\" here",
                         .where = document_.at(entry),
                         .hint = near ? "did you mean " + *near + "?" : "docs/gate.md lists them",
                         .excerpt = std::string(document_.line(entry.line))});
    }
    return true;
  }

  std::vector<std::string> texts(const Node& node, const std::string& key) {
    std::vector<std::string> out;
    const auto take = [&](const Node& item) {
      if (item.is_scalar() && !item.text.empty()) return out.push_back(item.text);
      refuse(item, key + " is a text or a list of texts");
    };
    if (!node.is_sequence()) {
      take(node);
    } else if (node.items.empty()) {
      refuse(node, key + " is empty");
    } else {
      for (const Node& item : node.items) take(item);
    }
    return out;
  }

  std::vector<std::string> patterns(const Node& node, const std::string& key) {
    std::vector<std::string> out = texts(node, key);
    for (const std::string& pattern : out)
      if (!brackets_close(pattern))
        refuse(node, "the pattern " + pattern + " opens a [ and does not close it", "[[] means the letter [");
    return out;
  }

  std::vector<Gpu> gpus_of(const Node& node) {
    std::vector<Gpu> out;
    for (const std::string& name : texts(node, "gpus")) {
      Result<Gpu> gpu = find_gpu(name, catalog_);
      if (gpu) {
        out.push_back(std::move(*gpu));
        continue;
      }
      for (Diagnostic error : gpu.errors()) {
        error.code = "survey/bad-policy";
        error.where = document_.at(node);
        error.excerpt = document_.line(node.line);
        errors_.push_back(std::move(error));
      }
    }
    return out;
  }

  double headroom_of(const Node& node) {
    const auto part = node.is_scalar() ? parse_headroom(node.text) : std::nullopt;
    if (!part) refuse(node, "headroom is a percentage, at least 0, below 100", std::string(headroom_hint));
    return part.value_or(0);
  }

  std::optional<Bytes> budget_of(const Node& node) {
    const auto bytes = node.is_scalar() ? parse_bytes(node.text) : std::nullopt;
    if (!bytes) refuse(node, "budget is a size (512MiB, 2GiB), or 0");
    return bytes;
  }

  /// What the mapping says, over what it goes without.
  GateRule rule_of(const Node& node, GateRule rule) {
    if (const Node* value = node.find("gpus")) rule.gpus = gpus_of(*value);
    if (const Node* value = node.find("headroom")) rule.headroom = headroom_of(*value);
    if (const Node* value = node.find("budget")) rule.budget = budget_of(*value);
    return rule;
  }

  void add_rules(const Node& rules, const GateRule& rest, Policy& out) {
    if (!rules.is_sequence()) return refuse(rules, "rules is a list");
    for (const Node& node : rules.items) {
      if (!expect_keys(node, rule_keys)) continue;
      GateRule rule = rule_of(node, rest);
      const Node* configs = node.find("configs");
      if (configs == nullptr) {
        refuse(node, "a rule says which configs it is for", "configs: \"configs/7b/**/*.yaml\"");
        continue;
      }
      rule.configs = patterns(*configs, "configs");
      rule.where = document_.at(*configs);
      if (rule.gpus.empty() && errors_.empty()) refuse(node, "this rule names no GPU, and the policy none for all");
      out.rules.push_back(std::move(rule));
    }
  }

  const Document& document_;
  const Catalog& catalog_;
  Diagnostics errors_{};
};

}  // namespace

Result<Policy> read_policy(const Document& document, const Catalog& catalog) {
  return Reader(document, catalog).policy();
}

Diagnostics idle_patterns(const Policy& policy, const std::vector<std::string>& configs) {
  Diagnostics out;
  const auto look = [&](const std::vector<std::string>& patterns, const Location& where) {
    for (const std::string& pattern : patterns) {
      const auto means = [&](const std::string& config) { return globs_mean({pattern}, config); };
      if (where.line > 0 && std::ranges::none_of(configs, means))
        out.push_back({.severity = Severity::warning,
                       .code = "survey/idle-pattern",
                       .message = "the pattern " + pattern + " matches none of the configs",
                       .where = where});
    }
  };
  for (const GateRule& rule : policy.rules) look(rule.configs, rule.where);
  look(policy.allow_undecided, policy.allow_where);
  return out;
}

const GateRule* rule_for(const Policy& policy, const std::string& config) {
  const auto found =
      std::ranges::find_if(policy.rules, [&](const auto& rule) { return globs_mean(rule.configs, config); });
  return found == policy.rules.end() ? nullptr : &*found;
}

}  // namespace oomplan
