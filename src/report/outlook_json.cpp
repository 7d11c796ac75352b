#include "outlook_json.hpp"

namespace oomplan::report {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Room& room) {
  return {{"key", room.key},
          {"now", room.now},
          {"largest", room.largest},
          {"needed", room.largest > 0 ? Json(room.needed.count()) : Json()}};
}

Json json_of(const std::optional<Slowdown>& slower) {
  if (!slower) return nullptr;
  return {{"least", slower->least}, {"most", slower->most}, {"source", slower->source}};
}

Json json_of(const Lever& lever) {
  return {{"fix", lever.fix.id},
          {"title", lever.fix.title},
          {"needed", lever.trial.needed.count()},
          {"at_least", lever.trial.at_least},
          {"fits", lever.trial.fits},
          {"slower", json_of(lever.fix.slower)}};
}

Json json_of(const Cards& cards) {
  if (cards.known == 0) return nullptr;
  Json fitting = Json::array();
  for (const Gpu& gpu : cards.fitting) fitting.push_back({{"name", gpu.name}, {"total", gpu.total.count()}});
  return {{"known", cards.known}, {"all", cards.all}, {"fitting", std::move(fitting)}};
}

Json json_of(const OtherVersion& version) {
  return {{"package", version.package},   {"taken", version.taken},
          {"other", version.other},       {version.on_card ? "needed" : "peak", version.needed.count()},
          {"at_least", version.at_least}, {"fits", version.on_card ? Json(version.fits) : Json()}};
}

}  // namespace

nlohmann::ordered_json outlook_json(const Outlook& outlook) {
  return {{"room", outlook.room ? json_of(*outlook.room) : Json()},
          {"lever", outlook.lever ? json_of(*outlook.lever) : Json()},
          {"cards", json_of(outlook.cards)},
          {"version", outlook.version ? json_of(*outlook.version) : Json()}};
}

}  // namespace oomplan::report
