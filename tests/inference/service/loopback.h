// SPDX-License-Identifier: Apache-2.0
// Helpers of tests and benches that speak to a real inference server.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "platform/content/canonical_json.h"
#include "platform/runtime/status.h"
#include "platform/transport/protocol.h"
#include "proto/act.pb.h"
#include "rl/model/policy.h"
#include "rl/parameters/parameters_file.h"

namespace shoal::inference::testing {

// Saves initial parameters of `policy` with seed 1 as version (1, 0), where a server without a
// learner looks for them.
inline absl::Status SaveInitialParameters(const model::PolicySpec& policy,
                                          const std::string& folder) {
  SHOAL_ASSIGN_OR_RETURN(std::string bytes, model::InitialParameters(policy, 1));
  parameters::Parameters initial;
  initial.version = {1, 0};
  initial.spec_digest = policy.Digest();
  initial.bytes = std::make_shared<const std::string>(std::move(bytes));
  return parameters::ParametersFolder(folder).Save(initial);
}

// Returns version (1, step) of `policy`, with parameters of seed step + 1.
inline parameters::Parameters VersionOf(const model::PolicySpec& policy, std::uint64_t step) {
  return {.version = {1, step},
          .spec_digest = policy.Digest(),
          .encoder_version = "",
          .bytes = std::make_shared<const std::string>(
              model::InitialParameters(policy, step + 1).value())};
}

// Returns the first message of an environment that fits `policy`. Its observation is named "state".
inline proto::ActRequest HelloFor(const model::PolicySpec& policy) {
  proto::ActRequest request;
  proto::ActHello& hello = *request.mutable_hello();
  hello.set_protocol_version(transport::kProtocolVersion);
  hello.set_canonicaliser_version(std::string(content::kCanonicaliserVersion));
  proto::ObservationSpec& observation = *hello.mutable_spec()->add_observations();
  observation.set_name("state");
  observation.set_dtype(proto::FLOAT32);
  observation.add_shape(policy.observation_size);
  for (const std::string& field : policy.content_fields) {
    hello.mutable_spec()->add_content_fields(field);
  }
  if (policy.has_candidates()) {
    hello.mutable_spec()->mutable_action()->mutable_candidates();
  } else {
    hello.mutable_spec()->mutable_action()->mutable_discrete()->set_count(
        static_cast<std::uint32_t>(policy.action_count));
  }
  return request;
}

}  // namespace shoal::inference::testing
