import { defaultChoices } from '@pawl/daemon/platform/platform';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { existsSync, readlinkSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { CheckHomeOptions } from '../support/check-home.ts';
import { checksOf, openCheckHome } from '../support/check-home.ts';
import { sandboxTest } from './machine.ts';

const { sandbox } = defaultChoices;
const choices = { sandbox };

/** Runs these commands as the checks of a project, in a sandbox. */
async function checked(
  place: string,
  run: string,
  { network, ...options }: Pick<CheckHomeOptions, 'files' | 'environment'> & { network?: true } = {},
) {
  const home = await openCheckHome(place, { choices, ...options });
  const config = checksOf([run]);
  const steps = config.checks.map((step) => (network === undefined ? step : { ...step, network }));
  const { id } = await home.start(home.checker(), { ...config, checks: steps });
  const check = await home.result(id);
  return { check, home, output: (await home.output(id)).toString() };
}

sandboxTest('a check sees its clone and its history, and has no network [sandbox checks]', async () => {
  await using place = await temporaryDirectory();
  const run =
    'git log --oneline | wc -l; git status --porcelain; echo x >made; tail -n +3 /proc/net/dev | cut -d: -f1; echo "$PAWL_SANDBOX"';
  const { check, output, home } = await checked(place.path, run);
  expect({ outcome: check.outcome, words: output.split(/\s+/).filter((word) => word !== '') }).toEqual({
    outcome: 'passed',
    words: ['1', 'lo', '1'],
  });
  await home[Symbol.asyncDispose]();
});

sandboxTest('a check has the network if the project says so [sandbox checks]', async () => {
  await using place = await temporaryDirectory();
  const { check, home } = await checked(place.path, 'readlink /proc/self/ns/net >net; cat net', { network: true });
  expect(check.outcome).toBe('passed');
  expect((await home.output(check.id)).toString().trim()).toBe(readlinkSync('/proc/self/ns/net'));
  await home[Symbol.asyncDispose]();
});

sandboxTest('a check neither writes outside nor leaves a process [sandbox checks]', async () => {
  await using place = await temporaryDirectory();
  const outside = join(place.path, 'sample', 'evil');
  const { check, home, output } = await checked(
    place.path,
    `env -i setsid sleep 600 >/dev/null 2>&1 &\n(echo x >'${outside}') 2>/dev/null || true; ! cat '${join(place.path, 'home', 'token')}' 2>/dev/null; echo end`,
  );
  expect({ outcome: check.outcome, detail: check.detail, output }).toEqual({
    outcome: 'passed',
    detail: 'passed',
    output: 'end\n',
  });
  expect(existsSync(outside)).toBe(false);
  await home[Symbol.asyncDispose]();
});

sandboxTest('a check that needs the network and has none is told how to get it [sandbox checks]', async () => {
  await using place = await temporaryDirectory();
  const fetching = `'${process.execPath}' -e "fetch('http://example.com/').catch((error) => { console.log(error.cause.code); process.exit(3); })"`;
  const { check, home } = await checked(place.path, fetching);
  expect(check).toMatchObject({
    outcome: 'failed',
    detail: 'exit code 3; it has no network: if it needs it, add `network: true` to this check in .pawl/config.yaml',
  });
  await home[Symbol.asyncDispose]();
  await using other = await temporaryDirectory();
  const { check: plain, home: second } = await checked(other.path, 'echo no; exit 3');
  expect(plain.detail).toBe('exit code 3');
  await second[Symbol.asyncDispose]();
});

sandboxTest('a check of npm works: its cache is writable, and the person’s is not [sandbox checks]', async () => {
  await using place = await temporaryDirectory();
  const person = join(place.path, 'person');
  await mkdir(join(person, '.npm'), { recursive: true });
  await writeFile(join(person, '.npm', 'cached'), 'a package');
  const run = [
    'npm test',
    'npm config get cache >cache && mkdir -p "$(cat cache)" && echo x >"$(cat cache)/made"',
    'cat "$HOME/.npm/cached"',
    '! echo x >"$HOME/.npm/evil" && ! rm "$HOME/.npm/cached"',
  ].join('\n');
  const files = { 'package.json': JSON.stringify({ scripts: { test: 'echo tested' } }) };
  const { check, output, home } = await checked(place.path, run, { files, environment: { HOME: person } });
  expect({ outcome: check.outcome, output }).toMatchObject({
    outcome: 'passed',
    output: expect.stringMatching(/\ntested\n.*a package/s),
  });
  expect(await readdir(join(person, '.npm'))).toEqual(['cached']);
  await home[Symbol.asyncDispose]();
});
