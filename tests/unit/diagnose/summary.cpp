#include "summary.hpp"

#include <functional>
#include <vector>

namespace oomplan::diagnose {
namespace {

template <class T>
std::string joined(const std::vector<T>& items, const std::function<std::string(const T&)>& text) {
  std::string out;
  for (const T& item : items) out += (out.empty() ? "" : ", ") + text(item);
  return out;
}

/// A line of the summary; nothing where there is nothing to say.
std::string line(const std::string& name, const std::string& text) {
  return text.empty() ? std::string() : name + " " + text + "\n";
}

std::string numbered(const Evidence& e) { return e.message + ":" + std::to_string(e.where.line); }

std::string ids(const std::vector<Fix>& fixes) {
  return joined<Fix>(fixes, [](const Fix& f) { return f.id; });
}

std::string judged(const std::string& name, const Judgement& j) {
  std::string out = line(name, j.reason);
  for (const std::string& sum : j.arithmetic) out += line("  =", sum);
  for (const std::string& against : j.against) out += line("  but", against);
  return out;
}

std::string moment(const Moment& m) {
  std::string out = m.phase == "unknown" ? "" : ", " + m.phase;
  if (m.step) out += " after step " + std::to_string(*m.step);
  return out;
}

std::string root(const Diagnosis& d) {
  if (!d.root) return " <- nothing";
  std::string out = " <- " + numbered(*d.root);
  if (!d.root->source.empty()) out += " of " + d.root->source;
  if (!d.root->time.empty()) out += " at " + d.root->time;
  return out;
}

}  // namespace

std::string in_one_line(const Diagnosis& d) {
  std::string out = std::string(name_of(d.verdict.cause)) + " " + std::string(name_of(d.verdict.confidence));
  out += d.out_of_memory ? ", oom, " : ", ";
  out += std::string(name_of(d.place)) + moment(d.moment);
  if (d.rank) out += ", rank " + std::to_string(*d.rank);
  return out + root(d);
}

std::string in_full(const Diagnosis& d) {
  std::string out = in_one_line(d) + "\n" + line("headline", d.headline) + judged("why", d.verdict);
  for (const Judgement& j : d.alternatives)
    out += judged("or " + std::string(name_of(j.cause)) + " " + std::string(name_of(j.confidence)) + ":", j);
  out += line("moment", d.moment.reason.empty() ? "" : std::to_string(d.moment.where.line) + ": " + d.moment.reason);
  out += line("facts", joined<Reading>(d.facts, [](const Reading& f) { return f.name + "=" + f.text; }));
  for (const Finding& finding : d.also) out += line("also", finding.id + ": " + finding.text);
  out += line("do", ids(d.to_do)) + line("leave", ids(d.not_to_do));
  for (const Fix& fix : d.not_to_do)
    if (fix.text.find("already") != std::string::npos) out += line("  so", fix.id + ": " + fix.text);
  for (const std::string& ask : d.to_prove) out += line("ask", ask);
  out += line("shows", joined<Shown>(d.shows, [](const Shown& s) { return s.what + "=" + s.text; }));
  out += line("with", joined<Evidence>(d.supporting, numbered));
  out += line("follows", joined<Evidence>(d.consequences, numbered));
  return out + line("failures", d.failures == 1 ? "" : std::to_string(d.failures));
}

}  // namespace oomplan::diagnose
