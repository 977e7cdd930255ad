import type { Answer } from '../conversation/answer-assembly.ts';
import type { ToolCall } from '../conversation/message.ts';
import { engineLimits } from '../limit.ts';

/** Polling is repetition on purpose. */
const polls = new Set(['BashOutput']);
const searches = new Set(['Glob', 'Grep']);

/** Recognises a model that goes in circles. Each check returns the reason to end the turn, or null. */
export class LoopBreaker {
  #answer = { key: '', count: 0 };
  #call = { key: '', count: 0 };
  #emptySearches = 0;
  #invalidInputs = 0;

  /** Checks an answer before its calls run. */
  answered({ parts }: Pick<Answer, 'parts'>): string | null {
    const calls = parts.filter((part) => part.type === 'tool-call');
    if (calls.length > 0 && calls.every(({ name }) => polls.has(name))) return null;
    const key = JSON.stringify(parts.map((part) => ('text' in part ? part.text : [part.name, part.input])));
    this.#answer = { key, count: this.#answer.key === key ? this.#answer.count + 1 : 1 };
    if (this.#answer.count < engineLimits.identicalAnswers) return null;
    return parts.length === 0
      ? `The model answered with nothing ${this.#answer.count} times.`
      : `The model gave the same answer ${this.#answer.count} times.`;
  }

  /** Checks a call after it ran. */
  called({ name, input }: ToolCall, result: { text: string; foundNothing?: boolean }): string | null {
    this.#invalidInputs = 0;
    if (polls.has(name)) return null;
    if (searches.has(name)) this.#emptySearches = result.foundNothing === true ? this.#emptySearches + 1 : 0;
    if (this.#emptySearches >= engineLimits.emptySearches) {
      return `The model searched ${this.#emptySearches} times without finding anything.`;
    }
    const key = JSON.stringify([name, input, result.text]);
    this.#call = { key, count: this.#call.key === key ? this.#call.count + 1 : 1 };
    if (this.#call.count < engineLimits.redundantCalls) return null;
    return `The model called ${name} ${this.#call.count} times with the same input and result.`;
  }

  /** Checks a call whose input was no JSON or did not fit the tool. */
  invalid(): string | null {
    this.#invalidInputs += 1;
    if (this.#invalidInputs < engineLimits.invalidInputs) return null;
    return `The model wrote invalid input for a tool ${this.#invalidInputs} times in a row.`;
  }
}
