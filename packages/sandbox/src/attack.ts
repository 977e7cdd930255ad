/**
 * An attempt to break out of a sandbox, as a POSIX shell script that succeeds only if it broke out. It runs in a worktree
 * of its own, and knows: `$outside`, a directory beside it; `$secret`, a file in a hidden place; `$pid`, a process that is
 * not in the sandbox; `$limit`, how many processes it may start; `$bytes`, how large its memory and its files may be.
 */
export type Attack = {
  name: string;
  /** The property that a failed attack proves. */
  proves: string;
  script: string;
};

const files: Attack[] = [
  {
    name: 'write-outside',
    proves: 'files outside the worktree cannot be written',
    script: 'echo x >"$outside/file" || echo x >>/etc/passwd || rm -rf "$outside/kept" && [ ! -e "$outside/kept" ]',
  },
  {
    name: 'symlink',
    proves: 'a link does not lead out of the worktree',
    script: 'ln -s "$outside" way && echo x >way/file',
  },
  {
    name: 'hard-link',
    proves: 'a file outside cannot be linked into the worktree',
    script: 'ln "$outside/kept" mine && echo x >mine',
  },
  {
    name: 'secret',
    proves: 'hidden files cannot be read',
    script: 'cat "$secret" || cat "/proc/$pid/root$secret" || cat "/proc/1/root$secret"',
  },
  {
    name: 'mount',
    proves: 'nothing can be mounted',
    script:
      'mount --bind . "$outside" || mount -t tmpfs none /mnt || umount /proc || unshare -Urm mount -t tmpfs none /mnt',
  },
];

const processes: Attack[] = [
  {
    name: 'see-processes',
    proves: 'processes outside cannot be seen or signalled',
    script: '[ -d "/proc/$pid" ] || kill -0 "$pid"',
  },
  {
    name: 'memory-of-others',
    proves: 'the memory of processes outside cannot be read',
    script: 'dd if="/proc/$pid/mem" bs=1 count=1 || cat "/proc/$pid/environ"',
  },
  {
    name: 'privileges',
    proves: 'there are no capabilities and no new privileges',
    script:
      '! grep -q "^NoNewPrivs:[[:space:]]*1" /proc/self/status || grep "^Cap[IPEBA]" /proc/self/status | grep -qv "0000000000000000"',
  },
  {
    name: 'namespaces',
    proves: 'no user namespace can be made',
    script: 'unshare -U true || unshare -Ur true',
  },
  {
    name: 'kernel',
    proves: 'settings of the kernel cannot be changed',
    script:
      'read -r old </proc/sys/kernel/core_pattern && echo "$old" >/proc/sys/kernel/core_pattern || echo h >/proc/sysrq-trigger || find /sys -maxdepth 3 -type f -writable | grep -q .',
  },
  {
    name: 'devices',
    proves: 'devices cannot be reached',
    script:
      'mknod disk b 8 0 || find /dev -type b | grep -q . || dd if=/dev/mem bs=1 count=1 || dd if=/dev/kmsg bs=1 count=1',
  },
];

const network: Attack[] = [
  {
    name: 'network',
    proves: 'without network there is only a loopback of its own',
    script: 'tail -n +3 /proc/net/dev | grep -qv "^ *lo:" || tail -n +2 /proc/net/route | grep -q .',
  },
];

const limits: Attack[] = [
  {
    name: 'large-file',
    proves: 'a file cannot exceed its limit',
    script:
      'dd if=/dev/zero of=large bs=1024 count=$((bytes / 512)); [ "$(($(wc -c <large)))" -gt "$bytes" ]; broke=$?; rm -f large; exit $broke',
  },
  {
    name: 'memory',
    proves: 'a process cannot exceed its memory',
    // `tail` keeps the whole line in memory.
    script: 'head -c $((bytes * 2)) /dev/zero | tail -n 1 | wc -c | grep -q "^ *$((bytes * 2))$"',
  },
  {
    name: 'total-memory',
    proves: 'all processes together cannot exceed their memory',
    // Each stays below the limit of a process, and none ends before all have taken theirs, or were stopped from it.
    script: `take() { { head -c $((bytes / 2)) /dev/zero; : >taken$1; until [ -e taken1 ] && [ -e taken2 ] && [ -e taken3 ]; do sleep 0.05; done; } | tail -n 1 | wc -c | grep -q "^ *$((bytes / 2))$" && : >held$1; }
take 1 & take 2 & take 3 & wait; [ -e held1 ] && [ -e held2 ] && [ -e held3 ]`,
  },
  {
    name: 'shared-memory',
    proves: 'directories in memory are limited',
    script: `echo x >/dev/made || [ "$(df -Pk /dev/shm | awk 'NR == 2 { print $2 }')" -gt 1048576 ]`,
  },
  {
    name: 'fork-bomb',
    proves: 'the number of processes is limited',
    script:
      'count=0; while [ $count -lt $((limit * 2)) ]; do sleep 3 & count=$((count + 1)); done; [ "$(ls -d /proc/[0-9]* | wc -l)" -gt $((limit * 2)) ]',
  },
];

/** All attacks. The last one leaves a process behind, which must end with the sandbox. */
export const attacks: readonly Attack[] = [...files, ...processes, ...network, ...limits];

/** Runs every attack, and prints the name of each that succeeded. */
export function attackScript(list: readonly Attack[]): string {
  return list.map(({ name, script }) => `(\n${script}\n) >/dev/null 2>&1 && echo "${name}"`).join('\n') + leaveSurvivor;
}

/** A process without environment, session and parents, which holds the output open as long as it lives. */
const leaveSurvivor = '\nenv -i setsid sleep 30 &\nexit 0\n';
