// SPDX-License-Identifier: Apache-2.0
// How well an encoder does a retrieval task: scores by group of queries, and their mean.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "encoder/retrieval.h"
#include "encoder/retrieval_task.h"
#include "platform/runtime/status.h"
#include "text/lexical/text_encoder.h"

namespace shoal::encoder {

struct RetrievalScores {
  // In the task's order.
  std::vector<std::pair<std::string, RetrievalScore>> groups;
  // The mean over the groups.
  RetrievalScore mean;
  // The time that encoding the requests took, in seconds.
  double seconds = 0;
};

// Ranks all requests for each query by the inner product of their vectors. Returns the encoder's
// errors.
absl::StatusOr<RetrievalScores> ScoresOf(const tokens::TextEncoder& encoder,
                                         const RetrievalTask& task);

}  // namespace shoal::encoder
