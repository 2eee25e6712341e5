// SPDX-License-Identifier: Apache-2.0
#include "learner/unrolls/unroll_decoder.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>

#include "platform/runtime/tensor.h"
#include "platform/transport/wire_tensor.h"
#include "rl/algorithms/unroll_batch.h"

namespace shoal::learner {
namespace {

using content::ContentKey;
using runtime::DType;
using runtime::InvalidArgument;

constexpr std::string_view kObservation = "observation/";
constexpr std::string_view kCore = "core/";
constexpr std::uint8_t kKnownFlags =
    algorithms::kFirst | algorithms::kTerminated | algorithms::kTruncated | algorithms::kFinal;

absl::Status CheckFinite(const std::vector<float>& values, std::string_view name) {
  if (std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); })) {
    return absl::OkStatus();
  }
  return InvalidArgument(std::string(name) + ": a number that is not finite");
}

}  // namespace

// The columns of one unroll by name. It refers to the unroll, which must outlive it.
class UnrollDecoder::Columns {
 public:
  static absl::StatusOr<Columns> Of(const proto::Unroll& unroll) {
    Columns columns;
    for (const auto* list : {&unroll.step_columns(), &unroll.unroll_columns()}) {
      for (const proto::NamedTensor& column : *list) {
        if (!columns.by_name_.emplace(column.name(), &column.tensor()).second) {
          return InvalidArgument(column.name() + ": twice");
        }
        columns.in_order_.emplace_back(column.name(), &column.tensor());
      }
    }
    return columns;
  }

  const proto::Tensor* Find(std::string_view name) const {
    const auto found = by_name_.find(std::string(name));
    return found == by_name_.end() ? nullptr : found->second;
  }
  const std::vector<std::pair<std::string, const proto::Tensor*>>& in_order() const {
    return in_order_;
  }

  // Reads a column of exactly this dtype and shape.
  template <typename T>
  absl::Status Read(std::string_view name, DType dtype, std::initializer_list<std::int64_t> shape,
                    std::vector<T>& out) const {
    const proto::Tensor* tensor = Find(name);
    if (tensor == nullptr) return InvalidArgument(std::string(name) + ": missing");
    const std::vector<std::int64_t> expected(shape);
    SHOAL_ASSIGN_OR_RETURN(const runtime::TensorView view,
                           transport::ViewAs(*tensor, name, dtype, expected));
    out.resize(view.bytes.size() / sizeof(T));
    if (!out.empty()) std::memcpy(out.data(), view.bytes.data(), view.bytes.size());
    if constexpr (std::is_same_v<T, float>) return CheckFinite(out, name);
    return absl::OkStatus();
  }

 private:
  absl::flat_hash_map<std::string, const proto::Tensor*> by_name_;
  std::vector<std::pair<std::string, const proto::Tensor*>> in_order_;
};

std::string UnrollDecoder::Signature() const {
  std::string text = spec_.has_box()
                         ? "action FLOAT32 [" + std::to_string(spec_.action_count) + "]\n"
                         : "action INT64 []\n";
  text +=
      "behaviour_log_probability FLOAT32 []\nreward FLOAT32 []\n"
      "value FLOAT32 []\nflags UINT8 []\npolicy_epoch INT64 []\npolicy_step INT64 []\n"
      "episode_id INT64 []\n";
  if (!spec_.has_candidates()) return text;
  text += "catalog INT32 []\n";
  for (const std::string& field : spec_.content_fields) {
    text += "content/" + field + " UINT8 [" + std::to_string(ContentKey::kBytes) + "]\n";
  }
  if (spec_.past_requests) {
    text += "past_requests FLOAT32 [" + std::to_string(spec_.embedding_size) + "]\n";
  }
  return text;
}

