import { sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { join } from 'node:path';
import type { TestDaemon } from './daemon.ts';
import { startTestDaemon } from './daemon.ts';

/** A daemon with the projects `sample` and `web`, each its own repository. */
export type PlacesDaemon = TestDaemon & { web: string };

/** Starts a daemon with two projects. */
export async function startPlacesDaemon(options: Parameters<typeof startTestDaemon>[0] = {}): Promise<PlacesDaemon> {
  const place = await temporaryDirectory();
  const daemon = await startTestDaemon(options);
  const web = join(place.path, 'web');
  await sampleRepository(web, { files: { 'index.html': '<p>web</p>\n' } });
  await daemon.client.addProject({ path: web });
  return {
    ...daemon,
    web,
    async [Symbol.asyncDispose]() {
      await daemon[Symbol.asyncDispose]();
      await place[Symbol.asyncDispose]();
    },
  };
}

/** A step that writes a file and commits it in one of the agent's projects. */
export function commitIn(project: string, file: string): { shell: string } {
  const identity = '-c user.name=A -c user.email=a@example.invalid -c commit.gpgsign=false';
  return {
    shell: `cd ${project} && echo ${file} > ${file} && git add ${file} && git ${identity} commit -qm "add ${file}"`,
  };
}
