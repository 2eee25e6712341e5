// SPDX-License-Identifier: Apache-2.0
#include "encoder/lexical_commands.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <sstream>
#include <string>

#include "platform/runtime/atomic_file.h"

namespace shoal::encoder {
namespace {

constexpr char kCapture[] = "data/captures/openbmc-stock.tar.xz";

TEST_CASE("a sentence finds the candidate that it names on a capture", "[encoder]") {
  EmbedOptions options;
  options.text = "Boot from PXE once";
  options.capture = kCapture;
  options.top = 3;
  std::ostringstream out;
  REQUIRE(EmbedLexical(options, out).ok());
  REQUIRE(out.str().find("\"BootSourceOverrideTarget\":\"Pxe\"") != std::string::npos);
  REQUIRE(out.str().find("words= boot from pxe once") != std::string::npos);
}

TEST_CASE("fitting the same capture twice gives the same table", "[encoder]") {
  const std::string path = "/tmp/shoal-fit-" + std::to_string(::getpid());
  std::string first;
  for (int round = 0; round < 2; ++round) {
    std::ostringstream out;
    REQUIRE(FitLexical({.captures = {kCapture}, .output = path}, out).ok());
    const auto bytes = runtime::ReadFile(path);
    REQUIRE(bytes.ok());
    if (round == 0) first = *bytes;
    REQUIRE(*bytes == first);
    std::remove(path.c_str());
  }
}

TEST_CASE("a missing capture or table is named", "[encoder]") {
  std::ostringstream out;
  const auto fit = FitLexical({.captures = {"none.tar.xz"}, .output = "/tmp/x"}, out);
  REQUIRE(std::string(fit.message()).find("none.tar.xz") != std::string::npos);
  EmbedOptions options;
  options.table = "none.idf";
  REQUIRE(std::string(EmbedLexical(options, out).message()).find("none.idf") != std::string::npos);
  REQUIRE(absl::IsInvalidArgument(FitLexical({}, out)));
}

}  // namespace
}  // namespace shoal::encoder
