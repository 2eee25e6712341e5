// SPDX-License-Identifier: Apache-2.0
#include "rl/parameters/assembly.h"
#include "rl/parameters/version_wire.h"

#include <algorithm>
#include <utility>

namespace shoal::parameters {

absl::StatusOr<std::optional<Parameters>> Assembly::Add(const proto::ParametersPart& part) {
  auto result = AddChecked(part);
  if (!result.ok() || result->has_value()) {
    first_.reset();
    bytes_ = {};
  }
  return result;
}

absl::StatusOr<std::optional<Parameters>> Assembly::AddChecked(const proto::ParametersPart& part) {
  const Version version = FromProto(part.version());
  const std::string name = "parameters " + ToString(version);
  if (part.offset() == 0) {
    first_ = part;
    first_->clear_data();
    bytes_.clear();
  }
  if (!first_ || FromProto(first_->version()) != version ||
      first_->total_bytes() != part.total_bytes() || part.offset() != bytes_.size()) {
    return runtime::InvalidArgument(name + ": the part at " + std::to_string(part.offset()) +
                                    " does not follow the one before");
  }
  if (part.total_bytes() > max_bytes_) {
    return runtime::ResourceExhausted(name + " has " + std::to_string(part.total_bytes()) +
                                      " bytes, the limit is " + std::to_string(max_bytes_));
  }
  if (part.data().empty() || bytes_.size() + part.data().size() > part.total_bytes()) {
    return runtime::InvalidArgument(name + ": the part at " + std::to_string(part.offset()) +
                                    " is empty or passes the total of " +
                                    std::to_string(part.total_bytes()) + " bytes");
  }
  bytes_ += part.data();
  if (bytes_.size() < part.total_bytes()) return std::nullopt;
  if (part.sha256() != Sha256(bytes_)) {
    return runtime::DataLoss(name + " does not match its SHA-256");
  }
  Parameters parameters;
  parameters.version = version;
  parameters.spec_digest = first_->spec_digest();
  parameters.encoder_version = first_->encoder_version();
  parameters.bytes = std::make_shared<const std::string>(std::move(bytes_));
  return parameters;
}

proto::ParametersPart PartAt(const Parameters& parameters, const std::string& digest,
                             std::uint64_t offset) {
  const std::string& bytes = *parameters.bytes;
  proto::ParametersPart part;
  *part.mutable_version() = ToProto(parameters.version);
  part.set_spec_digest(parameters.spec_digest);
  part.set_encoder_version(parameters.encoder_version);
  part.set_total_bytes(bytes.size());
  part.set_offset(offset);
  part.set_data(bytes.substr(offset, kPartBytes));
  if (offset + part.data().size() == bytes.size()) part.set_sha256(digest);
  return part;
}

}  // namespace shoal::parameters
