// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/atomic_file.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

namespace shoal::runtime {

TEST_CASE("a written file reads back whole, replaces the old one and leaves no other file") {
  const auto folder =
      std::filesystem::temp_directory_path() / ("shoal-atomic-" + std::to_string(::getpid()));
  const std::string path = (folder / "deep" / "file").string();
  const std::string bytes("a\0b\xff", 4);
  REQUIRE(WriteFileAtomically(path, "old and longer").ok());
  REQUIRE(WriteFileAtomically(path, bytes).ok());
  REQUIRE(ReadFile(path).value() == bytes);
  const std::string_view pieces[] = {bytes, "", "more"};
  REQUIRE(WriteFileAtomically(path, pieces).ok());
  REQUIRE(ReadFile(path).value() == bytes + "more");
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    files += entry.is_regular_file();
  REQUIRE(files == 1);
  std::filesystem::remove_all(folder);
}

TEST_CASE("a large file reads back whole, whatever its length and wherever it is") {
  // The second is a file system in memory, which has no disk to go to directly.
  const std::string where = GENERATE("/tmp", "/dev/shm");
  if (!std::filesystem::exists(where)) return;
  const std::string path = where + "/shoal-large-" + std::to_string(::getpid());
  constexpr std::size_t kMebibyte = std::size_t{1} << 20;
  std::string bytes(13 * kMebibyte, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * i >> 7);
  for (const std::size_t size :
       {8 * kMebibyte - 1, 8 * kMebibyte, 8 * kMebibyte + 1, 12 * kMebibyte + 4095, bytes.size()}) {
    INFO(where << " " << size);
    const std::string_view whole(bytes.data(), size);
    const std::string_view pieces[] = {whole.substr(0, 5), whole.substr(5, 5 * kMebibyte), "",
                                       whole.substr(5 + 5 * kMebibyte)};
    REQUIRE(WriteFileAtomically(path, pieces).ok());
    REQUIRE(std::filesystem::file_size(path) == size);
    REQUIRE((ReadFile(path, size).value() == whole));
    REQUIRE(absl::IsResourceExhausted(ReadFile(path, size - 1).status()));
    std::string arrived;
    const auto add = [&arrived](const SharedBytes& part) { arrived += part.bytes; };
    REQUIRE((ReadSharedFile(path, size, add).value().bytes == whole));
    REQUIRE((arrived == whole));
    REQUIRE(absl::IsResourceExhausted(ReadSharedFile(path, size - 1, add).status()));
  }
  std::filesystem::remove(path);
}

TEST_CASE("whether a file can be written is known before there is anything to write") {
  const std::string folder =
      std::filesystem::temp_directory_path() / ("shoal-writable-" + std::to_string(::getpid()));
  REQUIRE(CheckWritable(folder + "/new/file").ok());
  REQUIRE(std::filesystem::is_empty(folder + "/new"));
  REQUIRE(CheckWritable("file-without-folder").ok());
  REQUIRE(absl::IsInvalidArgument(CheckWritable(folder + "/new")));
  REQUIRE(WriteFileAtomically(folder + "/file", "x").ok());
  REQUIRE(Message(CheckWritable(folder + "/file/below")).find(folder + "/file") !=
          std::string::npos);
  REQUIRE_FALSE(CheckWritable("/proc/1/fdinfo/file").ok());
  std::filesystem::remove_all(folder);
}

TEST_CASE("reading says what is wrong: missing, a folder, too large") {
  REQUIRE(ReadFile("/nonexistent/file").status().code() == absl::StatusCode::kNotFound);
  REQUIRE(ReadFile("/").status().code() == absl::StatusCode::kInvalidArgument);
  REQUIRE(ReadFile("/proc/self/maps", 4).status().code() == absl::StatusCode::kResourceExhausted);
  const auto shared = [](const std::string& path) {
    return ReadSharedFile(path, 4, [](const SharedBytes&) {}).status();
  };
  REQUIRE(absl::IsNotFound(shared("/nonexistent/file")));
  REQUIRE(absl::IsInvalidArgument(shared("/")));
  REQUIRE(absl::IsInvalidArgument(shared("/dev/null")));
}

}  // namespace shoal::runtime
