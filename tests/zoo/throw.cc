// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

extern "C" void zoo_throw(void);

void zoo_throw(void)
{
    throw "across the boundary";
}
