#!/usr/bin/env bash
# Submit and monitor jobs on schedulers for which Snakemake has no plugin (profiles/generic).
#   scheduler.sh sge|pbs|lsf submit THREADS MEM_MB MINUTES OPTIONS... JOBSCRIPT   prints the job's id
#   scheduler.sh sge|pbs|lsf status ID                                            prints running, success or failed
set -euo pipefail
scheduler=$1 action=$2
shift 2

submit() {
    local threads=$1 mem_mb=$2 minutes=$3 jobscript=${*: -1}
    local options=("${@:4:$#-4}")
    mkdir -p logs/scheduler
    case $scheduler in
    sge) # h_vmem counts for each slot
        qsub -terse -V -cwd -j yes -o logs/scheduler/ -pe "${TOPORANK_SGE_PE:-smp}" "$threads" \
            -l "h_vmem=$((mem_mb / threads + 1))M,h_rt=$((minutes * 60))" "${options[@]}" "$jobscript"
        ;;
    pbs) # PBS has no -cwd: the job changes to the folder itself
        qsub -V -j oe -o logs/scheduler/ -l "select=1:ncpus=$threads:mem=${mem_mb}mb" \
            -l "walltime=$((minutes / 60)):$((minutes % 60)):00" "${options[@]}" "$jobscript"
        ;;
    lsf) # says: Job <123> is submitted to queue <normal>.
        bsub -n "$threads" -R "span[hosts=1] rusage[mem=${mem_mb}MB]" -M "${mem_mb}MB" -W "$minutes" \
            -o logs/scheduler/%J.log "${options[@]}" "$jobscript" | grep -oE '[0-9]+' | head -n 1
        ;;
    esac
}

status() {
    local said # empty where the scheduler does not answer
    case $scheduler in
    sge) # gone from the queue, it is in the accounts a moment later
        if qstat -j "$1" >/dev/null 2>&1; then
            echo running
            return
        fi
        said=$(qacct -j "$1" 2>/dev/null | awk '$1 == "exit_status" || $1 == "failed" { print $2 }' | xargs || true)
        ;;
    pbs) said=$(qstat -x -f "$1" 2>/dev/null | awk '$1 == "job_state" || $1 == "Exit_status" { print $3 }' | xargs || true) ;;
    lsf) said=$(bjobs -noheader -o stat "$1" 2>/dev/null | xargs || true) ;;
    esac
    case $scheduler:$said in
    sge:"0 0" | pbs:"F 0" | lsf:DONE) echo success ;;
    sge:?* | pbs:F* | lsf:EXIT) echo failed ;;
    *) echo running ;; # waiting, or no answer: ask again
    esac
}

case $scheduler in
sge | pbs | lsf) "$action" "$@" ;;
*)
    echo "scheduler.sh: unknown scheduler '$scheduler', use sge, pbs or lsf" >&2
    exit 2
    ;;
esac
