// SPDX-License-Identifier: Apache-2.0
#include "inference/service/rows_decoder.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/content/content_key.h"
#include "platform/transport/wire_tensor.h"

namespace shoal::inference {
namespace {

constexpr std::size_t kKeyBytes = content::ContentKey::kBytes;
constexpr std::uint32_t kMaxMarksOfRow = 4096;
constexpr std::uint32_t kKnownFlags = kFirst | kTerminated | kTruncated | kFinal;

absl::StatusOr<std::vector<content::ContentKey>> KeysFrom(std::string_view bytes,
                                                          const std::string& name) {
  auto keys = content::KeysFromBytes(bytes);
  if (!keys.ok()) return runtime::Annotate(keys.status(), name);
  return keys;
}

// Fills a block. If one of its methods fails, all rows get that error.
class Decoder {
 public:
  Decoder(proto::Rows& rows, const PolicyShape& shape, RowBlock& block)
      : rows_(rows), shape_(shape), block_(block) {}

  absl::Status Decode() {
    SHOAL_RETURN_IF_ERROR(Identities());
    SHOAL_RETURN_IF_ERROR(Events());
    SHOAL_RETURN_IF_ERROR(Observations());
    SHOAL_RETURN_IF_ERROR(Contents());
    SHOAL_RETURN_IF_ERROR(Catalogs());
    SHOAL_RETURN_IF_ERROR(Marks());
    SHOAL_RETURN_IF_ERROR(Legal());
    SHOAL_RETURN_IF_ERROR(Forced());
    SHOAL_RETURN_IF_ERROR(Extras());
    return Policies();
  }

 private:
  absl::Status CheckCount(std::string_view name, int count, bool may_be_empty) const {
    if (static_cast<std::size_t>(count) == block_.rows || (may_be_empty && count == 0)) {
      return absl::OkStatus();
    }
    return runtime::InvalidArgument(std::string(name) + ": " + std::to_string(count) +
                                    " entries for " + std::to_string(block_.rows) + " rows");
  }

  void Refuse(std::size_t row, std::string error) {
    block_.errors.resize(block_.rows);
    if (block_.errors[row].empty()) block_.errors[row] = std::move(error);
  }

  absl::Status Identities() {
    SHOAL_RETURN_IF_ERROR(CheckCount("incarnations", rows_.incarnations_size(), false));
    SHOAL_RETURN_IF_ERROR(CheckCount("episode_ids", rows_.episode_ids_size(), false));
    SHOAL_RETURN_IF_ERROR(CheckCount("group_ids", rows_.group_ids_size(), true));
    block_.incarnations.assign(rows_.incarnations().begin(), rows_.incarnations().end());
    block_.episodes.assign(rows_.episode_ids().begin(), rows_.episode_ids().end());
    block_.groups.assign(rows_.group_ids().begin(), rows_.group_ids().end());
    return PolicyIds();
  }

  absl::Status PolicyIds() {
    SHOAL_RETURN_IF_ERROR(CheckCount("policy_ids", rows_.policy_ids_size(), true));
    for (std::size_t row = 0; row < block_.rows; ++row) {
      const std::uint32_t id =
          rows_.policy_ids_size() == 0 ? 0 : rows_.policy_ids(static_cast<int>(row));
      if (id == shape_.policy_id) continue;
      Refuse(row, "policy_ids: the row is for policy " + std::to_string(id) +
                      ", this server runs policy " + std::to_string(shape_.policy_id));
    }
    return absl::OkStatus();
  }

