// SPDX-License-Identifier: Apache-2.0
#include "placement/found_line.h"

#include <catch2/catch.hpp>

#include "placement/search.h"
#include "small_graphs.h"

namespace shoal::placement {
namespace {

TEST_CASE("what a search found is the same after a line of JSON") {
  runtime::Random random(3);
  for (int i = 0; i < 20; ++i) {
    const Graph graph = RandomGraph(random, 12, 5);
    Simulator simulator = Simulator::Create(graph, RandomDevices(random, 3)).value();
    const Found found =
        Anneal(simulator, Placement(simulator.groups()), {0}, {.evaluations = 50}).value();
    const std::string line = ToLine(found);
    REQUIRE(line.find('\n') == std::string::npos);
    const Found read = ParseFound(line, simulator).value();
    REQUIRE(read.placement == found.placement);
    REQUIRE(read.step.seconds == found.step.seconds);
    REQUIRE(read.step.excess == found.step.excess);
    REQUIRE(read.evaluations == found.evaluations);
    REQUIRE(read.seconds == found.seconds);
    REQUIRE(read.improvements.size() == found.improvements.size());
    for (std::size_t k = 0; k < read.improvements.size(); ++k) {
      REQUIRE(read.improvements[k].evaluations == found.improvements[k].evaluations);
      REQUIRE(read.improvements[k].step.seconds == found.improvements[k].step.seconds);
      REQUIRE(read.improvements[k].step.excess == found.improvements[k].step.excess);
      REQUIRE(read.improvements[k].seconds == found.improvements[k].seconds);
    }
  }
}

TEST_CASE("a line that is not what a search found of this graph is an error") {
  Graph graph;
  AddOperation(graph, 1, 1, {});
  Simulator simulator = Simulator::Create(graph, EqualDevices(2, 100)).value();
  const auto line = [](const std::string& placement, const std::string& improvements) {
    return R"({"placement": )" + placement + R"(, "improvements": )" + improvements +
           R"(, "evaluations": 3, "seconds": 1.5})";
  };
  REQUIRE(ParseFound(line("[1]", "[[1, 0.5, 2.0, 0.0]]"), simulator).ok());
  for (const std::string& wrong :
       {std::string(), std::string("[]"), std::string("{}"), line("1", "[]"), line("[-1]", "[]"),
        line("[2]", "[]"), line("[0, 0]", "[]"), line("[0]", "[1]"), line("[0]", "[[1, 2, 3]]"),
        line("[0]", R"([[1, 0.5, "2", 0.0]])"), std::string(R"({"placement": [0]})"),
        std::string(R"({"placement": [0], "improvements": [], "evaluations": 1})")}) {
    INFO(wrong);
    REQUIRE(absl::IsInvalidArgument(ParseFound(wrong, simulator).status()));
  }
}

}  // namespace
}  // namespace shoal::placement
