// SPDX-License-Identifier: Apache-2.0
#include "redfish/discovery/discover.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "platform/runtime/atomic_file.h"
#include "redfish/capture/capture_writer.h"
#include "redfish/capture/manifest.h"
#include "redfish/discovery/assembly.h"
#include "redfish/discovery/journal.h"

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

absl::Status Prepare(const Discovery& discovery, const fs::path& journal) {
  SHOAL_RETURN_IF_ERROR(redfish::CaptureWriter::Check(discovery.folder));
  std::error_code error;
  if (discovery.fresh || fs::exists(journal, error)) return absl::OkStatus();
  const fs::path folder(discovery.folder);
  const fs::path manifest_path = folder / redfish::kManifestFile;
  std::string source = "an unknown source";
  if (fs::exists(manifest_path, error)) {
    SHOAL_ASSIGN_OR_RETURN(const std::string text, runtime::ReadFile(manifest_path.string()));
    const auto manifest = redfish::Manifest::Parse(text);
    if (manifest.ok()) source = manifest->source;
  } else if (!fs::exists(folder / "redfish", error)) {
    return absl::OkStatus();
  }
  if (source == discovery.source) {
    return absl::AlreadyExistsError(discovery.folder + " holds a whole capture");
  }
  return runtime::FailedPrecondition(discovery.folder + " holds a capture of " + source +
                                     ", not of " + discovery.source);
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
  const fs::path journal_path = journal_folder / kJournalFile;
  SHOAL_RETURN_IF_ERROR(Prepare(discovery, journal_path));
  SHOAL_ASSIGN_OR_RETURN(const auto journal, Journal::Open(journal_path.string(),
                                                           HeaderOf(discovery), discovery.fresh));
  DiscoveryResult result;
  Crawler crawler(discovery.crawl, *journal, clock, [&](const CrawlProgress& progress) {
    result.progress = progress;
    return observer && observer(progress);
  });
  SHOAL_RETURN_IF_ERROR(crawler.Run());
  result.failed = crawler.failed();
  result.warnings = crawler.warnings();
  result.skipped = crawler.frontier().skipped();
  result.left_out = crawler.frontier().left_out();
  SHOAL_ASSIGN_OR_RETURN(result.capture,
                         Assemble(*journal, discovery.folder, discovery.crawl.connection.address,
                                  {.source = discovery.source,
                                   .finished = DateOf(clock),
                                   .skipped = result.skipped,
                                   .failed = result.failed}));
  if (result.failed.empty()) SHOAL_RETURN_IF_ERROR(RemoveJournal(journal_folder));
  return result;
}

}  // namespace shoal::discovery
