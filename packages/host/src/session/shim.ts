/**
 * The shim: the parent of a session's command. It is written into the session's own directory, so that replacing the
 * program while sessions run changes nothing for them.
 *
 *   startSession ──▶ sh shim.sh fifo|file ──▶ sh ./shim.sh run ──exec──▶ command
 *                     │  waits in the foreground, writes `exit`
 *                     └▶ holder (fifo only): feeds the prompt, holds the FIFO open, leaves on "close"
 *
 * Invariants:
 * - `ln` publishes `pid` with its content or fails, so that of all shims in one directory exactly one runs the command,
 *   and a shim that dies before that line has started nothing.
 * - The command is a foreground child. A background child of a POSIX shell ignores INT and QUIT for good, and could
 *   then not be interrupted. The price is that the shim itself cannot react while it waits, hence the holder.
 * - The holder is the only writer of the FIFO besides a daemon that is just sending, so its end is the command's EOF.
 * - `exit.new` was filled by the host and is overwritten in place: a full disk cannot swallow the exit code.
 * - The shim joins the session's control group before it starts anything, and after it is on record, since joining takes
 *   the kernel several milliseconds. Where that fails it empties `group`, and the session is found by its marker, its
 *   parents and its output only. It joins the groups in `limits` in the same way; one that it cannot join limits nothing.
 * - The host made every file that a shim writes before the command runs, for the command must keep its own umask.
 * - Shell variables have a prefix, for assigning to one that came with the environment would change the command's.
 */
export const shimScript = `\
# Runs one command of a Pawl session. See the process host's shim.ts for the reasons.
# usage: shim.sh fifo|file SHELL RECORD CWD COMMAND [ARGUMENT...]
#        shim.sh run CWD COMMAND [ARGUMENT...]

pawl_shim_identify() {
  if read -r pawl_shim_boot </proc/sys/kernel/random/boot_id && read -r pawl_shim_stat <"/proc/$$/stat"; then
    :
  else
    pawl_shim_boot=ps
    pawl_shim_stat=$(LC_ALL=C TZ=UTC0 command -p ps -o lstart= -p "$$")
  fi 2>/dev/null
  printf '%s\\n' "$$" "$pawl_shim_boot" "$pawl_shim_stat"
}

if [ "$1" = run ]; then
  pawl_shim_identify >child
  cd "$2" 2>/dev/null || {
    printf 'pawl: cannot enter the working directory %s\\n' "$2" >&2
    exit 126
  }
  unset OLDPWD SHLVL
  shift 2
  exec "$@"
fi

# Handlers, not "ignore": what is ignored here would be ignored by the command, too.
trap : HUP INT QUIT TERM USR1 USR2 ALRM
pawl_shim_mode=$1
pawl_shim_shell=$2
pawl_shim_record=$3
shift 3
pawl_shim_identify >"$pawl_shim_record" || exit 125

if [ "$pawl_shim_mode" = fifo ]; then
  if [ ! -p in ] || [ ! -p ctl ]; then
    command -p mkfifo -m 600 in ctl 2>/dev/null
  fi
  [ -p in ] && [ -p ctl ] || exit 125
  exec 3<>in 4<>ctl 5<in
else
  exec 5<prompt
fi

# What counts is whose record stands there, not what ln says: a signal to the group may have ended it after its work.
command -p ln "$pawl_shim_record" pid 2>/dev/null
{
  read -r pawl_shim_pid
  read -r pawl_shim_skipped
  read -r pawl_shim_winner
} <pid
[ "$pawl_shim_pid" = "$$" ] && [ "$pawl_shim_winner" = "$pawl_shim_stat" ] || exit 124

# Every process that the command starts is born in this group, whatever it does to its environment and its parents.
if read -r pawl_shim_group <group && [ -n "$pawl_shim_group" ]; then
  printf '%s\\n' "$$" >"$pawl_shim_group/cgroup.procs" || : >group
fi 2>/dev/null
while read -r pawl_shim_group; do
  printf '%s\\n' "$$" >"$pawl_shim_group/cgroup.procs"
done <limits 2>/dev/null

if [ "$pawl_shim_mode" = fifo ]; then
  (
    # Here "ignore" is right: neither the holder nor its cat is the command.
    trap '' HUP INT QUIT TERM USR1 USR2 ALRM
    umask 077
    exec 5<&-
    if [ -s prompt ]; then
      command -p cat prompt >in 3<&- 4<&- || exit 1
    fi
    : >fed
    pawl_shim_tries=0
    while [ "$pawl_shim_tries" -lt 1000 ]; do
      read -r pawl_shim_word <&4 && [ "$pawl_shim_word" = close ] && exit 0
      pawl_shim_tries=$((pawl_shim_tries + 1))
    done
  ) &
  pawl_shim_holder=$!
  exec 3<&- 4<&-
fi

"$pawl_shim_shell" ./shim.sh run "$@" <&5 5<&- >>out 2>>err
pawl_shim_code=$?

if [ "$pawl_shim_mode" = fifo ]; then
  kill -KILL "$pawl_shim_holder" 2>/dev/null
  wait "$pawl_shim_holder" 2>/dev/null
fi
trap '' HUP INT QUIT TERM USR1 USR2 ALRM
printf '%-3d\\n' "$pawl_shim_code" 1<>exit.new && command -p mv -f exit.new exit
`;
