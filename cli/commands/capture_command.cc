// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/capture_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/command_result.h"
#include "cli/commands/redact_flag.h"
#include "platform/display/live_line.h"
#include "platform/runtime/atomic_file.h"
#include "platform/runtime/program.h"
#include "redfish/capture/archive.h"
#include "redfish/capture/capture.h"
#include "redfish/capture/capture_check.h"
#include "redfish/capture/capture_difference.h"
#include "redfish/capture/capture_import.h"
#include "redfish/capture/capture_path.h"
#include "redfish/capture/capture_writer.h"
#include "redfish/capture/uri.h"

namespace shoal::cli {

namespace {

constexpr char kDataFolder[] = "data";
constexpr char kCaptureHelp[] = "name, archive or folder; NAME~SEED is a variant of one";

struct CaptureFlags {
  std::string capture;
  std::string other;
  std::string out;
  std::string map;
  std::string licence;
  std::string name;
  std::string uri;
  std::string redact = "none";
  bool everything = false;
  bool names_only = false;
  bool serials = false;
  std::size_t listed = 20;
};

// Shows a line such as "writing 120 of 2638" while work goes on.
class CountedWork {
 public:
  explicit CountedWork(std::string verb)
      : verb_(std::move(verb)), line_(std::chrono::seconds(2), runtime::SystemClock()) {}

  void operator()(std::int64_t done, std::int64_t all) {
    line_.Show(
        [&](auto) { return verb_ + " " + std::to_string(done) + " of " + std::to_string(all); });
  }

