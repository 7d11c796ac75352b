#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "oomplan/catalog/catalog.hpp"
#include "temporary_folder.hpp"

namespace oomplan {
namespace {

std::string errors_of(const Result<Catalog>& result) {
  std::string out;
  if (result) return out;
  for (const Diagnostic& error : result.errors()) out += to_text(error);
  return out;
}

constexpr std::string_view card = "title: My card\ngeneration: mine\ntotal: 11.50 GiB\nevidence: my own\n";
constexpr std::string_view generation =
    "title: Mine\ncontext: 1 GiB\ncontext_source: measured\ncublas_workspace: 2 MiB\n";
constexpr std::string_view preset = "aliases: [me/other]\nconfig: {model_type: mine, hidden_size: 8}\nparameters: 80\n";
constexpr std::string_view architecture = R"(
task: masked_lm
source: mine
config: {hidden_size: {type: integer, required: true}}
layers: 1
block_module: layers
tied_embeddings: false
max_positions: 0
stem: []
block: [{op: linear, in: $hidden_size, out: $hidden_size}]
tail: []
)";

TEST(ModelsDirectory, AddsToWhatIsBuiltIn) {
  const TemporaryFolder folder;
  folder.write("gpus/my-card.yaml", card);
  folder.write("generations/mine.yaml", generation);
  folder.write("presets/me--model.yaml", preset);
  folder.write("architectures/mine.yaml", architecture);
  folder.write("README.md", "not read");
  const Result<Catalog> catalog = read_models(folder.path());
  ASSERT_TRUE(catalog.ok()) << errors_of(catalog);
  EXPECT_EQ(find_gpu("my card", *catalog)->context, Bytes::gib(1));
  EXPECT_EQ(find_gpu("l4", *catalog)->name, "l4");
  const Result<Architecture> model = find_model("ME/OTHER", *catalog);
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->task, Task::masked_lm);
  EXPECT_EQ(model->source, "me/other");
  EXPECT_EQ(model->parameters, 80);
  EXPECT_FALSE(find_model("me/other").ok());
}

TEST(ModelsDirectory, ReplacesAFileOfTheSameName) {
  const TemporaryFolder folder;
  folder.write("presets/openai-community--gpt2.yaml", "config: {model_type: llama}\n");
  const Result<Catalog> catalog = read_models(folder.path());
  ASSERT_TRUE(catalog.ok()) << errors_of(catalog);
  const Result<Architecture> model = find_model("openai-community/gpt2", *catalog);
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.errors()[0].message, "\"vocab_size\" is missing");
  EXPECT_EQ(model.errors()[0].where.file, folder.path() + "/presets/openai-community--gpt2.yaml");
  EXPECT_EQ(find_model("gpt2", *catalog).errors()[0].code, "catalog/unknown-model");  // An alias of that replaced.
}

TEST(ModelsDirectory, ThatDoesNotExist) {
  const TemporaryFolder folder;
  EXPECT_EQ(errors_of(read_models(folder.path() + "/none")),
            folder.path() + "/none: error: No such file or directory [catalog/unreadable-directory]\n");
  const std::string file = folder.write("file", "");
  EXPECT_EQ(errors_of(read_models(file)), file + ": error: this is not a directory [catalog/unreadable-directory]\n");
}

TEST(ModelsDirectory, AllThatIsWrongIsSaid) {
  const TemporaryFolder folder;
  folder.write("gpu/my-card.yaml", card);
  folder.write("gpus/my-card.yml", card);
  folder.write("presets/broken.yaml", "a: [");
  const std::string text = errors_of(read_models(folder.path()));
  const std::string expected =
      folder.path() +
      "/gpu: error: this is none of the folders that are read [catalog/bad-file]\nhint: those are architectures, "
      "generations, gpus, libraries, presets, runtimes and towers.\n" +
      folder.path() + "/gpus/my-card.yml: error: the file's name must end in .yaml [catalog/bad-file]\n" +
      folder.path() + "/presets/broken.yaml:";
  EXPECT_EQ(text.substr(0, expected.size()), expected);
}

TEST(ModelsDirectory, GpusAndPresetsAreChecked) {
  const TemporaryFolder folder;
  folder.write("gpus/my-card.yaml", card);
  folder.write("presets/me--model.yaml", "config: 3\nparameters: none\nvariants: {me/other: [4]}\n");
  const std::string text = errors_of(read_models(folder.path()));
  EXPECT_EQ(text,
            folder.path() +
                "/gpus/my-card.yaml:2:13: error: there is no models/generations/mine.yaml [catalog/bad-file]\n"
                "    generation: mine\n                ^\n" +
                folder.path() +
                "/presets/me--model.yaml:3:22: error: a variant is a mapping of keys of config.json, or a text, not a "
                "list [catalog/bad-file]\n    variants: {me/other: [4]}\n                         ^\n" +
                folder.path() +
                "/presets/me--model.yaml:2:13: error: \"parameters\" must be a whole number above 0, not \"none\" "
                "[catalog/bad-file]\n    parameters: none\n                ^\n" +
                folder.path() +
                "/presets/me--model.yaml:1:9: error: \"config\" must be a mapping of keys, not 3 "
                "[catalog/bad-file]\n    config: 3\n            ^\n");
}

}  // namespace
}  // namespace oomplan
