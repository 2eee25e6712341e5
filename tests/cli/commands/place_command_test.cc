// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/place_command.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "platform/runtime/atomic_file.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::cli {
namespace {

PlaceFlags PlaceFlagsOf(const std::string& graph) {
  PlaceFlags flags;
  flags.graph = "data/placement/graphs/" + graph + ".json";
  flags.devices = "data/placement/devices/k80.toml";
  flags.evaluations = 500;
  return flags;
}

bool PlaceShows(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE(
    "a placement is shown against each method, with what limits it and each device's memory") {
  const std::string text = PlaceGraph(PlaceFlagsOf("inception-v3")).value().text;
  INFO(text);
  REQUIRE(PlaceShows(text, "inception-v3: 808 operations in 68 groups on 5 devices\n"));
  for (const char* method : {"one device ", "even split ", "expert ", "HEFT ", "first choices ",
                             "Scotch ", "METIS ", "annealing ", "placement-cem ", "post "}) {
    REQUIRE(PlaceShows(text, std::string("\n") + method));
  }
  REQUIRE(PlaceShows(text, "\nbest placement: "));
  REQUIRE(PlaceShows(text, "\nlimited by "));
  REQUIRE(PlaceShows(text, "twice as fast: -"));
  REQUIRE(PlaceShows(text, "\ngpu:3 "));
  REQUIRE(PlaceShows(text, " of 11 GiB"));
}

TEST_CASE("where one device is as good as several, that is said") {
  REQUIRE(PlaceShows(
      PlaceGraph(PlaceFlagsOf("resnet50")).value().text,
      "best placement: one device, 478.566 ms a step (predicted); no way was found to be "
      "faster on several\n"));
}

TEST_CASE("the same seed places in the same way, and the page and the placement are written") {
  const doubles::TemporaryFolder folder;
  PlaceFlags flags = PlaceFlagsOf("nmt");
  const std::string text = PlaceGraph(flags).value().text;
  flags.page = folder.path() + "/page.html";
  flags.save = folder.path() + "/placement.json";
  REQUIRE(PlaceGraph(flags).value().text == text);
  const std::string page = runtime::ReadFile(flags.page).value();
  REQUIRE(PlaceShows(page, "<title>Placement of nmt</title>"));
  REQUIRE(PlaceShows(page, "<svg"));
  REQUIRE_FALSE(PlaceShows(page, "src="));
  REQUIRE_FALSE(PlaceShows(page, "<script"));
  const auto saved = nlohmann::json::parse(runtime::ReadFile(flags.save).value());
  REQUIRE(saved["placement"].size() == 27);
  REQUIRE(PlaceShows(page, "<h2>Searches</h2><div class=\"charts\"><svg"));
  REQUIRE(PlaceShows(page, ">placements tried<"));
  REQUIRE(PlaceShows(page, ">seconds<"));
  REQUIRE(saved["placement"]["encoder.embedding"].is_string());
}

TEST_CASE(
    "the searches that were named are run with their settings, and how they improved is saved") {
  const doubles::TemporaryFolder folder;
  PlaceFlags flags = PlaceFlagsOf("nmt");
  flags.searches = {"placement-ppo", "softmax-reinforce"};
  flags.save = folder.path() + "/placement.json";
  const std::string text = PlaceGraph(flags).value().text;
  REQUIRE(PlaceShows(text, "\nplacement-ppo "));
  REQUIRE(PlaceShows(text, "\nsoftmax-reinforce "));
  REQUIRE_FALSE(PlaceShows(text, "\nannealing "));
  const auto saved = nlohmann::json::parse(runtime::ReadFile(flags.save).value());
  REQUIRE(saved["methods"].size() == 9);
  const auto& ppo = saved["methods"][7];
  REQUIRE(ppo["method"] == "placement-ppo");
  REQUIRE(ppo["evaluations"] == 500);
  REQUIRE(ppo["improvements"].back()[1] == ppo["step_seconds"]);
  for (std::size_t i = 1; i < ppo["improvements"].size(); ++i) {
    REQUIRE(ppo["improvements"][i][0] > ppo["improvements"][i - 1][0]);
    REQUIRE(ppo["improvements"][i][1] < ppo["improvements"][i - 1][1]);
  }
  flags.overrides = {"placement.search.ppo.learning_rate=0.01", "placement.device.gpu.count=2"};
  const std::string slower = PlaceGraph(flags).value().text;
  REQUIRE(PlaceShows(slower, "on 3 devices"));
  REQUIRE_FALSE(PlaceShows(slower, "\ngpu:2 "));
}

TEST_CASE("operations are grouped by what is colocated where that is asked for") {
  PlaceFlags flags = PlaceFlagsOf("rnnlm");
  flags.searches = {"annealing"};
  REQUIRE(PlaceShows(PlaceGraph(flags).value().text, "rnnlm: 287 operations in 22 groups"));
  flags.grouping = placement::Grouping::kColocation;
  const doubles::TemporaryFolder folder;
  flags.save = folder.path() + "/placement.json";
  const std::string text = PlaceGraph(flags).value().text;
  INFO(text);
  REQUIRE_FALSE(PlaceShows(text, "in 22 groups"));
  const auto saved = nlohmann::json::parse(runtime::ReadFile(flags.save).value());
  REQUIRE(saved["placement"].size() > 22);
  flags.placement = flags.save;
  REQUIRE(PlaceShows(PlaceGraph(flags).value().text, "\nown placement "));
}

TEST_CASE("a search or setting that does not exist is an error that names it") {
  PlaceFlags flags = PlaceFlagsOf("resnet50");
  flags.searches = {"hill"};
  REQUIRE(runtime::Message(PlaceGraph(flags).status()) ==
          "there is no search \"hill\"; there are annealing, placement-cem, softmax-reinforce, "
          "placement-ppo, post, placement-reinforce, brute-force");
  flags.searches = {"post", "placement-ppo", "post"};
  REQUIRE(runtime::Message(PlaceGraph(flags).status()) == "the search \"post\" is named twice");
  flags.searches = {"post"};
  flags.overrides = {"placement.search.post.learning=1"};
  REQUIRE(absl::IsInvalidArgument(PlaceGraph(flags).status()));
}

TEST_CASE("a network that fits nowhere is one error that says by how much") {
  const doubles::TemporaryFolder folder;
  PlaceFlags flags = PlaceFlagsOf("resnet50");
  flags.devices = folder.path() + "/small.toml";
  REQUIRE(
      runtime::WriteFileAtomically(
          flags.devices,
          "[[placement.device]]\nname = \"a\"\ncount = 2\nmemory_gib = 0.5\ntflops = 1\n"
          "memory_gb_per_s = 1\n[[placement.link]]\nfrom = [\"a\"]\nto = [\"a\"]\ngb_per_s = 1\n")
          .ok());
  const auto text = PlaceGraph(flags);
  REQUIRE(absl::IsResourceExhausted(text.status()));
  REQUIRE(PlaceShows(runtime::Message(text.status()), "is out of memory by"));
}

TEST_CASE("files that do not exist are errors that name them") {
  PlaceFlags flags = PlaceFlagsOf("resnet50");
  flags.graph = "no/such/graph.json";
  REQUIRE(absl::IsNotFound(PlaceGraph(flags).status()));
}

TEST_CASE("samples or refinement without a policy, and a policy that is no run, are errors") {
  PlaceFlags flags = PlaceFlagsOf("rnnlm");
  flags.samples = 3;
  const auto lonely = PlaceGraph(flags);
  REQUIRE(absl::IsInvalidArgument(lonely.status()));
  REQUIRE(PlaceShows(std::string(lonely.status().message()), "--policy"));
  flags.samples = 0;
  flags.refine = 3;
  REQUIRE(PlaceGraph(flags).status() == lonely.status());
  flags.policy = "no/such/run";
  const auto missing = PlaceGraph(flags);
  REQUIRE_FALSE(missing.ok());
  REQUIRE(PlaceShows(std::string(missing.status().message()), "no/such/run/config.toml"));
}

TEST_CASE("a placement of one's own is judged beside the others, from what --save writes") {
  const doubles::TemporaryFolder folder;
  PlaceFlags flags = PlaceFlagsOf("rnnlm");
  flags.searches = {"post"};
  flags.save = folder.path() + "/placement.json";
  REQUIRE(PlaceGraph(flags).value().written.ok());
  const auto saved = nlohmann::json::parse(runtime::ReadFile(flags.save).value());
  flags.placement = flags.save;
  flags.save = folder.path() + "/again.json";
  flags.evaluations = 1;
  const std::string text = PlaceGraph(flags).value().text;
  INFO(text);
  REQUIRE(PlaceShows(text, "best placement: own placement, "));
  const auto again = nlohmann::json::parse(runtime::ReadFile(flags.save).value());
  REQUIRE(again["step_seconds"] == saved["step_seconds"]);
  REQUIRE(again["placement"] == saved["placement"]);
  REQUIRE(PlaceShows(text, "\nown placement "));
  flags.graph = "data/placement/graphs/nmt.json";
  const absl::Status other = PlaceGraph(flags).status();
  REQUIRE(absl::IsInvalidArgument(other));
  REQUIRE(PlaceShows(runtime::Message(other), "placement.json: the graph has no group "));
}

TEST_CASE("a command that is stopped answers with the best so far, saves it and says so") {
  const doubles::TemporaryFolder folder;
  PlaceFlags flags = PlaceFlagsOf("rnnlm");
  flags.evaluations = 1'000'000'000;
  flags.searches = {"annealing", "post"};
  flags.save = folder.path() + "/placement.json";
  // What asks: the 22 groups of the first choices, the beginning of annealing, and annealing.
  int asked = 0;
  const PlaceResult placed = PlaceGraph(flags, [&asked] { return ++asked > 40; }).value();
  INFO(placed.text);
  REQUIRE(placed.written.ok());
  REQUIRE(PlaceShows(placed.text, "\nannealing "));
  REQUIRE_FALSE(PlaceShows(placed.text, "\npost "));
  REQUIRE(PlaceShows(placed.text,
                     "\nnote: somebody stopped the command; this is the best so far; not begun: "
                     "post\n"));
  const auto saved = nlohmann::json::parse(runtime::ReadFile(flags.save).value());
  REQUIRE(saved["placement"].size() == 22);
}

TEST_CASE("searches that are given minutes share them, however many placements that makes") {
  PlaceFlags flags = PlaceFlagsOf("resnet50");
  flags.evaluations.reset();
  flags.minutes = 0.005;
  flags.searches = {"annealing", "post"};
  const auto start = std::chrono::steady_clock::now();
  const std::string text = PlaceGraph(flags).value().text;
  INFO(text);
  REQUIRE(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
  REQUIRE(PlaceShows(text, "\nannealing "));
  REQUIRE(PlaceShows(text, "\npost "));
  REQUIRE_FALSE(PlaceShows(text, "note: "));
}

TEST_CASE("files that cannot be written are errors before the work, which no later one loses") {
  const doubles::TemporaryFolder folder;
  PlaceFlags flags = PlaceFlagsOf("rnnlm");
  flags.page = folder.path();
  bool asked = false;
  const auto refused = PlaceGraph(flags, [&asked] {
    asked = true;
    return false;
  });
  REQUIRE(absl::IsInvalidArgument(refused.status()));
  REQUIRE_FALSE(asked);
  // While the searches run, a file takes the place of the page's folder.
  flags.page = folder.path() + "/pages/page.html";
  flags.save = folder.path() + "/placement.json";
  const PlaceResult placed =
      PlaceGraph(flags, [&] {
        if (std::exchange(asked, true)) return false;
        std::filesystem::remove_all(folder.path() + "/pages");
        REQUIRE(runtime::WriteFileAtomically(folder.path() + "/pages", "").ok());
        return false;
      }).value();
  REQUIRE(asked);
  REQUIRE(PlaceShows(placed.text, "\nbest placement: "));
  REQUIRE(PlaceShows(runtime::Message(placed.written), "/pages"));
  REQUIRE(runtime::ReadFile(flags.save).ok());
}

}  // namespace
}  // namespace shoal::cli
