// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "config/keys_sections.h"

#include "config/device_pool.h"
#include "config/sharding_file.h"

const struct key_section keys_sections[KEYS_SECTIONS] = {
    {"run", "run", "What is run, and the place of its results.", 0},
    {"model", "model", "The model.", 0},
    {"source", "source", "The platform on which the model is known to be correct.", 0},
    {"target.", "target.NAME",
     "A platform to which the model is moved; one section for each. You choose NAME, of letters, "
     "digits, '_' and '-': plans, files and the report use it. Without any target the run only "
     "carves cases.",
     0},
    DEVICE_POOL_SECTION,
    {"component.", "component.ID",
     "Options of a plugin's component. Its manifest declares them; 'tapml-host plugins' prints the "
     "manifest's path.",
     1},
    {"group.", "group.NAME",
     "Neighbouring operators that are treated as one: recorded at the borders, given as a whole to "
     "a target that takes groups, judged and moved together. You choose NAME, of letters, digits "
     "and '_'; plans say 'op=group.NAME.*'. One of 'ops' and 'below' is needed. See "
     "docs/groups.md.",
     0},
    {"offload", "offload", "How operators are moved to the targets.", 0},
    {"select", "select", "Which of the kept cases are replayed; all if this section is absent.", 0},
    {"order", "order", "In which order kept cases are replayed.", 0},
    {"check", "check",
     "What else is asked of the operators of a target, nothing if this section is absent; and how "
     "many cases are replayed at once. See docs/invariance.md.",
     0},
    SHARDING_FILE_SECTION,
    {"watch", "watch",
     "When 'tapml-host watch' runs cases again, and how many. See docs/watching.md.", 0},
    {"plan", "plan", "What is to be moved; everything if this section is absent.", 0},
    {"fault.", "fault.N", "Injects a fault on a target, to test the tool. See docs/faults.md.", 0},
    {"forecast.", "forecast.NAME",
     "A device of which only figures are known: the report says what it would make of the model. "
     "You choose NAME, of letters, digits, '_' and '-'. See docs/forecast.md.",
     0},
    {"plugins", "plugins", "Which plugins are searched for and loaded.", 0},
};

const char keys_sections_about[] =
    "A line is `[section]`, `key = value`, a comment that begins with `;` or `#`, or empty. ` ;` "
    "after "
    "a value begins a comment too. No line begins with a blank. A section's name and a key have at "
    "most 49 bytes, a value 189, a line 198: longer ones are refused, not cut. Relative paths "
    "begin at "
    "the working folder of the host.";
