import type { MailsAnswer } from '@pawl/protocol/mail/view';
import { git, sampleRepository } from '@pawl/testing/sample-repository';
import { sleepers } from '@pawl/testing/sleeper';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { workplace } from './support/pawl.ts';

/** Makes a repository that is a project of the workplace's home. */
async function projectIn(place: Awaited<ReturnType<typeof workplace>>): Promise<string> {
  const repository = join(place.path, 'shop');
  await sampleRepository(repository);
  await place.json(['init'], { cwd: repository });
  return repository;
}

test.runIf(process.platform === 'linux')(
  'a second session in a checkout is told that it is a helper, and its note reaches the first [S0-02, S0-09, S0-15, S0-18]',
  async () => {
    await using place = await workplace();
    const repository = join(place.path, 'shop');
    await sampleRepository(repository);
    const { project } = await place.json<{ project: unknown }>(['hooks', 'install', '--yes'], { cwd: repository });
    expect(project).toEqual({ name: 'shop', tracked: true });
    await using agents = sleepers(join(place.path, 'programs'));
    const first = await agents.start('claude', repository);
    const second = await agents.start('claude', repository);
    const shell = join(place.path, 'env.sh');
    writeFileSync(shell, '');
    /** Calls a hook as Claude Code does, from a child of the process that it stands for. */
    const hook = async (pid: number, event: string) => {
      const env = { ROSTER_SELF_PID: String(pid), CLAUDE_ENV_FILE: shell };
      const input = JSON.stringify({ cwd: repository, source: 'startup', hook_event_name: event });
      const { code, stdout, stderr } = await place.pawl(['hook', event], { cwd: repository, env, input });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      return stdout === '' ? null : (JSON.parse(stdout) as Record<string, Record<string, string>>);
    };
    expect(await hook(first, 'session-start')).toBeNull();
    const told = (await hook(second, 'session-start'))?.['hookSpecificOutput']?.['additionalContext'] ?? '';
    expect(told).toMatch(/^helper\nid: helper-[a-z0-9]{4}\n/);
    expect(told).toContain('You are a helper.');
    const id = /helper-[a-z0-9]{4}/.exec(told)?.[0] ?? '';
    expect(existsSync(join(repository, '.pawl', 'session-context.d', `${id}.md`))).toBe(true);
    expect(readFileSync(shell, 'utf8')).toContain(
      `export PAWL_AGENT_ID='${id}' PAWL_HELPER=1 AI_AGENT_ID='${id}' AI_HELPER=1`,
    );
    // After a compaction it is the same helper.
    expect((await hook(second, 'session-start'))?.['hookSpecificOutput']?.['additionalContext']).toContain(id);
    const asSecond = { cwd: repository, env: { ROSTER_SELF_PID: String(second) } };
    const { mails } = await place.json<MailsAnswer>(['send', 'primary', 'the lock\nis stale'], asSecond);
    expect(mails).toMatchObject([{ from: { alias: `claude-${second}` }, to: { alias: `claude-${first}` } }]);
    const shown = (await hook(first, 'stop')) as unknown as { decision: string; reason: string };
    expect(shown.decision).toBe('block');
    expect(shown.reason).toContain(`From claude-${second}`);
    expect(shown.reason).toContain('> the lock\n> is stale');
    // Shown once, and a session that rests is not held again.
    expect(await hook(first, 'stop')).toBeNull();
    expect(await hook(first, 'user-prompt')).toBeNull();
    await place.json(['send', `claude-${second}`, 'thanks'], {
      cwd: repository,
      env: { ROSTER_SELF_PID: String(first) },
    });
    const answer = (await hook(second, 'user-prompt'))?.['hookSpecificOutput']?.['additionalContext'];
    expect(answer).toContain(`From claude-${first}`);
    expect(
      (await place.pawl(['work', 'help', '--as', 'helper-mode', '--provider', 'scripted'], { cwd: repository })).code,
    ).toBe(2);
  },
);

test('a hook that fails is a warning, and never starts a daemon', async () => {
  await using place = await workplace();
  const { code, stdout, stderr } = await place.pawl(['hook', 'user-prompt'], { input: 'not JSON' });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^pawl: /);
  expect((await place.pawl(['hook', 'stop'], { input: '{}' })).code).toBe(0);
  expect(existsSync(join(place.home, 'pawl.sock'))).toBe(false);
});

test.runIf(process.platform === 'linux')(
  'a helper acts as itself: it is named, and may not do what only a person may [S0-15, 7.23]',
  async () => {
    await using place = await workplace();
    const repository = await projectIn(place);
    await using agents = sleepers(join(place.path, 'programs'));
    const pid = await agents.start('claude', repository);
    const inClaude = { ROSTER_SELF_PID: String(pid), PAWL_AGENT_ID: 'helper-ab12', AI_HELPER: '1' };
    // Also from a directory outside of the checkout.
    const whoami = await place.pawl(['whoami'], { env: inClaude });
    expect(whoami.stdout).toMatch(new RegExp(`^claude-${pid} \\(`));
    writeFileSync(join(repository, 'topic.txt'), 'topic\n');
    await git(repository, ['add', 'topic.txt']);
    await git(repository, ['-c', 'user.name=me', '-c', 'user.email=me@localhost', 'commit', '-qm', 'topic']);
    await git(repository, ['branch', 'topic']);
    await git(repository, ['reset', '-q', '--hard', 'HEAD~1']);
    const { change } = await place.json<{ change: { id: string } }>(['change', 'open', 'topic', '--draft'], {
      cwd: repository,
    });
    for (const words of [
      ['change', 'approve', change.id],
      ['change', 'merge', change.id],
      ['work', 'x', '--provider', 'scripted'],
      ['stop', '--all'],
      ['down'],
      ['project', 'rm'],
      ['config', 'set', 'provider', 'claude'],
      ['hooks', 'install', '--yes'],
    ]) {
      const { code, stderr } = await place.pawl(words, { cwd: repository, env: inClaude });
      expect([words.join(' '), code, stderr]).toEqual([words.join(' '), 8, expect.stringContaining(`claude-${pid}`)]);
    }
    // Reading stays open, and the person's own terminal does everything.
    expect((await place.pawl(['inbox'], { cwd: repository, env: inClaude })).code).toBe(0);
    expect((await place.pawl(['hooks', 'install', '--yes'], { cwd: repository })).code).toBe(0);
    const lost = await place.pawl(['change', 'approve', change.id], { cwd: repository, env: { AI_HELPER: '1' } });
    expect([lost.code, lost.stderr]).toEqual([8, expect.stringContaining('This session is a helper')]);
    // The coding agent that a person drives, alone in its checkout, is their tool.
    const driven = await place.pawl(['change', 'approve', change.id], {
      cwd: repository,
      env: { ROSTER_SELF_PID: String(pid) },
    });
    expect([driven.code, driven.stderr]).toEqual([0, '']);
  },
);
