import type { Word } from './shell-scanner.ts';

/**
 * Commands whose arguments are commands or scripts, and builtins that change what later commands do. A rule allows them
 * only if it has every word of the command.
 */
const runners = new Set(
  [
    'sh bash dash zsh ksh mksh ash csh tcsh fish pwsh powershell busybox toybox',
    'eval exec command builtin source . trap alias unalias set unset export declare typeset readonly local shopt enable',
    'hash read mapfile readarray cd pushd popd function coproc time noglob nocorrect',
    'env sudo doas su runuser setpriv nice ionice chrt taskset nohup setsid timeout stdbuf flock chroot unshare nsenter',
    'bwrap firejail systemd-run strace ltrace gdb lldb valgrind perf script expect unbuffer watch entr xargs parallel',
    'npx pnpx bunx uvx pipx corepack ssh docker podman kubectl nix nix-shell direnv tmux screen at batch crontab',
    'awk gawk mawk nawk sed gsed ed ex vi vim nvim view emacs less more man',
  ].flatMap((line) => line.split(' ')),
);

/** Options and subcommands after which a program runs another one. */
const runningWords = new Set(
  '-exec -execdir -ok -okdir -c -C -e -E -x --exec --eval --command --exec-path --config-env --git-dir --work-tree exec dlx x'.split(
    ' ',
  ),
);

/** Words of the shell's grammar: they begin a compound command, not a program. */
const reservedWords = new Set(
  '! { } [[ ]] if then elif else fi for in do done while until case esac select function time coproc'.split(' '),
);

/** The last part of a path. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** True if a command may run what its arguments say. */
export function isRunner(words: readonly Pick<Word, 'text'>[]): boolean {
  const [name, ...others] = words;
  if (name === undefined) return false;
  return runners.has(baseName(name.text).toLowerCase()) || others.some(({ text }) => runningWords.has(text));
}

export function isReservedWord(text: string): boolean {
  return reservedWords.has(text);
}

/** True for `NAME=value`, which sets a variable for the command after it. */
export function isAssignment(text: string): boolean {
  return /^[A-Za-z_]\w*(\[.*\])?\+?=/s.test(text);
}
