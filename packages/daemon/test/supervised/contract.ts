import { isAlive } from '@pawl/host/process/identity';
import { processTable } from '@pawl/host/process/process-table';
import { strayProcesses } from '@pawl/host/session/stray';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { waitUntil } from '@pawl/testing/wait-until';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

/** A command under supervision, in the hands of a daemon that can be killed. */
export type SupervisedCommand = {
  /** The directory of its process, and the marker of all its processes. */
  directory: string;
  marker: string;
  /** Kills the daemon with SIGKILL. */
  killDaemon(): Promise<void>;
  /** Starts another daemon on the same facts. */
  restartDaemon(): Promise<void>;
  /** Has the daemon end the command; resolves when it was asked to. */
  stop(): Promise<void>;
  /** Replaces the process on record by this pid, with the start of the old one. */
  recyclePid(pid: number): Promise<void>;
  /** The stored output. */
  output(): Promise<string>;
  /** Waits until the end is on record, and gives the recorded exit code. */
  exitCode(): Promise<number | null>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Starts a script, and resolves once its process is on record. */
export type StartCommand = (place: string, script: string) => Promise<SupervisedCommand>;

/** The behaviour of every supervised process, whoever keeps its facts. */
export function describeSupervision(owner: string, start: StartCommand): void {
  describe(`a process whose facts ${owner}`, () => {
    test('is read exactly once before, during and after a kill -9 of the daemon', async () => {
      await using place = await temporaryDirectory();
      const [second, third] = [join(place.path, 'second'), join(place.path, 'third')];
      const script = `echo before; ${until(second)}; echo during; ${until(third)}; echo after`;
      await using command = await start(place.path, script);
      await printed(command, 'before');
      await stored(command, 'before\n');
      await command.killDaemon();
      writeFileSync(second, '');
      await printed(command, 'during');
      await command.restartDaemon();
      await stored(command, 'before\nduring\n');
      writeFileSync(third, '');
      expect(await command.exitCode()).toBe(0);
      expect(await command.output()).toBe('before\nduring\nafter\n');
    });

    test('is found with its exit code if it ended while no daemon ran', async () => {
      await using place = await temporaryDirectory();
      const go = join(place.path, 'go');
      await using command = await start(place.path, `${until(go)}; echo last; exit 7`);
      await command.killDaemon();
      writeFileSync(go, '');
      await waitUntil(() => existsSync(join(command.directory, 'exit')), { what: 'the exit code' });
      await command.restartDaemon();
      expect(await command.exitCode()).toBe(7);
      expect(await command.output()).toBe('last\n');
    });

    test('is lost, and no stranger is touched, if its pid was used again', async () => {
      await using place = await temporaryDirectory();
      await using command = await start(place.path, 'echo here; sleep 600');
      await printed(command, 'here');
      await command.killDaemon();
      for (const { pid } of strayProcesses(command.marker)) process.kill(pid, 'SIGKILL');
      await waitUntil(() => strayProcesses(command.marker).length === 0, { what: 'its processes to be gone' });
      const stranger = spawn('sleep', ['600'], { stdio: 'ignore' });
      await once(stranger, 'spawn');
      const pid = stranger.pid ?? 0;
      const identity = { pid, start: processTable.read(pid)?.start ?? '' };
      try {
        await command.recyclePid(pid);
        await command.restartDaemon();
        expect(await command.exitCode()).toBeNull();
        expect(await command.output()).toBe('here\n');
        expect(isAlive(identity)).toBe(true);
      } finally {
        stranger.kill('SIGKILL');
      }
    });

    test('ends as a whole: all its processes get a signal, and SIGKILL after the grace period', async () => {
      await using place = await temporaryDirectory();
      const script = `trap '' TERM; sh -c "trap '' TERM; sleep 600" & echo ready; while :; do sleep 0.05; done`;
      await using command = await start(place.path, script);
      await printed(command, 'ready');
      await command.stop();
      expect(await command.exitCode()).toBe(128 + 9);
      expect(strayProcesses(command.marker)).toEqual([]);
      expect(await command.output()).toBe('ready\n');
    });

    test('leaves no children behind when it leaves by itself', async () => {
      await using place = await temporaryDirectory();
      await using command = await start(place.path, 'setsid sleep 600 & sleep 600 & echo gone');
      expect(await command.exitCode()).toBe(0);
      expect(strayProcesses(command.marker)).toEqual([]);
      expect(await command.output()).toBe('gone\n');
    });
  });
}

function until(path: string): string {
  return `until [ -e '${path}' ]; do sleep 0.01; done`;
}

/** Waits until the command has printed a line, whoever reads it. */
async function printed({ directory }: SupervisedCommand, line: string): Promise<void> {
  const has = () => readFileSync(join(directory, 'out'), 'utf8').includes(`${line}\n`);
  await waitUntil(has, { what: `${line} in the output file` });
}

async function stored(command: SupervisedCommand, text: string): Promise<void> {
  await waitUntil(async () => (await command.output()) === text, { what: `${JSON.stringify(text)} in the store` });
}
