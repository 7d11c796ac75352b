#include "training_command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oomplan::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string text_of(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"python", "train.py"});
  const auto read = read_training_command(arguments);
  return read ? read->text : "refused: " + read.errors().front().message;
}

TEST(TrainingCommand, ReadsArgumentsAsArgparseDoes) {
  EXPECT_EQ(text_of({"--bf16", "--max-steps=3", "--learning_rate", "1e-4", "--warmup", "-1"}),
            "bf16: true\nmax_steps: 3\nlearning_rate: 1e-4\nwarmup: -1\n");
  EXPECT_EQ(text_of({"--lora_target_modules", "q_proj", "v_proj", "--eval_strategy", "no"}),
            "lora_target_modules: [\"q_proj\", \"v_proj\"]\neval_strategy: \"no\"\n");
  EXPECT_EQ(text_of({"--a", "1", "--b", "True", "--a", "2"}), "b: True\na: 2\n");
  EXPECT_EQ(text_of({"--no_remove_unused_columns", "--no_cuda"}), "remove_unused_columns: false\nno_cuda: true\n");
  EXPECT_EQ(text_of({"--fsdp_config", R"({"x": 1})", "--name", "a: b # \"c\"\\"}),
            "fsdp_config: {\"x\": 1}\nname: \"a: b # \\\"c\\\"\\\\\"\n");
  EXPECT_EQ(text_of({"--x: [", "1", "--", "2"}), "\"x: [\": 1\n\"\": 2\n");
}

TEST(TrainingCommand, FindsTheScriptBehindItsLauncher) {
  const auto read =
      read_training_command({"NCCL_DEBUG=INFO", "/opt/bin/torchrun", "--nnodes=2", "--nproc-per-node", "4",
                             "--standalone", "examples/scripts/sft.py", "--config", "a.yaml", "--max_length", "64"});
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->config, "a.yaml");
  EXPECT_EQ(read->trainer, "sft");
  EXPECT_THAT(read->overrides, ElementsAre("max_length=64"));
  EXPECT_EQ(read->world.each, 4);
  EXPECT_EQ(read->world.machines, 2);
  const auto tune = read_training_command(
      {"tune", "run", "--nproc_per_node", "2", "full_finetune_distributed", "--config", "my.yaml", "batch_size=1"});
  ASSERT_TRUE(tune.ok());
  EXPECT_EQ(tune->config, "my.yaml");
  EXPECT_THAT(tune->overrides, ElementsAre("batch_size=1"));
  EXPECT_EQ(tune->world.each, 2);
  EXPECT_EQ(read_training_command({"python", "run_clm.py", "arguments.json"})->config, "arguments.json");
  const auto named = read_training_command({"trl", "sft", "--config", "a.yaml", "--run_name", "per_device_batch=64"});
  EXPECT_THAT(named->overrides, ElementsAre("run_name=\"per_device_batch=64\""));
  const auto factory = read_training_command({"llamafactory-cli", "train", "x.yaml", "learning_rate=1e-5"});
  EXPECT_EQ(factory->config, "x.yaml");
  EXPECT_THAT(factory->overrides, ElementsAre("learning_rate=1e-5"));
  EXPECT_EQ(read_training_command({"llamafactory-cli", "train", "--model_name_or_path", "m"})->dialect, "llamafactory");
  EXPECT_EQ(read_training_command({"torchrun", "--nproc_per_node", "gpu", "train.py", "--bf16"})->world.each, 0);
  EXPECT_EQ(read_training_command({"python", "train.py", "--bf16"})->dialect, "hf");
  EXPECT_EQ(read_training_command({"python", "src/train.py", "--stage", "sft"})->dialect, "llamafactory");
}

TEST(TrainingCommand, RefusesWhatItDoesNotRead) {
  const auto refused = [](const std::vector<std::string>& words, const std::string& why) {
    const auto read = read_training_command(words);
    ASSERT_FALSE(read.ok());
    EXPECT_THAT(read.errors().front().message, HasSubstr(why));
  };
  refused({}, "starts no program");
  refused({"HF_HOME=x"}, "starts no program");
  refused({"PYTORCH_CUDA_ALLOC_CONF=x", "trl", "sft", "--bf16"}, "the variable PYTORCH_CUDA_ALLOC_CONF=x is not read");
  refused({"torchrun", "--", "train.py", "--bf16"}, "\"--\" is no option");
  refused({"torchrun", "--nproc_per_node=", "train.py", "--bf16"}, "wants a value");
  refused({"torchrun", "--master_port", "--nproc_per_node=4", "train.py"}, "--master_port wants a value");
  refused({"accelerate", "launch", "--use_deepspeed=false", "train.py"}, "takes no value");
  refused({"accelerate", "launch", "--use_fsdp", "--multi_gpu", "train.py"}, "beside another way");
  refused({"deepspeed", "--num_nodes", "2", "train.py", "--bf16"}, "how many processes each of 2 machines");
  refused({"accelerate", "launch", "--num_processes", "1", "--num_machines", "2", "train.py"}, "how many processes");
  refused({"tune", "run", "qat_distributed", "--config", "x.yaml"}, "the recipe qat_distributed is not read");
  refused({"verl"}, "the arguments of verl are not read");
  refused({"tune", "run"}, "tune run names no config");
  refused({"axolotl", "train", "--x", "1"}, "names no config");
  refused({"accelerate", "launch", "--fsdp_x"}, "wants a value");
  refused({"torchrun", "--nnodes", "1:4", "train.py"}, "no number of machines");
  refused({"torchrun", "--nproc_per_node", "-1", "train.py"}, "\"-1\" is no number of processes");
  refused({"accelerate", "launch", "--num_processes", "2.5", "train.py"}, "\"2.5\" is no number of processes");
  refused({"torchrun", "--use_fsdp", "train.py"}, "--use_fsdp is not read");
  refused({"python", "train.py"}, "is given no arguments");
}

}  // namespace
}  // namespace oomplan::cli