 private:
  const std::string verb_;
  display::LiveLine line_;
};

int Verify(const CaptureFlags& flags) {
  const auto check = redfish::CheckCapture(flags.capture);
  if (!check.ok()) return FailCommand(check.status());
  std::fputs(TextOf(*check, flags.listed).c_str(), stdout);
  return check->faults.empty() ? 0 : runtime::kExitFailed;
}

int Diff(const CaptureFlags& flags) {
  const auto before = redfish::Capture::Load(flags.capture);
  if (!before.ok()) return FailCommand(before.status());
  const auto after = redfish::Capture::Load(flags.other);
  if (!after.ok()) return FailCommand(after.status());
  const auto difference = redfish::Compare(**before, **after, !flags.everything);
  std::fputs(TextOf(difference, flags.names_only).c_str(), stdout);
  return difference.empty() ? 0 : runtime::kExitFailed;
}

absl::Status Write(const redfish::ImportedCapture& imported, const std::string& out,
                   const std::optional<redfish::RedactionOptions>& redaction) {
  CountedWork work("writing");
  return redfish::WriteCapture(imported, out, redaction,
                               [&](std::int64_t done, std::int64_t all) { work(done, all); });
}

int Import(const CaptureFlags& flags, const std::optional<redfish::RedactionOptions>& redaction) {
  std::optional<redfish::FileMap> files;
  if (!flags.map.empty()) {
    auto loaded = redfish::LoadFileMap(flags.map);
    if (!loaded.ok()) return FailCommand(loaded.status());
    files = *std::move(loaded);
  }
  const auto imported = redfish::ImportCapture(flags.capture, files ? &*files : nullptr);
  if (!imported.ok()) return FailCommand(imported.status());
  const absl::Status written = Write(*imported, flags.out, redaction);
  if (!written.ok()) return FailCommand(written);
  std::printf("capture %s resources=%zu dangling=%lld\n", flags.out.c_str(),
              imported->capture->resources().size(),
              static_cast<long long>(imported->capture->dangling_count()));
  return 0;
}

int Pack(const CaptureFlags& flags) {
  const auto imported = redfish::ImportCapture(flags.capture, nullptr);
  if (!imported.ok()) return FailCommand(imported.status());
  const auto licence = redfish::ReadWholeFile(flags.licence);
  if (!licence.ok()) return FailCommand(licence.status());
  const std::string name = flags.name.empty() ? redfish::ArchiveName(flags.out) : flags.name;
  absl::StatusOr<std::string> bytes;
  {
    CountedWork work("packing");
    bytes = redfish::PackCapture(*imported, name, *licence,
                                 [&](std::int64_t done, std::int64_t all) { work(done, all); });
  }
  if (!bytes.ok()) return FailCommand(bytes.status());
  const absl::Status written = runtime::WriteFileAtomically(flags.out, *bytes);
  if (!written.ok()) return FailCommand(written);
  std::printf("archive %s resources=%zu bytes=%zu\n", flags.out.c_str(),
              imported->capture->resources().size(), bytes->size());
  return 0;
}

int Show(const CaptureFlags& flags) {
  const auto imported = redfish::ImportCapture(flags.capture, nullptr);
  if (!imported.ok()) return FailCommand(imported.status());
  if (flags.uri.empty()) {
    std::fputs(TextOf(*imported).c_str(), stdout);
    return 0;
  }
  const std::string uri = redfish::CanonicalUri(flags.uri);
  const nlohmann::json* const body = imported->capture->Find(uri);
  if (body == nullptr) return FailCommand(runtime::NotFound(flags.capture + " has no " + uri));
  std::fputs(redfish::CaptureText(*body).c_str(), stdout);
  return 0;
}

// Replaces a capture as people name it by its path.
CLI::Validator ToPath() {
  return CLI::Validator(
      [](std::string& named) {
        const auto path = redfish::FindCapture(named, kDataFolder);
        if (!path.ok()) return runtime::Message(path.status());
        named = *path;
        return std::string();
      },
      "");
}

CLI::App* AddCommand(CLI::App& group, const char* name, const char* help,
                     const std::shared_ptr<CaptureFlags>& flags, std::function<int()>& action,
                     int (*run)(const CaptureFlags&)) {
  CLI::App* const command = group.add_subcommand(name, help);
  command->add_option("CAPTURE", flags->capture, kCaptureHelp)->required()->transform(ToPath());
  command->callback([flags, &action, run] { action = [flags, run] { return run(*flags); }; });
  return command;
}

void AddOut(CLI::App& command, CaptureFlags& flags) {
  command.add_option("--out", flags.out, "folder to write; a capture there is replaced")
      ->required();
}

}  // namespace

void AddCapture(CLI::App& app, std::function<int()>& action) {
  CLI::App& group =
      *app.add_subcommand("capture", "Look at recorded services, convert and pack them");
  group.require_subcommand(1);
  const auto flags = std::make_shared<CaptureFlags>();

  CLI::App* command = AddCommand(group, "verify", "Checksums, JSON, members that lead nowhere",
                                 flags, action, &Verify);
  command->add_option("--list", flags->listed, "faults and dangling members named at most")
      ->capture_default_str();

  command = AddCommand(group, "diff", "What another capture has, lacks and changes", flags, action,
                       &Diff);
  command->add_option("OTHER", flags->other, kCaptureHelp)->required()->transform(ToPath());
  command->add_flag("--all", flags->everything, "ETags, clocks and the like too");
  command->add_flag("--names", flags->names_only, "URIs alone");

  command = AddCommand(
      group, "redact", "Copy without secrets", flags, action, +[](const CaptureFlags& f) {
        return Import(f, redfish::RedactionOptions{.serial_numbers = f.serials});
      });
  AddOut(*command, *flags);
  command->add_flag("--serials", flags->serials, "serial numbers and service tags too");

  command = AddCommand(
      group, "import", "Copy from any layout: DSP2043 trees, flat folders, tar archives", flags,
      action, +[](const CaptureFlags& f) { return Import(f, RedactionOf(f.redact)); });
  AddOut(*command, *flags);
  command
      ->add_option("--map", flags->map,
                   "JSON object, URI by file, for a flat folder; without: each file's @odata.id")
      ->check(CLI::ExistingFile);
  AddRedact(*command, flags->redact);

  command =
      AddCommand(group, "pack", "Make one .tar.xz, the same bytes each time", flags, action, &Pack);
  command->add_option("--out", flags->out, "archive to write")->required();
  command->add_option("--licence", flags->licence, "text file; it becomes LICENSE in the archive")
      ->required()
      ->check(CLI::ExistingFile);
  command->add_option("--name", flags->name, "folder in the archive; default: from --out");

  command = AddCommand(group, "show", "What is in it, or one resource", flags, action, &Show);
  command->add_option("URI", flags->uri, "resource to print, e.g. /redfish/v1/Systems");
}

namespace {

using Json = nlohmann::json;

constexpr std::size_t kLongestValue = 100;

std::string ValueText(const Json* value) {
  if (value == nullptr) return "(none)";
  std::string text = value->dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kLongestValue) text.replace(kLongestValue, std::string::npos, "...");
  return text;
}

void AppendList(std::string& text, const char* what, const std::vector<std::string>& items,
                std::size_t listed) {
  for (std::size_t i = 0; i < std::min(items.size(), listed); ++i) {
    text += std::string(what) + " " + items[i] + "\n";
  }
  if (items.size() > listed) {
    text += std::string(what) + " ... and " + std::to_string(items.size() - listed) + " more\n";
  }
}

// Returns "ComputerSystem" for "#ComputerSystem.v1_16_0.ComputerSystem".
std::string TypeName(const Json& body) {
  const std::string type = redfish::TextAt(body, "@odata.type");
  if (type.empty()) return "(no type)";
  return type.substr(type.rfind('.') + 1);
}

}  // namespace

