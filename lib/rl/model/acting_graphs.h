// SPDX-License-Identifier: Apache-2.0
// Recorded forward passes of all versions of a policy on one device, one for each shape of batches
// (BatchPlan::Shape).
//
// The first batch of a shape runs operation by operation. The second one is recorded
// (device_graph.h), and from then on such a batch costs one copy up, one launch and one copy down.
// A recording reads the batch, the parameters, the keys of catalogs and the cosines of goals where
// they lie for all recordings. They are copied there, within the device, when another version acts
// or a catalog's keys are others, so a new version records nothing. Where a shape cannot be
// recorded, its batches run operation by operation. Of more shapes than the limit the one that was
// used least recently is forgotten.
//
// Thread-safe. Recordings share parameters and memory, so a batch that comes while another one is
// recorded or repeated waits until that one is back, whatever their shapes. This header shows torch
// and is for this folder only. Methods throw what torch throws.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/core/Stream.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "platform/runtime/mutex.h"
#include "rl/model/batch_plan.h"
#include "rl/model/device_graph.h"
#include "rl/model/network.h"
#include "rl/model/parameter_layout.h"
#include "rl/model/policy_spec.h"

namespace shoal::model {

class ActingGraphs {
 public:
  static constexpr std::size_t kMaximumShapes = 128;

  // What a group of candidates reads, on the device: of its goals [N] each.
  struct Candidates {
    at::Tensor keys;
    std::vector<at::Tensor> cosines;
    at::Tensor appended_keys;

    BatchPlan::CandidateTensors Tensors() const;
  };
  // The version of the policy that acts. References must outlive the call.
  struct Version {
    const Network& network;
    // [total], never changed. Equal tensors are the same version.
    const at::Tensor& flat;
    // Called when the batch was sent, returns one element for each group of candidates.
    std::function<std::vector<Candidates>(const BatchPlan&)> candidates;
  };
  // Batches by how they ran.
  struct Counts {
    std::uint64_t one_by_one = 0;
    std::uint64_t recorded = 0;
    std::uint64_t repeated = 0;
  };

  // `recording` is a stream of its own, absent on a CPU; replays are queued on the current stream,
  // which has to be the same one in all calls. REQUIRES: the spec has no convolution, and `shapes`
  // is above 0. Throws where torch's libraries for CUDA lack what recording needs (device_graph.h).
  ActingGraphs(const PolicySpec& spec, const ParameterLayout& layout, at::Device device,
               const std::optional<c10::Stream>& recording, std::size_t shapes = kMaximumShapes);

  // Returns what the plan's forward pass returns, on the host. REQUIRES: the plan is padded and was
  // not sent.
  std::vector<at::Tensor> Run(const std::shared_ptr<BatchPlan>& plan, const Version& version);

  Counts counts() const;

 private:
  using Shape = std::vector<std::int64_t>;

  // A matrix that graphs read, and the tensor that it was last copied from.
  struct Resident {
    at::Tensor values;
    at::Tensor source;
  };
  // What a recording reads for a group of candidates.
  struct ResidentCandidates {
    std::shared_ptr<Resident> keys;
    std::shared_ptr<Resident> cosines;
    at::Tensor appended_keys;
  };
  struct Recorded {
    at::Tensor batch;
    std::vector<ResidentCandidates> candidates;
    std::vector<JoinedTensors::Part> parts;
    std::unique_ptr<DeviceGraph> graph;
    // Where results arrive; pinned where the device is a GPU.
    at::Tensor host;
  };
  struct Entry {
    Shape shape;
    std::uint64_t uses = 0;
    bool cannot_be_recorded = false;
    std::unique_ptr<Recorded> recorded;
  };

  Entry& EntryOf(Shape shape) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::unique_ptr<Recorded> Record(const std::shared_ptr<BatchPlan>& plan, const Version& version)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Sends the plan's batch and writes everything else that the recording reads.
  void Write(BatchPlan& plan, const Version& version, Recorded& recorded)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The keys of a catalog [N, P], where `rows` is 0, or the cosines of that many goals [rows, N].
  std::shared_ptr<Resident> ResidentOf(std::uint64_t catalog, std::int64_t rows,
                                       at::IntArrayRef shape) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const at::Device device_;
  const std::optional<c10::Stream> recording_;
  const std::size_t maximum_;
  const GraphMemory memory_;

  mutable runtime::Mutex mutex_;
  // The parameters that recordings read, and those of the version that they were copied from.
  Resident parameters_ ABSL_GUARDED_BY(mutex_);
  // Over these parameters. Recordings share it.
  const std::shared_ptr<const Network> network_;
  // By catalog and rows. They live as long as a recording that reads them.
  std::map<std::pair<std::uint64_t, std::int64_t>, std::weak_ptr<Resident>> residents_
      ABSL_GUARDED_BY(mutex_);
  // The most recently used shape first.
  std::list<Entry> entries_ ABSL_GUARDED_BY(mutex_);
  std::map<Shape, std::list<Entry>::iterator> places_ ABSL_GUARDED_BY(mutex_);
  Counts counts_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace shoal::model
