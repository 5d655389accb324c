#!/bin/sh
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
#
# The cases of a run on 8 processes that Open MPI starts, on machines that share the folder of the
# run. Words behind the INI file go to mpirun: --hostfile FILE.
#
#   tapml-host --config run.ini --carve
#   sh mpirun.sh run.ini
#   tapml-host store merge run/shard-*-of-8 --into run
#   tapml-host --config run.ini
#
# mpirun ends all processes when one fails: start it again, and what is done is not done twice.
config=${1:?the INI file of a run}
shift
exec mpirun -n "${TAPML_PROCESSES:-8}" "$@" "${TAPML_HOST:-tapml-host}" --config "$config" \
    --shard auto --threads 1
