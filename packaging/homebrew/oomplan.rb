# brew install --HEAD ./packaging/homebrew/oomplan.rb
# The program, without the Python package and the reader of datasets (docs/install.md). There is no release yet: with the first one come
# `url` and `sha256`, and --HEAD goes.
class Oomplan < Formula
  desc "Predict whether a training run fits on a GPU, and diagnose those that did not"
  homepage "https://github.com/OWNER/oomplan"
  license "Apache-2.0"
  head "https://github.com/OWNER/oomplan.git", branch: "main"

  depends_on "cli11" => :build
  depends_on "cmake" => :build
  depends_on "ninja" => :build
  depends_on "nlohmann-json" => :build
  depends_on "pkgconf" => :build
  depends_on macos: :ventura # doubles in <charconv>
  depends_on "fmt"
  depends_on "xz"
  depends_on "zstd"

  uses_from_macos "bzip2"
  uses_from_macos "zlib"

  def install
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DOOMPLAN_TESTS=OFF", "-DOOMPLAN_BENCH=OFF",
           "-DOOMPLAN_PYTHON_WANTED=OFF", *std_cmake_args
    system "cmake", "--build", "build", "--target", "oomplan"
    system "cmake", "--install", "build"
    generate_completions_from_executable(bin/"oomplan", "completion")
    (man1/"oomplan.1").write Utils.safe_popen_read(bin/"oomplan", "completion", "man")
  end

  test do
    (testpath/"train.yaml").write <<~YAML
      model: openai-community/gpt2
      micro_batch_size: 1
      sequence_length: 256
      weights_dtype: fp32
    YAML
    assert_match "fits", shell_output("#{bin}/oomplan estimate train.yaml --gpu 24GiB")
    shell_output("#{bin}/oomplan estimate train.yaml --gpu 24GiB --set micro_batch_size=4096", 1)
    assert_match version.to_s, shell_output("#{bin}/oomplan --version") if build.stable?
  end
end
