import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { ProviderPreset } from '../port/provider.ts';

/** Validates a task. */
export function checkTask(task: string): void {
  if (task.trim() === '') {
    throw new PawlError('invalid_input', 'The task is empty.', {
      hint: 'Say what to do: pawl work "fix the login test"',
    });
  }
  const bytes = new TextEncoder().encode(task).length;
  if (bytes > limits.taskBytes) {
    throw new PawlError('too_large', `The task has ${bytes} bytes; the limit is ${limits.taskBytes}.`, {
      hint: 'Put the material into a file of the repository and name that file in the task.',
    });
  }
  if (task.includes('\0')) throw new PawlError('invalid_input', 'The task contains a NUL character.');
}

/** Refuses a model or options that the provider does not support. */
export function checkOptions(
  preset: ProviderPreset,
  request: { model: string | null; options: Record<string, string> },
): void {
  for (const name of Object.keys(request.options)) {
    if (Object.hasOwn(preset.options, name)) continue;
    const known = Object.keys(preset.options).join(', ') || 'none';
    throw new PawlError('invalid_input', `The provider ${preset.name} has no option ${JSON.stringify(name)}.`, {
      hint: `Its options: ${known}.`,
    });
  }
  const values = [
    request.model ?? '',
    ...Object.entries(request.options).map(([name, value]) => (name === 'command' ? '' : value)),
  ];
  for (const value of values) {
    if (!/^(?:-|env:)/.test(value)) continue;
    throw new PawlError(
      'invalid_input',
      `${JSON.stringify(value.slice(0, 80))} is neither a model nor an option value.`,
    );
  }
  if (request.model !== null && preset.model === null) {
    throw new PawlError('invalid_input', `The provider ${preset.name} does not let you choose a model.`);
  }
}
