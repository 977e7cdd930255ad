import { messageOf } from '@pawl/schema/error';
import type { Play, StepPlayer } from '../play.ts';
import { appendWorkspaceFile, writeWorkspaceFile } from '../workspace-file.ts';

export const playWrite: StepPlayer<'write'> = async (play, { path, content }) => {
  await play.writer.useTool('Write', { file_path: path, content }, () =>
    attempt(play, () => writeWorkspaceFile(play.directory, path, content)),
  );
  return undefined;
};

export const playAppend: StepPlayer<'append'> = async (play, { path, content }) => {
  await play.writer.useTool('Edit', { file_path: path, old_string: '', new_string: content }, () =>
    attempt(play, () => appendWorkspaceFile(play.directory, path, content)),
  );
  return undefined;
};

/** A file that cannot be written is a failed tool call, not the end of the scenario. */
function attempt(play: Play, write: () => string): { text: string; failed: boolean } {
  try {
    const path = write();
    const { written } = play.conversation;
    if (!written.includes(path)) written.push(path);
    return { text: `The file ${path} has been written.`, failed: false };
  } catch (error) {
    return { text: messageOf(error), failed: true };
  }
}
