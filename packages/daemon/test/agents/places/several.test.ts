import type { AgentView } from '@pawl/protocol/agents/view';
import { git } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import { sampleOf } from '@pawl/testing/endurance';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentClient } from '../../support/agent-client.ts';
import { viewOf } from '../../support/daemon.ts';
import type { PlacesDaemon } from '../../support/places.ts';
import { commitIn, startPlacesDaemon } from '../../support/places.ts';

let daemon: PlacesDaemon;
beforeAll(async () => {
  daemon = await startPlacesDaemon();
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

const both = { path: undefined, projects: ['sample', 'web'] };

/** Starts an agent in both projects and waits until its run has ended. */
async function worked(steps: unknown[], body = {}): Promise<AgentView & { workdir: string; worktree: string }> {
  const { id } = await daemon.work(steps, { ...both, ...body });
  const agent = await daemon.ended(id);
  return { ...agent, workdir: agent.workdir ?? '', worktree: agent.worktree ?? '' };
}

/** Kills an agent and waits until each of its worktrees is settled. */
async function killed(agent: AgentView): Promise<AgentView> {
  await daemon.client.killAgent(agent.id, {});
  let view = agent;
  await waitUntil(async () => (view = await viewOf(daemon.client, agent.id)).worktreeEnd !== null, {
    what: 'the worktrees to be settled',
  });
  return view;
}

describe('an agent with several projects', () => {
  test('has a worktree and a branch in each, in one working directory that its session runs in [S3-17, 7.10]', async () => {
    const agent = await worked([commitIn('sample', 'a.txt'), commitIn('web', 'b.txt'), 'echo_prompt', 'complete']);
    expect(agent.run).toMatchObject({ status: 'completed' });
    expect(agent.project?.name).toBe('sample');
    expect(agent.workdir).toBe(join(daemon.home.agentWorkdirs, agent.alias));
    expect(agent.worktree).toBe(join(agent.workdir, 'sample'));
    expect(agent.places).toMatchObject([
      { project: { name: 'web' }, path: join(agent.workdir, 'web'), branch: `work/${agent.alias}`, end: null },
    ]);
    expect(await git(daemon.repository, ['show', `work/${agent.alias}:a.txt`])).toBe('a.txt');
    expect(await git(daemon.web, ['show', `work/${agent.alias}:b.txt`])).toBe('b.txt');
    const { sessions } = await daemon.client.inspectAgent(agent.id);
    const prompt = await daemon.promptOf(sessions[0]?.directory ?? '');
    const bases = [await git(daemon.repository, ['rev-parse', 'main']), await git(daemon.web, ['rev-parse', 'main'])];
    for (const [index, name] of ['sample', 'web'].entries()) {
      const path = join(agent.workdir, name);
      const line = `- Project ${name}: ${path}, on the branch work/${agent.alias}, which starts at ${bases[index]}.`;
      expect(prompt).toContain(line);
    }
    const manifest = JSON.parse(readFileSync(join(agent.workdir, '.pawl', 'input', 'manifest.json'), 'utf8'));
    expect(manifest.projects.map((each: { name: string }) => each.name)).toEqual(['sample', 'web']);
    expect(existsSync(join(agent.worktree, '.pawl'))).toBe(false);
    const { files } = await daemon.client.agentInputs(agent.id);
    expect(files.map(({ path }) => path)).toEqual(['manifest.json', 'task.md']);
  });

  test.each(sampleOf(['.', 'web', 'sample', 'workspace'], 2))('signals from %s [S3-28, 5.2.2]', async (place) => {
    const content = JSON.stringify({ status: 'done', result: `said in ${place}` });
    const file = `${place}/.pawl/output/signal.json`;
    const agent = await worked([{ shell: `mkdir -p ${place}/.pawl/output && echo '${content}' > ${file}` }]);
    expect(agent.run).toMatchObject({ status: 'completed', detail: `said in ${place}` });
  });

  test('is shown in each: in state.json with its worktree there, and in the list of agents', async () => {
    const agent = await worked(['complete']);
    const [place] = agent.places;
    type State = { repos: Record<string, { agents: Record<string, { worktree_path: string }> }> };
    const inState = () => {
      const { repos } = JSON.parse(readFileSync(daemon.home.state, 'utf8')) as State;
      return ['sample', 'web'].map((name) => repos[name]?.agents[agent.alias]?.worktree_path);
    };
    await waitUntil(() => inState().every((path) => path !== undefined), { what: 'the agent in state.json' });
    expect(inState()).toEqual([agent.worktree, place?.path]);
    for (const project of ['sample', 'web']) {
      const { agents } = await daemon.client.listAgents({ project });
      expect(agents.find(({ id }) => id === agent.id)).toMatchObject({
        project: { name: 'sample' },
        places: [{ project: { name: 'web' } }],
      });
    }
  });

  test('is not judged by an old signal in a project directory when it is resumed [5.2.3]', async () => {
    const done = JSON.stringify({ status: 'done', result: 'the first time' });
    const agent = await worked([
      { shell: `mkdir -p web/.pawl/output && echo '${done}' > web/.pawl/output/signal.json` },
      { say: 'hm' },
      { crash: { code: 3 } },
    ]);
    expect(agent.run?.detail).toBe('the first time');
    await daemon.client.resumeAgent(agent.id, { prompt: 'again' }, randomUUID());
    expect((await daemon.ended(agent.id)).run).toMatchObject({ status: 'failed' });
  });

  test('keeps the dirty worktree and loses the clean one [S3-63, S3-64, S3-65, 7.11]', async () => {
    const agent = await worked([{ write: { path: 'web/new.txt', content: 'x' } }, 'complete']);
    const dead = await killed(agent);
    expect(dead.worktreeEnd).toMatchObject({ state: 'trashed' });
    expect(dead.places[0]?.end).toMatchObject({ state: 'retained' });
    expect(existsSync(agent.worktree)).toBe(false);
    expect(readFileSync(join(agent.workdir, 'web', 'new.txt'), 'utf8')).toBe('x');
    const { worktrees } = await daemon.client.worktrees();
    expect(worktrees.find(({ path }) => path === join(agent.workdir, 'web'))).toMatchObject({
      state: 'retained',
      project: 'web',
      agent: { alias: agent.alias },
    });
    const { findings } = await daemon.client.doctor();
    expect(findings.map(({ message }) => message).join('\n')).toContain(join(agent.workdir, 'web'));
    rmSync(join(agent.workdir, 'web', 'new.txt'));
    const { trashed } = await daemon.client.pruneWorktrees({ olderThanMs: 1e9 });
    expect(trashed).toEqual([join(agent.workdir, 'web')]);
    expect(existsSync(agent.workdir)).toBe(false);
    expect((await viewOf(daemon.client, agent.id)).places[0]?.end).toMatchObject({ state: 'trashed' });
  });

  test('is asked to commit where something is left, by absolute paths, and only there [S3-66, S3-67]', async () => {
    const identity = '-c user.name=A -c user.email=a@example.invalid';
    const agent = await worked([
      { write: { path: 'web/index.html', content: 'changed' } },
      { say: 'ready' },
      'complete',
      'echo_prompt',
      { shell: `cd web && git add -u && git ${identity} commit -qm late` },
      'complete',
    ]);
    expect(agent.run).toMatchObject({ status: 'completed' });
    const { sessions } = await daemon.client.inspectAgent(agent.id);
    expect(sessions.map(({ purpose }) => purpose)).toEqual(['work', 'commit']);
    const prompt = await daemon.promptOf(sessions[1]?.directory ?? '');
    expect(prompt).toContain(join(agent.workdir, 'web'));
    expect(prompt).not.toContain(agent.worktree);
    expect(await git(daemon.web, ['show', `work/${agent.alias}:index.html`])).toBe('changed');
  });

  test('fails to start if one of its worktrees is missing, and runs nowhere else [S3-17]', async () => {
    const agent = await worked([{ say: 'once' }, 'complete', { shell: 'touch here' }, 'complete']);
    rmSync(join(agent.workdir, 'web'), { recursive: true });
    await daemon.client.resumeAgent(agent.id, { prompt: 'again' }, randomUUID());
    const failed = await daemon.ended(agent.id);
    expect(failed.run).toMatchObject({ status: 'failed' });
    expect(failed.run?.detail).toContain(join(agent.workdir, 'web'));
    expect(existsSync(join(agent.workdir, 'here'))).toBe(false);
  });

  test('is limited by paths relative to its working directory', async () => {
    daemon.define('writer', { name: 'writer', kind: 'main', class: 'ephemeral', tools: ['Write(web/**)', 'Bash'] });
    const agent = await worked(['complete'], { definition: 'writer' });
    const own = agentClient(daemon.home, agent.id);
    const mayWrite = async (input: string) => (await own.gate(agent.id, { tool: 'Write', input })).allowed;
    expect(await mayWrite(join(agent.workdir, 'web', 'a.txt'))).toBe(true);
    expect(await mayWrite('web/a.txt')).toBe(true);
    expect(await mayWrite(join(agent.worktree, 'web', 'a.txt'))).toBe(false);
  });

  test('passes its projects to a fork, with the files of each on request', async () => {
    const parent = await worked([{ say: 'hello' }, 'complete', { say: 'child' }, 'complete']);
    writeFileSync(join(parent.workdir, 'web', 'loose.txt'), 'loose');
    writeFileSync(join(parent.worktree, 'other.txt'), 'other');
    const child = await daemon.fork(parent.id, { prompt: 'go on', withFiles: true });
    const ended = await daemon.ended(child.id);
    expect(ended.places.map(({ project }) => project.name)).toEqual(['web']);
    expect(readFileSync(join(ended.workdir ?? '', 'web', 'loose.txt'), 'utf8')).toBe('loose');
    expect(readFileSync(join(ended.worktree ?? '', 'other.txt'), 'utf8')).toBe('other');
  });

  test('is refused for a project that is named twice, is unknown, or comes with a path or --no-project', async () => {
    const ask = (body: object) => daemon.work(['complete'], { path: undefined, ...body });
    await expect(ask({ projects: ['web', daemon.web] })).rejects.toMatchObject({
      code: 'invalid_input',
      message: 'The project web is named twice.',
    });
    await expect(ask({ projects: ['web', 'nowhere'] })).rejects.toMatchObject({ code: 'project_not_found' });
    await expect(ask({ projects: [] })).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(ask({ projects: ['web'], path: daemon.web })).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(ask({ projects: ['web'], noProject: true })).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(ask({})).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(ask({ projects: ['sample', 'web'], mode: 'errand' })).rejects.toMatchObject({ code: 'invalid_input' });
  });
});
