// SPDX-License-Identifier: Apache-2.0
#include "encoder/pretraining_flags.h"

#include <chrono>
#include <memory>
#include <ostream>

#include "encoder/pretraining.h"

namespace shoal::encoder {
namespace {

void AddMaterial(CLI::App& train, PretrainingOptions& options) {
  train.add_option("--dataset", options.dataset, "Folder of a dataset");
  train.add_option("--output", options.output, "Folder of the run");
  train.add_flag("--resume", options.resume, "Go on from the latest checkpoint in --output");
  train.add_option("--preset", options.preset, "tiny, small, medium, large or xl, from scratch")
      ->capture_default_str();
  train.add_option("--model", options.model, "Folder of a model to start from, instead");
  train
      .add_option("--positions", options.positions,
                  "Longest text of a model from scratch; 0: the preset's")
      ->capture_default_str();
  train.add_option("--hold-out", options.hold_out, "Captures to measure on, never learned from");
  train
      .add_option("--loss", options.loss,
                  "Tokens that count: all, random, or kinds of spans, joined by '+'; by schedule "
                  "'0:all,0.5:actions+target'")
      ->capture_default_str();
  train.add_option("--attention", options.attention, "Tokens that later ones may attend to")
      ->capture_default_str();
  train.add_option("--evaluate-on", options.evaluate_on,
                   "Tokens that count in evaluations; as the last of --loss without");
  train
      .add_option("--evaluate-tokens", options.evaluate_tokens,
                  "Measure on about so many, every n-th text that is held out; 0: on all")
      ->capture_default_str();
}

void AddOptimiser(CLI::App& train, PretrainingOptions& options) {
  train
      .add_option("--tokens", options.tokens,
                  "Length of the run; 0: as many as --steps or --epochs take")
      ->capture_default_str();
  train.add_option("--steps", options.steps, "0: as many as --epochs take")->capture_default_str();
  train.add_option("--epochs", options.epochs, "Times that each text comes")->capture_default_str();
  train.add_option("--batch-tokens", options.batch_tokens, "Of a step, over all ranks")
      ->capture_default_str();
  train
      .add_option("--slice-tokens", options.slice_tokens,
                  "At once; gradients of a larger batch add up; 0: 2048 on a CPU, 16384 on a GPU")
      ->capture_default_str();
  train.add_option("--optimiser", options.optimiser, "adamw, sgd, lion, adam or rmsprop")
      ->capture_default_str();
  train.add_option("--learning-rate", options.learning_rate, "At its peak")->capture_default_str();
  train.add_option("--schedule", options.schedule, "constant, linear or cosine")
      ->capture_default_str();
  train.add_option("--warmup", options.warmup, "Part of the run in which the rate rises")
      ->capture_default_str();
  train.add_option("--floor", options.floor, "Of the rate at the end, as a part of its peak")
      ->capture_default_str();
  train.add_option("--beta1", options.beta1, "Of the gradient's mean; SGD's momentum")
      ->capture_default_str();
  train.add_option("--beta2", options.beta2, "Of its square's")->capture_default_str();
  train.add_option("--weight-decay", options.weight_decay, "Of matrices")->capture_default_str();
  train.add_option("--clip", options.max_gradient_norm, "Largest gradient norm; 0: any")
      ->capture_default_str();
  train
      .add_option("--compress", options.compress,
                  "bfloat16 halves what ranks send of gradients around the ring; what rounding "
                  "takes is added to the next ones. For --zero-stage 0 and 1")
      ->check(CLI::IsMember({"none", "bfloat16"}))
      ->capture_default_str();
  train
      .add_option("--zero-stage", options.zero_stage,
                  "What ranks divide among them, with the same results: 0 nothing, 1 the "
                  "optimiser's moments, 2 gradients as well, 3 parameters as well")
      ->check(CLI::Range(0, 3))
      ->capture_default_str();
  train.add_flag("--overlap,!--no-overlap", options.overlap,
                 "Ranks begin to sum a block's gradients while the backward pass still runs, with "
                 "the same results; stages 0 to 2, all parameters, no --tensor-parallel");
  train
      .add_option("--tensor-parallel", options.tensor_parallel,
                  "So many ranks that follow one another divide the matrices of each block among "
                  "them and take the same part of a batch; it divides the model's heads and the "
                  "number of ranks")
      ->capture_default_str();
  train.add_option("--lora-rank", options.lora_rank, "Train an adapter alone; 0: all parameters")
      ->capture_default_str();
  train.add_option("--lora-alpha", options.lora_alpha, "The adapter's scale times its rank")
      ->capture_default_str();
}

void AddCourse(CLI::App& train, PretrainingOptions& options) {
  train.add_option("--evaluate-every", options.evaluate_every, "Steps")->capture_default_str();
  train.add_option("--checkpoint-every", options.checkpoint_every, "Steps")->capture_default_str();
  train.add_option("--keep-checkpoints", options.keep_checkpoints, "The newest")
      ->capture_default_str();
  train.add_option("--weights", options.weights, "model/ holds float32, float16 or bfloat16")
      ->capture_default_str();
  train
      .add_option("--patience", options.patience,
                  "End after so many evaluations that were no better; 0: never")
      ->capture_default_str();
  train.add_option("--least-improvement", options.least_improvement, "Of loss, to be better")
      ->capture_default_str();
  train.add_option("--seed", options.seed, "Of parameters, order and random spans")
      ->capture_default_str();
  train
      .add_option(
          "--device", options.device,
          "auto, cpu, cuda or cuda:<n>; with auto and cuda the ranks of a machine share its GPUs")
      ->capture_default_str();
  train.add_flag("--bfloat16", options.bfloat16, "Matrices and attention in bfloat16");
  train.add_flag("--checkpoint-blocks", options.checkpoint_blocks,
                 "Compute blocks again for their gradients: less memory, a third more time");
  train.add_option("--threads", options.threads, "Of a rank; 0: the processor's, shared by ranks")
      ->capture_default_str();
}

void AddGroup(CLI::App& train, collectives::GroupOptions& group) {
  const auto add = [&train](const char* flag, std::chrono::milliseconds& time, const char* help) {
    train
        .add_option_function<double>(
            flag,
            [&time](double seconds) {
              time = std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
            },
            help)
        ->check(CLI::Range(0.1, 1e6))
        ->default_str(std::to_string(std::chrono::ceil<std::chrono::seconds>(time).count()));
  };
  add("--join-timeout", group.join_timeout, "Seconds in which all ranks have to start");
  add("--reduction-timeout", group.call_timeout,
      "Seconds by which one rank may be later than another before all end");
  train
      .add_option_function<std::string>(
          "--reduction",
          [&group](const std::string& name) {
            group.reduction = collectives::ReductionNamed(name);
          },
          "What carries gradients between ranks: socket, or nccl, which needs a GPU a rank and a "
          "build with SHOAL_CUDA")
      ->check(CLI::IsMember({"socket", "nccl"}))
      ->default_str("socket");
  train
      .add_option("--ring-min-bytes", group.ring_min_bytes,
                  "Over sockets, reductions of at least so many bytes go around a ring of the "
                  "ranks, and smaller ones over rank 0; 0: all go over rank 0")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
}

// Describes what the caller has read already.
void AddLaunch(CLI::App& train, collectives::LaunchOptions& launch) {
  train.add_option("--world-size", launch.local_ranks, "Ranks to start on this node")
      ->capture_default_str();
  train
      .add_option("--max-restarts", launch.supervision.max_restarts,
                  "How often in a row all ranks are started again, from the latest checkpoint, "
                  "after one failed; a minute of work restores them")
      ->capture_default_str();
  train.add_option("--nodes", launch.nodes,
                   "How many nodes train together, as MIN:MAX: they come and go while the run goes "
                   "on, each with --world-size ranks, all with one --output and --resume");
  train.add_option(
      "--rendezvous", launch.rendezvous,
      "Where these nodes meet, as HOST:PORT, or several with commas between: the first "
      "that is a node's own is served by it");
  train.add_option("--node-name", launch.node_name,
                   "What this node is called among them; the machine's name if it is not set");
}

}  // namespace

void AddPretrainingCommand(CLI::App& app, const collectives::LaunchOptions& launch,
                           const collectives::Launched& launched, Action& action) {
  auto options = std::make_shared<PretrainingOptions>();
  options->group.progress = launched.progress;
  const bool again = !launched.failures.empty();
  auto flags = std::make_shared<collectives::LaunchOptions>(launch);
  CLI::App* train =
      app.add_subcommand("train", "Trains a language model on a dataset, or goes on training one");
  AddMaterial(*train, *options);
  AddOptimiser(*train, *options);
  AddCourse(*train, *options);
  AddGroup(*train, options->group);
  AddLaunch(*train, *flags);
  auto planned = std::make_shared<MemoryRequest>();
  CLI::Option* const plan =
      train
          ->add_option(
              "--plan-memory", planned->ranks,
              "Say what each of so many ranks takes in each stage of ZeRO, with checkpointed "
              "blocks and without, and what fits; then stop. Needs neither dataset nor output")
          ->check(CLI::Range(1, 1'000'000));
  train
      ->add_option(
          "--device-memory", planned->gibibytes,
          "With --plan-memory: GiB that each rank has; default: its part of this machine's")
      ->check(CLI::Range(0.001, 1e6))
      ->needs(plan);
  train
      ->add_flag("--plan-json", planned->json,
                 "With --plan-memory: one line of JSON with bytes, of what the flags say alone")
      ->needs(plan);
  train->callback([&action, options, flags, again, planned] {
    options->resume = options->resume || again;
    action = [options, flags, planned](std::ostream& out) -> absl::Status {
      if (planned->ranks > 0) return PrintMemory(*options, *planned, out);
      if (options->dataset.empty()) return runtime::InvalidArgument("--dataset is missing");
      if (options->output.empty()) return runtime::InvalidArgument("--output is missing");
      if (!flags->nodes.empty() && !options->resume) {
        return runtime::InvalidArgument(
            "--nodes needs --resume, since the ranks of a node that comes later go on from the "
            "latest checkpoint");
      }
      if (!flags->nodes.empty() && flags->local_ranks % options->tensor_parallel != 0) {
        return runtime::InvalidArgument(
            "--nodes needs a --world-size that --tensor-parallel divides, since nodes come and "
            "go: " +
            std::to_string(flags->local_ranks) + " ranks of a node make no groups of " +
            std::to_string(options->tensor_parallel));
      }
      SHOAL_ASSIGN_OR_RETURN(const auto environment, collectives::ReadRankEnvironment());
      options->local_rank = environment.local_rank;
      return TrainOnDataset(*options, out);
    };
  });
}

}  // namespace shoal::encoder
