# SPDX-License-Identifier: Apache-2.0
"""A step of the package's build: puts into the wheel the descriptors of proto/act.proto and of what it imports, and the
version of the protocol, which lib/platform/transport/protocol.h has.

The package makes its message classes from these descriptors, so that it works with every version of protobuf's runtime,
where generated code works with few.
"""
import re
import tempfile
from pathlib import Path

import grpc_tools
from grpc_tools import protoc
from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class DescribeMessages(BuildHookInterface):
    def initialize(self, version, build_data):
        repository = Path(self.root).resolve().parents[1]
        self.folder = tempfile.TemporaryDirectory()
        descriptors = Path(self.folder.name) / "messages.binpb"
        failed = protoc.main([
            "protoc", f"--proto_path={repository}", f"--proto_path={Path(grpc_tools.__file__).parent / '_proto'}",
            "--include_imports", f"--descriptor_set_out={descriptors}", str(repository / "proto/act.proto")])
        if failed:
            raise RuntimeError("protoc could not read proto/act.proto")
        header = (repository / "lib/platform/transport/protocol.h").read_text()
        version = Path(self.folder.name) / "protocol_version"
        version.write_text(re.search(r"kProtocolVersion = (\d+);", header)[1])
        for file in (descriptors, version):
            build_data["force_include"][str(file)] = f"shoal_gym/{file.name}"

    def finalize(self, version, build_data, artifact_path):
        self.folder.cleanup()