absl::StatusOr<DecodedUnroll> UnrollDecoder::Decode(const proto::Unroll& unroll) const {
  if (unroll.length() < 1 || unroll.length() > kMaxLength) {
    return InvalidArgument("length " + std::to_string(unroll.length()) + ": not in [1, " +
                           std::to_string(kMaxLength) + "]");
  }
  SHOAL_ASSIGN_OR_RETURN(const Columns columns, Columns::Of(unroll));
  DecodedUnroll out;
  out.key.id = {unroll.id().environment_id(), unroll.id().incarnation(),
                unroll.id().first_sequence()};
  out.length = unroll.length();
  out.encoder_version = unroll.encoder_version();
  SHOAL_RETURN_IF_ERROR(CheckPolicy(columns));
  SHOAL_RETURN_IF_ERROR(DecodeOverlap(columns, out));
  SHOAL_RETURN_IF_ERROR(DecodeSteps(columns, out));
  SHOAL_RETURN_IF_ERROR(spec_.has_convolution() ? DecodeFrames(columns, out)
                                                : DecodeObservation(columns, out));
  SHOAL_RETURN_IF_ERROR(DecodeState(columns, out));
  if (spec_.has_candidates()) {
    SHOAL_RETURN_IF_ERROR(DecodeContents(columns, unroll.encoder_version(), out));
    SHOAL_RETURN_IF_ERROR(DecodeCatalogs(columns, unroll, out));
    if (spec_.candidate_marks > 0) SHOAL_RETURN_IF_ERROR(DecodeMarks(columns, out));
  } else if (!spec_.has_box() && columns.Find("legal") != nullptr) {
    SHOAL_RETURN_IF_ERROR(
        columns.Read("legal", DType::kBool, {out.length + 1, spec_.action_count}, out.legal));
  }
  SHOAL_RETURN_IF_ERROR(CheckActions(out));
  return out;
}

absl::Status UnrollDecoder::CheckPolicy(const Columns& columns) const {
  std::vector<std::int64_t> id = {0};
  if (columns.Find("policy_id") != nullptr) {
    SHOAL_RETURN_IF_ERROR(columns.Read("policy_id", DType::kInt64, {1}, id));
  }
  if (id[0] == std::int64_t{policy_id_}) return absl::OkStatus();
  return InvalidArgument("policy_id: policy " + std::to_string(id[0]) +
                         " acted, this learner trains policy " + std::to_string(policy_id_));
}

absl::Status UnrollDecoder::DecodeOverlap(const Columns& columns, DecodedUnroll& out) const {
  if (columns.Find("overlap") == nullptr) return absl::OkStatus();
  std::vector<std::int64_t> overlap;
  SHOAL_RETURN_IF_ERROR(columns.Read("overlap", DType::kInt64, {1}, overlap));
  out.overlap = overlap[0];
  if (out.overlap >= 0 && out.overlap <= out.length) return absl::OkStatus();
  return InvalidArgument("overlap: " + std::to_string(out.overlap) + " of " +
                         std::to_string(out.length) + " rows");
}

