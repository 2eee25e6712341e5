// SPDX-License-Identifier: Apache-2.0
#include <ATen/Parallel.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "placement/graph_file.h"
#include "platform/display/live_line.h"
#include "platform/runtime/atomic_file.h"
#include "platform/runtime/program.h"
#include "profiler/profile.h"

namespace {

using namespace shoal;

absl::Status Run(const std::string& output, const std::string& graph_path,
                 profiler::ProfileOptions options) {
  // What is missing should be known before anything is measured.
  SHOAL_ASSIGN_OR_RETURN(const placement::Graph graph, placement::LoadGraph(graph_path));
  display::LiveLine line(std::chrono::seconds(5), runtime::SystemClock());
  options.progress = [&line](const std::string& what) {
    line.Show([&what](std::optional<std::size_t>) { return "measuring " + what; });
  };
  SHOAL_ASSIGN_OR_RETURN(const placement::Device device, profiler::MeasureDevice(options));
  SHOAL_ASSIGN_OR_RETURN(const profiler::StepCheck check,
                         profiler::CheckStep(graph, device, options));
  SHOAL_RETURN_IF_ERROR(runtime::WriteFileAtomically(output, profiler::DeviceFile(device, check)));
  line.Note(output + " is written");
  std::cout << profiler::Describe(device, check);
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Measures this machine's processor for `shoal place`: the speed of its memory and of each "
      "kind "
      "of operation, in about a minute. Nothing else should run meanwhile.",
      "shoal place profile");
  std::string output;
  std::string graph = "data/placement/graphs/resnet50-batch4.json";
  int threads = at::get_num_threads();
  profiler::ProfileOptions options;
  double seconds = std::chrono::duration<double>(options.span).count();
  app.add_option("--output", output, "file of devices to write, e.g. cpu.toml")->required();
  app.add_option("--name", options.name, "name of the device")->capture_default_str();
  app.add_option("--threads", threads, "threads of an operation")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--seconds", seconds, "how long each layer is computed again and again")
      ->check(CLI::Range(0.0, 60.0))
      ->capture_default_str();
  app.add_option("--graph", graph, "the graph of ResNet-50 with 4 images that is compared")
      ->check(CLI::ExistingFile)
      ->capture_default_str();
  app.set_version_flag("--version", runtime::GitRevision());
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : runtime::kExitConfiguration;
  }
  options.span =
      std::chrono::duration_cast<runtime::Duration>(std::chrono::duration<double>(seconds));
  at::set_num_threads(threads);
  const absl::Status status = Run(output, graph, std::move(options));
  if (status.ok()) return 0;
  std::cerr << "shoal place profile: " << runtime::Message(status) << '\n';
  return absl::IsInvalidArgument(status) || absl::IsNotFound(status) ? runtime::kExitConfiguration
                                                                     : runtime::kExitFailed;
}
