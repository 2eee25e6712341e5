// SPDX-License-Identifier: Apache-2.0
#include "discovery/discover.h"

#include <absl/time/clock.h>
#include <absl/time/time.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "discovery/assembly.h"
#include "discovery/journal.h"
#include "redfish/manifest.h"
#include "runtime/atomic_file.h"

namespace shoal::discovery {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kJournalFolder = ".crawl";
constexpr const char* kJournalFile = "journal";

Json HeaderOf(const Discovery& discovery) {
  const auto& redaction = discovery.crawl.redaction;
  return {{"format", "shoal-crawl/1"},
          {"source", discovery.source},
          {"redaction", !redaction                  ? "none"
                        : redaction->serial_numbers ? "secrets and serial numbers"
                                                    : "secrets"}};
}

std::string DateOf(const runtime::Clock& clock) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ",
                          absl::FromUnixNanos(static_cast<std::int64_t>(clock.UnixNanos())),
                          absl::UTCTimeZone());
}

absl::Status Prepare(const Discovery& discovery, const fs::path& journal_folder) {
  std::error_code error;
  if (discovery.fresh) {
    fs::remove_all(journal_folder, error);
    return error ? runtime::Internal("cannot remove " + journal_folder.string() + ": " +
                                     error.message())
                 : absl::OkStatus();
  }
  const bool is_whole = fs::exists(fs::path(discovery.folder) / redfish::kManifestFile, error) &&
                        !fs::exists(journal_folder / kJournalFile, error);
  if (!is_whole) return absl::OkStatus();
  return absl::AlreadyExistsError(discovery.folder + " holds a whole capture");
}

absl::Status RemoveJournal(const fs::path& journal_folder) {
  std::error_code error;
  fs::remove(journal_folder / kJournalFile, error);
  if (!error) fs::remove(journal_folder, error);
  return error ? runtime::Internal("cannot remove " + journal_folder.string() + ": " +
                                   error.message())
               : absl::OkStatus();
}

}  // namespace

absl::StatusOr<DiscoveryResult> Discover(const Discovery& discovery, runtime::Clock& clock,
                                         const Crawler::Observer& observer) {
  const fs::path journal_folder = fs::path(discovery.folder) / kJournalFolder;
  SHOAL_RETURN_IF_ERROR(Prepare(discovery, journal_folder));
  SHOAL_ASSIGN_OR_RETURN(const auto journal, Journal::Open((journal_folder / kJournalFile).string(),
                                                           HeaderOf(discovery)));
  DiscoveryResult result;
  Crawler crawler(discovery.crawl, *journal, clock, [&](const CrawlProgress& progress) {
    result.progress = progress;
    return observer && observer(progress);
  });
  SHOAL_RETURN_IF_ERROR(crawler.Run());
  result.failed = crawler.failed();
  result.skipped = crawler.frontier().skipped();
  result.left_out = crawler.frontier().left_out();
  SHOAL_ASSIGN_OR_RETURN(result.capture, Assemble(*journal, discovery.folder,
                                                  {.source = discovery.source,
                                                   .finished = DateOf(clock),
                                                   .skipped = result.skipped,
                                                   .failed = result.failed}));
  if (result.failed.empty()) SHOAL_RETURN_IF_ERROR(RemoveJournal(journal_folder));
  return result;
}

}  // namespace shoal::discovery
