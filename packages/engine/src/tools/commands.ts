import { join } from 'node:path';
import { PawlError } from '@pawl/schema/error';
import { engineLimits } from '../limit.ts';
import type { CommandPlace } from './running-command.ts';
import { RunningCommand } from './running-command.ts';

/** The commands of a session. Those in the background end with it. */
export class Commands {
  readonly #place: Omit<CommandPlace, 'outputFile'> & { outputDirectory: string };
  readonly #running = new Set<RunningCommand>();
  readonly #background = new Map<string, RunningCommand>();
  #count = 0;

  constructor(place: Omit<CommandPlace, 'outputFile'> & { outputDirectory: string }) {
    this.#place = place;
  }

  start(command: string): RunningCommand {
    this.#count += 1;
    const { cwd, env, outputDirectory } = this.#place;
    const outputFile = join(outputDirectory, `command-${process.pid}-${this.#count}.txt`);
    const running = new RunningCommand(command, { cwd, env, outputFile });
    this.#running.add(running);
    void running.ended.then(() => this.#running.delete(running));
    return running;
  }

  /** Starts a command in the background. Returns its id. */
  startInBackground(command: string): string {
    const active = [...this.#background.values()].filter((each) => this.#running.has(each));
    if (active.length >= engineLimits.backgroundCommands) {
      throw new PawlError('busy', `${active.length} commands run in the background already.`, {
        hint: 'Stop one with BashOutput and stop: true.',
      });
    }
    const running = this.start(command);
    const id = `command-${this.#count}`;
    this.#background.set(id, running);
    return id;
  }

  find(id: string): RunningCommand | undefined {
    return this.#background.get(id);
  }

  /** Ends every command, and resolves when all have ended. */
  async close(): Promise<void> {
    await Promise.all([...this.#running].map((each) => each.stop()));
  }
}
