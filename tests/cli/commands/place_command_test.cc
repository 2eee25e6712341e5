// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/place_command.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "platform/runtime/atomic_file.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::cli {
namespace {

PlaceFlags FlagsOf(const std::string& graph, const std::string& devices) {
  PlaceFlags flags;
  flags.graph = "data/placement/graphs/" + graph + ".json";
  flags.devices = "data/placement/devices/" + devices + ".toml";
  flags.evaluations = 500;
  return flags;
}

bool Shows(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE(
    "a placement is shown against each method, with what limits it and each device's memory") {
  const std::string text = PlaceGraph(FlagsOf("inception-v3", "k80x4")).value();
  INFO(text);
  REQUIRE(Shows(text, "inception-v3: 808 operations in 68 groups on 5 devices\n"));
  for (const char* method : {"one device ", "even split ", "HEFT ", "Scotch ", "METIS ",
                             "annealing ", "cross-entropy "}) {
    REQUIRE(Shows(text, std::string("\n") + method));
  }
  REQUIRE(Shows(text, "\nbest placement: "));
  REQUIRE(Shows(text, "\nlimited by "));
  REQUIRE(Shows(text, "twice as fast: -"));
  REQUIRE(Shows(text, "\ngpu:3 "));
  REQUIRE(Shows(text, " of 11 GiB"));
}

TEST_CASE("where one device is as good as several, that is said") {
  REQUIRE(Shows(PlaceGraph(FlagsOf("resnet50", "k80x2")).value(),
                "best placement: one device, 478.566 ms a step (predicted); no way was found to be "
                "faster on several\n"));
}

TEST_CASE("the same seed places in the same way, and the page and the placement are written") {
  const test::TemporaryFolder folder;
  PlaceFlags flags = FlagsOf("nmt", "k80x4");
  const std::string text = PlaceGraph(flags).value();
  flags.page = folder.path() + "/page.html";
  flags.save = folder.path() + "/placement.json";
  REQUIRE(PlaceGraph(flags).value() == text);
  const std::string page = runtime::ReadFile(flags.page).value();
  REQUIRE(Shows(page, "<title>Placement of nmt</title>"));
  REQUIRE(Shows(page, "<svg"));
  REQUIRE_FALSE(Shows(page, "src="));
  REQUIRE_FALSE(Shows(page, "<script"));
  const auto saved = nlohmann::json::parse(runtime::ReadFile(flags.save).value());
  REQUIRE(saved["placement"].size() == 27);
  REQUIRE(saved["placement"]["encoder.embedding"].is_string());
}

TEST_CASE("a network that fits nowhere is one error that says by how much") {
  const test::TemporaryFolder folder;
  PlaceFlags flags = FlagsOf("resnet50", "k80x2");
  flags.devices = folder.path() + "/small.toml";
  REQUIRE(runtime::WriteFileAtomically(
              flags.devices,
              "[[placement.device]]\nname = \"a\"\ncount = 2\nmemory_gib = 0.5\n"
              "[[placement.link]]\nfrom = [\"a\"]\nto = [\"a\"]\n")
              .ok());
  const auto text = PlaceGraph(flags);
  REQUIRE(absl::IsResourceExhausted(text.status()));
  REQUIRE(Shows(runtime::Message(text.status()), "is out of memory by"));
}

TEST_CASE("files that do not exist are errors that name them") {
  PlaceFlags flags = FlagsOf("resnet50", "k80x2");
  flags.graph = "no/such/graph.json";
  REQUIRE(absl::IsNotFound(PlaceGraph(flags).status()));
}

}  // namespace
}  // namespace shoal::cli
