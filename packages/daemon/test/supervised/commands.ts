import { checkPlace } from '@pawl/daemon/checks/check-place';
import type { Client } from '@pawl/protocol/client';
import { homeAt } from '@pawl/protocol/node/home';
import { newId } from '@pawl/schema/id';
import { readCheckChunks, recentChecks, updateCheck } from '@pawl/store/changes/checks';
import { listProjects } from '@pawl/store/projects/projects';
import { updateSession } from '@pawl/store/sessions/sessions';
import { sampleRepository } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readyDaemon } from '../support/daemon-process.ts';
import { withStore } from '../support/stores.ts';
import type { StartCommand } from './contract.ts';
import { readFacts, writeFacts } from './file-facts.ts';

/** Runs one of the small daemons beside this file. */
function runDaemon(name: string, ...words: string[]): ChildProcess {
  return spawn(process.execPath, [join(import.meta.dirname, name), ...words], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

/** A record that has this field, or null. */
function having<T extends object>(field: keyof T, record: T | null): T | null {
  return (record?.[field] ?? null) === null ? null : record;
}

/** A command whose facts are in a file, with nothing but the process host. */
export const startWithFile: StartCommand = async (place, script) => {
  const marker = newId();
  writeFacts(place, { marker, script, identity: null, offset: 0, output: '', ended: false, exitCode: null });
  let daemon = runDaemon('file-daemon.ts', place);
  await waitUntil(() => readFacts(place).identity, { what: 'the process on record' });
  return {
    directory: join(place, 'process'),
    marker,
    killDaemon: () => kill(daemon),
    async restartDaemon() {
      daemon = runDaemon('file-daemon.ts', place);
    },
    async stop() {
      writeFileSync(join(place, 'stop'), '');
    },
    async recyclePid(pid) {
      const facts = readFacts(place);
      writeFacts(place, { ...facts, identity: { pid, start: facts.identity?.start ?? '' } });
    },
    output: async () => readFacts(place).output,
    async exitCode() {
      await waitUntil(() => readFacts(place).ended, { what: 'the end' });
      return readFacts(place).exitCode;
    },
    async [Symbol.asyncDispose]() {
      await kill(daemon);
    },
  };
};

/** A command that a project's check runs. */
export const startAsCheck: StartCommand = async (place, script) => {
  const home = homeAt(join(place, 'home'));
  let daemon = runDaemon('check-daemon.ts', place, script);
  const read = () =>
    withStore(home.root, async ({ db }) => {
      const [project] = await listProjects(db);
      const [check] = await recentChecks(db, project?.id ?? '', 1);
      return check ?? null;
    });
  // The database is not there until the daemon has made it.
  const begun = () =>
    read().then(
      (check) => having('pid', check),
      () => null,
    );
  const { id } = await waitUntil(begun, { what: 'the process on record' });
  return {
    directory: checkPlace(home, id).step(0),
    marker: id,
    killDaemon: () => kill(daemon),
    async restartDaemon() {
      daemon = runDaemon('check-daemon.ts', place);
    },
    async stop() {
      writeFileSync(join(place, 'stop'), '');
    },
    recyclePid: (pid) =>
      withStore(home.root, (store) => store.write(async (tx) => void (await updateCheck(tx, id, { pid })))),
    output: () =>
      withStore(home.root, async ({ db }) => {
        const chunks = await readCheckChunks(db, id, { afterId: 0, limitBytes: 1024 * 1024 });
        return Buffer.concat(chunks.map(({ bytes }) => bytes)).toString('utf8');
      }),
    async exitCode() {
      const ended = await waitUntil(async () => having('endedAt', await read()), {
        what: 'the end',
      });
      return ended.exitCode;
    },
    async [Symbol.asyncDispose]() {
      await kill(daemon);
    },
  };
};

/** A command that is an agent's session, with a whole daemon. */
export const startAsSession: StartCommand = async (place, script) => {
  const home = homeAt(join(place, 'home'));
  const repository = join(place, 'sample');
  const path = join(place, 'agent.sh');
  writeFileSync(path, script);
  mkdirSync(home.root, { recursive: true, mode: 0o700 });
  const provider = { command: ['/bin/sh', path], prompt_mode: 'stdin' };
  writeFileSync(join(home.root, 'config.yaml'), JSON.stringify({ sandbox: 'off', providers: { shell: provider } }));
  await sampleRepository(repository);
  let daemon = await readyDaemon(home.root);
  await daemon.client.addProject({ path: repository });
  const { agent } = await daemon.client.work({ path: repository, task: 'run', provider: 'shell' }, randomUUID());
  const session = async () => (await daemon.client.inspectAgent(agent.id)).sessions[0] ?? null;
  const { id, directory } = await waitUntil(async () => having('pid', await session()), {
    what: 'the process on record',
  });
  return {
    directory,
    marker: id,
    killDaemon: () => daemon.kill(),
    async restartDaemon() {
      daemon = await readyDaemon(home.root);
    },
    async stop() {
      await daemon.client.stopAgent(agent.id);
    },
    recyclePid: (pid) => withStore(home.root, (store) => store.write((tx) => updateSession(tx, id, { pid }))),
    output: async () => firstOutput(daemon.client, agent.id),
    async exitCode() {
      const ended = await waitUntil(async () => having('endedAt', await session()), {
        what: 'the end',
      });
      return ended.exitCode;
    },
    async [Symbol.asyncDispose]() {
      // An agent whose process was lost goes on in another one.
      await daemon.client.stopAgent(agent.id);
      await daemon.kill('SIGTERM');
    },
  };
};

/** The stored stdout of an agent's first session. */
async function firstOutput(client: Client, agentId: string): Promise<string> {
  const { chunks } = await client.output(agentId, { after: 0 });
  const first = chunks.filter(({ sessionNo, stream }) => sessionNo === 1 && stream === 'stdout');
  return first.map(({ content }) => content).join('');
}
