#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "files.hpp"
#include "gpu_file.hpp"
#include "oomplan/catalog/catalog.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Gpu gpu(std::string_view name) {
  const Result<Gpu> out = find_gpu(name);
  EXPECT_TRUE(out.ok()) << (out.ok() ? "" : to_text(out.errors()[0]));
  return out.ok() ? *out : Gpu{};
}

Diagnostic error(std::string_view name, const Catalog& catalog = {}) {
  const Result<Gpu> out = find_gpu(name, catalog);
  EXPECT_FALSE(out.ok()) << name;
  return out.ok() ? Diagnostic{} : out.errors()[0];
}

Catalog with_gpu(std::string text) { return {{{"gpus/mine.yaml", std::move(text), "mine.yaml"}}}; }

TEST(Gpus, EveryFileIsAGpu) {
  const auto files = catalog::files_in("gpus", {});
  EXPECT_GE(files.size(), 72U);
  for (const catalog::DataFile& file : files) {
    const Result<Gpu> read = catalog::read_gpu(file, {});
    ASSERT_TRUE(read.ok()) << to_text(read.errors()[0]);
    EXPECT_GT(read->total, Bytes::gib(4)) << file.name;
    EXPECT_LT(read->total, Bytes::gib(290)) << file.name;
    // As on the box, in GB of either kind, less what the driver and ECC keep.
    EXPECT_GT(read->total, Bytes(read->nominal_gb * 900'000'000)) << file.name;
    EXPECT_LE(read->total, Bytes::gib(read->nominal_gb)) << file.name;
    EXPECT_GE(read->context, Bytes::mib(256)) << file.name;
    EXPECT_LE(read->context, Bytes::gib(1)) << file.name;
    EXPECT_FALSE(read->total_source.empty()) << file.name;
    EXPECT_FALSE(read->context_source.empty()) << file.name;
  }
}

TEST(Gpus, EveryNameTitleAndAliasFindsItsOwnFile) {
  for (const Gpu& known : known_gpus()) {
    EXPECT_EQ(gpu(known.name).name, known.name);
    EXPECT_EQ(gpu(known.title).name, known.name);
    for (const std::string& alias : known.aliases) {
      const Result<Gpu> found = find_gpu(alias);
      if (found) {
        EXPECT_EQ(found->name, known.name) << alias;
      } else {
        EXPECT_EQ(found.errors()[0].code, "catalog/ambiguous-gpu") << alias;
        EXPECT_THAT(found.errors()[0].hint, HasSubstr(known.name)) << alias;
      }
    }
  }
}

TEST(Gpus, TotalIsTheLeastThatPrintsAsPyTorchReported) {
  const Gpu found = gpu("rtx-4090");
  EXPECT_EQ(found.title, "NVIDIA GeForce RTX 4090");
  EXPECT_EQ(to_text(found.total), "23.52 GiB");
  EXPECT_EQ(to_text(found.total - Bytes(2)), "23.51 GiB");
  EXPECT_EQ(found.compute_capability, "8.9");
  EXPECT_EQ(found.cublas_workspace, Bytes(8'519'680));
  EXPECT_EQ(found.context, Bytes::mib(512));
  EXPECT_THAT(found.total_source, HasSubstr("up to 23.65 GiB seen"));
}

