// A calibration out of its JSON.
#include <cmath>
#include <string>

#include "oomplan/calibrate/calibrate.hpp"

namespace oomplan {
namespace {

constexpr std::string_view schema = "oomplan/calibration/1";

class Profile {
 public:
  explicit Profile(const Document& document) : document_(document) {}

  Result<Calibration> read() {
    Calibration out;
    const Node* named = document_.root.find("schema");
    if (named == nullptr || named->text != schema) return bad(document_.root, "expected " + std::string(schema));
    const Node* cards = document_.root.find("cards");
    if (cards == nullptr || !cards->is_sequence()) return bad(document_.root, "expected the list \"cards\" here");
    for (const Node& card : cards->items) out.cards.push_back(terms_of(card));
    if (!errors_.empty()) return errors_;
    return out;
  }

 private:
  Diagnostics bad(const Node& node, std::string message) const {
    return {{Severity::error, "calibrate/bad-profile", std::move(message), document_.at(node),
             "make one with: oomplan calibrate runs.jsonl --output calibration.json",
             std::string(document_.line(node.line))}};
  }
  void refuse(const Node& node, std::string message) {
    if (errors_.empty()) errors_ = bad(node, std::move(message));
  }

  double number(const Node& card, std::string_view key, double most) {
    const Node* found = card.find(key);
    const auto value = found != nullptr && found->is_scalar() ? found->as_number() : std::nullopt;
    if (value && *value >= 0 && *value <= most) return *value;
    refuse(found == nullptr ? card : *found,
           std::string(key) + ": expected a number from 0 to " + std::to_string(std::llround(most)));
    return 0;
  }
  Bytes bytes(const Node& card, std::string_view key) {
    return Bytes(static_cast<std::int64_t>(number(card, key, largest_term)));
  }
  std::string text(const Node& card, std::string_view key) {
    const Node* found = card.find(key);
    if (found != nullptr && found->kind == Node::Kind::string && !found->text.empty()) return found->text;
    refuse(found == nullptr ? card : *found, std::string(key) + ": expected a text");
    return {};
  }

  CardTerms terms_of(const Node& card) {
    CardTerms out{.card = text(card, "card"),
                  .torch = text(card, "torch"),
                  .runs = static_cast<std::int64_t>(number(card, "runs", 1e6))};
    const Node* context = card.find("context");
    if (context != nullptr && context->kind != Node::Kind::null) out.context = bytes(card, "context");
    out.workspaces = bytes(card, "workspaces");
    out.residue = bytes(card, "residue");
    out.slack = number(card, "slack", largest_slack);
    out.error_left_out = number(card, "error_left_out", largest_error);
    return out;
  }

  const Document& document_;
  Diagnostics errors_{};
};

}  // namespace

Result<Calibration> read_calibration(const Document& document) { return Profile(document).read(); }

}  // namespace oomplan