absl::Status UnrollDecoder::DecodeSteps(const Columns& columns, DecodedUnroll& out) const {
  const std::int64_t length = out.length;
  std::vector<std::int64_t> epoch;
  std::vector<std::int64_t> step;
  std::vector<std::uint8_t> forced(static_cast<std::size_t>(length));
  if (spec_.has_box()) {
    SHOAL_RETURN_IF_ERROR(
        columns.Read("action", DType::kFloat32, {length, spec_.action_count}, out.box_action));
  } else {
    SHOAL_RETURN_IF_ERROR(columns.Read("action", DType::kInt64, {length}, out.action));
  }
  SHOAL_RETURN_IF_ERROR(columns.Read("behaviour_log_probability", DType::kFloat32, {length},
                                     out.behaviour_log_probability));
  SHOAL_RETURN_IF_ERROR(columns.Read("reward", DType::kFloat32, {length}, out.reward));
  SHOAL_RETURN_IF_ERROR(columns.Read("value", DType::kFloat32, {length + 1}, out.value));
  SHOAL_RETURN_IF_ERROR(columns.Read("flags", DType::kUInt8, {length + 1}, out.flags));
  SHOAL_RETURN_IF_ERROR(columns.Read("policy_epoch", DType::kInt64, {length}, epoch));
  SHOAL_RETURN_IF_ERROR(columns.Read("policy_step", DType::kInt64, {length}, step));
  SHOAL_RETURN_IF_ERROR(columns.Read("episode_id", DType::kInt64, {length + 1}, out.episode_id));
  if (columns.Find("forced") != nullptr) {
    SHOAL_RETURN_IF_ERROR(columns.Read("forced", DType::kBool, {length}, forced));
  }
  out.relabelled.resize(static_cast<std::size_t>(length));
  if (columns.Find("relabelled") != nullptr) {
    SHOAL_RETURN_IF_ERROR(columns.Read("relabelled", DType::kBool, {length}, out.relabelled));
  }
  bool begun = false;
  for (std::size_t t = 0; t < static_cast<std::size_t>(length); ++t) {
    begun = begun || (out.flags[t] & algorithms::kFirst) != 0;
    const auto row = static_cast<std::int64_t>(t);
    const bool burnt_in = row < burn_in_ && (row < out.overlap || !begun);
    if ((out.flags[t] & ~kKnownFlags) != 0) return InvalidArgument("flags: an unknown flag");
    if (!spec_.has_box() && out.behaviour_log_probability[t] > 1e-3F) {
      return InvalidArgument("behaviour_log_probability: above 0");
    }
    if (epoch[t] < 0 || step[t] < 0) return InvalidArgument("policy_step: negative");
    out.acted.push_back(
        {static_cast<std::uint64_t>(epoch[t]), static_cast<std::uint64_t>(step[t])});
    const bool final_row = (out.flags[t] & algorithms::kFinal) != 0;
    const bool cut_blind = (out.flags[t] & algorithms::kTruncated) != 0 &&
                           (out.flags[t + 1] & algorithms::kFinal) == 0;
    const bool learned = !burnt_in && !final_row && !cut_blind && forced[t] == 0;
    out.weight.push_back(learned ? 1.0F : 0.0F);
    out.steps += learned ? 1 : 0;
  }
  return absl::OkStatus();
}

absl::Status UnrollDecoder::DecodeObservation(const Columns& columns, DecodedUnroll& out) const {
  const std::int64_t rows = out.length + 1;
  out.observation.resize(static_cast<std::size_t>(rows * spec_.observation_size));
  std::int64_t offset = 0;
  for (const auto& [name, tensor] : columns.in_order()) {
    if (!name.starts_with(kObservation)) continue;
    SHOAL_ASSIGN_OR_RETURN(const runtime::TensorView view, transport::View(*tensor, name));
    if (view.shape.empty() || view.shape[0] != rows) {
      return InvalidArgument(name + ": expected [" + std::to_string(rows) + ", ...]");
    }
    const auto row_bytes = view.bytes.size() / static_cast<std::size_t>(rows);
    const auto width = static_cast<std::int64_t>(row_bytes / runtime::SizeOf(view.dtype));
    if (offset + width > spec_.observation_size) {
      return InvalidArgument(name + ": more than " + std::to_string(spec_.observation_size) +
                             " numbers of observation a row");
    }
    for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
      const auto to =
          row * static_cast<std::size_t>(spec_.observation_size) + static_cast<std::size_t>(offset);
      runtime::ToFloats(view.dtype, view.bytes.subspan(row * row_bytes, row_bytes),
                        std::span(out.observation).subspan(to, static_cast<std::size_t>(width)));
    }
    offset += width;
  }
  if (offset != spec_.observation_size) {
    return InvalidArgument("observation: not " + std::to_string(spec_.observation_size) +
                           " numbers a row");
  }
  return CheckFinite(out.observation, "observation");
}