TEST(Gpus, ExactBytesStayExact) { EXPECT_EQ(gpu("RTX 6000 Ada").total, Bytes(50'865'307'648)); }

TEST(Gpus, HopperAndBlackwellHaveTheLargeWorkspace) {
  for (const std::string_view name : {"h100-80gb", "h200", "b200", "rtx-5090", "gb10"})
    EXPECT_EQ(gpu(name).cublas_workspace, Bytes::mib(32)) << name;
  EXPECT_EQ(to_text(gpu("H100").total), "79.10 GiB");
}

TEST(Gpus, NamesAsDriversAndPeopleWriteThem) {
  for (const std::string_view name : {"RTX 4090", "rtx4090", "4090", "GeForce RTX 4090", "nvidia geforce rtx 4090"})
    EXPECT_EQ(gpu(name).name, "rtx-4090") << name;
  EXPECT_EQ(gpu("NVIDIA A100-SXM4-80GB").name, "a100-80gb");
  EXPECT_EQ(gpu("Tesla T4").name, "t4");
  EXPECT_EQ(gpu("NVIDIA A10").name, "a10");
  EXPECT_EQ(gpu("NVIDIA A10G").name, "a10g");
  EXPECT_EQ(gpu("Quadro RTX 8000").name, "quadro-rtx-8000");
  EXPECT_EQ(gpu("NVIDIA TITAN RTX").name, "titan-rtx");
  EXPECT_EQ(gpu("NVIDIA RTX 4000 SFF Ada Generation").name, "rtx-4000-sff-ada");
  EXPECT_EQ(gpu("NVIDIA B300 SXM6 AC").name, "b300");
  EXPECT_EQ(gpu("NVIDIA A100-SXM4-40GB MIG 1g.5gb").name, "a100-40gb-mig-1g.5gb");
  EXPECT_EQ(gpu("AMD Instinct MI250X / MI250").name, "mi250x");
  EXPECT_EQ(error("NVIDIA GeForce RTX 4090 Laptop GPU").code, "catalog/unknown-gpu");
  EXPECT_EQ(gpu("NVIDIA H100 80GB HBM3").name, "h100-80gb");
}

TEST(Gpus, ASizeIsAGpuOfTheCommonGeneration) {
  const Gpu found = gpu("24GiB");
  EXPECT_EQ(found.name, "24 GiB");
  EXPECT_EQ(found.title, "a GPU with 24 GiB");
  EXPECT_EQ(found.total, Bytes::gib(24));
  EXPECT_EQ(found.context, Bytes::mib(512));
  EXPECT_EQ(found.cublas_workspace, Bytes(8'519'680));
  EXPECT_EQ(found.total_source, "as given");
  EXPECT_THAT(found.context_source, HasSubstr("taken as on Ampere, since only a size was given"));
  EXPECT_EQ(gpu("24 GB").name, "22.35 GiB");
}

TEST(Gpus, AnUnknownNameIsAnErrorWithNearNames) {
  EXPECT_EQ(to_text(error("a101")),
            "error: no GPU \"a101\" is known [catalog/unknown-gpu]\nhint: did you mean a10 or a10g? Or give its memory "
            "as a size (\"24GiB\").\n");
  EXPECT_EQ(error("rtx-4091").hint, "did you mean rtx-4090? Or give its memory as a size (\"24GiB\").");
  EXPECT_EQ(error("abacus").hint, "Give its memory as a size (\"24GiB\").");
  EXPECT_EQ(error("").code, "catalog/unknown-gpu");
  EXPECT_EQ(error(std::string(1 << 20, 'x')).code, "catalog/unknown-gpu");
}

TEST(Gpus, ANameOfSeveralCardsIsAnErrorThatListsThem) {
  EXPECT_EQ(
      to_text(error("a100")),
      "error: several GPUs are called \"a100\" [catalog/ambiguous-gpu]\nhint: say which: a100-40gb (39.38 GiB) or "
      "a100-80gb (79.14 GiB).\n");
  EXPECT_THAT(error("NVIDIA GeForce RTX 3080").hint, HasSubstr("rtx-3080-10gb (9.75 GiB) or rtx-3080-12gb"));
  EXPECT_THAT(error("V100").hint, HasSubstr("v100-16gb (15.75 GiB) or v100-32gb (31.73 GiB)"));
  EXPECT_EQ(gpu("RTX 3080 12GB").name, "rtx-3080-12gb");
}

TEST(Gpus, ACardWithoutAFigureOfItsOwnSaysSo) {
  const Gpu assumed = gpu("NVIDIA GeForce RTX 4070 SUPER");
  EXPECT_TRUE(assumed.total_assumed);
  EXPECT_EQ(to_text(assumed.total), "11.58 GiB");
  EXPECT_THAT(assumed.total_source, HasSubstr("Windows"));
  EXPECT_FALSE(gpu("4070").total_assumed);
  const std::string both = "title: x\ngeneration: ada\ntotal: 1.00 GiB\nevidence: y\nassumed: z\n";
  EXPECT_EQ(error("mine", with_gpu(both)).message, "\"assumed\" stands where there is no \"evidence\"");
}

TEST(Gpus, AListByPartOfTheNameOrByTheSizeOnTheBox) {
  const auto names = [](std::string_view part) {
    std::vector<std::string> out;
    const auto found = known_gpus_like(part);
    EXPECT_TRUE(found.ok()) << part;
    if (found)
      for (const Gpu& each : *found) out.push_back(each.name);
    return out;
  };
  EXPECT_THAT(names("80"), ElementsAre("a100-80gb", "h100-80gb"));
  EXPECT_EQ(names("80 GB"), names("80"));
  EXPECT_THAT(names("4090"), ElementsAre("rtx-4090-d", "rtx-4090"));
  EXPECT_THAT(names("GeForce RTX 50"),
              ElementsAre("rtx-5060-ti-16gb", "rtx-5070-ti", "rtx-5070", "rtx-5080", "rtx-5090"));
  EXPECT_EQ(known_gpus_like("abacus").errors()[0].code, "catalog/unknown-gpu");
  EXPECT_EQ(known_gpus_like("").errors()[0].code, "catalog/unknown-gpu");
  EXPECT_EQ(known_gpus_like(std::string(1 << 20, 'x')).errors()[0].code, "catalog/unknown-gpu");
}

TEST(Gpus, ASizeThatNoGpuHasIsAnError) {
  EXPECT_EQ(
      to_text(error("24")),
      "error: no GPU has 24 B of memory [catalog/unknown-gpu]\nhint: write the unit with the size (\"24GiB\").\n");
  EXPECT_EQ(error("24MiB").hint, "sizes from 512.00 MiB to 16.00 TiB are taken.");
  EXPECT_EQ(error("9000TiB").message, "no GPU has 8.79 PiB of memory");
}

TEST(Gpus, AFileOfTheUserAddsOneOrReplacesOne) {
  const std::string text = "title: My card\ngeneration: ada\ntotal: 11.50 GiB\nevidence: my own\n";
  const Result<Gpu> mine = find_gpu("my card", with_gpu(text));
  ASSERT_TRUE(mine.ok());
  EXPECT_EQ(mine->name, "mine");
  EXPECT_EQ(to_text(mine->total), "11.50 GiB");
  EXPECT_EQ(find_gpu("l4", Catalog{{{"gpus/l4.yaml", text, "l4.yaml"}}})->title, "My card");
  EXPECT_EQ(known_gpus(with_gpu(text)).size(), known_gpus().size() + 1);
}

TEST(Gpus, ABrokenFileSaysAllThatIsWrong) {
  const Result<Gpu> out = find_gpu("mine", with_gpu("title: My card\ngeneration: ada\ntotal: 24GB\ncolour: red\n"));
  ASSERT_FALSE(out.ok());
  ASSERT_EQ(out.errors().size(), 1U);
  EXPECT_EQ(
      to_text(out.errors()[0]),
      "mine.yaml:4:1: error: unknown key \"colour\" [catalog/bad-file]\n    colour: red\n    ^\nhint: known "
      "keys: title, aliases, generation, compute_capability, nominal_gb, total, total_highest, evidence, assumed, "
      "apart and speed\n");
}

TEST(Gpus, AValueOfTheWrongKindIsPointedAt) {
  const Result<Gpu> out = find_gpu("mine", with_gpu("title: My card\ngeneration: ada\ntotal: 24GB\n"));
  ASSERT_FALSE(out.ok());
  ASSERT_EQ(out.errors().size(), 2U);
  EXPECT_EQ(out.errors()[0].message,
            "\"total\" must be as PyTorch prints it (\"23.52 GiB\") or exact bytes, not \"24GB\"");
  EXPECT_EQ(out.errors()[1].message, "\"evidence\" is missing");
  EXPECT_EQ(error("mine", with_gpu("title: x\ngeneration: nope\ntotal: 1.00 GiB\nevidence: y\n")).message,
            "there is no models/generations/nope.yaml");
}

}  // namespace
}  // namespace oomplan
