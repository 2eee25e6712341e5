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

TEST_CASE("reading says what is wrong: missing, a folder, too large") {
  REQUIRE(ReadFile("/nonexistent/file").status().code() == absl::StatusCode::kNotFound);
  REQUIRE(ReadFile("/").status().code() == absl::StatusCode::kInvalidArgument);
  REQUIRE(ReadFile("/proc/self/maps", 4).status().code() == absl::StatusCode::kResourceExhausted);
}

}  // namespace shoal::runtime
