// TensorBoard's event files as lines, and what is not one of them.
#include "tensorboard_log.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "crc32c.hpp"

namespace oomplan::read {
namespace {

std::string number(std::uint64_t value, unsigned bytes) {
  std::string out;
  for (unsigned i = 0; i < bytes; ++i) out += static_cast<char>(value >> 8U * i & 0xFFU);
  return out;
}

std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7U) out += static_cast<char>(value | 0x80U);
  return out + static_cast<char>(value);
}

std::string field(std::uint64_t tag, const std::string& bytes) {
  return varint(tag << 3U | 2U) + varint(bytes.size()) + bytes;
}

std::string sum_of(std::string_view bytes) {
  const std::uint32_t sum = crc32c(bytes);
  return number((sum >> 15U | sum << 17U) + 0xA282EAD8U, 4);
}

std::string framed(const std::string& record) {
  const std::string length = number(record.size(), 8);
  return length + sum_of(length) + record + sum_of(record);
}

std::string scalar(const std::string& tag, float value) {
  return field(1, tag) + varint(2 << 3U | 5U) + number(std::bit_cast<std::uint32_t>(value), 4);
}

// As torch's writer has them since 2.0: a tensor of one element.
std::string tensor(const std::string& tag, float value) {
  return field(1, tag) +
         field(8, varint(1 << 3U) + varint(1) + field(5, number(std::bit_cast<std::uint32_t>(value), 4)));
}

std::string event(double time, std::uint64_t step, const std::string& values) {
  return framed(varint(1 << 3U | 1U) + number(std::bit_cast<std::uint64_t>(time), 8) + varint(2 << 3U) + varint(step) +
                field(5, values));
}

std::string version() { return framed(field(3, "brain.Event:2")); }

std::string lines_of(std::string_view bytes) {
  const auto lines = lines_of_tensorboard(bytes_of(bytes), "");
  const Result<std::string> all = first_bytes(*lines, std::size_t{1} << 20);
  return all ? *all : "an error";
}

constexpr double noon = 1714564800.25;  // 2024-05-01T12:00:00.250Z

TEST(Crc32c, IsCastagnolis) {  // RFC 3720, B.4
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
}

TEST(TensorboardLog, IsALineForEachStep) {
  const std::string file =
      version() + event(noon, 10, field(1, scalar("loss", 1.5F))) + event(noon + 1, 10, field(1, scalar("lr", 0.1F))) +
      event(noon + 60, 20, field(1, scalar("loss", 1.25F)) + field(1, scalar("memory/max_active(GiB)", 2.0F)));
  EXPECT_TRUE(is_tensorboard_log(std::string_view(file).substr(0, tensorboard_mark_length)));
  EXPECT_EQ(lines_of(file),
            "2024-05-01T12:00:01.250Z tensorboard: step 10\n"
            "2024-05-01T12:01:00.250Z tensorboard: step 20, memory 2147483648 bytes\n");
}

TEST(TensorboardLog, TakesTheMemoryOfTensorsInTheTagsUnit) {
  const auto memory = [](const std::string& value) { return lines_of(version() + event(noon, 1, field(1, value))); };
  const std::string none = "2024-05-01T12:00:00.250Z tensorboard: step 1\n";
  EXPECT_NE(memory(tensor("mem-allocated-bytes", 4096.0F)).find("memory 4096 bytes"), std::string::npos);
  EXPECT_NE(memory(scalar("gpu/allocated_MB", 2.0F)).find("memory 2097152 bytes"), std::string::npos);
  EXPECT_EQ(memory(scalar("mem-reserved-bytes", 4096.0F)), none);  // the allocator's, and no sign of a leak
  EXPECT_EQ(memory(scalar("active", 4096.0F)), none);              // of what?
  EXPECT_EQ(memory(scalar("allocated_bytes", -1.0F)), none);
}

TEST(TensorboardLog, EndsWhereItIsCutOrItsFramesAreDamaged) {
  const std::string file = version() + event(noon, 1, field(1, scalar("loss", 1.0F))) +
                           event(noon, 2, field(1, scalar("loss", 1.0F))) +
                           event(noon, 3, field(1, scalar("loss", 1.0F)));
  const std::string whole = lines_of(file);
  for (std::size_t size = 0; size < file.size(); ++size) EXPECT_TRUE(whole.starts_with(lines_of(file.substr(0, size))));
  std::string damaged = file;
  damaged[file.size() - 60] ^= 1;  // in a record: that one is left out
  EXPECT_LT(lines_of(damaged).size(), whole.size());
  std::string huge = version() + number(~std::uint64_t{0}, 8) + sum_of(number(~std::uint64_t{0}, 8));
  EXPECT_EQ(lines_of(huge), "");
  EXPECT_FALSE(is_tensorboard_log("a log of text"));
}

TEST(TensorboardLog, PassesOverWhatIsLarge) {
  EXPECT_EQ(lines_of(version() + framed(std::string(200'000, 'x')) + event(noon, 7, field(1, scalar("loss", 1.0F)))),
            "2024-05-01T12:00:00.250Z tensorboard: step 7\n");
}

}  // namespace
}  // namespace oomplan::read
