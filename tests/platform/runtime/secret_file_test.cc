// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/atomic_file.h"

#include <catch2/catch.hpp>

#include "tests/doubles/temporary_folder.h"

namespace shoal::runtime {

TEST_CASE("a secret is the first line of its file, whatever ends the line") {
  const doubles::TemporaryFolder folder;
  REQUIRE(ReadSecret(folder.Write("unix", "open sesame\nsecond\n")).value() == "open sesame");
  REQUIRE(ReadSecret(folder.Write("dos", "open sesame\r\n")).value() == "open sesame");
  REQUIRE(ReadSecret(folder.Write("bare", " open sesame ")).value() == " open sesame ");
}

TEST_CASE("a file without a secret is named, what is in it is not") {
  const doubles::TemporaryFolder folder;
  const absl::Status empty = ReadSecret(folder.Write("empty", "\nlate secret")).status();
  REQUIRE(absl::IsFailedPrecondition(empty));
  REQUIRE(Message(empty).find(folder.At("empty")) != std::string::npos);
  REQUIRE(Message(empty).find("late") == std::string::npos);
  REQUIRE(absl::IsNotFound(ReadSecret(folder.At("none")).status()));
  const std::string large = folder.Write("large", std::string(100'000, 'x'));
  REQUIRE(absl::IsResourceExhausted(ReadSecret(large).status()));
}

}  // namespace shoal::runtime
