// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A store of which pages are damaged or cut off: what is whole goes into a new one, which takes its
// place.
//
// Rows are taken over one by one, around the pages that cannot be read. What is trusted is a whole
// prompt: where one of its calls or cases, or anything that these refer to, is lost, or may be, all
// rows of the prompt are left out, and it is carved again as one that never was. So are results of
// operators whose limits are lost, results and steps of targets whose rows are, and steps of the
// ledger behind one that is, or (their order is that of the times of calls) where a prompt is. A
// damaged header, and damaged pages of the schema, are read from a store that was just made, since
// the same statements make the same pages.
//
// One thread. Failures are those of the store and of the file system.
#pragma once

#include "base/status.h"

struct text;

// Looks at every page of the store at `path`. If one is damaged, makes a new store of what is
// whole, keeps the old one as PATH.damaged (or PATH.damaged-2 ...) and appends to `out_report` what
// was damaged, kept and lost; that stays empty if nothing was done. After a kill at any moment the
// next call resumes or starts anew. Nothing else may have the store open.
//
// `metadata` are names that a run cannot do without, ended by NULL: if damage took one of them, or
// nothing can be read at all, it is TAPML_INVALID and the file stays as it is. A database that is
// no store, and a store of another version, are left to `store_open`, which refuses them.
tapml_status
salvage_run(const char *path, const char *const *metadata, struct text *out_report) STATUS_USED;
