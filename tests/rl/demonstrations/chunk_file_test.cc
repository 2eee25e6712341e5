// SPDX-License-Identifier: Apache-2.0
#include "rl/demonstrations/chunk_file.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace shoal::demonstrations {
namespace {

const std::vector<std::string> kChunks = {"one chunk", "", std::string(5000, 'x')};

std::string Packed() { return PackChunks(kChunks).value(); }

}  // namespace

TEST_CASE("chunks come back as they were packed, and say where they stood") {
  const std::string file = Packed();
  const auto chunks = UnpackChunks(file);
  REQUIRE(chunks.ok());
  REQUIRE(chunks->size() == kChunks.size());
  for (std::size_t i = 0; i < kChunks.size(); ++i) REQUIRE((*chunks)[i].bytes == kChunks[i]);
  REQUIRE((*chunks)[0].offset == 32);
  REQUIRE((*chunks)[1].offset > 32);
  REQUIRE(file.size() < 400);
}

TEST_CASE("whichever bit is flipped, the file is refused with an offset") {
  const std::string file = Packed();
  for (std::size_t at = 0; at < file.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = file;
      damaged[at] = static_cast<char>(damaged[at] ^ 1 << bit);
      const auto chunks = UnpackChunks(damaged);
      INFO("byte " << at << ", bit " << bit << ": " << chunks.status());
      REQUIRE_FALSE(chunks.ok());
      REQUIRE(std::string(chunks.status().message()).starts_with("offset "));
    }
  }
}

TEST_CASE("wherever the file ends early, or goes on, it is refused") {
  const std::string file = Packed();
  for (std::size_t size = 0; size < file.size(); ++size) {
    INFO(size);
    REQUIRE_FALSE(UnpackChunks(file.substr(0, size)).ok());
  }
  const auto longer = UnpackChunks(file + "x");
  REQUIRE(std::string(longer.status().message()).find("goes on after") != std::string::npos);
}

TEST_CASE("damage in a chunk is said where that chunk begins") {
  const std::string file = Packed();
  const auto offset = UnpackChunks(file).value()[2].offset;
  std::string damaged = file;
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  const std::string message(UnpackChunks(damaged).status().message());
  REQUIRE(message.starts_with("offset " + std::to_string(offset) + ": chunk 3 of 3"));
}

}  // namespace shoal::demonstrations
