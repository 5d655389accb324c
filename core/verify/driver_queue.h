// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Checks of what a driver does with queued work: its order, its points, and launches.
//
// Each fails or skips the trial, or leaves it as it is: then the driver has passed. A status is
// that of the backend; work may be pending then.
//
// Launches need an op, whose kernel may be wrong, or crash. So what goes wrong is tried again, the
// launch by itself too, and the driver is blamed only if the launch is right by itself each time,
// and wrong each time as it was queued. Else the check is skipped: that is for the cases of the op.
#pragma once

#include "verify/driver_trial.h"

// Writes, fills and reads of the same bytes, without a wait between them, happen in their order.
tapml_status driver_queue_order(struct driver_trial *trial) STATUS_USED;

// Behind a point what was read is there; no point is smaller than one before it;
// what is to be notified is, once.
tapml_status driver_queue_points(struct driver_trial *trial) STATUS_USED;

// A launch of tapml.copy, queued between the write of its input and the read of its output, sees
// the one and is seen by the other. Skipped if the device does not have the op.
tapml_status driver_queue_launch(struct driver_trial *trial) STATUS_USED;

// Of two launches of tapml.scale the second has its own factor. Skipped as above.
tapml_status driver_queue_arguments(struct driver_trial *trial) STATUS_USED;
