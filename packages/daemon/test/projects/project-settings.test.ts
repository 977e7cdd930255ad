import { expect, test } from 'vitest';
import { startTestDaemon } from '../support/daemon.ts';

test('a person sets a project’s provider, by path or by name, and unsets it', async () => {
  await using daemon = await startTestDaemon();
  const { client, repository } = daemon;
  const { project, settings } = await client.projectSettings({ path: repository });
  expect(settings.provider).toBeNull();
  expect((await client.changeProjectSettings({ path: repository, provider: 'codex' })).settings.provider).toBe('codex');
  const { settings: later } = await client.changeProjectSettings({ project: project.name, provider: 'claude' });
  expect(later.provider).toBe('claude');
  await client.changeProjectSettings({ project: project.id, provider: 'claude' });
  expect((await client.changeProjectSettings({ project: project.name, provider: null })).settings.provider).toBeNull();
  const { events } = await client.events({ after: 0 });
  const told = events.filter(({ type }) => type === 'project.configured').map(({ data }) => data['provider']);
  expect(told).toEqual(['codex', 'claude', null]);
});

test('a provider that does not exist is refused, and the setting stays', async () => {
  await using daemon = await startTestDaemon();
  const { client, repository } = daemon;
  await client.changeProjectSettings({ path: repository, provider: 'codex' });
  const refused = client.changeProjectSettings({ path: repository, provider: 'no-such' });
  await expect(refused).rejects.toMatchObject({ code: 'unknown_provider' });
  expect((await client.projectSettings({ path: repository })).settings.provider).toBe('codex');
});

test('init can name the provider, also for a project that exists', async () => {
  await using daemon = await startTestDaemon();
  const { client, repository } = daemon;
  expect((await client.addProject({ path: repository, provider: 'gemini' })).created).toBe(false);
  expect((await client.projectSettings({ path: repository })).settings.provider).toBe('gemini');
  await client.addProject({ path: repository });
  expect((await client.projectSettings({ path: repository })).settings.provider).toBe('gemini');
  const refused = client.addProject({ path: repository, provider: 'no-such' });
  await expect(refused).rejects.toMatchObject({ code: 'unknown_provider' });
});
