// SPDX-License-Identifier: Apache-2.0
#include "inference/service/spec_check.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "platform/content/canonical_json.h"
#include "platform/transport/protocol.h"
#include "platform/transport/wire_tensor.h"

namespace shoal::inference {
namespace {

constexpr std::size_t kMaxColumns = 64;
constexpr std::int64_t kMaxElements = std::int64_t{1} << 24;

absl::StatusOr<RowColumn> ColumnOf(const proto::ObservationSpec& spec) {
  RowColumn column;
  column.name = spec.name();
  const auto dtype = transport::FromWire(spec.dtype());
  if (!dtype.ok()) return runtime::Annotate(dtype.status(), "spec of " + spec.name());
  column.dtype = *dtype;
  column.shape.assign(spec.shape().begin(), spec.shape().end());
  const auto count = runtime::CountElements(column.shape);
  if (!count.ok()) return runtime::Annotate(count.status(), "spec of " + spec.name());
  if (*count > kMaxElements) {
    return runtime::InvalidArgument("spec of " + spec.name() + ": more than " +
                                    std::to_string(kMaxElements) + " elements a row");
  }
  column.elements = static_cast<std::size_t>(*count);
  column.bytes = column.elements * runtime::SizeOf(column.dtype);
  return column;
}

absl::StatusOr<std::vector<RowColumn>> ColumnsOf(
    const google::protobuf::RepeatedPtrField<proto::ObservationSpec>& specs) {
  if (static_cast<std::size_t>(specs.size()) > kMaxColumns) {
    return runtime::InvalidArgument("spec: more than " + std::to_string(kMaxColumns) + " parts");
  }
  std::vector<RowColumn> columns;
  std::set<std::string> names;
  for (const proto::ObservationSpec& spec : specs) {
    if (!names.insert(spec.name()).second) {
      return runtime::InvalidArgument("spec: the name \"" + spec.name() + "\" comes twice");
    }
    SHOAL_ASSIGN_OR_RETURN(RowColumn column, ColumnOf(spec));
    columns.push_back(std::move(column));
  }
  return columns;
}

absl::StatusOr<std::size_t> BytesOfExtras(const std::vector<RowColumn>& extras) {
  std::size_t bytes = 0;
  for (const RowColumn& column : extras) {
    bytes += column.bytes;
    if (bytes > kMaxExtrasBytes) {
      return runtime::InvalidArgument("extra " + column.name + ": the extras of a row come to " +
                                      std::to_string(bytes) + " bytes, the limit is " +
                                      std::to_string(kMaxExtrasBytes));
    }
  }
  return bytes;
}

absl::Status CheckBox(const proto::ActionSpec::Box& box, const model::PolicySpec& spec) {
  if (box.low_size() != box.high_size()) {
    return runtime::InvalidArgument("spec: the box has " + std::to_string(box.low_size()) +
                                    " lows and " + std::to_string(box.high_size()) + " highs");
  }
  for (int i = 0; i < box.low_size(); ++i) {
    const bool finite = std::isfinite(box.low(i)) && std::isfinite(box.high(i));
    if (!finite || !(box.low(i) < box.high(i))) {
      return runtime::InvalidArgument("spec: dimension " + std::to_string(i) +
                                      " of the box is empty or not finite");
    }
  }
  if (box.low_size() == spec.action_count) return absl::OkStatus();
  return runtime::FailedPrecondition(
      "the policy has actions of " + std::to_string(spec.action_count) +
      " numbers, the environment of " + std::to_string(box.low_size()));
}

absl::Status CheckAction(const proto::ActionSpec& action, const model::PolicySpec& spec) {
  if (spec.has_candidates()) {
    if (action.has_candidates()) return absl::OkStatus();
    return runtime::FailedPrecondition(
        "the policy chooses among candidates, the environment has another kind of action");
  }
  if (spec.has_box()) {
    if (action.has_box()) return CheckBox(action.box(), spec);
    return runtime::FailedPrecondition(
        "the policy acts in a box, the environment has another kind of action");
  }
  if (!action.has_discrete()) {
    return runtime::FailedPrecondition(
        "the policy has discrete actions, the environment has another kind");
  }
  if (action.discrete().count() != spec.action_count) {
    return runtime::FailedPrecondition("the policy has " + std::to_string(spec.action_count) +
                                       " actions, the environment " +
                                       std::to_string(action.discrete().count()));
  }
  return absl::OkStatus();
}

absl::Status CheckContents(const proto::ActHello& hello, const model::PolicySpec& spec) {
  const auto& fields = hello.spec().content_fields();
  if (!std::equal(fields.begin(), fields.end(), spec.content_fields.begin(),
                  spec.content_fields.end())) {
    const auto join = [](const auto& names) {
      std::string joined;
      for (const auto& name : names) joined += (joined.empty() ? "" : ", ") + name;
      return joined;
    };
    return runtime::FailedPrecondition("the policy observes the contents [" +
                                       join(spec.content_fields) + "], the environment sends [" +
                                       join(fields) + "]");
  }
  if (fields.empty() || hello.canonicaliser_version() == content::kCanonicaliserVersion) {
    return absl::OkStatus();
  }
  return runtime::FailedPrecondition("the peer's canonicaliser is \"" +
                                     hello.canonicaliser_version() + "\", this process has \"" +
                                     std::string(content::kCanonicaliserVersion) + "\"");
}

// A policy with a convolution sees one observation, which is a frame of bytes.
absl::Status CheckFrame(const std::vector<RowColumn>& columns, const model::PolicySpec& spec) {
  if (!spec.has_convolution()) return absl::OkStatus();
  const bool fits = columns.size() == 1 && columns[0].dtype == runtime::DType::kUInt8 &&
                    columns[0].shape == spec.frame_shape;
  if (fits) return absl::OkStatus();
  std::string sent;
  for (const RowColumn& column : columns) {
    sent += (sent.empty() ? "" : ", ") + column.name + " " +
            std::string(runtime::Name(column.dtype)) + " " + runtime::ToString(column.shape);
  }
  return runtime::FailedPrecondition("the policy sees frames of uint8 " +
                                     runtime::ToString(spec.frame_shape) +
                                     " through its convolution, the environment sends " + sent);
}

}  // namespace

PolicyShape ShapeOf(const model::PolicySpec& spec, std::uint32_t policy_id) {
  return {.policy_id = policy_id,
          .candidates = spec.has_candidates(),
          .action_values = spec.action_values,
          .box = spec.has_box(),
          .action_count = static_cast<std::size_t>(spec.action_count),
          .observation_size = static_cast<std::size_t>(spec.observation_size),
          .frames = spec.has_convolution(),
          .content_count = static_cast<std::size_t>(spec.content_count()),
          .embedding_size = static_cast<std::size_t>(spec.embedding_size),
          .core_state_size = static_cast<std::size_t>(spec.core_state_size()),
          .past_requests = spec.past_requests && spec.request_index() >= 0,
          .candidate_marks = spec.candidate_marks,
          .similarity_index = spec.similarity_index(),
          .request_index = spec.request_index()};
}

absl::StatusOr<std::shared_ptr<const RowLayout>> CheckHello(const proto::ActHello& hello,
                                                            const model::PolicySpec& spec) {
  SHOAL_RETURN_IF_ERROR(transport::CheckProtocolVersion(hello.protocol_version(), hello.client(),
                                                        "inference server"));
  SHOAL_RETURN_IF_ERROR(CheckContents(hello, spec));
  SHOAL_RETURN_IF_ERROR(CheckAction(hello.spec().action(), spec));
  auto layout = std::make_shared<RowLayout>();
  SHOAL_ASSIGN_OR_RETURN(layout->observations, ColumnsOf(hello.spec().observations()));
  SHOAL_ASSIGN_OR_RETURN(layout->extras, ColumnsOf(hello.spec().extras()));
  layout->content_fields = spec.content_fields;
  for (const RowColumn& column : layout->observations) {
    layout->observation_size += column.elements;
    layout->observation_bytes += column.bytes;
  }
  const proto::ActionSpec::Box& box = hello.spec().action().box();
  layout->action_low.assign(box.low().begin(), box.low().end());
  layout->action_high.assign(box.high().begin(), box.high().end());
  SHOAL_ASSIGN_OR_RETURN(layout->extras_bytes, BytesOfExtras(layout->extras));
  if (layout->observation_size != static_cast<std::size_t>(spec.observation_size)) {
    return runtime::FailedPrecondition(
        "the policy observes " + std::to_string(spec.observation_size) +
        " numbers, the environment sends " + std::to_string(layout->observation_size));
  }
  SHOAL_RETURN_IF_ERROR(CheckFrame(layout->observations, spec));
  if (hello.relabels() && !spec.action_values) {
    return runtime::FailedPrecondition(
        "the actor relabels what it did with goals that it reached (actor.hindsight.strategy), "
        "which needs an algorithm that learns action values off policy, such as dqn; this policy "
        "has policy.action_values = false");
  }
  if (std::int64_t{hello.spec().candidate_marks()} != spec.candidate_marks) {
    return runtime::FailedPrecondition("the policy knows " + std::to_string(spec.candidate_marks) +
                                       " kinds of marks on candidates, the environment sends " +
                                       std::to_string(hello.spec().candidate_marks()));
  }
  return layout;
}

}  // namespace shoal::inference
