// SPDX-License-Identifier: Apache-2.0
#include "redfish/discovery/frontier.h"

#include <utility>

#include "redfish/capture/capture_writer.h"

namespace shoal::discovery {
namespace {

// Returns true for "/redfish/v1/Systems/1/LogServices/SEL/Entries/7", and for pages of
// ".../Entries".
bool IsLogEntry(const Link& link) {
  const std::size_t service = link.uri.find("/LogServices/");
  if (service == std::string::npos) return false;
  if (link.uri.find("/Entries/", service) != std::string::npos) return true;
  return link.uri.ends_with("/Entries") && link.target != link.uri;
}

bool IsSession(const Link& link) {
  const std::size_t service = link.uri.find("/SessionService/");
  return service != std::string::npos && link.uri.find("/Sessions/", service) != std::string::npos;
}

}  // namespace

bool Frontier::IsUnwanted(const Link& link) const {
  if (!options_.log_entries && IsLogEntry(link)) return true;
  if (!options_.sessions && IsSession(link)) return true;
  return !redfish::CaptureFileOf(link.uri).has_value();
}

void Frontier::Add(const Link& link, std::int64_t depth) {
  if (found_.contains(link.target)) return;
  const bool is_new = !answered_.contains(link.target);
  const bool fits = depth <= options_.max_depth &&
                    static_cast<std::int64_t>(found_.size()) < options_.max_resources;
  if (is_new && !fits) {
    ++left_out_;
    return;
  }
  found_.insert(link.target);
  if (!is_new) return;
  if (IsUnwanted(link)) {
    ++skipped_;
  } else {
    ready_.push_back({.link = link, .depth = depth});
  }
}

void Frontier::MarkAnswered(const Link& link) { answered_.insert(link.target); }

std::optional<Errand> Frontier::Next(runtime::TimePoint now) {
  if (!delayed_.empty() && delayed_.begin()->first <= now) {
    return std::move(delayed_.extract(delayed_.begin()).mapped());
  }
  if (ready_.empty()) return std::nullopt;
  Errand errand = std::move(ready_.front());
  ready_.pop_front();
  return errand;
}

void Frontier::Retry(Errand errand, runtime::TimePoint not_before) {
  delayed_.emplace(not_before, std::move(errand));
}

}  // namespace shoal::discovery