  absl::Status Events() {
    SHOAL_RETURN_IF_ERROR(CheckCount("modes", rows_.modes_size(), false));
    SHOAL_RETURN_IF_ERROR(CheckCount("rewards", rows_.rewards_size(), false));
    SHOAL_RETURN_IF_ERROR(CheckCount("flags", rows_.flags_size(), false));
    block_.rewards.assign(rows_.rewards().begin(), rows_.rewards().end());
    block_.evaluate.resize(block_.rows);
    block_.flags.resize(block_.rows);
    for (int i = 0; i < rows_.flags_size(); ++i) {
      const auto row = static_cast<std::size_t>(i);
      const std::uint32_t flags = rows_.flags(i);
      block_.flags[row] = static_cast<std::uint8_t>(flags & kKnownFlags);
      block_.evaluate[row] = rows_.modes(i) == proto::ROW_MODE_EVALUATE ? 1 : 0;
      if (!proto::RowMode_IsValid(rows_.modes(i))) Refuse(row, "modes: unknown mode");
      if (rows_.modes(i) == proto::ROW_MODE_RELABELLED) Relabel(row);
      if (!std::isfinite(rows_.rewards(i))) Refuse(row, "rewards: not a finite number");
      const bool ends = (flags & (kTerminated | kTruncated)) != 0;
      if ((flags & ~kKnownFlags) != 0 || ((flags & kFirst) != 0 && ends) ||
          ((flags & kFinal) != 0 && (flags & kTruncated) == 0) ||
          ((flags & kTerminated) != 0 && (flags & kTruncated) != 0)) {
        Refuse(row, "flags: " + std::to_string(flags) + " is no combination of row flags");
      }
    }
    return absl::OkStatus();
  }

  void Relabel(std::size_t row) {
    block_.relabelled.resize(block_.rows);
    block_.relabelled[row] = 1;
    if (!shape_.action_values) Refuse(row, "modes: relabelled rows need a policy of action values");
  }

  template <typename Named>
  static const proto::Tensor* FindTensor(const Named& tensors, const std::string& name) {
    for (const proto::NamedTensor& tensor : tensors) {
      if (tensor.name() == name) return &tensor.tensor();
    }
    return nullptr;
  }

  // Returns the tensors that `columns` name, in their order, and checks dtype and shape of each.
  template <typename Named>
  absl::StatusOr<std::vector<runtime::TensorView>> ViewColumns(
      const Named& tensors, const std::vector<RowColumn>& columns, const std::string& kind) const {
    std::vector<runtime::TensorView> views;
    for (const RowColumn& column : columns) {
      const std::string name = kind + " " + column.name;
      const proto::Tensor* tensor = FindTensor(tensors, column.name);
      if (tensor == nullptr) return runtime::InvalidArgument(name + " is missing");
      runtime::Shape shape = {static_cast<std::int64_t>(block_.rows)};
      shape.insert(shape.end(), column.shape.begin(), column.shape.end());
      SHOAL_ASSIGN_OR_RETURN(const runtime::TensorView view,
                             transport::ViewAs(*tensor, name, column.dtype, shape));
      views.push_back(view);
    }
    if (static_cast<std::size_t>(tensors.size()) != columns.size()) {
      return runtime::InvalidArgument(kind + "s: " + std::to_string(tensors.size()) +
                                      " tensors, the spec has " + std::to_string(columns.size()));
    }
    return views;
  }

  // Copies each row's part of `views` to `to`, where rows are `stride` bytes apart.
  void Interleave(const std::vector<runtime::TensorView>& views,
                  const std::vector<RowColumn>& columns, std::byte* to, std::size_t stride) const {
    std::size_t offset = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::size_t width = columns[i].bytes;
      const std::byte* from = views[i].bytes.data();
      if (width == stride) {
        if (stride > 0) std::memcpy(to, from, views[i].bytes.size());
      } else {
        for (std::size_t row = 0; row < block_.rows && width > 0; ++row) {
          std::memcpy(to + row * stride + offset, from + row * width, width);
        }
      }
      offset += width;
    }
  }

  absl::Status Observations() {
    const std::vector<RowColumn>& columns = block_.layout->observations;
    SHOAL_ASSIGN_OR_RETURN(const std::vector<runtime::TensorView> views,
                           ViewColumns(rows_.observations(), columns, "observation"));
    for (std::size_t i = 0; i < columns.size(); ++i) CheckFinite(views[i], columns[i]);
    if (columns.size() == 1) {
      proto::Tensor& only = *rows_.mutable_observations(0)->mutable_tensor();
      block_.observations = std::move(*only.mutable_data());
      return absl::OkStatus();
    }
    const std::size_t bytes = block_.layout->observation_bytes;
    block_.observations.resize(block_.rows * bytes);
    Interleave(views, columns, std::as_writable_bytes(std::span(block_.observations)).data(),
               bytes);
    return absl::OkStatus();
  }

