#!/usr/bin/env bash
# Submit and monitor jobs on schedulers for which Snakemake has no plugin (profiles/generic).
#   scheduler.sh SCHEDULER submit THREADS MEM_MB MINUTES OPTIONS... JOBSCRIPT   prints the job's id
#   scheduler.sh SCHEDULER status ID                                            prints running, success or failed
# SCHEDULER is sge, pbs, lsf, kubernetes or aws.
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
    kubernetes) # says: job.batch/toporank-x7k2p
        kubernetes_job "$threads" "$mem_mb" "$minutes" "$jobscript" |
            kubectl create --output name "${options[@]}" --filename - | sed 's|.*/||'
        ;;
    aws) # the job definition names the image and mounts the shared folder
        local needs='{"command": ["bash", "%s"], "resourceRequirements": [%s, %s]}' of='{"type": "%s", "value": "%s"}'
        # shellcheck disable=SC2059 # the formats are those above
        needs=$(printf "$needs" "$jobscript" "$(printf "$of" VCPU "$threads")" "$(printf "$of" MEMORY "$mem_mb")")
        aws batch submit-job --job-name toporank --timeout "attemptDurationSeconds=$((minutes * 60))" \
            --container-overrides "$needs" --query jobId --output text "${options[@]}"
        ;;
    esac
}

# The job of Kubernetes that runs a script in TOPORANK_IMAGE; TOPORANK_VOLUME is CLAIM:PATH of the shared folder.
kubernetes_job() {
    local image=${TOPORANK_IMAGE:?give the image of the jobs} volume=${TOPORANK_VOLUME:?give CLAIM:PATH of the shared folder}
    cat <<END
apiVersion: batch/v1
kind: Job
metadata: {generateName: toporank-}
spec:
  backoffLimit: 0 # Snakemake repeats it, with more memory and time
  ttlSecondsAfterFinished: 86400
  template:
    spec:
      restartPolicy: Never
      activeDeadlineSeconds: $(($3 * 60))
      containers:
        - name: job
          image: "$image"
          workingDir: "$PWD"
          command: [bash, "$4"]
          resources: {requests: {cpu: "$1", memory: "$2M"}, limits: {memory: "$2M"}}
          volumeMounts: [{name: shared, mountPath: "${volume#*:}"}]
      volumes: [{name: shared, persistentVolumeClaim: {claimName: "${volume%%:*}"}}]
END
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
    kubernetes) said=$(kubectl get job "$1" --output 'jsonpath={.status.conditions[*].type}' 2>/dev/null | xargs || true) ;;
    aws) said=$(aws batch describe-jobs --jobs "$1" --query 'jobs[0].status' --output text 2>/dev/null | xargs || true) ;;
    esac
    case $scheduler:$said in
    sge:"0 0" | pbs:"F 0" | lsf:DONE | kubernetes:*Complete* | aws:SUCCEEDED) echo success ;;
    sge:?* | pbs:F* | lsf:EXIT | kubernetes:*Failed* | aws:FAILED) echo failed ;;
    *) echo running ;; # waiting, or no answer: ask again
    esac
}

case $scheduler in
sge | pbs | lsf | kubernetes | aws) "$action" "$@" ;;
*)
    echo "scheduler.sh: unknown scheduler '$scheduler', use sge, pbs, lsf, kubernetes or aws" >&2
    exit 2
    ;;
esac
