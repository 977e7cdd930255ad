import { readSmallFile } from '@pawl/host/session/session-files';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LaunchSpec } from '@pawl/schema/launch-spec';
import * as z from 'zod';

const schema = z.object({
  argv: z.array(z.string()),
  environment: z.array(z.string()),
  sandboxed: z.boolean().default(false),
});

/** How a session was started: its command, the names of its variables, and whether it runs in a sandbox. */
export type SessionRecord = z.infer<typeof schema>;

const fileName = 'session.json';

/** An agent without a sandbox can write to its record, so the content is untrusted. */
const recordBytes = 1024 * 1024;

/** Writes the record of a launch. It has the names of variables only, since some values are secret. */
export async function writeSessionRecord(directory: string, launch: LaunchSpec): Promise<void> {
  const record: SessionRecord = {
    argv: [launch.command, ...launch.arguments],
    environment: Object.keys(launch.environment).toSorted(),
    sandboxed: launch.sandbox !== null,
  };
  await writeFile(join(directory, fileName), JSON.stringify(record), { mode: 0o600 });
}

/** The record of a session; null if there is none, or none that can be read. */
export function readSessionRecord(directory: string): SessionRecord | null {
  try {
    return schema.parse(JSON.parse(readSmallFile(join(directory, fileName), recordBytes) ?? ''));
  } catch {
    return null;
  }
}
