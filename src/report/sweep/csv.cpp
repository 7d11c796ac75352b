#include "oomplan/report/sweep_view.hpp"

namespace oomplan {
namespace {

std::string field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return text;
  std::string out = "\"";
  for (const char letter : text) out += letter == '"' ? "\"\"" : std::string(1, letter);
  return out + '"';
}

std::string line(const Sweep& sweep, std::size_t i) {
  const SweepPoint& point = sweep.points[i];
  const bool decided = point.undecided.empty();
  std::string out;
  for (const std::string& value : values_at(sweep.axes, i)) out += field(value) + ",";
  out += (decided ? std::to_string(point.needed.count()) : "") + "," + (point.at_least ? "true" : "false") + ",";
  return out + (decided ? point.fits ? "true" : "false" : "") + "," + field(point.undecided) + "\n";
}

}  // namespace

std::string sweep_csv(const Sweep& sweep) {
  std::string out;
  for (const Axis& axis : sweep.axes) out += field(axis.key) + ",";
  out += "needed,at_least,fits,undecided\n";
  for (std::size_t i = 0; i < sweep.points.size(); ++i) out += line(sweep, i);
  return out;
}

}  // namespace oomplan
