import type { StepValues } from '../scenario.ts';
import type { StepPlayer } from '../play.ts';
import { replaceWorkspaceFile, signalPath, writeWorkspaceFile } from '../workspace-file.ts';

const lateMs = 500;

/** Writes the signal file and continues: whole, half, or only after the result of the turn. */
export const playSignal: StepPlayer<'signal'> = async (play, value) => {
  const content = `${JSON.stringify(signalOf(value, play.writer.lastText))}\n`;
  if (value.status === 'late') play.lateSignal = { delayMs: value.delay ?? lateMs, content };
  else if (value.status === 'partial') writeWorkspaceFile(play.directory, signalPath, content.slice(0, 20));
  else replaceWorkspaceFile(play.directory, signalPath, content);
  return undefined;
};

function signalOf(value: StepValues['signal'], lastText: string): object {
  switch (value.status) {
    case 'questions': {
      const questions = value.questions ?? ['How shall I go on?'];
      return {
        status: 'questions',
        questions: questions.map((item, index) =>
          typeof item === 'string' ? { id: `q${index + 1}`, question: item } : item,
        ),
      };
    }
    case 'error':
      return { status: 'error', error: value.error ?? 'The scenario says that this cannot be done.' };
    default:
      return { status: 'done', result: value.result ?? lastText };
  }
}