  // Checks the numbers as the policy will read them, as floats.
  void CheckFinite(const runtime::TensorView& view, const RowColumn& column) {
    if (column.dtype == runtime::DType::kUInt8) return;
    std::vector<float> values(column.elements);
    for (std::size_t row = 0; row < block_.rows; ++row) {
      if (Row::EndsOnly(block_.flags[row])) continue;
      runtime::ToFloats(column.dtype, view.bytes.subspan(row * column.bytes, column.bytes), values);
      if (!std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); })) {
        Refuse(row, "observation " + column.name + ": a number is not finite");
      }
    }
  }

  absl::Status Contents() {
    const std::size_t fields = shape_.content_count;
    if (static_cast<std::size_t>(rows_.content_keys_size()) != fields) {
      return runtime::InvalidArgument("content_keys: " + std::to_string(rows_.content_keys_size()) +
                                      " fields, the spec has " + std::to_string(fields));
    }
    block_.content_keys.resize(block_.rows * fields);
    for (std::size_t field = 0; field < fields; ++field) {
      const std::string& keys = rows_.content_keys(static_cast<int>(field));
      if (keys.size() != block_.rows * kKeyBytes) {
        return runtime::InvalidArgument("content_keys of " + block_.layout->content_fields[field] +
                                        ": " + std::to_string(keys.size()) + " bytes for " +
                                        std::to_string(block_.rows) + " rows");
      }
      for (std::size_t row = 0; row < block_.rows; ++row) {
        std::memcpy(block_.content_keys[row * fields + field].bytes.data(),
                    keys.data() + row * kKeyBytes, kKeyBytes);
      }
    }
    return absl::OkStatus();
  }

  absl::Status Catalogs() {
    if (!shape_.candidates) return absl::OkStatus();
    SHOAL_RETURN_IF_ERROR(CheckCount("catalogs", rows_.catalogs_size(), false));
    std::vector<content::ContentKey> keys;
    for (const std::string& key : rows_.catalog_keys()) {
      SHOAL_ASSIGN_OR_RETURN(const content::ContentKey parsed,
                             content::ContentKey::FromBytes(std::string_view(key)));
      keys.push_back(parsed);
    }
    block_.catalog_keys.resize(block_.rows);
    for (std::size_t row = 0; row < block_.rows; ++row) {
      const std::uint32_t index = rows_.catalogs(static_cast<int>(row));
      if (index < keys.size()) {
        block_.catalog_keys[row] = keys[index];
      } else if (!Row::EndsOnly(block_.flags[row])) {
        Refuse(row, "catalogs: index " + std::to_string(index) + " of " +
                        std::to_string(keys.size()) + " catalog keys");
      }
    }
    return absl::OkStatus();
  }

  absl::Status Marks() {
    if (shape_.candidate_marks == 0 || !rows_.has_marks()) return absl::OkStatus();
    const proto::CandidateMarks& marks = rows_.marks();
    SHOAL_RETURN_IF_ERROR(CheckCount("marks", marks.counts_size(), false));
    std::uint64_t total = 0;
    for (const std::uint32_t count : marks.counts()) {
      if (count > kMaxMarksOfRow) {
        return runtime::InvalidArgument("marks: " + std::to_string(count) +
                                        " candidates of a row, the limit is " +
                                        std::to_string(kMaxMarksOfRow));
      }
      total += count;
    }
    if (static_cast<std::uint64_t>(marks.candidates_size()) != total ||
        static_cast<std::uint64_t>(marks.bits_size()) != total) {
      return runtime::InvalidArgument("marks: " + std::to_string(marks.candidates_size()) +
                                      " candidates and " + std::to_string(marks.bits_size()) +
                                      " bits, the counts add up to " + std::to_string(total));
    }
    int next = 0;
    std::vector<model::CandidateMark> of_row;
    for (std::size_t row = 0; row < block_.rows; ++row) {
      of_row.clear();
      for (std::uint32_t i = 0; i < marks.counts(static_cast<int>(row)); ++i, ++next) {
        of_row.push_back({marks.candidates(next), marks.bits(next)});
      }
      if (!model::AreValid(of_row, model::kAnyCandidate, shape_.candidate_marks)) {
        Refuse(row, "marks: candidates that do not ascend, or a bit beyond the " +
                        std::to_string(shape_.candidate_marks) + " kinds of the spec");
        of_row.clear();
      }
      block_.marks.Add(of_row);
    }
    return absl::OkStatus();
  }

  absl::Status Legal() {
    if (shape_.candidates || shape_.box || !rows_.has_legal()) return absl::OkStatus();
    const runtime::Shape shape = {static_cast<std::int64_t>(block_.rows),
                                  static_cast<std::int64_t>(shape_.action_count)};
    SHOAL_ASSIGN_OR_RETURN(const runtime::TensorView view,
                           transport::ViewAs(rows_.legal(), "legal", runtime::DType::kBool, shape));
    block_.legal.resize(view.bytes.size());
    std::transform(view.bytes.begin(), view.bytes.end(), block_.legal.begin(),
                   [](std::byte byte) { return static_cast<std::uint8_t>(byte != std::byte{0}); });
    for (std::size_t row = 0; row < block_.rows; ++row) {
      const auto begin =
          block_.legal.begin() + static_cast<std::ptrdiff_t>(row * shape_.action_count);
      const auto end = begin + static_cast<std::ptrdiff_t>(shape_.action_count);
      if (!Row::EndsOnly(block_.flags[row]) && std::find(begin, end, 1) == end) {
        Refuse(row, "legal: no action is legal");
      }
    }
    return absl::OkStatus();
  }

  absl::Status Forced() {
    SHOAL_RETURN_IF_ERROR(ForcedActions());
    for (std::size_t row = 0; row < block_.relabelled.size(); ++row) {
      const bool acts = (block_.flags[row] & (kTerminated | kTruncated)) == 0;
      const bool chosen = block_.forced.empty() || block_.forced[row] < 0;
      if (block_.relabelled[row] != 0 && acts && chosen) {
        Refuse(row, "forced_actions: a relabelled row has none");
      }
    }
    return absl::OkStatus();
  }

  absl::Status ForcedActions() {
    if (!rows_.has_forced_actions()) return absl::OkStatus();
    const runtime::Shape shape = {static_cast<std::int64_t>(block_.rows)};
    SHOAL_ASSIGN_OR_RETURN(
        const runtime::TensorView view,
        transport::ViewAs(rows_.forced_actions(), "forced_actions", runtime::DType::kInt64, shape));
    block_.forced.resize(block_.rows);
    std::memcpy(block_.forced.data(), view.bytes.data(), view.bytes.size());
    for (std::size_t row = 0; row < block_.rows; ++row) {
      const std::int64_t action = block_.forced[row];
      const bool outside =
          shape_.box
              ? action >= 0
              : !shape_.candidates && action >= static_cast<std::int64_t>(shape_.action_count);
      if (action < -1 || outside) {
        Refuse(row, "forced_actions: there is no action " + std::to_string(action));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Extras() {
    const std::size_t bytes = block_.layout->extras_bytes;
    const std::vector<RowColumn>& columns = block_.layout->extras;
    SHOAL_ASSIGN_OR_RETURN(const std::vector<runtime::TensorView> views,
                           ViewColumns(rows_.extras(), columns, "extra"));
    block_.extras.resize(block_.rows * bytes);
    Interleave(views, columns, block_.extras.data(), bytes);
    return absl::OkStatus();
  }

  absl::Status Policies() {
    SHOAL_RETURN_IF_ERROR(CheckCount("policy_indices", rows_.policy_indices_size(), true));
    if (rows_.policy_indices_size() == 0) return absl::OkStatus();
    block_.selectors.resize(block_.rows);
    for (std::size_t row = 0; row < block_.rows; ++row) {
      const std::uint32_t index = rows_.policy_indices(static_cast<int>(row));
      if (index >= static_cast<std::uint32_t>(rows_.policies_size())) {
        Refuse(row, "policy_indices: index " + std::to_string(index) + " of " +
                        std::to_string(rows_.policies_size()) + " policies");
        continue;
      }
      Select(row, rows_.policies(static_cast<int>(index)));
    }
    return absl::OkStatus();
  }

  void Select(std::size_t row, const proto::PolicySelector& policy) {
    using Kind = PolicySelector::Kind;
    PolicySelector& selector = block_.selectors[row];
    if (policy.has_pinned()) {
      selector = {Kind::kPinned, {policy.pinned().epoch(), policy.pinned().step()}};
    } else if (policy.initial()) {
      selector.kind = Kind::kInitial;
    } else if (policy.uniform()) {
      selector.kind = Kind::kUniform;
    } else if (policy.similarity()) {
      selector.kind = Kind::kSimilarity;
      if (!shape_.candidates) Refuse(row, "policies: similarity needs candidates");
    }
  }

  proto::Rows& rows_;
  const PolicyShape& shape_;
  RowBlock& block_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<RowBlock>> DecodeRows(proto::Rows rows,
                                                     std::shared_ptr<const RowLayout> layout,
                                                     const PolicyShape& shape,
                                                     runtime::TimePoint now) {
  const int count = rows.environment_ids_size();
  if (count == 0 || count > kMaxRowsInMessage || rows.sequences_size() != count) {
    return runtime::InvalidArgument("rows: " + std::to_string(count) + " environment ids and " +
                                    std::to_string(rows.sequences_size()) +
                                    " sequences; expected as many, from 1 to " +
                                    std::to_string(kMaxRowsInMessage));
  }
  auto block = std::make_shared<RowBlock>();
  block->rows = static_cast<std::size_t>(count);
  block->layout = std::move(layout);
  block->arrived = now;
  if (rows.budget_us() > 0) block->deadline = now + std::chrono::microseconds(rows.budget_us());
  block->environments.assign(rows.environment_ids().begin(), rows.environment_ids().end());
  block->sequences.assign(rows.sequences().begin(), rows.sequences().end());
  const absl::Status decoded = Decoder(rows, shape, *block).Decode();
  if (!decoded.ok()) {
    block->errors.assign(block->rows, runtime::Message(decoded));
    block->flags.assign(block->rows, 0);
    block->catalog_keys.clear();
    block->marks.Clear();
    block->content_keys.assign(block->rows * shape.content_count, {});
  }
  return block;
}

absl::Status DecodeContents(proto::ActRequest& request, Arrival& arrival) {
  for (proto::Content& content : *request.mutable_contents()) {
    SHOAL_ASSIGN_OR_RETURN(const content::ContentKey key,
                           content::ContentKey::FromBytes(std::string_view(content.key())));
    arrival.contents.push_back({key, std::move(*content.mutable_text())});
  }
  for (const proto::Catalog& catalog : request.catalogs()) {
    CandidateList& list = arrival.lists.emplace_back();
    SHOAL_ASSIGN_OR_RETURN(list.key,
                           content::ContentKey::FromBytes(std::string_view(catalog.key())));
    SHOAL_ASSIGN_OR_RETURN(
        list.candidates,
        KeysFrom(catalog.candidate_keys(), "catalog " + list.key.ToHex() + ": candidate_keys"));
  }
  for (const proto::Overlay& overlay : request.overlays()) {
    CandidateList& list = arrival.lists.emplace_back();
    SHOAL_ASSIGN_OR_RETURN(list.key,
                           content::ContentKey::FromBytes(std::string_view(overlay.key())));
    SHOAL_ASSIGN_OR_RETURN(list.base,
                           content::ContentKey::FromBytes(std::string_view(overlay.base())));
    list.removed.assign(overlay.removed().begin(), overlay.removed().end());
    SHOAL_ASSIGN_OR_RETURN(
        list.candidates,
        KeysFrom(overlay.appended_keys(), "overlay " + list.key.ToHex() + ": appended_keys"));
  }
  return absl::OkStatus();
}

}  // namespace shoal::inference
