#include "accounts.hpp"

#include <fmt/format.h>

#include "../layout.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan::report {
namespace {

using Json = nlohmann::ordered_json;

std::string size(std::int64_t bytes) { return to_text(Bytes(bytes)); }

std::string share(std::int64_t part, std::int64_t whole) {
  return whole <= 0 ? "-" : fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string blocks(std::int64_t count) { return with_separators(count) + (count == 1 ? " block" : " blocks"); }

std::string state_of(const MemoryAccount& a) {
  std::string out = fmt::format("  reserved {} in {} segments, {} in use\n", size(a.reserved),
                                with_separators(a.segments), size(a.active));
  if (a.split > 0) {
    out += fmt::format("  fragmented: {} ({} of reserved) free in {} pieces between what is in use, the largest {}\n",
                       size(a.split), share(a.split, a.reserved), with_separators(a.splits), size(a.largest_split));
  }
  return out;
}

std::string table(std::string_view title, const std::vector<Holding>& rows, std::int64_t whole, bool colour) {
  if (rows.empty()) return {};
  std::vector<Row> cells;
  for (const Holding& row : rows) {
    cells.push_back(
        {{size(row.bytes), true}, {share(row.bytes, whole), true}, {blocks(row.blocks), true}, {printable(row.name)}});
  }
  return fmt::format("  {}\n", title) + aligned(cells, colour);
}

std::string growth_of(const MemoryAccount& a) {
  std::string out;
  for (const Growth& g : a.growth) {
    out += fmt::format("    {} a step, {} in {} steps ({} of them grew): {}\n", size(g.grown / g.steps), size(g.grown),
                       g.steps, g.steps_grew, printable(g.held.name));
    for (const std::string& frame : g.held.stack) out += "      at " + printable(frame) + "\n";
  }
  return out.empty() ? out : "  grew from step to step, as a leak does\n" + out;
}

std::string text_of(const MemoryAccount& a, bool colour) {
  const bool failed = a.requested && !a.went_on;
  std::string out = painted(fmt::format("Memory of GPU {} in {}", a.device, printable(a.file)), Paint::bold, colour);
  out += fmt::format(": {} events, {} steps\n", with_separators(a.events), with_separators(a.steps)) + state_of(a);
  const std::string when = failed ? "at the failure" : "when it was written";
  out += table(fmt::format("{} held {}, by category", size(a.held), when), a.categories, a.held, colour);
  return out + table("by source line", a.lines, a.held, colour) + growth_of(a);
}

Json of(const Holding& h) { return {{"name", h.name}, {"bytes", h.bytes}, {"blocks", h.blocks}, {"stack", h.stack}}; }

Json of(const Growth& g) {
  return {{"line", of(g.held)}, {"grown", g.grown}, {"steps", g.steps}, {"steps_grew", g.steps_grew}};
}

template <class T>
Json list_of(const std::vector<T>& items) {
  Json out = Json::array();
  for (const T& item : items) out.push_back(of(item));
  return out;
}

}  // namespace

std::string accounts_text(const std::vector<MemoryAccount>& accounts, bool colour) {
  std::string out;
  for (const MemoryAccount& account : accounts) out += "\n" + text_of(account, colour);
  return out;
}

Json accounts_json(const std::vector<MemoryAccount>& accounts) {
  Json out = Json::array();
  for (const MemoryAccount& a : accounts) {
    out.push_back({{"file", a.file},
                   {"device", a.device},
                   {"events", a.events},
                   {"requested", a.requested ? Json(*a.requested) : Json(nullptr)},
                   {"device_free", a.requested ? Json(a.device_free) : Json(nullptr)},
                   {"went_on", a.went_on},
                   {"reserved", a.reserved},
                   {"active", a.active},
                   {"segments", a.segments},
                   {"split", a.split},
                   {"splits", a.splits},
                   {"largest_split", a.largest_split},
                   {"held", a.held},
                   {"categories", list_of(a.categories)},
                   {"lines", list_of(a.lines)},
                   {"steps", a.steps},
                   {"growth", list_of(a.growth)}});
  }
  return out;
}

}  // namespace oomplan::report