absl::Status UnrollDecoder::DecodeFrames(const Columns& columns, DecodedUnroll& out) const {
  std::vector<std::int64_t> shape = {out.length + 1};
  shape.insert(shape.end(), spec_.frame_shape.begin(), spec_.frame_shape.end());
  for (const auto& [name, tensor] : columns.in_order()) {
    if (!name.starts_with(kObservation)) continue;
    if (!out.frames.empty()) {
      return InvalidArgument(name + ": a second observation beside the frame");
    }
    SHOAL_ASSIGN_OR_RETURN(const runtime::TensorView view,
                           transport::ViewAs(*tensor, name, DType::kUInt8, shape));
    out.frames.resize(view.bytes.size());
    std::memcpy(out.frames.data(), view.bytes.data(), view.bytes.size());
  }
  if (out.frames.empty()) return InvalidArgument("observation: missing");
  return absl::OkStatus();
}

absl::Status UnrollDecoder::DecodeState(const Columns& columns, DecodedUnroll& out) const {
  if (columns.Find("group_id") != nullptr) {
    std::vector<std::int64_t> group;
    SHOAL_RETURN_IF_ERROR(columns.Read("group_id", DType::kInt64, {1}, group));
    out.group = group.front();
  }
  if (spec_.past_requests && spec_.has_candidates()) {
    SHOAL_RETURN_IF_ERROR(
        columns.Read("past_requests", DType::kFloat32, {spec_.embedding_size}, out.past_requests));
  }
  if (!spec_.has_core()) return absl::OkStatus();
  for (const auto& [name, tensor] : columns.in_order()) {
    if (!name.starts_with(kCore)) continue;
    SHOAL_ASSIGN_OR_RETURN(const runtime::TensorView view, transport::View(*tensor, name));
    if (view.dtype != DType::kFloat32) return InvalidArgument(name + ": expected FLOAT32");
    const std::size_t before = out.core_state.size();
    out.core_state.resize(before + view.bytes.size() / sizeof(float));
    std::memcpy(out.core_state.data() + before, view.bytes.data(), view.bytes.size());
  }
  if (static_cast<std::int64_t>(out.core_state.size()) != spec_.core_state_size()) {
    return InvalidArgument("core: expected " + std::to_string(spec_.core_state_size()) +
                           " numbers, got " + std::to_string(out.core_state.size()));
  }
  return CheckFinite(out.core_state, "core");
}

absl::Status UnrollDecoder::DecodeContents(const Columns& columns,
                                           const std::string& encoder_version,
                                           DecodedUnroll& out) const {
  const auto rows = static_cast<std::size_t>(out.length + 1);
  const auto fields = static_cast<std::size_t>(spec_.content_count());
  out.content_index.assign(rows * fields, -1);
  absl::flat_hash_map<ContentKey, std::int32_t, content::ContentKeyHash> positions;
  for (std::size_t field = 0; field < fields; ++field) {
    std::vector<std::uint8_t> bytes;
    SHOAL_RETURN_IF_ERROR(columns.Read("content/" + spec_.content_fields[field], DType::kUInt8,
                                       {out.length + 1, std::int64_t{ContentKey::kBytes}}, bytes));
    for (std::size_t row = 0; row < rows; ++row) {
      ContentKey key;
      std::memcpy(key.bytes.data(), bytes.data() + row * ContentKey::kBytes, ContentKey::kBytes);
      if (key.IsZero()) continue;
      const auto [found, added] =
          positions.try_emplace(key, static_cast<std::int32_t>(out.contents.size()));
      if (added) {
        ContentTable::Vector vector = contents_.Find(encoder_version, key);
        if (vector == nullptr) return runtime::NotFound("content " + key.ToHex());
        out.content_keys.push_back(key);
        out.contents.push_back(std::move(vector));
      }
      out.content_index[row * fields + field] = found->second;
    }
  }
  return absl::OkStatus();
}

