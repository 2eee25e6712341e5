// SPDX-License-Identifier: Apache-2.0
#include "cli/session/suggestion.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/doubles/temporary_folder.h"

namespace shoal::cli {
namespace {

std::string Suggest(const std::string& evaluation) {
  const doubles::TemporaryFolder folder;
  std::filesystem::create_directory(folder.At("evaluations"));
  std::ofstream(folder.At("evaluations/final.jsonl")) << evaluation;
  return SuggestOperation(
      {.run = folder.path(), .programs = "bin", .mockserver = "127.0.0.1:8000", .capture = "lab"});
}

TEST_CASE("What a policy did in most requests is suggested, if a shell takes it as it is",
          "[suggestion]") {
  const std::string text = Suggest(
      "{\"episodes\":5,\"pairs\":1}\n"
      R"({"policy":"1.40","goal":"5 pxe_once","capture":"lab","success":true,"optimum":1,"text":"Turn it on."})"
      "\n"
      R"({"policy":"1.40","goal":"5 pxe_once","capture":"lab","success":true,"optimum":2,"text":"Boot from the network, it's once."})"
      "\n"
      R"({"policy":"1.40","goal":"5 pxe_once","capture":"lab","success":false,"optimum":4,"text":"Too hard."})"
      "\n"
      R"({"policy":"1.40","goal":"5 pxe_once","capture":"lab","success":true,"optimum":3,"text":"Write $(reboot) down."})"
      "\n"
      R"({"policy":"1.40","goal":"5 pxe_once","capture":"rack","success":true,"optimum":3,"text":"Another host."})"
      "\n"
      R"({"policy":"initial","goal":"5 pxe_once","capture":"lab","success":true,"optimum":9,"text":"By luck."})"
      "\n"
      R"({"policy":"1.40","goal":"201 remove_role","capture":"lab","success":true,"optimum":9,"text":"Unknown."})"
      "\n"
      R"({"policy":1,"goal":[],"capture":"lab","success":"yes","optimum":"9","text":{}})"
      "\nno JSON\n");
  REQUIRE(text.find("bin/shoal\" do \"Boot from the network, it's once.\" --policy \"/") !=
          std::string::npos);
  REQUIRE(text.ends_with("\" --host http://127.0.0.1:8000\n"));
  REQUIRE(text.find("bin/mockserver\" --config ") != std::string::npos);
}

TEST_CASE("Nothing is suggested where nothing was reached", "[suggestion]") {
  REQUIRE(Suggest("").empty());
  REQUIRE(
      Suggest(
          R"({"policy":"1.40","goal":"5 pxe_once","capture":"lab","success":true,"optimum":0,"text":"It was."})")
          .empty());
}

}  // namespace
}  // namespace shoal::cli
