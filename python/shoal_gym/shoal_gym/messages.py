# SPDX-License-Identifier: Apache-2.0
"""The messages of proto/act.proto, made from the descriptors that describe_messages.py adds to the package."""
from importlib import resources

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_folder = resources.files(__package__)

# The version of the protocol that this package speaks.
PROTOCOL_VERSION = int(_folder.joinpath("protocol_version").read_text())
ACT_METHOD = "/shoal.proto.Inference/Act"

_files = descriptor_pb2.FileDescriptorSet.FromString(
    _folder.joinpath("messages.binpb").read_bytes())
_classes = message_factory.GetMessages(_files.file, pool=descriptor_pool.DescriptorPool())
_pool = _classes["shoal.proto.ActRequest"].DESCRIPTOR.file.pool

ActRequest = _classes["shoal.proto.ActRequest"]
ActReply = _classes["shoal.proto.ActReply"]
EnvironmentSpec = _classes["shoal.proto.EnvironmentSpec"]
_PolicySelector = _classes["shoal.proto.PolicySelector"]


def selector_of(policy):
    """Returns the message that names a policy: "current", "initial", "uniform", or a version as in "1.27". Raises
    ValueError for any other text."""
    if policy in ("current", "initial", "uniform"):
        return _PolicySelector(**{policy: True})
    epoch, step = policy.split(".")
    selector = _PolicySelector()
    selector.pinned.epoch, selector.pinned.step = int(epoch), int(step)
    return selector


def _values(enum):
    return {name: value.number for name, value in _pool.FindEnumTypeByName(enum).values_by_name.items()}


# The numbers of the enums by name: Flag["ROW_FLAG_FIRST"] is 1.
Flag = _values("shoal.proto.RowFlag")
Mode = _values("shoal.proto.RowMode")
Status = _values("shoal.proto.RowStatus")
DType = _values("shoal.proto.DType")
