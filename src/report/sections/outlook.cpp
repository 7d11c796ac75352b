// What lies beyond the verdict: a line each for the micro-batch, the fix that moves most, and the cards that do.
#include <fmt/format.h>

#include <algorithm>

#include "layout.hpp"
#include "oomplan/core/text.hpp"
#include "sections.hpp"

namespace oomplan::report {
namespace {

constexpr std::size_t heads = 7;
constexpr std::size_t most_cards = 12;    // of all that do
constexpr std::size_t most_smallest = 3;  // of the smallest that do

std::string line(std::string_view head, const std::string& text, const ViewOptions& options) {
  const std::string padded = fmt::format("{:{}}", head, heads);
  return painted(padded, Paint::dim, options.colour) + wrapped(text, heads, heads, options.width) + "\n";
}

std::string room_text(const Room& room, bool fits) {
  const std::string needed = oomplan::to_text(room.needed);
  if (room.largest == 0) return fmt::format("none: {} 1 does not fit either", room.key);
  if (!fits) return fmt::format("{} up to {} would fit ({} needed)", room.key, room.largest, needed);
  if (room.largest == room.now) return fmt::format("{} {} is the largest that fits", room.key, room.largest);
  return fmt::format("{} up to {} fits ({} needed)", room.key, room.largest, needed);
}

std::string slower_text(const LadderFix& fix) {
  const bool slower = fix.slower && fix.slower->most > 0;
  return slower ? fmt::format("up to {} % slower", fix.slower->most) : "as quick";
}

std::string sizes_text(const Lever& lever, const Fit& fit) {
  const Unit unit = unit_for(fit.needed);
  return fmt::format("{}{} → {}{} {}", fit.at_least ? "at least " : "", in_unit(fit.needed, unit),
                     lever.trial.at_least ? "at least " : "", in_unit(lever.trial.needed, unit), unit.name);
}

std::string lever_text(const Lever& lever, const Fit& fit) {
  std::string out = lever.fix.id + ": " + sizes_text(lever, fit);
  if (!fit.fits()) out += lever.trial.fits ? ", which fits" : ", not enough by itself";
  return out + ", same results, " + slower_text(lever.fix) + " (oomplan fix)";
}

std::string cards_text(const Cards& cards) {
  if (cards.fitting.empty()) return fmt::format("none of the {} known ones does", cards.known);
  const std::size_t most = cards.all ? most_cards : most_smallest;
  std::string names;
  for (std::size_t i = 0; i < std::min(most, cards.fitting.size()); ++i)
    names += (i == 0 ? "" : ", ") + printable(cards.fitting[i].name);
  if (cards.fitting.size() > most)
    names += fmt::format(" and {} {}", cards.fitting.size() - most, cards.all ? "larger" : "alike");
  const std::string from = oomplan::to_text(cards.fitting.front().total);
  if (!cards.all) return fmt::format("from {} on: {}", from, names);
  return fmt::format("{} of {} known do, from {} on: {}", cards.fitting.size(), cards.known, from, names);
}

}  // namespace

std::string outlook_section(const Report& report, const ViewOptions& options) {
  if (!report.found.outlook) return {};
  const Outlook& outlook = *report.found.outlook;
  const bool one = report.found.fits.size() == 1;
  std::string out;
  if (one && outlook.room) out += line("room", room_text(*outlook.room, report.found.fits.front().fits()), options);
  if (one && outlook.lever) out += line("lever", lever_text(*outlook.lever, report.found.fits.front()), options);
  if (outlook.cards.known > 0) out += line("cards", cards_text(outlook.cards), options);
  return out;
}

}  // namespace oomplan::report