std::string TextOf(const redfish::CaptureCheck& check, std::size_t listed) {
  std::string text;
  AppendList(text, "fault:", check.faults, listed);
  AppendList(text, "dangling:", check.dangling, listed);
  text += check.faults.empty() ? "good" : "bad";
  text += " resources=" + std::to_string(check.resources) +
          " faults=" + std::to_string(check.faults.size()) +
          " dangling=" + std::to_string(check.dangling.size()) +
          " errors=" + std::to_string(check.error_bodies) +
          " manifest=" + (check.has_manifest ? "yes" : "no") + "\n";
  return text;
}

std::string TextOf(const redfish::CaptureDifference& difference, bool names_only) {
  std::string text;
  for (const std::string& uri : difference.removed) text += "- " + uri + "\n";
  for (const std::string& uri : difference.added) text += "+ " + uri + "\n";
  for (const redfish::ResourceChange& change : difference.changed) {
    text += "~ " + change.uri + "\n";
    if (names_only) continue;
    for (const redfish::PropertyChange& property : change.properties) {
      text += "    " + property.pointer + ": " + ValueText(property.before) + " -> " +
              ValueText(property.after) + "\n";
    }
  }
  return text + "added=" + std::to_string(difference.added.size()) +
         " removed=" + std::to_string(difference.removed.size()) +
         " changed=" + std::to_string(difference.changed.size()) + "\n";
}

std::string TextOf(const redfish::ImportedCapture& imported) {
  const redfish::Capture& capture = *imported.capture;
  std::map<std::string, int> counts;
  for (const auto& [uri, body] : capture.resources()) ++counts[TypeName(body)];
  std::vector<std::pair<std::string, int>> types(counts.begin(), counts.end());
  std::stable_sort(types.begin(), types.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text = "name " + capture.name() + "\nsource " + imported.manifest.source +
                     "\ndigest " + capture.digest() + "\n";
  if (!imported.manifest.finished.empty()) text += "finished " + imported.manifest.finished + "\n";
  for (const auto& [type, count] : types) text += std::to_string(count) + " " + type + "\n";
  return text + "resources=" + std::to_string(capture.resources().size()) +
         " types=" + std::to_string(types.size()) +
         " dangling=" + std::to_string(capture.dangling_count()) +
         " errors=" + std::to_string(capture.error_count()) + "\n";
}

}  // namespace shoal::cli
