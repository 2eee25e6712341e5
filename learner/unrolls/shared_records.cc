// SPDX-License-Identifier: Apache-2.0
#include "learner/unrolls/shared_records.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "rl/collectives/gathered_bytes.h"
#include "rl/collectives/rank_name.h"

namespace shoal::learner {
namespace {

constexpr std::size_t kSharedUses = 16384;
constexpr std::size_t kMaxBytes = std::size_t{1} << 26;

// Gives every rank the records of all, which consist of `kNumbers` numbers each.
template <std::size_t kNumbers>
absl::StatusOr<std::vector<std::array<std::uint64_t, kNumbers>>> Gather(
    collectives::GradientReducer& reducer,
    const std::vector<std::array<std::uint64_t, kNumbers>>& own) {
  using Record = std::array<std::uint64_t, kNumbers>;
  const std::string_view sent(reinterpret_cast<const char*>(own.data()),
                              own.size() * sizeof(Record));
  SHOAL_ASSIGN_OR_RETURN(const std::vector<std::string> texts,
                         collectives::GatherBytes(reducer, sent, kMaxBytes));
  std::vector<Record> all;
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    if (texts[rank].size() % sizeof(Record) != 0) {
      return runtime::DataLoss(collectives::RankName(rank) + " sent half a record");
    }
    const std::size_t before = all.size();
    all.resize(before + texts[rank].size() / sizeof(Record));
    if (!texts[rank].empty()) std::memcpy(&all[before], texts[rank].data(), texts[rank].size());
  }
  return all;
}

}  // namespace

absl::Status ShareQuarantine(collectives::GradientReducer& reducer, Quarantine& quarantine) {
  std::vector<std::array<std::uint64_t, 4>> own;
  for (const parameters::VersionRange& range : quarantine.ranges()) {
    own.push_back({range.first.epoch, range.first.step, range.last.epoch, range.last.step});
  }
  SHOAL_ASSIGN_OR_RETURN(const auto all, Gather(reducer, own));
  for (const auto& [first_epoch, first_step, last_epoch, last_step] : all) {
    const parameters::VersionRange range{.first = {first_epoch, first_step},
                                         .last = {last_epoch, last_step}};
    if (range.last < range.first) {
      return runtime::DataLoss("a rank sent versions that end before they begin");
    }
    const std::vector<parameters::VersionRange>& known = quarantine.ranges();
    if (std::find(known.begin(), known.end(), range) == known.end()) quarantine.Add(range);
  }
  return absl::OkStatus();
}

absl::Status ShareLedger(collectives::GradientReducer& reducer, UnrollLedger& ledger) {
  std::vector<std::array<std::uint64_t, 4>> own;
  for (const UnrollUse& use : ledger.Newest(kSharedUses)) {
    own.push_back({use.id.environment_id, use.id.incarnation, use.id.first_sequence, use.use});
  }
  SHOAL_ASSIGN_OR_RETURN(const auto all, Gather(reducer, own));
  for (const auto& [environment, incarnation, sequence, use] : all) {
    if (use > std::numeric_limits<std::uint32_t>::max()) {
      return runtime::DataLoss("a rank sent a use with the number " + std::to_string(use));
    }
    ledger.Add({{environment, incarnation, sequence}, static_cast<std::uint32_t>(use)});
  }
  return absl::OkStatus();
}

}  // namespace shoal::learner
