// SPDX-License-Identifier: Apache-2.0
#include "rl/demonstrations/demonstration_check.h"

#include <string_view>
#include <vector>

#include "platform/content/canonical_json.h"
#include "platform/content/overlay_key.h"

namespace shoal::demonstrations {
namespace {

using content::ContentKey;
using runtime::InvalidArgument;

constexpr std::uint32_t kMaximumLength = 1 << 16;

absl::Status About(const std::string& part, int index, const absl::Status& status) {
  return runtime::Annotate(status, part + " " + std::to_string(index + 1));
}

std::string IdOf(const proto::UnrollId& id) {
  return std::to_string(id.environment_id()) + "/" + std::to_string(id.incarnation()) + "/" +
         std::to_string(id.first_sequence());
}

}  // namespace

absl::Status DemonstrationCheck::Add(const proto::DemonstrationChunk& chunk) {
  if (chunk.has_header()) SHOAL_RETURN_IF_ERROR(AddHeader(chunk.header()));
  for (int i = 0; i < chunk.contents_size(); ++i) {
    SHOAL_RETURN_IF_ERROR(About("content", i, AddContent(chunk.contents(i))));
  }
  for (int i = 0; i < chunk.catalogs_size(); ++i) {
    SHOAL_RETURN_IF_ERROR(About("catalog", i, AddCatalog(chunk.catalogs(i))));
  }
  for (int i = 0; i < chunk.overlays_size(); ++i) {
    SHOAL_RETURN_IF_ERROR(About("overlay", i, AddOverlay(chunk.overlays(i))));
  }
  for (const proto::Demonstration& demonstration : chunk.demonstrations()) {
    SHOAL_RETURN_IF_ERROR(About("demonstration", demonstrations_, AddDemonstration(demonstration)));
    ++demonstrations_;
  }
  for (int i = 0; i < chunk.left_out_size(); ++i) {
    const proto::LeftOut& left_out = chunk.left_out(i);
    if (!left_out.goal().empty() && !left_out.capture().empty() && !left_out.reason().empty()) {
      continue;
    }
    return InvalidArgument("left out " + std::to_string(i + 1) +
                           ": goal, capture or reason is empty");
  }
  return absl::OkStatus();
}

absl::Status DemonstrationCheck::Finish() const {
  return has_header_ ? absl::OkStatus() : InvalidArgument("header: missing");
}

absl::Status DemonstrationCheck::AddHeader(const proto::DemonstrationHeader& header) {
  if (has_header_) return InvalidArgument("header: twice");
  has_header_ = true;
  if (header.canonicaliser_version() != content::kCanonicaliserVersion) {
    return InvalidArgument("header: texts of canonicaliser \"" + header.canonicaliser_version() +
                           "\", this program has \"" + std::string(content::kCanonicaliserVersion) +
                           "\"");
  }
  const proto::ActionSpec& action = header.spec().action();
  if (!action.has_candidates() && action.discrete().count() == 0) {
    return InvalidArgument("header: actions are neither candidates nor numbers");
  }
  if (header.episode_limit() == 0) return InvalidArgument("header: episode_limit is 0");
  return absl::OkStatus();
}

absl::Status DemonstrationCheck::AddContent(const proto::Content& content) {
  const ContentKey key = content::KeyOf(std::string_view(content.text()));
  if (key.IsZero()) return InvalidArgument("an empty text");
  if (key.AsBytes() != content.key()) return InvalidArgument("the key is not that of the text");
  if (!contents_.insert(key).second) return InvalidArgument("twice");
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ContentKey>> DemonstrationCheck::ReadCandidates(
    std::string_view bytes) const {
  SHOAL_ASSIGN_OR_RETURN(std::vector<ContentKey> keys, content::KeysFromBytes(bytes));
  for (const ContentKey& key : keys) {
    if (!contents_.contains(key)) {
      return InvalidArgument("candidate " + key.ToHex() + " has no text");
    }
  }
  return keys;
}

absl::Status DemonstrationCheck::AddCatalog(const proto::Catalog& catalog) {
  SHOAL_ASSIGN_OR_RETURN(const std::vector<ContentKey> candidates,
                         ReadCandidates(catalog.candidate_keys()));
  if (candidates.empty()) return InvalidArgument("no candidates");
  const ContentKey key = content::KeyOf(candidates);
  if (key.AsBytes() != catalog.key()) return InvalidArgument("the key is not that of the list");
  if (!lists_.emplace(key, candidates.size()).second) return InvalidArgument("twice");
  return absl::OkStatus();
}

absl::Status DemonstrationCheck::AddOverlay(const proto::Overlay& overlay) {
  SHOAL_ASSIGN_OR_RETURN(const ContentKey base,
                         ContentKey::FromBytes(std::string_view(overlay.base())));
  const auto found = lists_.find(base);
  if (found == lists_.end()) return InvalidArgument("base " + base.ToHex() + " is unknown");
  std::int64_t last = -1;
  for (const std::uint32_t index : overlay.removed()) {
    if (static_cast<std::int64_t>(index) <= last || index >= found->second) {
      return InvalidArgument("removed " + std::to_string(index) + " is out of order or range");
    }
    last = index;
  }
  SHOAL_ASSIGN_OR_RETURN(const std::vector<ContentKey> appended,
                         ReadCandidates(overlay.appended_keys()));
  const std::vector<std::uint32_t> removed(overlay.removed().begin(), overlay.removed().end());
  const ContentKey key = content::OverlayKey(base, removed, appended);
  if (key.AsBytes() != overlay.key()) return InvalidArgument("the key is not that of the overlay");
  const std::uint64_t actions = found->second + appended.size();
  if (!lists_.emplace(key, actions).second) return InvalidArgument("twice");
  return absl::OkStatus();
}

absl::Status DemonstrationCheck::CheckColumn(const proto::NamedTensor& column,
                                             std::uint32_t length) const {
  if (!column.name().starts_with("content/")) return absl::OkStatus();
  const std::string_view bytes = column.tensor().data();
  if (bytes.size() != (std::size_t{length} + 1) * ContentKey::kBytes) {
    return InvalidArgument(column.name() + ": not a key a row");
  }
  SHOAL_ASSIGN_OR_RETURN(const std::vector<ContentKey> keys, content::KeysFromBytes(bytes));
  for (const ContentKey& key : keys) {
    if (!key.IsZero() && !contents_.contains(key)) {
      return InvalidArgument(column.name() + ": " + key.ToHex() + " has no text");
    }
  }
  return absl::OkStatus();
}

absl::Status DemonstrationCheck::AddDemonstration(const proto::Demonstration& demonstration) {
  if (demonstration.goal().empty() || demonstration.capture().empty()) {
    return InvalidArgument("goal or capture is empty");
  }
  const proto::Unroll& unroll = demonstration.unroll();
  if (unroll.length() < 1 || unroll.length() > kMaximumLength) {
    return InvalidArgument("length " + std::to_string(unroll.length()) + ": not in [1, " +
                           std::to_string(kMaximumLength) + "]");
  }
  if (!ids_.insert(IdOf(unroll.id())).second) return InvalidArgument("an id that was there before");
  for (const std::string& bytes : unroll.catalog_keys()) {
    SHOAL_ASSIGN_OR_RETURN(const ContentKey key, ContentKey::FromBytes(std::string_view(bytes)));
    if (!lists_.contains(key)) return InvalidArgument("catalog " + key.ToHex() + " is unknown");
  }
  for (const proto::NamedTensor& column : unroll.step_columns()) {
    SHOAL_RETURN_IF_ERROR(CheckColumn(column, unroll.length()));
  }
  return absl::OkStatus();
}

}  // namespace shoal::demonstrations
