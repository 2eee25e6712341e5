// SPDX-License-Identifier: Apache-2.0
#include "encoder/retrieval_task.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "encoder/retrieval_scores.h"
#include "text/lexical/lexical_encoder.h"

namespace shoal::encoder {
namespace {

using nlohmann::json;

const redfish::GoalSuite& Suite() {
  static const redfish::GoalSuite kSuite = redfish::LoadGoals("data/goals").value();
  return kSuite;
}

const RetrievalSource& Catfish() {
  static const auto kSchema = redfish::Schema::Load("data/schema/redfish.schema.zst").value();
  static const RetrievalSource kSource =
      RetrievalSource::Load("dmtf-catfish", "data", *kSchema, Suite()).value();
  return kSource;
}

RetrievalTask Drawn(const RetrievalDraws& draws = {.episodes = 4}) {
  return Catfish().Draw(draws).value();
}

TEST_CASE("a task has all requests of the catalog, and queries by goal with what they ask for") {
  const RetrievalTask task = Drawn();
  REQUIRE(task.capture == "dmtf-catfish");
  REQUIRE(task.requests.size() == Catfish().catalog().size());
  REQUIRE(task.requests[3] == Catfish().catalog().candidates()[3].text);
  REQUIRE_FALSE(task.queries.empty());
  std::vector<std::string> groups;
  for (const RetrievalQuery& query : task.queries) {
    REQUIRE_FALSE(query.text.empty());
    REQUIRE_FALSE(query.relevant.empty());
    REQUIRE(*query.relevant.begin() >= 0);
    REQUIRE(*query.relevant.rbegin() < static_cast<std::int64_t>(task.requests.size()));
    if (groups.empty() || groups.back() != query.group) groups.push_back(query.group);
  }
  REQUIRE(std::ranges::find(groups, "power_on") != groups.end());
  std::ranges::sort(groups);
  REQUIRE(std::ranges::adjacent_find(groups) == groups.end());
}

TEST_CASE("whichever reset turns a system on is on a shortest way") {
  const RetrievalTask task = Drawn();
  const auto query = std::ranges::find(task.queries, "power_on", &RetrievalQuery::group);
  REQUIRE(query != task.queries.end());
  std::set<std::string> types;
  for (const std::int64_t index : query->relevant) {
    const auto& candidate = Catfish().catalog().candidates()[static_cast<std::size_t>(index)];
    REQUIRE(candidate.action == "ComputerSystem.Reset");
    types.insert(candidate.body.at("ResetType").get<std::string>());
  }
  REQUIRE(types.contains("On"));
  REQUIRE(types.size() >= 2);
  for (const std::string& type : types) {
    REQUIRE((type == "On" || type == "ForceOn" || type == "PushPowerButton"));
  }
}

TEST_CASE("a request that is only composed counts as the one that composes it") {
  const auto& candidates = Catfish().catalog().candidates();
  const auto composing = std::ranges::find_if(candidates, &redfish::Candidate::composes);
  REQUIRE(composing != candidates.end());
  const std::set<std::int64_t> relevant = RelevantCandidates(
      Catfish().catalog(),
      {{composing->method, composing->uri, json{{"NoSuchProperty", 1}, {"NorThis", 2}}, ""}});
  REQUIRE(relevant == std::set<std::int64_t>{composing - candidates.begin()});
  REQUIRE(RelevantCandidates(Catfish().catalog(), {{"DELETE", "/no/such", nullptr, ""}}).empty());
}

TEST_CASE("the two splits share no sentence, and equal draws are equal") {
  const RetrievalTask evaluated = Drawn();
  const RetrievalTask again = Drawn();
  const RetrievalTask trained = Drawn({.split = redfish::Split::kTrain, .episodes = 4});
  REQUIRE(evaluated.queries.size() == again.queries.size());
  for (std::size_t i = 0; i < evaluated.queries.size(); ++i) {
    REQUIRE(evaluated.queries[i].text == again.queries[i].text);
    REQUIRE(std::ranges::find(trained.queries, evaluated.queries[i].text, &RetrievalQuery::text) ==
            trained.queries.end());
  }
}

TEST_CASE("people's sentences are queries of the starts that have their values") {
  const std::vector<SaidSentence> said = {
      {"dmtf-catfish", "power_on", json::object(), "wake it up"},
      {"dmtf-mpf", "power_on", json::object(), "not this one"},
      {"dmtf-catfish", "no_such_goal", json::object(), "nor this one"}};
  const RetrievalTask task = Catfish().DrawFor(said, {.episodes = 10}).value();
  REQUIRE_FALSE(task.queries.empty());
  for (const RetrievalQuery& query : task.queries) {
    REQUIRE(query.text == "wake it up");
    REQUIRE(query.group == "power_on");
    REQUIRE_FALSE(query.relevant.empty());
  }
}

TEST_CASE("a description asks for all requests that it describes, and for no other") {
  const auto descriptions = SchemaDescriptions::Load("data/schema/json-schema.tar.xz").value();
  const RetrievalTask task = Catfish().Described(*descriptions);
  REQUIRE(task.queries.size() > 50);
  for (const RetrievalQuery& query : task.queries) {
    for (std::size_t i = 0; i < task.requests.size(); ++i) {
      const bool described =
          descriptions->Of(Catfish().catalog().candidates()[i]).contains(query.text);
      REQUIRE(described == query.relevant.contains(static_cast<std::int64_t>(i)));
    }
  }
}

TEST_CASE("scores are means over the sentences of a goal, then over goals") {
  const auto encoder = tokens::LexicalEncoder::Create("data/encoder/lexical.idf").value();
  RetrievalTask task{"lab", {"set the asset tag", "reset the manager", "open the door"}, {}};
  // The first goal's sentences are found first and third, the second goal's is found first.
  task.queries = {{"asset tag", "tag", {0}}, {"asset tag", "tag", {1, 2}}, {"door", "door", {2}}};
  const RetrievalScores scores = ScoresOf(*encoder, task).value();
  REQUIRE(scores.groups.size() == 2);
  REQUIRE(scores.groups[0].first == "tag");
  REQUIRE(scores.groups[0].second.top1 == Approx(0.5));
  REQUIRE(scores.groups[0].second.reciprocal_rank == Approx(0.75));
  REQUIRE(scores.groups[1].second.reciprocal_rank == Approx(1));
  REQUIRE(scores.mean.reciprocal_rank == Approx(0.875));
  REQUIRE(scores.mean.top5 == Approx(1));
  REQUIRE(ScoresOf(*encoder, {"lab", {"a request"}, {}}).value().groups.empty());
}

}  // namespace
}  // namespace shoal::encoder
