# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Where the libraries of TapML are: what a variable of the environment names, else where they were installed."""
import os

try:
    from tapml._paths import LIBRARY_FOLDER  # Written by the installation; in place there is none.
except ImportError:
    LIBRARY_FOLDER = None


def find(variable, name):
    """The file of a library, `name` in the folder of libraries; None where none is known."""
    named = os.environ.get(variable)
    if named:
        return named
    path = LIBRARY_FOLDER and os.path.join(LIBRARY_FOLDER, name)
    return path if path and os.path.exists(path) else None
