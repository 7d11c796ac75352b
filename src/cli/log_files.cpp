#include "log_files.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "oomplan/core/text.hpp"

namespace oomplan::cli {
namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;

constexpr std::size_t most_files = 4096;

// A file is a log by these, whatever its name begins with and wherever it lies.
constexpr std::array of_logs{".log"sv, ".out"sv, ".err"sv, ".stdout"sv, ".stderr"sv};

// Weights and data, pictures and archives, code, documents, and the records that W&B writes for itself.
constexpr std::array endings{
    ".safetensors"sv, ".bin"sv,     ".pt"sv,    ".pth"sv,   ".ckpt"sv, ".onnx"sv, ".gguf"sv, ".npy"sv,
    ".npz"sv,         ".parquet"sv, ".arrow"sv, ".csv"sv,   ".tsv"sv,  ".h5"sv,   ".hdf5"sv, ".png"sv,
    ".jpg"sv,         ".jpeg"sv,    ".svg"sv,   ".gif"sv,   ".zip"sv,  ".tar"sv,  ".whl"sv,  ".so"sv,
    ".py"sv,          ".pyc"sv,     ".ipynb"sv, ".sh"sv,    ".c"sv,    ".cc"sv,   ".cpp"sv,  ".cu"sv,
    ".h"sv,           ".hpp"sv,     ".rs"sv,    ".go"sv,    ".js"sv,   ".ts"sv,   ".java"sv, ".css"sv,
    ".toml"sv,        ".cfg"sv,     ".ini"sv,   ".patch"sv, ".diff"sv, ".md"sv,   ".mdx"sv,  ".markdown"sv,
    ".rst"sv,         ".adoc"sv,    ".tex"sv,   ".html"sv,  ".htm"sv,  ".pdf"sv,  ".docx"sv, ".wandb"sv};

// By the beginning of the name: documents, lists of packages, files that Hugging Face and trackers write for a run.
constexpr std::array beginnings{"readme"sv,
                                "license"sv,
                                "licence"sv,
                                "copying"sv,
                                "changelog"sv,
                                "changes."sv,
                                "contributing"sv,
                                "notice"sv,
                                "authors"sv,
                                "faq"sv,
                                "install."sv,
                                "troubleshooting"sv,
                                "requirements"sv,
                                "constraints."sv,
                                "cmakelists"sv,
                                "environment.y"sv,
                                "conda-environment"sv,
                                "wandb-summary."sv,
                                "wandb-metadata."sv,
                                "wandb-history."sv,
                                "wandb-events."sv,
                                "config."sv,
                                "hparams."sv,
                                "params."sv,
                                "adapter_config."sv,
                                "generation_config."sv,
                                "tokenizer"sv,
                                "special_tokens_map"sv,
                                "added_tokens"sv,
                                "vocab."sv,
                                "merges."sv,
                                "trainer_state."sv,
                                "training_args."sv,
                                "dataset_info."sv,
                                "model.safetensors."sv,
                                "pytorch_model"sv,
                                "preprocessor_config."sv};

constexpr std::array folders{".git"sv,        ".github"sv,      ".venv"sv,        "venv"sv,
                             "__pycache__"sv, "node_modules"sv, "site-packages"sv};
constexpr std::array of_documents{"docs"sv, "doc"sv};  // nothing but logs is read there

bool has(const auto& names, std::string_view name) { return std::ranges::find(names, name) != names.end(); }

// What Kubernetes prints of an object has its state; a config has not, and its comments are no report.
bool has_state(const fs::path& path) {
  constexpr std::size_t most_bytes = std::size_t{4} << 20;
  std::ifstream in(path, std::ios::binary);
  std::string text(most_bytes, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text.find("apiVersion:") != std::string::npos && text.find("status:") != std::string::npos;
}

bool may_be_log(const fs::path& path, bool among_documents) {
  const std::string name = lowered(path.filename().string());
  const std::string ending = lowered(path.extension().string());
  if (has(of_logs, ending)) return true;
  if (among_documents || has(endings, ending)) return false;
  if (std::ranges::any_of(beginnings, [&](std::string_view begin) { return name.starts_with(begin); })) return false;
  return (ending != ".yaml" && ending != ".yml") || has_state(path);
}

struct Files {
  std::vector<LogFile> logs{};
  std::size_t passed_over = 0;
};

// What W&B's own client logs of itself; an error in it ends no run.
bool is_of_wandbs_client(const fs::path& path) {
  if (!path.filename().string().starts_with("debug")) return false;
  const fs::path folder = path.parent_path();
  const std::string of = folder.filename() == "logs" ? folder.parent_path().filename().string() : std::string();
  return folder.filename() == "wandb" || of.starts_with("run-") || of.starts_with("offline-run-");
}

bool is_of_tensorboard(const fs::path& path) { return path.filename().string().starts_with("events.out.tfevents"); }

// W&B's file of a run has what the terminal's copy beside it has, and the exit code.
LogText::Part part_of_run(const fs::path& run) {
  std::error_code error;
  const bool has_copy = fs::exists(run.parent_path() / "files" / "output.log", error);
  return has_copy ? LogText::Part::of_tracker : LogText::Part::all;
}

Files files_below(const std::string& folder) {
  Files out;
  std::error_code error;
  int documents = -1;  // how deep the folder of documents lies that the walk is in
  for (fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error), end;
       !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (at.depth() <= documents) documents = -1;
    if (at->is_directory(error)) {
      if (has(folders, name)) at.disable_recursion_pending();
      if (has(of_documents, name) && documents < 0) documents = at.depth();
    }
    if (!at->is_regular_file(error)) continue;
    const std::string path = at->path().string();
    if (at->path().extension() == ".wandb") {
      out.logs.push_back({path, part_of_run(at->path())});
    } else if (is_of_tensorboard(at->path())) {
      out.logs.push_back({path, LogText::Part::of_tracker});
    } else if (!is_of_wandbs_client(at->path()) && may_be_log(at->path(), documents >= 0)) {
      out.logs.push_back({path});
    } else {
      ++out.passed_over;
    }
  }
  std::ranges::sort(out.logs, {}, [](const LogFile& file) {
    return std::pair(file.part == LogText::Part::all, std::string_view(file.path));
  });
  return out;
}

std::string none_in(const std::string& path, std::size_t passed_over) {
  std::string out = path + " has no file that may be a log";
  if (passed_over > 0) out += ": " + std::to_string(passed_over) + " passed over";
  return out;
}

}  // namespace

void add_log_files(const std::string& path, std::vector<LogFile>& out, Diagnostics& problems) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return out.push_back({path});
  auto [found, passed_over] = files_below(path);
  if (found.empty()) problems.push_back({Severity::error, "read/no-match", none_in(path, passed_over), {}});
  if (found.size() > most_files) {
    problems.push_back({Severity::warning,
                        "diagnose/left-out",
                        path + " has " + std::to_string(found.size()) + " files: the first " +
                            std::to_string(most_files) + " by name are read",
                        {}});
    found.resize(most_files);
  }
  out.insert(out.end(), found.begin(), found.end());
}

}  // namespace oomplan::cli