absl::Status UnrollDecoder::DecodeCatalogs(const Columns& columns, const proto::Unroll& unroll,
                                           DecodedUnroll& out) const {
  SHOAL_RETURN_IF_ERROR(columns.Read("catalog", DType::kInt32, {out.length + 1}, out.catalog));
  for (const std::string& bytes : unroll.catalog_keys()) {
    SHOAL_ASSIGN_OR_RETURN(const ContentKey key, ContentKey::FromBytes(std::string_view(bytes)));
    SHOAL_ASSIGN_OR_RETURN(auto table, contents_.Table(unroll.encoder_version(), key));
    out.tables.push_back(std::move(table));
  }
  const auto count = static_cast<std::int32_t>(out.tables.size());
  if (count == 0) return InvalidArgument("catalog_keys: none");
  for (std::size_t row = 0; row < out.catalog.size(); ++row) {
    std::int32_t& index = out.catalog[row];
    const bool no_action =
        row == static_cast<std::size_t>(out.length) || (out.flags[row] & algorithms::kFinal) != 0;
    if (index == -1 && no_action) index = 0;
    if (index < 0 || index >= count) {
      return InvalidArgument("catalog: " + std::to_string(index) + " of " + std::to_string(count));
    }
  }
  return absl::OkStatus();
}

absl::Status UnrollDecoder::DecodeMarks(const Columns& columns, DecodedUnroll& out) const {
  std::vector<std::int32_t> counts;
  SHOAL_RETURN_IF_ERROR(columns.Read("marks/count", DType::kInt32, {out.length + 1}, counts));
  std::int64_t total = 0;
  for (const std::int32_t count : counts) {
    if (count < 0) return InvalidArgument("marks/count: negative");
    total += count;
  }
  std::vector<std::int32_t> candidates;
  std::vector<std::int32_t> bits;
  SHOAL_RETURN_IF_ERROR(columns.Read("marks/candidate", DType::kInt32, {total}, candidates));
  SHOAL_RETURN_IF_ERROR(columns.Read("marks/bits", DType::kInt32, {total}, bits));
  std::size_t next = 0;
  std::vector<model::CandidateMark> of_row;
  for (std::size_t row = 0; row < counts.size(); ++row) {
    of_row.clear();
    for (std::int32_t i = 0; i < counts[row]; ++i, ++next) {
      of_row.push_back(
          {static_cast<std::uint32_t>(candidates[next]), static_cast<std::uint32_t>(bits[next])});
    }
    const std::int64_t size = out.tables[static_cast<std::size_t>(out.catalog[row])]->size();
    if (!model::AreValid(of_row, size, spec_.candidate_marks)) {
      return InvalidArgument("marks: those of row " + std::to_string(row) +
                             " are out of order or range");
    }
    out.marks.Add(of_row);
  }
  return absl::OkStatus();
}

absl::Status UnrollDecoder::CheckActions(const DecodedUnroll& unroll) const {
  if (spec_.has_box()) {
    for (const float number : unroll.box_action) {
      if (!std::isfinite(number)) return InvalidArgument("action: not finite");
      if (!spec_.has_gaussian() && std::abs(number) > 1) {
        return InvalidArgument("action: outside of [-1, 1]");
      }
    }
    return absl::OkStatus();
  }
  for (std::size_t t = 0; t < static_cast<std::size_t>(unroll.length); ++t) {
    const std::int64_t action = unroll.action[t];
    if ((unroll.flags[t] & algorithms::kFinal) != 0 && action == -1) continue;
    const model::CandidateTable* table =
        spec_.has_candidates() ? unroll.tables[static_cast<std::size_t>(unroll.catalog[t])].get()
                               : nullptr;
    const std::int64_t count = table != nullptr ? table->size() : spec_.action_count;
    if (action < 0 || action >= count) {
      return InvalidArgument("action: " + std::to_string(action) + " of " + std::to_string(count));
    }
    const bool legal = table != nullptr ? table->legal(action)
                                        : unroll.legal.empty() ||
                                              unroll.legal[t * static_cast<std::size_t>(count) +
                                                           static_cast<std::size_t>(action)] != 0;
    if (!legal) return InvalidArgument("action: " + std::to_string(action) + " is illegal");
  }
  return absl::OkStatus();
}

}  // namespace shoal::learner
