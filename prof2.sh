T=$PWD/build/install/bin/cudnn-ci
one() { # label procs cache args...
  local l=$1 p=$2 c=$3; shift 3; rm -rf /tmp/o-$l; local pre=""; [ "$p" -lt 16 ] && pre="taskset -c 0-$(($p-1))"
  [ "${DROP:-}" = 1 ] && { sync; echo 3 > /proc/sys/vm/drop_caches; }
  local s=$(date +%s.%N)
  CUDA_CACHE_PATH=$c CUDA_CACHE_MAXSIZE=1073741824 $pre $T --matrix ${M:-cu13} --filter '-nccl.*' --output-dir /tmp/o-$l "$@" > /tmp/o-$l.txt 2>&1; local rc=$?
  echo "$l rc $rc $(python3 -c "import time;print(round(time.time()-$s,2))")"
}
