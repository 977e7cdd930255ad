import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { patienceMs } from '@pawl/testing/wait-until';
import { onTestFinished } from 'vitest';
import { makeRepository, personEnvironment, temporaryDirectory, write } from './fixture.ts';

/** Keys whose value git runs, or that lead it to something it runs. `RUN <name>` leaves a marker of that name. */
const commandKeys = `
[core]
	fsmonitor = RUN fsmonitor
	sshCommand = RUN sshCommand
	pager = RUN pager
	editor = RUN editor
	askPass = RUN askPass
	gitProxy = RUN gitProxy
	alternateRefsCommand = RUN alternateRefsCommand
[sequence]
	editor = RUN sequenceEditor
[diff]
	external = RUN diffExternal
[diff "evil"]
	textconv = RUN textconv
	command = RUN diffCommand
[filter "evil"]
	clean = RUN clean
	smudge = RUN smudge
	required = true
[filter "long"]
	process = RUN process
[merge]
	default = evil
[merge "evil"]
	driver = RUN mergeDriver
[credential]
	helper = !RUN credentialHelper
[gpg]
	program = RUN gpg
[gpg "ssh"]
	program = RUN gpgSsh
	defaultKeyCommand = RUN gpgKey
[commit]
	gpgSign = true
[log]
	showSignature = true
[uploadpack]
	packObjectsHook = RUN packObjectsHook
[protocol]
	allow = always
[protocol "ext"]
	allow = always
[protocol "file"]
	allow = always
[url "ext::RUN insteadOf "]
	insteadOf = https://
[submodule]
	recurse = true
[gc]
	auto = 1
[branch]
	autoSetupMerge = always
	autoSetupRebase = always
[status]
	submoduleSummary = true
[alias]
	rev-parse = !RUN aliasRevParse
	worktree = !RUN aliasWorktree
	read-tree = !RUN aliasReadTree
[remote "origin"]
	url = HOME/source
	uploadpack = RUN lazyFetch
	promisor = true
	partialclonefilter = blob:none
	fetch = +refs/heads/*:refs/remotes/origin/*
[extensions]
	partialClone = origin
	worktreeConfig = true
`;

const hooks = [
  'post-checkout',
  'reference-transaction',
  'post-index-change',
  'pre-commit',
  'post-commit',
  'post-merge',
];

/** A repository with commands wherever git would run them, in one place or another; each leaves a marker. */
export function plant(place: 'config' | 'included file' | 'worktree config' | 'config of the person') {
  const home = temporaryDirectory();
  const markers = join(home, 'markers');
  mkdirSync(markers);
  const script = join(home, 'run');
  writeFileSync(script, `#!/bin/sh\n: >"${markers}/$1"\n`, { mode: 0o755 });
  makeRepository(join(home, 'source'));
  const root = makeRepository(join(home, 'project'), {
    '.gitattributes': '*.txt filter=evil diff=evil merge=evil\n*.long filter=long\n',
    'a.txt': 'text\n',
    'b.long': 'long\n',
    'c.md': 'plain\n',
  });
  const text = commandKeys.replaceAll('RUN', script).replaceAll('HOME', home);
  const config = join(root, '.git/config');
  if (place === 'config') appendFileSync(config, text);
  if (place === 'included file') {
    writeFileSync(join(home, 'planted'), text);
    appendFileSync(
      config,
      `[include]\n\tpath = ${join(home, 'planted')}\n[core]\n\thooksPath = ${join(home, 'hooks')}\n`,
    );
  }
  if (place === 'worktree config') {
    appendFileSync(config, '[core]\n\trepositoryFormatVersion = 1\n[extensions]\n\tworktreeConfig = true\n');
    writeFileSync(join(root, '.git/config.worktree'), text);
  }
  if (place === 'config of the person') {
    write(home, { '.gitconfig': `${text}[core]\n\thooksPath = ${join(home, 'hooks')}\n` });
    const before = process.env['HOME'];
    process.env['HOME'] = home;
    onTestFinished(() => void (process.env['HOME'] = before));
  }
  for (const directory of [join(root, '.git/hooks'), join(home, 'hooks')]) {
    mkdirSync(directory, { recursive: true });
    for (const hook of hooks) {
      writeFileSync(join(directory, hook), `#!/bin/sh\nexec '${script}' hook-${hook}\n`, { mode: 0o755 });
    }
  }
  return { home, root, script, text, fired: () => readdirSync(markers).sort(), reset: () => clear(markers) };
}

function clear(directory: string): void {
  for (const name of readdirSync(directory)) rmSync(join(directory, name));
}

/** Plain git by a person, whatever it says. */
export function tryGit(cwd: string, ...args: string[]): void {
  const environment = process.env['HOME'] === undefined ? {} : { HOME: process.env['HOME'] };
  try {
    execFileSync('git', args, {
      cwd,
      stdio: 'ignore',
      env: { ...personEnvironment, ...environment },
      timeout: patienceMs,
    });
  } catch {
    // Planted commands make git fail; what counts is whether they ran.
  }
}
