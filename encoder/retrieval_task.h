// SPDX-License-Identifier: Apache-2.0
// The requests of one service, and sentences that ask for some of them: what an encoder is measured
// on, and what it is tuned on.
//
// For each goal that applies to a capture, episodes are drawn. A request of the catalog is relevant
// to an episode's sentence when it is on a shortest way from the episode's start to the goal
// (expert_requests.h). An episode without such a request, such as one whose start fulfils the goal,
// makes no query.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "encoder/said_sentence.h"
#include "encoder/schema_descriptions.h"
#include "platform/runtime/status.h"
#include "redfish/capture/capture.h"
#include "redfish/catalog/candidate.h"
#include "redfish/catalog/catalog.h"
#include "redfish/goals/goal.h"
#include "redfish/goals/plan.h"
#include "redfish/schema/schema.h"

namespace shoal::encoder {

struct RetrievalQuery {
  std::string text;
  // What the query belongs to, such as the goal's name. Scores are means over a group first.
  std::string group;
  // Indices of RetrievalTask::requests; never empty.
  std::set<std::int64_t> relevant;
};

struct RetrievalTask {
  // The name of the capture.
  std::string capture;
  // The texts of all requests of its catalog, in the catalog's order.
  std::vector<std::string> requests;
  // Queries of a group stand next to each other.
  std::vector<RetrievalQuery> queries;
};

struct RetrievalDraws {
  redfish::Split split = redfish::Split::kEvaluate;
  // The goals by name; empty for all that apply to the capture.
  std::set<std::string> goals = {};
  // The episodes of each goal.
  std::int64_t episodes = 20;
  std::uint64_t seed = 1;
  // Noise in the sentences.
  redfish::TextNoise noise = {};
};

// A capture with its requests and the goals that apply to it. Immutable.
class RetrievalSource {
 public:
  // `named` is a name, an archive or a folder (redfish/capture/capture_path.h), and `data` the
  // folder with captures/. Returns the errors of FindCapture, Capture::Load and Catalog::Build.
  static absl::StatusOr<RetrievalSource> Load(const std::string& named, const std::string& data,
                                              const redfish::Schema& schema,
                                              const redfish::GoalSuite& suite);

  const redfish::Capture& capture() const { return *capture_; }
  const redfish::Catalog& catalog() const { return *catalog_; }

  // Returns the task without queries.
  RetrievalTask Requests() const;
  // Returns the task with the goals' sentences, a function of the capture and `draws`.
  absl::StatusOr<RetrievalTask> Draw(const RetrievalDraws& draws) const;
  // Returns the task with people's sentences, each for the starts of some drawn episodes of its
  // goal: those that agree most with the sentence's values. Sentences of other captures, and of
  // goals that do not apply, are left out.
  absl::StatusOr<RetrievalTask> DrawFor(std::span<const SaidSentence> said,
                                        const RetrievalDraws& draws) const;
  // Returns the task with the schema's descriptions of requests, each of which all requests that it
  // describes are relevant to. The group is "schema".
  RetrievalTask Described(const SchemaDescriptions& descriptions) const;

 private:
  RetrievalSource() = default;
  // Returns the requests on a shortest way to `goal`, as indices of the catalog.
  absl::StatusOr<std::set<std::int64_t>> RelevantTo(const redfish::AppliedGoal& goal,
                                                    const redfish::Episode& episode) const;

  std::shared_ptr<const redfish::Capture> capture_;
  std::shared_ptr<const redfish::Catalog> catalog_;
  std::vector<std::shared_ptr<const redfish::AppliedGoal>> goals_;
};

// Returns the indices of the candidates that are like one of `requests` (IsLike). Where none is
// like a request, the candidate that composes requests with its method and URI counts.
std::set<std::int64_t> RelevantCandidates(const redfish::Catalog& catalog,
                                          const std::vector<redfish::PlanRequest>& requests);

}  // namespace shoal::encoder
