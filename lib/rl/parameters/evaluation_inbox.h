// SPDX-License-Identifier: Apache-2.0
// The gRPC service Evaluations: it keeps what others report until the learner's loop takes it.
//
// Thread-safe. Register service() with a server before it starts; the server must end before the
// inbox does.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "rl/parameters/evaluation_report.h"

namespace grpc {
class Service;
}

namespace shoal::parameters {

class EvaluationInbox {
 public:
  // Beyond this many reports that nobody has taken, the oldest is dropped.
  static constexpr std::size_t kMostReports = 64;

  EvaluationInbox();
  ~EvaluationInbox();
  EvaluationInbox(const EvaluationInbox&) = delete;
  EvaluationInbox& operator=(const EvaluationInbox&) = delete;

  // Returns the reports since the last call, in the order in which they came.
  std::vector<EvaluationReport> Take();

  grpc::Service* service();

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace shoal::parameters
