// SPDX-License-Identifier: Apache-2.0
#include "encoder/dataset_flags.h"

#include <iostream>
#include <memory>

#include "encoder/dataset_commands.h"

namespace shoal::encoder {
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
