// The estimate from a command line: every stage in order, and what it came to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host.hpp"
#include "oomplan/ingest/ingest.hpp"
#include "oomplan/read/document.hpp"
#include "oomplan/report/report.hpp"
#include "options.hpp"

namespace oomplan::cli {

/// How a model that is named in place of a config is trained; the rest is as TRL has it.
struct RecipeAsked {
  std::string method{};  ///< "full", "lora" or "qlora"; "" for LoRA.
  std::optional<std::int64_t> batch{};
  std::optional<std::int64_t> length{};
  bool is_asked() const { return !method.empty() || batch || length; }
};

struct Question {
  std::string config{};             ///< A path, "-" for standard input, or a model by id or folder.
  std::optional<Document> given{};  ///< In place of the file at `config`, which is then its name.
  RecipeAsked recipe{};
  std::string dialect{};
  std::string trainer{};       ///< As --trainer names it, or the command that starts the run; "" where neither does.
  std::string trainer_said{};  ///< Which of the two; "" for the option.
  std::vector<std::string> overrides{};
  std::vector<std::string> launch{};
  std::optional<Document> launcher{};  ///< One more of them, which is no file.
  NamedWorld world{};                  ///< Of the command that starts the run; --gpu goes over it.
  VersionsAsked versions{};
  std::vector<std::string> gpus{};
  std::optional<Setting<std::string>> alloc_conf{};  ///< In place of the plan's own.
  HostQuestion host{};
  double headroom = usual_headroom;  ///< The part of a card that stays free, 0 to 1.
  bool open_numbers = false;         ///< Findings::lengths and Findings::worlds are wanted, where nothing says them.
  bool replay = true;                ///< Else the tensors alone, without the allocator: there is no verdict on a card.
  bool outlook = false;              ///< Findings::outlook is wanted,
  bool cards_alone = false;          ///< and of it the cards alone.
  std::string calibration{};         ///< A file that `oomplan calibrate` wrote, or "".
  std::string models{};              ///< A directory of the user's own data files, or "".
};

/// How its config is read.
IngestOptions ingest_options(const Question& question);

/// Every file that an answer to the question comes from: config_files() of the document, where it was read, else of the
/// config's path; and what the options name.
std::vector<std::string> files_of(const Question& question, const std::optional<Document>& document = {});

/// Goes as far as it can; what stopped it is in the findings' diagnostics. The config as read is kept in `document`.
Findings answer(const Question& question, std::optional<Document>* document = nullptr);

}  // namespace oomplan::cli
