# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""The local cache of Hugging Face's hub, laid out as its library does: blobs by their hash, and links to them."""
import hashlib
import os
import shutil

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def add(cache, hub, model):
    """Puts the files of the folder `model` into `cache` as the hub's folder `hub`; gives the snapshot's path."""
    root = os.path.join(cache, "models--" + hub.replace("/", "--"))
    snapshot = os.path.join(root, "snapshots", COMMIT)
    for folder in (snapshot, os.path.join(root, "blobs"), os.path.join(root, "refs")):
        os.makedirs(folder)
    for name in os.listdir(model):
        with open(os.path.join(model, name), "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        shutil.copyfile(os.path.join(model, name), os.path.join(root, "blobs", digest))
        os.symlink(os.path.join("..", "..", "blobs", digest), os.path.join(snapshot, name))
    with open(os.path.join(root, "refs", "main"), "w", encoding="utf-8") as file:
        file.write(COMMIT)
    return snapshot
