import { readFile, stat } from 'node:fs/promises';
import { waitUntil } from '@pawl/testing/wait-until';
import { describe, expect, it } from 'vitest';
import { engineLimits } from '../../src/limit.ts';
import { openWorkspace } from '../support/workspace.ts';

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('Bash', () => {
  it('returns output and exit code, in the root of the workspace', async () => {
    await using space = await openWorkspace();
    expect(await space.call('Bash', { command: 'pwd; echo oops >&2' })).toEqual({
      text: `${space.root}\noops\n`,
      isError: false,
    });
    expect(await space.call('Bash', { cmd: 'echo a; exit 3' })).toEqual({ text: 'a\n[exit code 3]', isError: true });
    expect((await space.call('Bash', { command: 'true' })).text).toBe('(no output)');
  });

  it('closes stdin', async () => {
    await using space = await openWorkspace();
    expect((await space.call('Bash', { command: 'cat; echo read' })).text).toBe('read\n');
  });

  it('ends a command that never ends, with all its children; after 30 seconds if it asks for no other time [W2-23]', async () => {
    await using space = await openWorkspace();
    expect(engineLimits.commandMs).toBe(30_000);
    const command = "trap '' TERM; sleep 600 & echo $!; wait; sleep 600";
    const { text, isError } = await space.call('Bash', { command, timeout_ms: 300 });
    expect(isError).toBe(true);
    expect(text).toContain('ended after 300 ms');
    const child = Number(/^(\d+)/.exec(text)?.[1]);
    await waitUntil(() => !isAlive(child), { what: 'the end of the child' });
  });

  it('does not wait for a child that keeps the pipe open', async () => {
    await using space = await openWorkspace();
    const { text } = await space.call('Bash', { command: 'sleep 600 & echo $!' });
    process.kill(Number(text));
  });

  it('keeps long output in a file, and survives a flood', async () => {
    await using space = await openWorkspace();
    const long = await space.call('Bash', { command: 'seq 1 20000' });
    expect(long.text.length).toBeLessThan(engineLimits.outputCharacters + 500);
    const file = /all of it is in ([^\]]+)\]/.exec(long.text)?.[1] ?? '';
    expect(await readFile(file, 'utf8')).toBe(Array.from({ length: 20_000 }, (_, index) => `${index + 1}\n`).join(''));
    const flood = await space.call('Bash', { command: 'head -c 60000000 /dev/zero | tr "\\0" x; echo end' });
    expect(flood.text).toMatch(/its start is in .*x+end\n$/s);
    const floodFile = /in ([^\]]+)\]/.exec(flood.text)?.[1] ?? '';
    expect((await stat(floodFile)).size).toBe(engineLimits.outputFileBytes);
  });

  it('stops with its turn', async () => {
    await using space = await openWorkspace();
    const running = space.call('Bash', { command: 'sleep 600' });
    space.stop.abort(new Error('stopped'));
    await expect(running).rejects.toThrow('stopped');
  });
});

describe('a command in the background', () => {
  it('is polled, piece by piece, and can be stopped', async () => {
    await using space = await openWorkspace();
    const command = 'echo one; sleep 0.2; echo two; sleep 600';
    const { text } = await space.call('Bash', { command, run_in_background: true });
    const id = /command-\d+/.exec(text)?.[0] ?? '';
    let seen = '';
    await waitUntil(
      async () => {
        const polled = await space.call('BashOutput', { id });
        seen += polled.text.replace('[still running]', '').trim();
        return seen.includes('two');
      },
      { what: 'the second line' },
    );
    expect(seen).toBe('onetwo');
    expect(await space.call('BashOutput', { id, stop: true })).toMatchObject({ isError: true });
    expect((await space.call('BashOutput', { id: 'command-99' })).text).toContain('no background command');
  });

  it('ends with the session, and there is a limit', async () => {
    const space = await openWorkspace();
    let pid = 0;
    await (async () => {
      await using _ = space;
      const started = await space.call('Bash', { command: 'echo $$; sleep 600', run_in_background: true });
      const id = /command-\d+/.exec(started.text)?.[0] ?? '';
      pid = await waitUntil(async () => Number.parseInt((await space.call('BashOutput', { id })).text, 10) || null, {
        what: 'the pid',
      });
      for (let count = 1; count < engineLimits.backgroundCommands; count++) {
        await space.call('Bash', { command: 'sleep 600', run_in_background: true });
      }
      expect(await space.call('Bash', { command: 'true', run_in_background: true })).toMatchObject({ isError: true });
    })();
    expect(isAlive(pid)).toBe(false);
  });
});
