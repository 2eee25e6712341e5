// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster/memory_plan.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace shoal::cli {
namespace {

std::string Mebibytes(std::int64_t bytes) {
  return absl::StrFormat("%.1f MiB", static_cast<double>(bytes) / (1 << 20));
}

const char* NameOf(Fit fit) {
  if (fit == Fit::kFits) return "fits";
  return fit == Fit::kFitsUnlessFull ? "fits unless limits are reached" : "does not fit";
}

}  // namespace

MemoryVerdict Judge(const MemoryPlan& plan, const MemoryPlaces& places) {
  MemoryVerdict verdict;
  const auto on_device = [&places](const MemoryItem& item) {
    return places.device_bytes.has_value() && item.on_device;
  };
  for (const MemoryItem& item : plan.items) {
    if (on_device(item)) {
      verdict.device += item.bytes;
      continue;
    }
    verdict.host_most += item.total();
    if (!item.limit) verdict.host_certain += item.total();
  }
  const bool device_too_small =
      places.device_bytes.has_value() && verdict.device > *places.device_bytes;
  const bool host_too_small = verdict.host_certain > places.host_bytes;
  if (device_too_small || host_too_small) {
    verdict.fit = Fit::kDoesNotFit;
  } else if (verdict.host_most > places.host_bytes) {
    verdict.fit = Fit::kFitsUnlessFull;
  }
  std::int64_t most = -1;
  for (std::size_t i = 0; i < plan.items.size(); ++i) {
    const MemoryItem& item = plan.items[i];
    if (device_too_small && !on_device(item)) continue;
    if (!device_too_small && verdict.fit != Fit::kFits && on_device(item)) continue;
    if (host_too_small && !device_too_small && item.limit) continue;
    const std::int64_t bytes = on_device(item) ? item.bytes : item.total();
    if (bytes <= most) continue;
    most = bytes;
    verdict.largest = static_cast<std::int64_t>(i);
  }
  return verdict;
}

std::string ToText(const MemoryPlan& plan, const MemoryPlaces& places) {
  const MemoryVerdict verdict = Judge(plan, places);
  std::string text =
      absl::StrFormat("parameters %d, of which %d are trained\n\n", plan.parameters, plan.trained);
  absl::StrAppendFormat(&text, "%-10s %5s  %-31s %14s %14s\n", "process", "count", "what", "each",
                        "all");
  for (const MemoryItem& item : plan.items) {
    absl::StrAppendFormat(&text, "%-10s %5d  %-31s %14s %14s%s\n", item.process, item.processes,
                          item.purpose, Mebibytes(item.bytes), Mebibytes(item.total()),
                          item.limit ? " at most" : "");
  }
  absl::StrAppendFormat(&text, "\nhost: %s, %s with every limit reached, of %s\n",
                        Mebibytes(verdict.host_certain), Mebibytes(verdict.host_most),
                        Mebibytes(places.host_bytes));
  if (places.device_bytes) {
    absl::StrAppendFormat(&text, "device of rank 0: %s of %s\n", Mebibytes(verdict.device),
                          Mebibytes(*places.device_bytes));
  }
  if (verdict.largest >= 0) {
    const MemoryItem& item = plan.items[static_cast<std::size_t>(verdict.largest)];
    absl::StrAppendFormat(&text, "largest: %s of %s; smaller with %s\n", item.purpose, item.process,
                          item.remedy);
  }
  return text + "verdict: " + NameOf(verdict.fit) + "\n";
}

std::string ToJson(const MemoryPlan& plan, const MemoryPlaces& places) {
  const MemoryVerdict verdict = Judge(plan, places);
  nlohmann::json items = nlohmann::json::array();
  for (const MemoryItem& item : plan.items) {
    items.push_back({{"process", item.process},
                     {"processes", item.processes},
                     {"purpose", item.purpose},
                     {"bytes", item.bytes},
                     {"limit", item.limit},
                     {"on_device", item.on_device},
                     {"remedy", item.remedy}});
  }
  nlohmann::json json = {{"parameters", plan.parameters},
                         {"trained", plan.trained},
                         {"items", std::move(items)},
                         {"host",
                          {{"certain", verdict.host_certain},
                           {"most", verdict.host_most},
                           {"available", places.host_bytes}}},
                         {"largest", verdict.largest},
                         {"verdict", NameOf(verdict.fit)}};
  if (places.device_bytes) {
    json["device"] = {{"certain", verdict.device}, {"available", *places.device_bytes}};
  }
  return json.dump() + "\n";
}

}  // namespace shoal::cli
