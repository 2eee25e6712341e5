// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/mapped_file.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <utility>

#include "platform/runtime/atomic_file.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::runtime {
namespace {

TEST_CASE("A mapped file is its bytes, wherever it is moved, also when it is replaced") {
  const doubles::TemporaryFolder folder;
  folder.Write("bytes", "one two");
  auto mapped = MappedFile::Open(folder.At("bytes")).value();
  MappedFile moved;
  moved = std::move(mapped);
  REQUIRE(WriteFileAtomically(folder.At("bytes"), "three").ok());
  REQUIRE(moved.bytes() == "one two");
  REQUIRE(MappedFile(std::move(moved)).bytes() == "one two");
}

TEST_CASE("An empty file is mapped as nothing") {
  const doubles::TemporaryFolder folder;
  folder.Write("empty", "");
  REQUIRE(MappedFile::Open(folder.At("empty")).value().bytes().empty());
}

TEST_CASE("What is no plain file is refused by name, without waiting") {
  const doubles::TemporaryFolder folder;
  REQUIRE(::mkfifo(folder.At("pipe").c_str(), 0600) == 0);
  for (const std::string& path : {folder.At("pipe"), folder.path()}) {
    const absl::Status status = MappedFile::Open(path).status();
    REQUIRE(absl::IsInvalidArgument(status));
    REQUIRE(std::string(status.message()).find(path) != std::string::npos);
  }
  REQUIRE(absl::IsNotFound(MappedFile::Open(folder.At("nothing")).status()));
}

}  // namespace
}  // namespace shoal::runtime
