// SPDX-License-Identifier: Apache-2.0
#include "rl/parameters/assembly.h"

#include <algorithm>
#include <utility>

#include "platform/transport/protocol.h"
#include "rl/parameters/difference.h"
#include "rl/parameters/version_wire.h"

namespace shoal::parameters {

absl::StatusOr<std::optional<Parameters>> Assembly::Add(const proto::ParametersPart& part) {
  auto result = AddChecked(part);
  if (!result.ok() && first_ && first_->has_difference()) held_.reset();
  if (!result.ok() || result->has_value()) {
    first_.reset();
    bytes_ = {};
  }
  return result;
}

void Assembly::BeginStream() {
  stream_begins_ = true;
  if (partial()) return;
  first_.reset();
  bytes_ = {};
}

std::optional<proto::PartialParameters> Assembly::partial() const {
  if (!first_ || first_->has_difference()) return std::nullopt;
  if (first_->sha256().size() != kSha256Bytes) return std::nullopt;
  proto::PartialParameters partial;
  *partial.mutable_version() = first_->version();
  partial.set_sha256(first_->sha256());
  partial.set_bytes(bytes_.size());
  return partial;
}

void Assembly::Hold(Parameters parameters) {
  if (parameters.sha256.empty()) parameters.sha256 = Sha256(*parameters.bytes);
  held_ = std::make_shared<const Parameters>(std::move(parameters));
}

absl::StatusOr<std::optional<Parameters>> Assembly::AddChecked(const proto::ParametersPart& part) {
  const Version version = FromProto(part.version());
  const std::string name = "parameters " + ToString(version);
  if (std::exchange(stream_begins_, false) || part.offset() == 0) {
    SHOAL_RETURN_IF_ERROR(CheckFirst(name, part));
  }
  if (part.offset() == 0) {
    first_ = part;
    first_->clear_data();
    bytes_.clear();
    if (part.has_difference()) SHOAL_RETURN_IF_ERROR(CheckDifference(name, part.difference()));
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
  const std::string& sha256 = first_->sha256();
  if (!sha256.empty() && !part.sha256().empty() && part.sha256() != sha256) {
    return runtime::DataLoss(name + ": the part at " + std::to_string(part.offset()) +
                             " is of another file than the one before");
  }
  bytes_ += part.data();
  if (bytes_.size() < part.total_bytes()) return std::nullopt;
  SHOAL_ASSIGN_OR_RETURN(std::string file, File());
  if (part.sha256() != Sha256(file)) {
    return runtime::DataLoss(name + " does not match its SHA-256");
  }
  Parameters parameters;
  parameters.version = version;
  parameters.spec_digest = first_->spec_digest();
  parameters.encoder_version = first_->encoder_version();
  parameters.bytes = std::make_shared<const std::string>(std::move(file));
  parameters.sha256 = part.sha256();
  held_ = std::make_shared<const Parameters>(parameters);
  return parameters;
}

absl::Status Assembly::CheckFirst(const std::string& name,
                                  const proto::ParametersPart& part) const {
  SHOAL_RETURN_IF_ERROR(
      transport::CheckProtocolVersion(part.protocol_version(), "the learner", "inference server"));
  if (part.offset() == 0 || !part.sha256().empty()) return absl::OkStatus();
  return runtime::InvalidArgument(name + ": a stream that begins at " +
                                  std::to_string(part.offset()) + " does not say of which file");
}

absl::Status Assembly::CheckDifference(const std::string& name,
                                       const proto::ParametersDifference& difference) const {
  const Version base = FromProto(difference.base());
  if (!held_ || held_->version != base || held_->sha256 != difference.base_sha256()) {
    return runtime::FailedPrecondition(name + " came as a difference from parameters " +
                                       ToString(base) + ", which are not held");
  }
  if (difference.file_bytes() > max_bytes_) {
    return runtime::ResourceExhausted(name + " has " + std::to_string(difference.file_bytes()) +
                                      " bytes, the limit is " + std::to_string(max_bytes_));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> Assembly::File() {
  if (!first_->has_difference()) return std::move(bytes_);
  auto file = ApplyDifference(*held_->bytes, bytes_, first_->difference().file_bytes());
  if (file.ok()) return file;
  return runtime::Annotate(file.status(), "parameters " + ToString(FromProto(first_->version())));
}

proto::ParametersPart PartAt(const Shipment& shipment, std::uint64_t offset, bool begins_stream) {
  const Parameters& parameters = *shipment.published;
  const std::string& bytes = shipment.bytes();
  proto::ParametersPart part;
  *part.mutable_version() = ToProto(parameters.version);
  part.set_spec_digest(parameters.spec_digest);
  part.set_encoder_version(parameters.encoder_version);
  part.set_total_bytes(bytes.size());
  const bool first = offset == 0 || begins_stream;
  if (first) part.set_protocol_version(transport::kProtocolVersion);
  if (offset == 0 && shipment.difference) {
    proto::ParametersDifference& difference = *part.mutable_difference();
    *difference.mutable_base() = ToProto(shipment.base->version);
    difference.set_base_sha256(shipment.base->sha256);
    difference.set_file_bytes(parameters.bytes->size());
  }
  part.set_offset(offset);
  part.set_data(bytes.substr(offset, kPartBytes));
  const bool last = offset + part.data().size() == bytes.size();
  if (first || last) part.set_sha256(parameters.sha256);
  return part;
}

}  // namespace shoal::parameters
