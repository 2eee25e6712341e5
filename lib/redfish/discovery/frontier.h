// SPDX-License-Identifier: Apache-2.0
// What a crawl has still to ask for: URIs found and not yet answered, each once, first found first.
//
// Not thread-safe. Bounded by max_resources.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "platform/runtime/clock.h"
#include "redfish/discovery/crawl_options.h"
#include "redfish/discovery/links.h"

namespace shoal::discovery {

// A request to make.
struct Errand {
  // The resource, and what is asked for: the resource itself or, with a query, a page of it.
  Link link = {};
  std::int64_t depth = 0;
  std::int64_t attempts = 0;
  // What the request line says, where a redirect wanted another spelling; else empty.
  std::string spelling = {};
  // It was refused once because its session had ended.
  bool is_renewed = false;
};

class Frontier {
 public:
  // `options` outlives this.
  explicit Frontier(const CrawlOptions& options) : options_(options) {}

  // Found by a resource at `depth` - 1. Ignored when it was found before, is too deep or one too
  // many; log entries, sessions and URIs that no file can be named after are counted as skipped.
  void Add(const Link& link, std::int64_t depth);
  // Answered in an earlier run: it is not asked for again.
  void MarkAnswered(const Link& link);

  // Nothing when all wait for their time, or there are none.
  std::optional<Errand> Next(runtime::TimePoint now);
  void Retry(Errand errand, runtime::TimePoint not_before);

  bool empty() const { return ready_.empty() && delayed_.empty(); }
  std::size_t size() const { return ready_.size() + delayed_.size(); }
  std::int64_t skipped() const { return skipped_; }
  // Found, and left out because of max_depth or max_resources.
  std::int64_t left_out() const { return left_out_; }

 private:
  bool IsUnwanted(const Link& link) const;

  const CrawlOptions& options_;
  std::unordered_set<std::string> found_;
  std::unordered_set<std::string> answered_;
  std::deque<Errand> ready_;
  std::multimap<runtime::TimePoint, Errand> delayed_;
  std::int64_t skipped_ = 0;
  std::int64_t left_out_ = 0;
};

}  // namespace shoal::discovery
