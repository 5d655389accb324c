// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// `labels` of a pool (config/device_pool.h): which of the devices that it lists are members, by
// words such as "device_name=*Mali*" and "driver>=38.1", all of which a member has. They are the
// tags of devices by which bundles are found (run/bundle_tags.h).
//
// One thread. Nothing is kept.
#pragma once

#include "base/status.h"

struct backend_info;

// TAPML_INVALID names the word that is none, or its tag that no device has.
tapml_status pool_labels_check(const char *labels) STATUS_USED;

// TAPML_UNAVAILABLE names the label that an open device does not have, and what it has. The labels
// are checked.
tapml_status pool_labels_meet(const char *labels, const struct backend_info *info) STATUS_USED;
