#!/usr/bin/env python3
"""Writes an OCI image layout (image-spec v1.1) of prony for several architectures, without an engine.

    oci.py LAYOUT VERSION EPOCH AUTHORITIES ARCH=BINARY...

One layer: the program, a user that is not root, a folder that this user may write to, /tmp, and AUTHORITIES, a file of
certificates that TLS is checked against. Names are sorted and
times are EPOCH, so that the same binaries give the same image.
"""

import gzip
import hashlib
import io
import json
import sys
import tarfile
from datetime import datetime, timezone
from pathlib import Path

USER = 65532
IMAGE = "application/vnd.oci.image."
PASSWD = f"root:x:0:0::/:/\nprony:x:{USER}:{USER}::/home/prony:/\n"


def layer(binary: bytes, authorities: bytes, epoch: int) -> bytes:
    """The files of the image as an uncompressed tar archive."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:

        def add(name: str, mode: int, content: bytes | None = None, owner: int = 0) -> None:
            entry = tarfile.TarInfo(name)
            entry.mode, entry.mtime, entry.uid, entry.gid = mode, epoch, owner, owner
            entry.type = tarfile.DIRTYPE if content is None else tarfile.REGTYPE
            entry.size = len(content or b"")
            archive.addfile(entry, io.BytesIO(content or b""))

        add("etc", 0o755)
        add("etc/group", 0o644, f"root:x:0:\nprony:x:{USER}:\n".encode())
        add("etc/passwd", 0o644, PASSWD.encode())
        add("etc/ssl", 0o755)
        add("etc/ssl/certs", 0o755)
        add("etc/ssl/certs/ca-certificates.crt", 0o644, authorities)
        add("home", 0o755)
        add("home/prony", 0o755, owner=USER)
        add("tmp", 0o1777)
        add("usr", 0o755)
        add("usr/bin", 0o755)
        add("usr/bin/prony", 0o755, binary)
    return packed.getvalue()


def main() -> None:
    """Writes the layout named on the command line."""
    layout, version, epoch = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    authorities = Path(sys.argv[4]).read_bytes()
    binaries = dict(argument.split("=", 1) for argument in sys.argv[5:])
    blobs = layout / "blobs" / "sha256"
    blobs.mkdir(parents=True)
    created = datetime.fromtimestamp(epoch, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")

    def named(reference: str) -> dict:
        return {"org.opencontainers.image.ref.name": reference}

    def put(media: str, content: bytes, **more) -> dict:
        digest = hashlib.sha256(content).hexdigest()
        (blobs / digest).write_bytes(content)
        return {"mediaType": media, "digest": f"sha256:{digest}", "size": len(content), **more}

    def put_json(media: str, value: dict, **more) -> dict:
        return put(media, json.dumps(value, sort_keys=True).encode(), **more)

    manifests, top = [], []
    for arch, binary in sorted(binaries.items()):
        files = layer(Path(binary).read_bytes(), authorities, epoch)
        platform = {"architecture": arch, "os": "linux"}
        config = put_json(
            f"{IMAGE}config.v1+json",
            {
                **platform,
                "created": created,
                "config": {
                    "User": f"{USER}:{USER}",
                    "Env": ["PATH=/usr/bin", "HOME=/home/prony"],
                    "Entrypoint": ["/usr/bin/prony"],
                    "WorkingDir": "/home/prony",
                    "Labels": {"org.opencontainers.image.version": version},
                },
                "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(files).hexdigest()}"]},
                "history": [{"created": created, "created_by": "packages/oci.py"}],
            },
        )
        packed = put(f"{IMAGE}layer.v1.tar+gzip", gzip.compress(files, 9, mtime=0))
        manifest = {"schemaVersion": 2, "mediaType": f"{IMAGE}manifest.v1+json", "config": config, "layers": [packed]}
        manifests.append(put_json(f"{IMAGE}manifest.v1+json", manifest, platform=platform))
        # By itself too, for tools that do not choose from an index.
        top.append({**manifests[-1], "annotations": named(f"{version}-{arch}")})
    index = {"schemaVersion": 2, "mediaType": f"{IMAGE}index.v1+json", "manifests": manifests}
    top.insert(0, put_json(f"{IMAGE}index.v1+json", index, annotations=named(version)))
    (layout / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": top}, sort_keys=True))
    (layout / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')


if __name__ == "__main__":
    main()
