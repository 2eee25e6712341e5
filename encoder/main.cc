// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <functional>
#include <iostream>

#include "encoder/dataset_commands.h"
#include "encoder/lexical_commands.h"
#include "encoder/tokenizer_commands.h"
#include "platform/runtime/program.h"
#ifdef SHOAL_TORCH
#include "encoder/body_evaluation.h"
#include "encoder/evaluate_command.h"
#include "encoder/pretraining_flags.h"
#include "encoder/state_training.h"
#include "encoder/tune_command.h"
#include "rl/collectives/launch.h"
#endif

int main(int argc, char** argv) {
  using namespace shoal;
  absl::Status status;
#ifdef SHOAL_TORCH
  const collectives::LaunchOptions launch = collectives::LaunchFlags("encoder", argc, argv);
  const auto launched = collectives::LaunchRanks(launch);
  if (launched.ok() && launched->exit_code) return *launched->exit_code;
  if (!launched.ok()) status = launched.status();
#endif
  CLI::App app("Makes and shows what texts become: tokens, vectors, datasets, a language model.",
               "encoder");
  app.require_subcommand(1);
  app.set_version_flag("--version", runtime::GitRevision());
  CLI::App* lexical = app.add_subcommand("lexical", "Hashed words, pairs and n-grams with TF-IDF");
  lexical->require_subcommand(1);

  encoder::FitOptions fit;
  CLI::App* fit_command = lexical->add_subcommand("fit", "Counts how rare each feature is");
  fit_command->add_option("--captures", fit.captures, "Capture archives or folders")->required();
  fit_command->add_option("--schema", fit.schema, "Schema table")->capture_default_str();
  fit_command->add_option("--output", fit.output, "IDF table to write")->required();

  encoder::EmbedOptions embed;
  CLI::App* embed_command =
      lexical->add_subcommand("embed", "Shows a text's vector and neighbours");
  embed_command->add_option("--text", embed.text, "A sentence or JSON")->required();
  embed_command->add_option("--table", embed.table, "IDF table")->capture_default_str();
  embed_command->add_option("--schema", embed.schema, "Schema table")->capture_default_str();
  embed_command->add_option("--capture", embed.capture, "Rank the candidates of this capture");
  embed_command->add_option("--top", embed.top, "Candidates shown")->capture_default_str();

  encoder::Action action;
  fit_command->callback([&] { action = std::bind_front(encoder::FitLexical, fit); });
  embed_command->callback([&] { action = std::bind_front(encoder::EmbedLexical, embed); });
  encoder::AddTokenizerCommands(app, action);
  encoder::AddDatasetCommands(app, action);
#ifdef SHOAL_TORCH
  encoder::AddPretrainingCommand(app, launch, launched.value_or(collectives::Launched()), action);
  encoder::AddTrainStateCommand(app, action);
  encoder::AddEvaluateCommand(app, action);
  encoder::AddTuneCommand(app, action);
  encoder::AddEvaluateBodiesCommand(app, action);
#endif

  CLI11_PARSE(app, argc, argv);
  if (status.ok()) status = action(std::cout);
  if (status.ok()) return 0;
  std::cerr << "encoder: " << status.message() << '\n';
  return absl::IsInvalidArgument(status) || absl::IsNotFound(status) ? runtime::kExitConfiguration
                                                                     : runtime::kExitFailed;
}
