// SPDX-License-Identifier: Apache-2.0
#include "inference/client/row_encoder.h"

#include <map>
#include <utility>

#include "platform/runtime/check.h"
#include "platform/runtime/tensor.h"
#include "platform/transport/wire_tensor.h"

namespace shoal::inference::client {
namespace {

void FillPolicies(std::span<const Row* const> rows, proto::Rows& out) {
  bool any = false;
  for (const Row* row : rows) any = any || row->policy.has_value();
  if (!any) return;
  std::map<std::string, std::uint32_t> indices;
  for (const Row* row : rows) {
    proto::PolicySelector selector;
    if (row->policy.has_value()) {
      selector = *row->policy;
    } else {
      selector.set_current(true);
    }
    const auto [it, added] =
        indices.emplace(selector.SerializeAsString(), static_cast<std::uint32_t>(indices.size()));
    if (added) *out.add_policies() = std::move(selector);
    out.add_policy_indices(it->second);
  }
}

void FillCatalogs(std::span<const Row* const> rows, proto::Rows& out) {
  std::map<const CandidateList*, std::uint32_t> indices;
  for (const Row* row : rows) {
    if (row->catalog == nullptr) return;
    const auto [it, added] =
        indices.emplace(row->catalog.get(), static_cast<std::uint32_t>(indices.size()));
    if (added) out.add_catalog_keys(std::string(row->catalog->key().AsBytes()));
    out.add_catalogs(it->second);
  }
}

// Adds a tensor without data, whose first dimension is `rows`.
proto::Tensor& AddTensor(const proto::ObservationSpec& spec, std::size_t rows,
                         google::protobuf::RepeatedPtrField<proto::NamedTensor>& out) {
  proto::NamedTensor& named = *out.Add();
  named.set_name(spec.name());
  proto::Tensor& tensor = *named.mutable_tensor();
  tensor.set_dtype(spec.dtype());
  tensor.add_shape(static_cast<std::int64_t>(rows));
  for (const std::int64_t dimension : spec.shape()) tensor.add_shape(dimension);
  return tensor;
}

proto::RowMode ModeOf(const Row& row) {
  if (row.evaluate) return proto::ROW_MODE_EVALUATE;
  return row.relabelled ? proto::ROW_MODE_RELABELLED : proto::ROW_MODE_TRAIN;
}

void FillForcedActions(std::span<const Row* const> rows, proto::Rows& out) {
  bool any = false;
  std::vector<std::int64_t> actions;
  for (const Row* row : rows) {
    any = any || row->forced_action.has_value();
    actions.push_back(row->forced_action.value_or(-1));
  }
  if (!any) return;
  transport::ToWire(
      runtime::Tensor::Of<std::int64_t>({static_cast<std::int64_t>(rows.size())}, actions),
      *out.mutable_forced_actions());
}

void FillLegal(std::span<const Row* const> rows, std::size_t count, proto::Rows& out) {
  bool any = false;
  std::string legal;
  for (const Row* row : rows) {
    any = any || !row->legal.empty();
    legal.append(row->legal.begin(), row->legal.end());
    if (row->legal.empty()) legal.append(count, '\1');
  }
  if (!any) return;
  proto::Tensor& tensor = *out.mutable_legal();
  tensor.set_dtype(proto::BOOL);
  tensor.add_shape(static_cast<std::int64_t>(rows.size()));
  tensor.add_shape(static_cast<std::int64_t>(count));
  tensor.set_data(std::move(legal));
}

void FillMarks(std::span<const Row* const> rows, proto::Rows& out) {
  bool any = false;
  for (const Row* row : rows) any = any || !row->marks.empty();
  if (!any) return;
  proto::CandidateMarks& marks = *out.mutable_marks();
  for (const Row* row : rows) {
    marks.add_counts(static_cast<std::uint32_t>(row->marks.size()));
    for (const model::CandidateMark& mark : row->marks) {
      marks.add_candidates(mark.candidate);
      marks.add_bits(mark.bits);
    }
  }
}

void FillPolicyIds(std::span<const Row* const> rows, proto::Rows& out) {
  bool any = false;
  for (const Row* row : rows) any = any || row->policy_id != 0;
  if (!any) return;
  for (const Row* row : rows) out.add_policy_ids(row->policy_id);
}

}  // namespace

RowEncoder::RowEncoder(proto::EnvironmentSpec spec, std::size_t max_known)
    : spec_(std::move(spec)),
      observations_(ColumnsOf(spec_.observations())),
      extras_(ColumnsOf(spec_.extras())),
      max_known_(max_known) {}

RowEncoder::Columns RowEncoder::ColumnsOf(const Specs& specs) {
  Columns columns;
  for (const proto::ObservationSpec& spec : specs) {
    const auto dtype = transport::FromWire(spec.dtype());
    const auto elements =
        runtime::CountElements({spec.shape().data(), std::size_t(spec.shape_size())});
    SHOAL_CHECK(dtype.ok() && elements.ok());
    columns.push_back(static_cast<std::size_t>(*elements) * runtime::SizeOf(*dtype));
  }
  return columns;
}

std::vector<proto::ActRequest> RowEncoder::Encode(std::span<const Row* const> rows) {
  if (contents_.size() > max_known_) contents_.clear();
  if (catalogs_.size() > max_known_) catalogs_.clear();
  std::vector<proto::ActRequest> messages(1);
  std::size_t bytes = 0;
  for (const Row* row : rows) {
    if (row->catalog != nullptr) AddCatalog(*row->catalog, messages, bytes);
    for (const ContentReference& content : row->contents) AddContent(content, messages, bytes);
  }
  FillRows(rows, *messages.back().mutable_rows());
  return messages;
}

void RowEncoder::AddContent(const ContentReference& content,
                            std::vector<proto::ActRequest>& messages, std::size_t& bytes) {
  if (content.text == nullptr) return;
  if (contents_.contains(content.key)) return;
  if (bytes > 0 && bytes + content.text->size() > kMaxContentBytes) {
    messages.emplace_back();
    bytes = 0;
  }
  bytes += content.text->size() + content::ContentKey::kBytes;
  proto::Content* out = messages.back().add_contents();
  out->set_key(std::string(content.key.AsBytes()));
  out->set_text(*content.text);
  contents_.insert(content.key);
}

void RowEncoder::AddCatalog(const CandidateList& catalog, std::vector<proto::ActRequest>& messages,
                            std::size_t& bytes) {
  if (catalogs_.contains(catalog.key())) return;
  if (catalog.base() != nullptr) AddCatalog(*catalog.base(), messages, bytes);
  for (const ContentReference& candidate : catalog.candidates()) {
    AddContent(candidate, messages, bytes);
  }
  bytes += catalog.key_bytes().size();
  if (catalog.base() == nullptr) {
    *messages.back().add_catalogs() = catalog.AsCatalog();
  } else {
    *messages.back().add_overlays() = catalog.AsOverlay();
  }
  catalogs_.insert(catalog.key());
}

void RowEncoder::FillRows(std::span<const Row* const> rows, proto::Rows& out) const {
  std::vector<std::string> keys(static_cast<std::size_t>(spec_.content_fields_size()));
  for (const Row* row : rows) {
    out.add_environment_ids(row->environment_id);
    out.add_incarnations(row->incarnation);
    out.add_sequences(row->sequence);
    out.add_episode_ids(row->episode_id);
    if (row->group_id) out.add_group_ids(*row->group_id);
    out.add_modes(ModeOf(*row));
    out.add_rewards(row->reward);
    out.add_flags(row->flags);
    for (std::size_t field = 0; field < keys.size(); ++field) {
      keys[field] += row->contents[field].key.AsBytes();
    }
  }
  for (std::string& field : keys) out.add_content_keys(std::move(field));
  FillColumns(rows, &Row::observation, observations_, spec_.observations(),
              *out.mutable_observations());
  FillColumns(rows, &Row::extras, extras_, spec_.extras(), *out.mutable_extras());
  FillLegal(rows, spec_.action().discrete().count(), out);
  FillForcedActions(rows, out);
  FillCatalogs(rows, out);
  FillMarks(rows, out);
  FillPolicies(rows, out);
  FillPolicyIds(rows, out);
}

void RowEncoder::FillColumns(std::span<const Row* const> rows, std::string Row::*values,
                             const Columns& columns, const Specs& specs,
                             google::protobuf::RepeatedPtrField<proto::NamedTensor>& out) {
  std::size_t first = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::string data;
    data.reserve(rows.size() * columns[i]);
    for (const Row* row : rows) {
      const std::string& bytes = row->*values;
      SHOAL_CHECK(bytes.empty() || first + columns[i] <= bytes.size());
      if (bytes.empty()) {
        data.append(columns[i], '\0');
      } else {
        data.append(bytes, first, columns[i]);
      }
    }
    AddTensor(specs[static_cast<int>(i)], rows.size(), out).set_data(std::move(data));
    first += columns[i];
  }
}

}  // namespace shoal::inference::client
