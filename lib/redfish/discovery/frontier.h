// SPDX-License-Identifier: Apache-2.0
// The requests that a crawl has still to make: each URI that was found and not yet answered, once,
// in the order of discovery.
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
  // The resource and the request target, which is the resource itself or, with a query, a page of
  // it.
  Link link = {};
  std::int64_t depth = 0;
  std::int64_t attempts = 0;
  // The spelling on the request line, where a redirect wanted another one; else empty.
  std::string spelling = {};
  // Whether the request was refused once because its session had ended.
  bool is_renewed = false;
};

class Frontier {
 public:
  // `options` must outlive this object.
  explicit Frontier(const CrawlOptions& options) : options_(options) {}

  // Adds a link that a resource at `depth` - 1 has. A link that was found before is ignored. One
  // that is too deep or beyond max_resources is counted as left out. Log entries, sessions and URIs
  // that cannot name a file are counted as skipped.
  void Add(const Link& link, std::int64_t depth);
  // Marks a link that an earlier run answered; it is not requested again.
  void MarkAnswered(const Link& link);

  // Returns nothing when all requests wait for their time, or there are none.
  std::optional<Errand> Next(runtime::TimePoint now);
  void Retry(Errand errand, runtime::TimePoint not_before);

  bool empty() const { return ready_.empty() && delayed_.empty(); }
  std::size_t size() const { return ready_.size() + delayed_.size(); }
  std::int64_t skipped() const { return skipped_; }
  // The number of Add calls that max_depth or max_resources rejected.
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
