// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/gathered_bytes.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "rl/collectives/rank_name.h"

namespace shoal::collectives {
namespace {

constexpr std::size_t kArrayBytes = std::size_t{16} << 20;

}  // namespace

absl::StatusOr<std::vector<std::string>> GatherBytes(GradientReducer& reducer, std::string_view own,
                                                     std::size_t max_bytes) {
  const auto ranks = static_cast<std::size_t>(reducer.world_size());
  const std::size_t rank = ranks == 1 ? 0 : static_cast<std::size_t>(reducer.rank());
  // Only one rank writes each place, so the sum is that rank's number.
  std::vector<double> sizes(ranks, 0.0);
  sizes[rank] = static_cast<double>(own.size());
  SHOAL_RETURN_IF_ERROR(reducer.AllReduceSum(std::span<double>(sizes)));
  if (!std::all_of(sizes.begin(), sizes.end(), [](double size) { return size >= 0; })) {
    return runtime::DataLoss("a rank sent no number of bytes");
  }
  const auto largest = std::max_element(sizes.begin(), sizes.end());
  if (*largest > static_cast<double>(max_bytes)) {
    return runtime::ResourceExhausted(RankName(largest - sizes.begin()) + " has " +
                                      std::to_string(static_cast<std::size_t>(*largest)) +
                                      " bytes for the others, the limit is " +
                                      std::to_string(max_bytes));
  }
  std::vector<std::string> all(ranks);
  if (ranks == 1) {
    all[0] = own;
    return all;
  }
  const auto longest = static_cast<std::size_t>(*largest);
  const std::size_t words =
      std::min(std::max(kArrayBytes / ranks, sizeof(float)), longest + sizeof(float) - 1) /
      sizeof(float);
  const std::size_t bytes = words * sizeof(float);
  // The floats are never read as numbers: an AllGather copies them.
  std::vector<float> array(ranks * words);
  auto* const places = reinterpret_cast<char*>(array.data());
  for (std::size_t begin = 0; begin < longest; begin += bytes) {
    const std::string_view sent = own.substr(std::min(begin, own.size()), bytes);
    std::memset(places + rank * bytes, 0, bytes);
    if (!sent.empty()) std::memcpy(places + rank * bytes, sent.data(), sent.size());
    SHOAL_RETURN_IF_ERROR(reducer.AllGather(std::span<float>(array)));
    for (std::size_t i = 0; i < ranks; ++i) {
      const auto size = static_cast<std::size_t>(sizes[i]);
      all[i].append(places + i * bytes, std::min(bytes, size - std::min(begin, size)));
    }
  }
  return all;
}

}  // namespace shoal::collectives
