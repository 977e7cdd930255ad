import { names } from '@pawl/present/amount';
import { printable } from '@pawl/present/text';
import type { Client } from '@pawl/protocol/client';
import type { ChatAnswer, ChatBody } from '@pawl/protocol/runtime/view';
import { messageOf, PawlError } from '@pawl/schema/error';
import type { Key, Line } from '../../terminal/line-editor.ts';
import { createKeyReader, emptyLine, pressKey } from '../../terminal/line-editor.ts';
import { createLiveRegion } from '../../terminal/live-region.ts';
import type { Palette } from '../../terminal/palette.ts';
import type { Terminal } from '../../terminal/screen.ts';
import { createChatRows } from './chat-rows.ts';
import { helpText, letterFor, parseApproval, parseWords } from './chat-words.ts';
import type { Conversation, Partner } from './conversation.ts';
import { openConversation } from './conversation.ts';

export type TalkOptions = {
  terminal: Terminal;
  colours: Palette;
  client(): Client;
  send(body: ChatBody): Promise<ChatAnswer>;
  /** The agent to talk to; null until the first message starts one. */
  partner: Partner | null;
  /** The first lines. */
  greeting: string;
};

const pasteOn = '\u001B[?2004h';
const pasteOff = '\u001B[?2004l';

/** Talks with an agent in a terminal until the person leaves. Restores the terminal however the program ends. */
export async function talk(options: TalkOptions): Promise<void> {
  const { terminal, colours } = options;
  const { input, output } = terminal;
  const region = createLiveRegion(output);
  const rows = createChatRows(region, colours);
  const { promise: left, resolve: leave } = Promise.withResolvers<void>();
  let line = emptyLine();
  const conversation = openConversation(options.client, options.send, {
    chunk: rows,
    note(text, tone) {
      region.breakRow();
      region.write(`${tone === 'bad' ? colours.red(text) : tone === 'muted' ? colours.dim(text) : text}\n`);
    },
    changed: redraw,
  });
  const keyboard = createKeyboard({ conversation, note, leave, client: options.client });

  function note(text: string): void {
    region.breakRow();
    region.write(`${colours.dim(text)}\n`);
  }

  function redraw(): void {
    region.show({ status: statusOf(conversation), prompt: promptOf(conversation), line });
  }

  const readKeys = createKeyReader();
  const echo = (text: string) => {
    // The agent's last text may have no end of line.
    region.breakRow();
    region.write(text);
  };
  const take = (data: Buffer) => {
    for (const key of readKeys(data)) line = keyboard.press(line, key, echo);
    redraw();
  };
  const restore = () => {
    input.off('data', take);
    output.off('resize', redraw);
    input.pause();
    input.setRawMode?.(false);
    region.close();
    output.write(pasteOff);
  };
  process.once('exit', restore);
  input.setRawMode?.(true);
  input.on('data', take);
  output.on('resize', redraw);
  input.resume();
  output.write(pasteOn);
  region.write(`${options.greeting}\n`);
  redraw();
  try {
    if (options.partner !== null) await conversation.join(options.partner);
    await left;
  } finally {
    conversation.close();
    process.off('exit', restore);
    restore();
  }
  const partner = conversation.partner();
  if (partner !== null) output.write(`${colours.dim(farewell(partner, conversation.isWorking()))}\n`);
}

function farewell({ alias }: Partner, isWorking: boolean): string {
  const state = isWorking ? `${alias} continues its turn` : `${alias} stays, and costs nothing while it is idle`;
  return `${state}. Talk to it again: pawl chat ${alias}`;
}

function statusOf(conversation: Conversation): string {
  const approval = conversation.approval();
  if (approval !== null) return '';
  if (!conversation.isWorking()) return '';
  return `· ${conversation.status() || 'waiting for the model'}   (Ctrl-C cancels the turn)`;
}

function promptOf(conversation: Conversation): string {
  const approval = conversation.approval();
  if (approval === null) return `${conversation.partner()?.alias ?? 'chat'} > `;
  return `allow? ${approval.options.map(letterFor).join('/')} > `;
}

type Keyboard = {
  /** The line after a key. Shows an entered line above the region. */
  press(line: Line, key: Key, write: (text: string) => void): Line;
};

/** Handles keys: they edit the line, send it, cancel the turn or leave. */
function createKeyboard(parts: {
  conversation: Conversation;
  client(): Client;
  note(text: string): void;
  leave(): void;
}): Keyboard {
  const { conversation, note, leave } = parts;
  /** The last key was Ctrl-C at an empty line: another one leaves. */
  let isLeaving = false;

  function attempt(work: Promise<void>): void {
    work.catch((error: unknown) => note(problemOf(error)));
  }

  function interrupt(line: Line): Line {
    if (line.characters.length > 0) return emptyLine(line.history);
    if (isLeaving) leave();
    else if (conversation.isWorking()) {
      note('Cancelling the turn; Ctrl-C again leaves.');
      attempt(conversation.cancel());
    } else note('Ctrl-C again leaves; the agent stays.');
    isLeaving = true;
    return line;
  }

  function enter(text: string): void {
    const approval = conversation.approval();
    if (approval !== null && text.trim() !== '' && !text.startsWith('/')) {
      const words = parseApproval(text, approval.options);
      if (words === null) return note('Answer that first, such as y, or n with a reason: n use the test database');
      return attempt(conversation.answer(words));
    }
    const words = parseWords(text);
    switch (words.kind) {
      case 'nothing':
        return;
      case 'say':
        return attempt(conversation.say(words.text));
      case 'help':
        return note(helpText);
      case 'quit':
        return leave();
      case 'cancel':
        return attempt(conversation.cancel());
      case 'clear':
        return attempt(conversation.clear());
      case 'agents':
        return attempt(listAgents());
      case 'unknown':
        return note(`There is no command ${printable(words.command)}; /help lists them, and // says it.`);
    }
  }

  async function listAgents(): Promise<void> {
    const { agents } = await parts.client().listAgents({});
    note(agents.length === 0 ? 'There are no agents.' : `Agents: ${names(agents.map(({ alias }) => alias))}`);
  }

  return {
    press(line, key, write) {
      const effect = pressKey(line, key);
      if (effect.kind === 'interrupt') return interrupt(line);
      isLeaving = false;
      if (effect.kind === 'edit') return effect.line;
      if (effect.kind === 'leave') leave();
      else {
        if (effect.text.trim() !== '') write(`${promptOf(conversation)}${printable(effect.text)}\n`);
        enter(effect.text);
      }
      return effect.kind === 'enter' ? effect.line : line;
    },
  };
}

function problemOf(error: unknown): string {
  const hint = error instanceof PawlError && error.hint !== undefined ? `\n${error.hint}` : '';
  return printable(`${messageOf(error)}${hint}`);
}
