// SPDX-License-Identifier: Apache-2.0
#include "encoder/dataset_commands.h"

#include <cstdint>
#include <iomanip>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <utility>

#include "text/bpe/tokenizer_json.h"
#include "text/dataset/dataset.h"
#include "text/dataset/mirror_index.h"
#include "text/dataset/pack.h"

namespace shoal::encoder {

namespace {

// Tells when another tenth of some work is done.
class Tenths {
 public:
  bool Passed(std::uint64_t done, std::uint64_t total) {
    const std::uint64_t tenth = total == 0 ? 10 : done * 10 / total;
    if (tenth == last_) return false;
    last_ = tenth;
    return true;
  }

 private:
  std::uint64_t last_ = 0;
};

void PrintTotals(const dataset::Manifest& manifest, std::ostream& out) {
  out << "chunks=" << manifest.chunks << " tokens=" << manifest.tokens
      << " captures=" << manifest.captures.size() << " tokenizer=" << manifest.tokenizer_fingerprint
      << '\n';
}

void PrintArchive(const dataset::MirrorArchive& archive, std::ostream& out) {
  out << archive.File() << ": bytes=" << archive.bytes << " sha256=" << archive.sha256
      << " chunks=" << archive.chunks << '\n';
}

absl::StatusOr<dataset::BuildOptions> CompleteOptions(const BuildDatasetOptions& options) {
  dataset::BuildOptions build = options.build;
  for (const std::string& licence : options.licences) {
    const std::size_t equals = licence.find('=');
    const bool named = equals != std::string::npos;
    build.licences[named ? licence.substr(0, equals) : ""] =
        named ? licence.substr(equals + 1) : licence;
  }
  build.volatile_names.insert(options.drop.begin(), options.drop.end());
  for (const std::string& name : options.keep) {
    if (build.volatile_names.erase(name) == 0) {
      return runtime::InvalidArgument("\"" + name + "\" would be kept in any case");
    }
  }
  return build;
}

absl::Status ShowManifest(const dataset::Dataset& data, std::ostream& out) {
  out << data.manifest().ToJson();
  PrintTotals(data.manifest(), out);
  return absl::OkStatus();
}

std::string Quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

absl::Status ShowChunk(const dataset::Dataset& data, std::size_t chunk,
                       const std::set<dataset::SpanKind>& kinds, std::ostream& out) {
  if (chunk >= data.size()) {
    return runtime::InvalidArgument(data.folder() + " has no chunk " + std::to_string(chunk) +
                                    "; they end before " + std::to_string(data.size()));
  }
  SHOAL_ASSIGN_OR_RETURN(const auto tokenizer, tokens::LoadTokenizer(data.folder()));
  const auto tokens = data.tokens(chunk);
  SHOAL_ASSIGN_OR_RETURN(const std::string text, tokenizer->Decode(tokens));
  out << text << '\n';
  std::size_t shown = 0;
  for (const dataset::Span& span : data.spans(chunk)) {
    if (!kinds.empty() && !kinds.contains(span.kind)) continue;
    SHOAL_ASSIGN_OR_RETURN(const std::string part,
                           tokenizer->Decode(tokens.subspan(span.begin, span.end - span.begin)));
    out << std::left << std::setw(16) << dataset::NameOf(span.kind) << std::right << std::setw(5)
        << span.begin << std::setw(6) << span.end << ' ' << Quoted(part) << '\n';
    ++shown;
  }
  out << "chunk=" << chunk << " of=" << data.size() << " capture=" << data.capture(chunk)
      << " tokens=" << tokens.size() << " spans=" << shown << '\n';
  return absl::OkStatus();
}

}  // namespace

absl::Status BuildDataset(const BuildDatasetOptions& options, std::ostream& out) {
  SHOAL_ASSIGN_OR_RETURN(const dataset::BuildOptions build, CompleteOptions(options));
  Tenths tenths;
  const auto report = [&](const dataset::BuildProgress& progress) {
    if (options.progress == nullptr || !tenths.Passed(progress.done, progress.resources)) return;
    *options.progress << progress.capture << ": resources=" << progress.done << " of "
                      << progress.resources << " chunks=" << progress.chunks
                      << " tokens=" << progress.tokens << std::endl;
  };
  SHOAL_ASSIGN_OR_RETURN(const dataset::Manifest manifest, dataset::BuildDataset(build, report));
  for (const dataset::SourceCapture& capture : manifest.captures) {
    out << capture.name << ": resources=" << capture.resources << " left_out=" << capture.left_out
        << " chunks=" << capture.chunks << " repeated=" << capture.repeated
        << " tokens=" << capture.tokens
        << " licence=" << (capture.licence.empty() ? "unknown" : Quoted(capture.licence)) << '\n';
  }
  for (std::size_t kind = 0; kind < dataset::kSpanKinds; ++kind) {
    out << (kind == 0 ? "spans: " : " ") << dataset::NameOf(static_cast<dataset::SpanKind>(kind))
        << '=' << manifest.spans[kind];
  }
  out << "\nwrote " << build.output << ' ';
  PrintTotals(manifest, out);
  return absl::OkStatus();
}

absl::Status VerifyDataset(const VerifyDatasetOptions& options, std::ostream& out) {
  if (options.dataset.empty() == options.mirror.empty()) {
    return runtime::InvalidArgument("verify takes either a dataset or a mirror");
  }
  if (!options.mirror.empty()) {
    SHOAL_ASSIGN_OR_RETURN(
        const dataset::MirrorIndex index,
        dataset::VerifyMirror(options.mirror, [&out](const dataset::MirrorArchive& archive) {
          PrintArchive(archive, out);
        }));
    out << "verified " << options.mirror << " archives=" << index.archives.size() << '\n';
    return absl::OkStatus();
  }
  SHOAL_ASSIGN_OR_RETURN(const auto data, dataset::Dataset::Open(options.dataset));
  SHOAL_RETURN_IF_ERROR(data->Verify());
  out << "verified " << options.dataset << ' ';
  PrintTotals(data->manifest(), out);
  return absl::OkStatus();
}

absl::Status PackDataset(const PackDatasetOptions& options, std::ostream& out) {
  const auto report = [&](std::int64_t packed, std::int64_t files) {
    if (options.progress == nullptr) return;
    *options.progress << options.name << ": files=" << packed << " of " << files << std::endl;
  };
  SHOAL_ASSIGN_OR_RETURN(
      const dataset::MirrorArchive archive,
      dataset::PackIntoMirror(options.dataset, options.mirror, options.name, report));
  out << "wrote " << options.mirror << '/';
  PrintArchive(archive, out);
  return absl::OkStatus();
}

absl::Status UnpackDataset(const UnpackDatasetOptions& options, std::ostream& out) {
  SHOAL_ASSIGN_OR_RETURN(
      const dataset::Manifest manifest,
      dataset::UnpackDataset({.archive = options.archive, .folder = options.output}));
  out << "wrote " << options.output << ' ';
  PrintTotals(manifest, out);
  return absl::OkStatus();
}

absl::Status FetchDataset(const FetchDatasetOptions& options, std::ostream& out) {
  Tenths tenths;
  int breaks = 0;
  const auto report = [&](const dataset::FetchProgress& progress) {
    const bool broke = std::exchange(breaks, progress.breaks) != progress.breaks;
    if (options.progress == nullptr) return;
    if (!tenths.Passed(progress.bytes, progress.total) && !broke) return;
    *options.progress << options.fetch.name << ": bytes=" << progress.bytes << " of "
                      << progress.total << " breaks=" << progress.breaks << std::endl;
  };
  SHOAL_ASSIGN_OR_RETURN(const dataset::Manifest manifest,
                         dataset::FetchDataset(options.fetch, report));
  out << "wrote " << options.fetch.destination << ' ';
  PrintTotals(manifest, out);
  return absl::OkStatus();
}

absl::Status ShowDataset(const ShowDatasetOptions& options, std::ostream& out) {
  std::set<dataset::SpanKind> kinds;
  for (const std::string& name : options.kinds) {
    SHOAL_ASSIGN_OR_RETURN(const dataset::SpanKind kind, dataset::ParseSpanKind(name));
    kinds.insert(kind);
  }
  SHOAL_ASSIGN_OR_RETURN(const auto data, dataset::Dataset::Open(options.dataset));
  return options.chunk ? ShowChunk(*data, *options.chunk, kinds, out) : ShowManifest(*data, out);
}

namespace {

constexpr char kDatasetHelp[] = "Folder of a dataset";

void AddBuildDataset(CLI::App& commands, Action& action) {
  auto options = std::make_shared<BuildDatasetOptions>();
  dataset::BuildOptions& build = options->build;
  build.tokenizer = "data/gpt2";
  options->progress = &std::cerr;
  CLI::App* command = commands.add_subcommand("build", "Makes a dataset of captures");
  command->add_option("--captures", build.captures, "Capture archives or folders")->required();
  command->add_option("--tokenizer", build.tokenizer, "tokenizer.json, or a folder with it")
      ->capture_default_str();
  command->add_option("--schema", build.schema, "Schema table: methods that no capture says")
      ->capture_default_str();
  command->add_option("--output", build.output, "Folder to write")->required();
  command->add_option("--chunk-tokens", build.chunk_tokens, "Tokens of a chunk, at most")
      ->capture_default_str();
  command->add_option("--overlap", build.overlap, "Tokens of a body that neighbours share")
      ->capture_default_str();
  command->add_flag("--prompt,!--no-prompt", build.prompt,
                    "Begin each chunk with request and methods (default)");
  command->add_flag("--distinct,!--no-distinct", build.distinct,
                    "Keep one of equal chunks (default)");
  command->add_flag("--definitions", build.definitions, "Take schemas and registries too");
  command->add_option("--seed", build.seed, "Shuffle chunks by it; 0: keep their order")
      ->capture_default_str();
  command->add_option("--drop", options->drop, "Members to drop besides those that are volatile");
  command->add_option("--keep", options->keep, "Volatile members that are kept");
  command->add_option("--licence", options->licences, "MIT of all captures, NAME=MIT of one");
  Bind(*command, action, options, &BuildDataset);
}

void AddVerifyDataset(CLI::App& commands, Action& action) {
  auto options = std::make_shared<VerifyDatasetOptions>();
  CLI::App* command =
      commands.add_subcommand("verify", "Checks a dataset, or a mirror, against its checksums");
  command->add_option("--dataset", options->dataset, kDatasetHelp);
  command->add_option("--mirror", options->mirror, "Folder of a mirror, instead");
  Bind(*command, action, options, &VerifyDataset);
}

void AddPackDataset(CLI::App& commands, Action& action) {
  auto options = std::make_shared<PackDatasetOptions>();
  options->progress = &std::cerr;
  CLI::App* command =
      commands.add_subcommand("pack", "Puts a dataset into a mirror, as an archive");
  command->add_option("--dataset", options->dataset, kDatasetHelp)->required();
  command->add_option("--mirror", options->mirror, "Folder of the mirror")->required();
  command->add_option("--name", options->name, "What the mirror calls it")->required();
  Bind(*command, action, options, &PackDataset);
}

void AddUnpackDataset(CLI::App& commands, Action& action) {
  auto options = std::make_shared<UnpackDatasetOptions>();
  CLI::App* command = commands.add_subcommand("unpack", "Makes a dataset of an archive");
  command->add_option("--archive", options->archive, "A .tar.xz of `pack`")->required();
  command->add_option("--output", options->output, "Folder to make")->required();
  Bind(*command, action, options, &UnpackDataset);
}

void AddFetchDataset(CLI::App& commands, Action& action) {
  auto options = std::make_shared<FetchDatasetOptions>();
  dataset::FetchOptions& fetch = options->fetch;
  options->progress = &std::cerr;
  CLI::App* command =
      commands.add_subcommand("fetch", "Takes a dataset from a mirror; goes on where it broke");
  command->add_option("--mirror", fetch.mirror, "Folder, or http(s) URL")->required();
  command->add_option("--name", fetch.name, "What the mirror calls it")->required();
  command->add_option("--output", fetch.destination, "Folder to make")->required();
  command->add_option("--authorities", fetch.authority_file,
                      "PEM file of whom to trust instead of the system's authorities");
  command->add_option("--piece-bytes", fetch.piece_bytes, "Bytes asked for at a time")
      ->capture_default_str();
  command->add_option("--retries", fetch.retries, "Of a piece that breaks")->capture_default_str();
  Bind(*command, action, options, &FetchDataset);
}

void AddShowDataset(CLI::App& commands, Action& action) {
  auto options = std::make_shared<ShowDatasetOptions>();
  CLI::App* command = commands.add_subcommand("show", "Prints the manifest, or a chunk");
  command->add_option("--dataset", options->dataset, kDatasetHelp)->required();
  command->add_option("--chunk", options->chunk, "Text and spans of this one");
  command->add_option("--kinds", options->kinds, "Of spans: only these");
  Bind(*command, action, options, &ShowDataset);
}

}  // namespace

void AddDatasetCommands(CLI::App& app, Action& action) {
  CLI::App* commands =
      app.add_subcommand("dataset", "Captures as chunks of tokens, for training a language model");
  commands->require_subcommand(1);
  AddBuildDataset(*commands, action);
  AddVerifyDataset(*commands, action);
  AddPackDataset(*commands, action);
  AddUnpackDataset(*commands, action);
  AddFetchDataset(*commands, action);
  AddShowDataset(*commands, action);
}

}  // namespace shoal::encoder
